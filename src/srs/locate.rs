//! Where SRS files are looked for.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::error::{Error, Result};

/// Environment variable that names the directory of SRS files, as for filecoin-proofs.
pub const PARAM_DIR_ENV: &str = "FIL_PROOFS_PARAMETER_CACHE";

/// The directory of SRS files if neither the caller nor the environment names one.
pub const DEFAULT_PARAM_DIR: &str = "/var/tmp/filecoin-proof-parameters";

/// Directories of SRS files, searched in order, and who named them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamDirs {
    dirs: Vec<PathBuf>,
    origin: &'static str,
}

impl ParamDirs {
    /// `dirs`, or, if there are none, the one that [`PARAM_DIR_ENV`] names, or [`DEFAULT_PARAM_DIR`].
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        if !dirs.is_empty() {
            return ParamDirs { dirs, origin: "from the configuration" };
        }
        match env::var_os(PARAM_DIR_ENV).filter(|dir| !dir.is_empty()) {
            Some(dir) => ParamDirs { dirs: vec![dir.into()], origin: "from FIL_PROOFS_PARAMETER_CACHE" },
            None => ParamDirs {
                dirs: vec![DEFAULT_PARAM_DIR.into()],
                origin: "the default, since FIL_PROOFS_PARAMETER_CACHE isn't set",
            },
        }
    }

    /// The directories in the order of search.
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// Path of the first file with this name, whatever its type.
    /// Errors: PARAMS_MISSING lists every directory with what was found there, and who named them.
    pub fn find(&self, file_name: &str) -> Result<PathBuf> {
        let mut searched = Vec::new();
        for dir in &self.dirs {
            let path = dir.join(file_name);
            match fs::symlink_metadata(&path) {
                Ok(_) => return Ok(path),
                Err(error) => {
                    let what = match fs::metadata(dir) {
                        Ok(metadata) if !metadata.is_dir() => "not a directory".to_owned(),
                        Ok(_) => error.to_string(),
                        Err(error) => format!("directory: {error}"),
                    };
                    searched.push(format!("{} ({what})", dir.display()));
                }
            }
        }
        let (searched, origin) = (searched.join(", "), self.origin);
        Err(Error::ParamsMissing(format!("{file_name}, searched in {searched}; {origin}")))
    }
}
