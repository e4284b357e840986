//! An open SRS file.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::known::{self, KnownSrs};
use super::layout::Layout;
use super::points::{decode_points, Point};
use super::source::{open_regular, FileStat, ReadAt};
use super::vk::{point_error, read_vk, VerifyingKey};
use super::{check, fault, read_error, Section, SrsCheck};
use crate::error::{Error, Result};
use crate::r1cs::R1cs;

/// Points that one task of [`SrsFile::read_points`] reads at once: 384 KiB in G1.
const TASK_POINTS: usize = 4096;

/// Options of [`SrsFile::open`].
#[derive(Clone, Debug, Default)]
pub struct SrsOptions {
    /// Accept a verifying key that isn't in the built-in table. Default: no.
    pub allow_unknown_params: bool,
    /// See [`SrsCheck`]. Default: [`SrsCheck::OnCurve`]. Another one is done by `open` itself, without progress; call
    /// [`SrsFile::verify`] for a check in the background.
    pub check: SrsCheck,
    /// Where finished checks are remembered. Default: in this process alone.
    pub cache_dir: Option<PathBuf>,
}

/// An open SRS file whose sizes and verifying key have been checked. Holds the file open, none of its points but the
/// vk's.
pub struct SrsFile {
    file: PathBuf,
    source: Box<dyn ReadAt>,
    stat: FileStat,
    layout: Layout,
    vk: VerifyingKey,
    vk_digest: String,
}

impl SrsFile {
    /// Opens the file at `path` and checks sizes, verifying key and identity, then what `options` ask for.
    /// Threads: points are checked in the rayon pool it is called from; WindowPoSt's 26,000 ic points take a second of
    /// one core. Never blocks on a FIFO or device in the file's place.
    /// Errors: PARAMS_MISSING if nothing stands there; PARAMS_CORRUPT names section, index, expected and found;
    /// PARAMS_UNKNOWN carries the vk's digest.
    pub fn open(path: &Path, options: &SrsOptions) -> Result<Self> {
        Self::from_source(path, Box::new(open_regular(path)?), options)
    }

    /// [`Self::open`] for bytes from elsewhere. `file` is what errors name.
    pub fn from_source(file: &Path, source: Box<dyn ReadAt>, options: &SrsOptions) -> Result<Self> {
        let stat = source.stat().map_err(|error| read_error(file, "", None, &error))?;
        let layout = Layout::read(&*source, stat.size, file)?;
        let (vk, vk_digest) = read_vk(&*source, layout.count(Section::Ic), file)?;
        let srs = SrsFile { file: file.to_owned(), source, stat, layout, vk, vk_digest };
        if srs.known().is_none() && !options.allow_unknown_params {
            return Err(srs.unknown());
        }
        srs.verify(options.check, options.cache_dir.as_deref(), &mut |_| ControlFlow::Continue(()))?;
        Ok(srs)
    }

    /// The file as it was named by the caller.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Size and identity when it was opened: (device, inode) is the same for all names of one file.
    pub fn stat(&self) -> FileStat {
        self.stat
    }

    /// The verifying key.
    pub fn vk(&self) -> &VerifyingKey {
        &self.vk
    }

    /// First 16 bytes of blake2b-512 over the vk's bytes, in hex.
    pub fn vk_digest(&self) -> &str {
        &self.vk_digest
    }

