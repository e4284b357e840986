//! Checks of a whole SRS file: subgroups or digest, with progress, and the memory of those that are done.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use blake2b_simd::State;
use blstrs::{G1Affine, G2Affine};

use super::points::{check_subgroup, Point};
use super::vk::point_error;
use super::{fault, Section, SrsFile};
use crate::error::{Error, Result};
use crate::files::NewFile;

/// How far an SRS file is checked when it is opened. Sizes and the vk are always checked, and back ends check every
/// point that they load to be on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SrsCheck {
    /// Nothing more.
    #[default]
    OnCurve,
    /// Every point of every section, b_g1 included, is on its curve and in the prime-order subgroup.
    Subgroup,
    /// The file's digest is the one in the built-in table.
    Digest,
}

/// Points that are checked between two reports of progress, a thread.
const STEP_POINTS: usize = 512;
/// Bytes that are hashed between two reports of progress.
const STEP_BYTES: usize = 4 << 20;

/// Checks done in this process whose file has no place in a cache directory.
static DONE: Mutex<Option<HashSet<String>>> = Mutex::new(None);

type Report<'a> = &'a mut dyn FnMut(u8) -> ControlFlow<()>;

/// Turns work done into percentages that rise from 0 to 99.
struct Progress<'a> {
    report: Report<'a>,
    done: u64,
    total: u64,
}

/// Where one finished check is remembered.
struct Record {
    /// What has to stand in the file for the check to be known as done.
    text: String,
    path: Option<PathBuf>,
}

pub(super) fn verify(srs: &SrsFile, check: SrsCheck, cache_dir: Option<&Path>, report: Report<'_>) -> Result<()> {
    let record = Record::new(srs, check, cache_dir);
    let mut progress = Progress { report, done: 0, total: 0 };
    if check != SrsCheck::OnCurve && !record.is_done() {
        match check {
            SrsCheck::Digest => verify_digest(srs, network_digest(srs)?, &mut progress)?,
            _ => verify_subgroups(srs, &mut progress)?,
        }
        srs.check_unchanged()?;
        record.remember();
    }
    // All is done, so that there is nothing left to cancel.
    let _ = (progress.report)(100);
    Ok(())
}

fn verify_subgroups(srs: &SrsFile, progress: &mut Progress<'_>) -> Result<()> {
    // ic has been checked with the vk.
    progress.total = Section::ALL[1..].iter().map(|section| srs.count(*section)).sum();
    for section in [Section::H, Section::L, Section::A, Section::BG1] {
        verify_section::<G1Affine>(srs, section, progress)?;
    }
    verify_section::<G2Affine>(srs, Section::BG2, progress)
}

fn verify_section<P: Point>(srs: &SrsFile, section: Section, progress: &mut Progress<'_>) -> Result<()> {
    let step = STEP_POINTS * rayon::current_num_threads();
    let mut points = vec![P::default(); step];
    let count = srs.count(section);
    for first in (0..count).step_by(step) {
        progress.ask()?;
        let points = &mut points[..(count - first).min(step as u64) as usize];
        srs.read_points(section, first, points)?;
        check_subgroup(points).map_err(|(i, why)| point_error(srs.path(), section, first + i, why))?;
        progress.done += points.len() as u64;
    }
    Ok(())
}

fn network_digest(srs: &SrsFile) -> Result<&'static str> {
    Ok(srs.known().ok_or_else(|| srs.unknown())?.params_digest)
}

fn verify_digest(srs: &SrsFile, expected: &str, progress: &mut Progress<'_>) -> Result<()> {
    let size = srs.stat().size;
    progress.total = size;
    let mut hasher = State::new();
    let mut bytes = vec![0; STEP_BYTES];
    for offset in (0..size).step_by(STEP_BYTES) {
        progress.ask()?;
        let bytes = &mut bytes[..(size - offset).min(STEP_BYTES as u64) as usize];
        srs.read_raw(offset, bytes)?;
        hasher.update(bytes);
        progress.done += bytes.len() as u64;
    }
    let found = &hasher.finalize().to_hex()[..expected.len()];
    match found == expected {
        true => Ok(()),
        false => Err(fault(srs.path(), "", None, format!("digest {expected}"), format!("digest {found}"))),
    }
}

impl Progress<'_> {
    /// Reports the percentage and asks whether to go on.
    fn ask(&mut self) -> Result<()> {
        let percent = (self.done * 100 / self.total.max(1)).min(99) as u8;
        match (self.report)(percent) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }
}

impl Record {
    fn new(srs: &SrsFile, check: SrsCheck, cache_dir: Option<&Path>) -> Self {
        let name = match check {
            SrsCheck::OnCurve => "on-curve",
            SrsCheck::Subgroup => "subgroup",
            SrsCheck::Digest => "digest",
        };
        let canonical = fs::canonicalize(srs.path()).unwrap_or_else(|_| srs.path().to_owned());
        let stat = srs.stat();
        let text = format!(
            "cuzk SRS check, version 1\ncheck {name}\npath {canonical:?}\nvk {}\n\
             size {}\nmtime {}.{:09}\ninode {}\ndevice {}\n",
            srs.vk_digest(),
            stat.size,
            stat.mtime_s,
            stat.mtime_ns,
            stat.inode,
            stat.device,
        );
        let key = blake2b_simd::blake2b(format!("{canonical:?}").as_bytes()).to_hex();
        let path = cache_dir.map(|dir| dir.join(format!("srs-{name}-{}.txt", &key[..32])));
        // Bytes without an inode have no identity that could be remembered.
        Record { text: if stat.inode == 0 { String::new() } else { text }, path }
    }

    fn is_done(&self) -> bool {
        if self.text.is_empty() {
            return false;
        }
        let on_disk = |path: &PathBuf| is_own(path) && fs::read(path).is_ok_and(|found| found == self.text.as_bytes());
        self.path.as_ref().is_some_and(on_disk) || self.in_process(|done| done.contains(&self.text))
    }

    fn remember(self) {
        if self.text.is_empty() {
            return;
        }
        match &self.path {
            Some(path) => {
                if let Err(error) = write_record(path, &self.text) {
                    log::warn!("{}: the check of an SRS file is not remembered: {error}", path.display());
                }
            }
            None => {
                self.in_process(|done| done.insert(self.text.clone()));
            }
        }
    }

    fn in_process<R>(&self, look: impl FnOnce(&mut HashSet<String>) -> R) -> R {
        let mut done = DONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        look(done.get_or_insert_with(HashSet::new))
    }
}

/// Whether nobody else can have written a record: cache directories may be shared, and one who plants a record would
/// have a file taken for checked.
fn is_own(path: &Path) -> bool {
    // SAFETY: has no preconditions.
    let user = unsafe { libc::geteuid() };
    fs::metadata(path).is_ok_and(|metadata| [user, 0].contains(&metadata.uid()) && metadata.mode() & 0o022 == 0)
}

/// Another process never reads half a record.
fn write_record(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let (record, mut file) = NewFile::create(path)?;
    // Whatever the umask: a record that others can write doesn't count.
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    file.write_all(text.as_bytes())?;
    record.replace()
}

#[cfg(test)]
mod tests;
