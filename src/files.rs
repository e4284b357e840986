//! Files that appear whole or not at all, inputs of bounded size, and the errors of both.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result};

/// A temporary file that wasn't written to for so long belongs to a writer that died.
const STALE: Duration = Duration::from_secs(3600);

/// A file that is being written under a temporary name beside its own. Readers see none or a whole one; dropping it
/// unfinished removes it. What a writer that was killed left is removed by the next one of the same file.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
}

impl NewFile {
    /// Starts the file that is to stand at `path`, and opens it for writing.
    pub fn create(path: &Path) -> io::Result<(Self, File)> {
        remove_stale(path);
        let temporary = path.with_file_name(format!("{}{}.tmp", prefix(path), unique()));
        let file = File::create_new(&temporary)?;
        Ok((NewFile { path: path.to_owned(), temporary }, file))
    }

    /// Gives it its name in the place of whatever file stands there. The content must have been flushed before.
    pub fn replace(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        self.flush_directory()
    }

    /// Gives it its name, unless something has it. The content must have been flushed before.
    pub fn publish(self) -> io::Result<()> {
        // A link, since a rename would replace what stands there. The temporary name goes with `self`.
        fs::hard_link(&self.temporary, &self.path)?;
        self.flush_directory()
    }

    fn flush_directory(&self) -> io::Result<()> {
        File::open(directory(&self.path))?.sync_all()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Nothing to be done if it fails: no reader looks at temporary names.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// What names of temporary files for `path` begin with.
fn prefix(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

/// A text that no other call has, in this process, in another, or in one with its number: in containers all are 1.
pub fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}.{}.{nanos}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what dead writers left of this file. Others' faults in the directory are none of ours.
fn remove_stale(path: &Path) {
    let prefix = prefix(path);
    for entry in fs::read_dir(directory(path)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(&prefix) || !name.ends_with(".tmp") {
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.ok().and_then(|at| at.elapsed().ok()).unwrap_or_default() > STALE {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Reads a file of at most `max` bytes, or a pipe. Errors: INVALID naming `field` (nothing there, a directory, no
/// permission, more bytes), INTERNAL (disk).
pub fn read(field: &'static str, path: &Path, max: u64) -> Result<Vec<u8>> {
    let failed = |io: io::Error| error(field, path, &io);
    let file = File::open(path).map_err(failed)?;
    let too_long = || Error::invalid(field, format!("{}: more than {max} bytes", path.display()));
    // Before anything is read: a pipe's length is 0, and a file that grows meets the limit below.
    if file.metadata().map_err(failed)?.len() > max {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > max {
        return Err(too_long());
    }
    Ok(bytes)
}

/// A failed operation on a file. One that can't be opened or created is the caller's fault, INVALID; one that can't be
/// read or written on is the system's, INTERNAL.
pub fn error(field: &'static str, path: &Path, error: &io::Error) -> Error {
    use io::ErrorKind::{
        AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied,
        ReadOnlyFilesystem,
    };
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        AlreadyExists | InvalidFilename | InvalidInput | IsADirectory | NotADirectory | NotFound | PermissionDenied
        | ReadOnlyFilesystem => Error::invalid(field, text),
        _ => Error::Internal(text),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::error::Status;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let (new, mut file) = NewFile::create(&path).unwrap();
        file.write_all(b"one").unwrap();
        assert!(!path.exists());
        new.publish().unwrap();
        assert_eq!((names(dir.path()), fs::read(&path).unwrap()), (vec!["a".into()], b"one".to_vec()));

        let (second, _) = NewFile::create(&path).unwrap();
        assert_eq!(second.publish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let (third, mut file) = NewFile::create(&path).unwrap();
        file.write_all(b"three").unwrap();
        third.replace().unwrap();
        drop(NewFile::create(&path).unwrap());
        assert_eq!((names(dir.path()), fs::read(&path).unwrap()), (vec!["a".into()], b"three".to_vec()));
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_when_it_is_old_and_of_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let left = |name: &str, age_s| {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
        };
        // This process's number, as every process in a container may have it.
        left(&format!(".a.{}.0.0.tmp", process::id()), 7200);
        left(".a.1.2.3.tmp", 60);
        left(".b.1.2.3.tmp", 7200);
        left("a.1.2.3.tmp", 7200);
        NewFile::create(&path).unwrap().0.replace().unwrap();
        assert_eq!(names(dir.path()), [".a.1.2.3.tmp", ".b.1.2.3.tmp", "a", "a.1.2.3.tmp"]);
    }

    #[test]
    fn inputs_have_a_largest_size_whatever_they_come_from() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, [7; 10]).unwrap();
        assert_eq!(read("input", &path, 10).unwrap(), [7; 10]);
        for (path, max, says) in [
            (&*path, 9, "more than 9 bytes"),
            (Path::new("/dev/zero"), 1000, "more than 1000 bytes"),
            (dir.path(), 1 << 20, "directory"),
            (Path::new("/nonexistent"), 10, "No such file"),
            (Path::new("a\0b"), 10, "NUL byte"),
        ] {
            let error = read("input", path, max).unwrap_err();
            assert_eq!(error.status(), Status::Invalid, "{error}");
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
