//! Where a result goes: tried before the work begins, so that a wrong path costs nothing.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use cuzk::files::{self, NewFile};
use cuzk::Result;

/// A file that appears when it is whole, in the place of an older one; or whatever else takes bytes, like /dev/stdout.
pub struct Output<'a> {
    path: &'a Path,
    is_file: bool,
}

impl<'a> Output<'a> {
    /// Tries whether `path` can be written, and leaves nothing there. Errors: INVALID if it can't.
    pub fn at(path: &'a Path) -> Result<Self> {
        let is_file = fs::metadata(path).map_or(true, |metadata| metadata.is_file() || metadata.is_dir());
        if path.is_dir() || path.file_name().is_none() {
            return Err(cuzk::Error::invalid("out", format!("{}: is a directory", path.display())));
        }
        let output = Output { path, is_file };
        // A pipe isn't tried: whoever reads from it would take that for its end.
        if is_file {
            output.open().map_err(|error| files::error("out", path, &error))?;
        }
        Ok(output)
    }

    fn open(&self) -> io::Result<(Option<NewFile>, File)> {
        match self.is_file {
            true => NewFile::create(self.path).map(|(new, file)| (Some(new), file)),
            false => OpenOptions::new().write(true).open(self.path).map(|file| (None, file)),
        }
    }

    /// Writes all of it. Errors: INVALID, INTERNAL (disk).
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let write = |(new, mut file): (Option<NewFile>, File)| {
            file.write_all(bytes)?;
            new.map_or(Ok(()), NewFile::replace)
        };
        self.open().and_then(write).map_err(|error| files::error("out", self.path, &error))
    }
}

/// Makes a directory. Errors: INVALID if it can't be made.
pub fn make_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| files::error("out", path, &error))
}

/// Prints a line on stdout. Errors: INTERNAL, if it can't be written, e.g. to a full disk.
pub fn line(text: fmt::Arguments<'_>) -> Result<()> {
    writeln!(io::stdout(), "{text}").map_err(|error| cuzk::Error::Internal(format!("stdout: {error}")))
}

/// `println!` that gives an error where that panics.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

/// Prints a line on stderr, if it can be printed.
pub fn note(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{text}");
}
