//! Where the bytes of an SRS come from: a file read with `pread`, or bytes in memory.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::fault;
use crate::error::{Error, Result};

/// What the file system says of a file: enough to tell it from another and from its own earlier content. Bytes that
/// have no identity have inode 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FileStat {
    /// Device and inode are the same for every name of a file: symlinks, relative paths, hard links.
    pub device: u64,
    /// See `device`.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Last change of the content, in seconds since 1970.
    pub mtime_s: i64,
    /// Nanoseconds behind `mtime_s`.
    pub mtime_ns: i64,
}

/// Random access to the bytes of an SRS. Thread-safe.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// Size and identity as they are now.
    fn stat(&self) -> io::Result<FileStat>;

    /// Fills `out` with the bytes `[offset, offset + out.len())`. Errors: `UnexpectedEof` if they end before.
    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for File {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(FileStat::from(&self.metadata()?))
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, out, offset)
    }
}

impl ReadAt for &[u8] {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(FileStat { size: self.len() as u64, ..FileStat::default() })
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|first| self.get(first..)?.get(..out.len()))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn stat(&self) -> io::Result<FileStat> {
        self.as_slice().stat()
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(out, offset)
    }
}

impl From<&Metadata> for FileStat {
    fn from(metadata: &Metadata) -> Self {
        FileStat {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mtime_s: metadata.mtime(),
            mtime_ns: metadata.mtime_nsec(),
        }
    }
}

/// Opens a regular file for reading. Never blocks on what stands in its place: the type is looked at before the file is
/// opened, since opening a device can act on it, and again behind `O_NONBLOCK`, since it can be replaced in between.
pub(crate) fn open_regular(path: &Path) -> Result<File> {
    let refuse_other_types = |metadata: &Metadata| {
        if metadata.is_file() {
            return Ok(());
        }
        Err(fault(path, "", None, "a regular file", type_name(metadata)))
    };
    refuse_other_types(&fs::metadata(path).map_err(|error| open_error(path, &error))?)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)
        .map_err(|error| open_error(path, &error))?;
    refuse_other_types(&file.metadata().map_err(|error| open_error(path, &error))?)?;
    Ok(file)
}

fn type_name(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

fn open_error(path: &Path, error: &io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) => Error::ParamsMissing(format!("{}: {error}", path.display())),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Error::Internal(format!("{}: {error}", path.display())),
        _ => fault(path, "", None, "a readable file", error.to_string()),
    }
}
