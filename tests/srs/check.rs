//! Checks of a whole file: progress, cancelling, and how long they are remembered.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cuzk::srs::{FileStat, ReadAt, Section, SrsCheck, SrsFile, SrsOptions};
use cuzk::{Error, Status};

use crate::fixture::{bytes, file, foreign, open_bytes, points_of};

/// A file that counts what is read of it.
#[derive(Debug)]
struct Counting {
    file: File,
    reads: Arc<AtomicUsize>,
}

impl ReadAt for Counting {
    fn stat(&self) -> io::Result<FileStat> {
        self.file.stat()
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        ReadAt::read_exact_at(&self.file, out, offset)
    }
}

/// Checks the subgroups in a new opening of `path`; whether the file was read for it.
fn reads_when_verified(path: &Path, cache_dir: Option<&Path>) -> bool {
    let reads = Arc::new(AtomicUsize::new(0));
    let source = Counting { file: File::open(path).unwrap(), reads: reads.clone() };
    let srs = SrsFile::from_source(path, Box::new(source), &foreign()).unwrap();
    let opened = reads.load(Ordering::Relaxed);
    srs.verify(SrsCheck::Subgroup, cache_dir, &mut |_| ControlFlow::Continue(())).unwrap();
    reads.load(Ordering::Relaxed) > opened
}

fn touch(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.set_modified(modified + Duration::from_nanos(1)).unwrap();
}

#[test]
fn a_check_is_done_once_per_file_until_the_file_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    for cache_dir in [Some(&*cache), None] {
        let path = file(dir.path(), "own.params", bytes());
        assert!(reads_when_verified(&path, cache_dir));
        assert!(!reads_when_verified(&path, cache_dir), "remembered");
        touch(&path);
        assert!(reads_when_verified(&path, cache_dir), "touched");
        assert!(!reads_when_verified(&path, cache_dir));
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes()).unwrap();
        assert!(reads_when_verified(&path, cache_dir), "another file under its name");
        let copy = file(dir.path(), "copy.params", bytes());
        assert!(reads_when_verified(&copy, cache_dir), "another file with its bytes");
        fs::remove_file(copy).unwrap();
    }
    let records: Vec<PathBuf> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(records.len(), 2, "one per path, none temporary: {records:?}");
}

#[test]
fn a_damaged_record_or_an_unusable_cache_directory_costs_a_new_check_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "own.params", bytes());
    let cache = dir.path().join("cache");
    assert!(reads_when_verified(&path, Some(&cache)));
    let record = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let text = fs::read(&record).unwrap();
    fs::write(&record, &text[..text.len() - 2]).unwrap();
    assert!(reads_when_verified(&path, Some(&cache)));
    assert_eq!(fs::read(&record).unwrap(), text, "written anew");
    assert!(!reads_when_verified(&path, Some(&cache)));
    for mode in [0o664, 0o646] {
        fs::set_permissions(&record, fs::Permissions::from_mode(mode)).unwrap();
        assert!(reads_when_verified(&path, Some(&cache)), "anyone may have written it");
        assert!(!reads_when_verified(&path, Some(&cache)));
    }

    let no_dir = file(dir.path(), "a file", b"");
    assert!(reads_when_verified(&path, Some(&no_dir)));
    assert!(reads_when_verified(&path, Some(&no_dir)), "nothing could be remembered there");
}

#[test]
fn open_carries_out_the_check_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let cache_dir = dir.path().join("cache");
    let mut content = bytes().to_vec();
    let at = points_of(Section::BG1).start + 100;
    content[at] ^= 1;
    let path = file(dir.path(), "own.params", &content);
    let options = SrsOptions { check: SrsCheck::Subgroup, cache_dir: Some(cache_dir.clone()), ..foreign() };
    SrsFile::open(&path, &foreign()).expect("nothing loads b_g1");
    let Error::ParamsCorrupt(fault) = SrsFile::open(&path, &options).unwrap_err() else { panic!("another error") };
    assert_eq!((fault.section, fault.index), ("b_g1", Some(1)));
    assert!(!cache_dir.exists(), "a failure is not remembered");
    fs::write(&path, bytes()).unwrap();
    SrsFile::open(&path, &options).unwrap();
}

#[test]
fn progress_rises_from_0_to_100() {
    let srs = open_bytes(bytes()).unwrap();
    let mut seen = Vec::new();
    srs.verify(SrsCheck::Subgroup, None, &mut |percent| {
        seen.push(percent);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!((seen.first(), seen.last()), (Some(&0), Some(&100)));
    assert!(seen.len() > 4 && seen.is_sorted(), "{seen:?}");
}

#[test]
fn a_check_can_be_cancelled_and_is_then_not_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "own.params", bytes());
    let srs = SrsFile::open(&path, &foreign()).unwrap();
    for asked in 0..3 {
        let mut countdown = asked;
        let cancelled = srs.verify(SrsCheck::Subgroup, None, &mut |percent| {
            assert_ne!(percent, 100);
            countdown -= 1;
            if countdown < 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(cancelled.unwrap_err().status(), Status::Cancelled);
    }
    assert!(reads_when_verified(&path, None));
}

#[test]
fn a_file_that_changes_while_it_is_checked_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "own.params", bytes());
    File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let srs = SrsFile::open(&path, &foreign()).unwrap();
    let verified = srs.verify(SrsCheck::Subgroup, None, &mut |percent| {
        if percent == 0 {
            touch(&path);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(verified.unwrap_err().status(), Status::ParamsCorrupt);
    assert!(reads_when_verified(&path, None));
}

#[test]
fn a_foreign_file_has_no_digest_to_compare_with() {
    let srs = open_bytes(bytes()).unwrap();
    let verified = srs.verify(SrsCheck::Digest, None, &mut |_| ControlFlow::Continue(()));
    assert_eq!(verified.unwrap_err().status(), Status::ParamsUnknown);
}