    /// The network's SRS that this file's vk belongs to, if it is one of them.
    pub fn known(&self) -> Option<&'static KnownSrs> {
        known::by_vk_digest(&self.vk_digest)
    }

    /// Points in `section`.
    pub fn count(&self, section: Section) -> u64 {
        self.layout.count(section)
    }

    /// Reads the points `[first, first + out.len() / point_bytes)` of `section` as they stand in the file, unchecked.
    /// Thread-safe. Errors: INVALID if the section has no such points; PARAMS_CORRUPT if the file has become shorter.
    pub fn read(&self, section: Section, first: u64, out: &mut [u8]) -> Result<()> {
        let point_bytes = section.point_bytes();
        let count = out.len() as u64 / point_bytes;
        if out.len() as u64 % point_bytes != 0 || first.saturating_add(count) > self.count(section) {
            let (bytes, points, name) = (out.len(), self.count(section), section.name());
            return Err(Error::invalid("out", format!("{bytes} bytes from point {first} of {points} of {name}")));
        }
        let offset = self.layout.offset(section, first);
        self.source.read_exact_at(out, offset).map_err(|error| self.short_read(section.name(), first, &error))
    }

    /// Reads the points `[first, first + out.len())` of `section`, each checked to be on the curve and not at infinity.
    /// Threads: spreads over the rayon pool it is called from, 384 KiB (G1) of scratch a thread. About 1 µs a point and
    /// core.
    /// Errors: as [`Self::read`]; PARAMS_CORRUPT names the first point that is refused. `out` is then undefined.
    /// Panics if `P` isn't the group of the section.
    pub fn read_points<P: Point>(&self, section: Section, first: u64, out: &mut [P]) -> Result<()> {
        assert_eq!(P::BYTES as u64, section.point_bytes(), "section {} is of the other group", section.name());
        out.par_chunks_mut(TASK_POINTS)
            .enumerate()
            .map_init(Vec::new, |bytes, (task, out)| {
                let first = first + (task * TASK_POINTS) as u64;
                bytes.resize(out.len() * P::BYTES, 0);
                let read = self.read(section, first, bytes).and_then(|()| {
                    decode_points(bytes, out).map_err(|(i, why)| point_error(&self.file, section, first + i, why))
                });
                (task, read)
            })
            .filter_map(|(task, read)| read.err().map(|error| (task, error)))
            .min_by_key(|(task, _)| *task)
            .map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Compares the sections' counts with those that `r1cs` asks for. Reads every column of the R1CS once.
    /// Errors: PARAMS_CORRUPT names each section that differs, with both counts.
    pub fn check_counts(&self, r1cs: &R1cs) -> Result<()> {
        let expected = r1cs.query_counts();
        let differing: Vec<_> = Section::ALL
            .into_iter()
            .zip([expected.ic, expected.h, expected.l, expected.a, expected.b, expected.b])
            .filter(|(section, expected)| self.count(*section) != *expected)
            .map(|(section, expected)| {
                format!("{}: expected {expected} points, found {}", section.name(), self.count(section))
            })
            .collect();
        if differing.is_empty() {
            return Ok(());
        }
        let found = format!("those of another circuit: {}", differing.join("; "));
        Err(fault(&self.file, "", None, "the circuit's counts of points", found))
    }

    /// Carries out `check` over the whole file, unless it is remembered for this path, size, modification time and
    /// inode. `progress` gets the percentage done, from 0 to 100 and never falling, from the calling thread; it cancels
    /// by [`ControlFlow::Break`] and is asked every few ms per core. 100 comes only after success.
    /// Threads: spreads over the rayon pool it is called from (digests: one thread); 10 MiB of memory. A subgroup check
    /// takes 20 µs a G1 point and core, a digest 1 s per GiB.
    /// Errors: CANCELLED; PARAMS_CORRUPT; PARAMS_UNKNOWN if the file has no digest to be compared with.
    pub fn verify(
        &self,
        check: SrsCheck,
        cache_dir: Option<&Path>,
        progress: &mut dyn FnMut(u8) -> ControlFlow<()>,
    ) -> Result<()> {
        check::verify(self, check, cache_dir, progress)
    }

    /// Errors: PARAMS_CORRUPT if the file has another size or modification time than when it was opened.
    pub fn check_unchanged(&self) -> Result<()> {
        let stat = self.source.stat().map_err(|error| read_error(&self.file, "", None, &error))?;
        if stat == self.stat {
            return Ok(());
        }
        let say = |stat: FileStat| format!("{} bytes, changed at {}.{:09}", stat.size, stat.mtime_s, stat.mtime_ns);
        Err(fault(&self.file, "", None, say(self.stat), say(stat)))
    }

    /// Reads bytes of the file, whatever section they are of.
    pub(super) fn read_raw(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.source.read_exact_at(out, offset).map_err(|error| self.short_read("", 0, &error))
    }

    pub(super) fn unknown(&self) -> Error {
        Error::ParamsUnknown { file: self.file.clone(), digest: self.vk_digest.clone() }
    }

    fn short_read(&self, section: &'static str, first: u64, error: &std::io::Error) -> Error {
        let index = (!section.is_empty()).then_some(first);
        match self.source.stat() {
            Ok(now) if now.size < self.stat.size => {
                let bytes = |count: u64| format!("{count} bytes");
                fault(&self.file, section, index, bytes(self.stat.size), bytes(now.size))
            }
            _ => read_error(&self.file, section, index, error),
        }
    }
}

impl fmt::Debug for SrsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, stat, layout, vk_digest, .. } = self;
        f.debug_struct("SrsFile")
            .field("file", file)
            .field("stat", stat)
            .field("layout", layout)
            .field("vk_digest", vk_digest)
            .finish_non_exhaustive()
    }
}
