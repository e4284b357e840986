//! Errors of files.

use std::io;
use std::path::Path;

use cuzk::Error;

/// A file or directory that couldn't be read, written or made.
pub fn disk(path: &Path, error: &io::Error) -> Error {
    Error::Internal(format!("{}: {error}", path.display()))
}
