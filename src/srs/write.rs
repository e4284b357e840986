//! Writing SRS files, byte for byte as bellperson does.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::points::{encode_points, Point};
use super::{Section, VerifyingKey};
use crate::error::{Error, Result};
use crate::files::{self, NewFile};

/// Points that are encoded at once: 1.5 MiB in G1.
const STEP_POINTS: usize = 16 << 10;

/// Writes one SRS file, section by section, to a temporary name beside it. The file appears under its own name, whole,
/// in [`Self::finish`]; an existing one is never overwritten. Dropping an unfinished writer removes what it wrote.
#[derive(Debug)]
pub struct SrsWriter {
    path: PathBuf,
    file: NewFile,
    out: BufWriter<File>,
    /// The section that is being written, as an index into [`Section::ALL`].
    section: usize,
    /// Points of it that are still missing.
    missing: u64,
    scratch: Vec<u8>,
}

impl SrsWriter {
    /// Starts a file with its vk, ic included. Errors: INVALID if something stands at `path` or it can't be created.
    pub fn create(path: &Path, vk: &VerifyingKey) -> Result<Self> {
        refuse_existing(path)?;
        let (file, out) = NewFile::create(path).map_err(|error| files::error("path", path, &error))?;
        let (path, out) = (path.to_owned(), BufWriter::new(out));
        let mut writer = SrsWriter { path, file, out, section: 0, missing: 0, scratch: Vec::new() };
        writer.write(|out, _| out.write_all(&vk.to_bytes()))?;
        Ok(writer)
    }

    /// Starts `section` of `count` points. Sections come in file order, h first, none left out.
    /// Errors: INVALID if another section is due, points of the last are missing, or `count` doesn't fit 32 bits.
    pub fn begin(&mut self, section: Section, count: u64) -> Result<()> {
        let Ok(count_32) = u32::try_from(count) else {
            return Err(Error::invalid("count", format!("{count} points don't fit a section")));
        };
        self.check_complete()?;
        if section as usize != self.section + 1 {
            return Err(Error::invalid("section", format!("{} out of order", section.name())));
        }
        self.section = section as usize;
        self.missing = count;
        self.write(|out, _| out.write_all(&count_32.to_be_bytes()))
    }

    /// Appends points to the section that was begun. Spreads over the rayon pool it is called from.
    /// Errors: INVALID if they are more than were announced or of the other group.
    pub fn points<P: Point>(&mut self, points: &[P]) -> Result<()> {
        self.count_down::<P>(points.len() as u64)?;
        self.write(|out, scratch| {
            points.chunks(STEP_POINTS).try_for_each(|points| {
                scratch.resize(points.len() * P::BYTES, 0);
                encode_points(points, scratch);
                out.write_all(scratch)
            })
        })
    }

    /// Appends points that are encoded already. Errors: as for [`Self::points`].
    #[cfg(any(cuda, feature = "testing"))]
    pub(crate) fn encoded<P: Point>(&mut self, bytes: &[u8]) -> Result<()> {
        self.count_down::<P>((bytes.len() / P::BYTES) as u64)?;
        self.write(|out, _| out.write_all(bytes))
    }

    /// Makes the file durable and gives it its name.
    /// Errors: INVALID if points or sections are missing, or if a file with that name has come into being meanwhile.
    pub fn finish(mut self) -> Result<()> {
        self.check_complete()?;
        if self.section + 1 != Section::ALL.len() {
            return Err(Error::invalid("section", format!("none behind {}", Section::ALL[self.section].name())));
        }
        self.write(|out, _| out.flush().and_then(|()| out.get_ref().sync_all()))?;
        let SrsWriter { path, file, .. } = self;
        file.publish().map_err(|error| files::error("path", &path, &error))
    }

    /// That `count` points of P may come now.
    fn count_down<P: Point>(&mut self, count: u64) -> Result<()> {
        let section = Section::ALL[self.section];
        if section.point_bytes() != P::BYTES as u64 {
            return Err(Error::invalid("points", format!("section {} is of the other group", section.name())));
        }
        self.missing = self.missing.checked_sub(count).ok_or_else(|| {
            let (missing, name) = (self.missing, section.name());
            Error::invalid("points", format!("{count} points for {missing} places of section {name}"))
        })?;
        Ok(())
    }

    fn check_complete(&self) -> Result<()> {
        match self.missing {
            0 => Ok(()),
            missing => {
                let name = Section::ALL[self.section].name();
                Err(Error::invalid("points", format!("{missing} missing in section {name}")))
            }
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>, &mut Vec<u8>) -> io::Result<()>) -> Result<()> {
        write(&mut self.out, &mut self.scratch).map_err(|error| files::error("path", &self.path, &error))
    }
}

/// Errors: INVALID if anything stands at `path`.
pub(crate) fn refuse_existing(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(Error::invalid("path", format!("{}: stands there already", path.display()))),
        Err(_) => Ok(()),
    }
}
