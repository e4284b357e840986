//! The tool, inputs and SRS of both PoSts at 2 KiB, and a directory for each test.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use cuzk::Status;
use tempfile::TempDir;

/// Options that name the SRS files and the cache of a [`Place`].
pub const SRS: &str = "--params params --allow-unknown-params --cache cache";

/// Inputs of both kinds and `params`, made once for all tests; never changed.
fn made() -> &'static Path {
    static MADE: OnceLock<TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        for arguments in [
            "gen-vanilla --out . --kind winning,window",
            "setup --circuit winningpost-2kib,windowpost-2kib --out params",
        ] {
            let (code, said) = run(dir.path(), arguments);
            assert_eq!(code, 0, "{arguments}: {said}");
            assert!(arguments.starts_with("gen") || said.contains("INSECURE"), "{said}");
        }
        dir
    })
    .path()
}

/// A test's own directory, with the inputs in it and a link to the SRS files.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        for name in ["winning.json", "window.json"] {
            std::fs::copy(made().join(name), place.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(made().join("params"), place.join("params")).unwrap();
        place
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the tool here; its exit code and what it said.
    pub fn cuzk(&self, arguments: &str) -> (i32, String) {
        run(self, arguments)
    }

    /// Names in a directory, hidden ones too.
    pub fn names(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.join(dir)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

pub fn command(dir: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.current_dir(dir).args(arguments.split_whitespace());
    command.env_remove("FIL_PROOFS_PARAMETER_CACHE").env_remove("RUST_LOG");
    command
}

/// Exit code, and standard output before standard error.
pub fn said(output: Output) -> (i32, String) {
    let Output { status, stdout, stderr } = output;
    let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    (status.code().unwrap_or_else(|| panic!("killed: {status}; {said}")), said)
}

fn run(dir: &Path, arguments: &str) -> (i32, String) {
    said(command(dir, arguments).output().unwrap())
}

pub fn start(dir: &Path, arguments: &str) -> Child {
    command(dir, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
pub fn succeeds(place: &Place, arguments: &str) -> String {
    let (code, said) = place.cuzk(arguments);
    assert_eq!(code, 0, "{arguments}: {said}");
    said
}

/// Exit code of a status.
pub fn code(status: Status) -> i32 {
    10 + status as i32
}

#[track_caller]
pub fn fails(place: &Place, arguments: &str, status: Status, says: &str) {
    let (found, said) = place.cuzk(arguments);
    assert_eq!(found, code(status), "{arguments}: {said}");
    assert!(said.contains(says), "{arguments}: {said}");
    assert!(!said.contains("panicked"), "{arguments}: {said}");
}
