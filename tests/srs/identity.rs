//! Which SRS a file is, and where it is looked for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use cuzk::srs::{ParamDirs, SrsFile, SrsOptions, DEFAULT_PARAM_DIR, PARAM_DIR_ENV};
use cuzk::{Error, Status};

use crate::fixture::{bytes, file, foreign};

#[test]
fn a_vk_that_is_not_the_networks_is_refused_unless_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "own.params", bytes());
    let Error::ParamsUnknown { file, digest } = SrsFile::open(&path, &SrsOptions::default()).unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(file, path);
    let srs = SrsFile::open(&path, &foreign()).unwrap();
    assert_eq!(digest, srs.vk_digest());
    assert_eq!(srs.known(), None);
}

#[test]
fn all_names_of_a_file_have_one_identity() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "own.params", bytes());
    let other = file(dir.path(), "copy.params", bytes());
    symlink(&path, dir.path().join("symlink")).unwrap();
    fs::hard_link(&path, dir.path().join("hard link")).unwrap();
    let roundabout = dir.path().join("..").join(dir.path().file_name().unwrap()).join("own.params");
    let relative = pathdiff(&path);
    let identity = |path: &Path| {
        let stat = SrsFile::open(path, &foreign()).unwrap().stat();
        (stat.device, stat.inode)
    };
    for name in [dir.path().join("symlink"), dir.path().join("hard link"), roundabout, relative] {
        assert_eq!(identity(&name), identity(&path), "{}", name.display());
    }
    assert_ne!(identity(&other), identity(&path));
}

/// `path` relative to the current directory.
fn pathdiff(path: &Path) -> PathBuf {
    let up = std::env::current_dir().unwrap().components().count() - 1;
    let mut relative: PathBuf = std::iter::repeat_n("..", up).collect();
    relative.push(path.strip_prefix("/").unwrap());
    relative
}

#[test]
fn a_search_in_vain_lists_the_directories_and_who_named_them() {
    static ENVIRONMENT: Mutex<()> = Mutex::new(());
    let _alone = ENVIRONMENT.lock().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let no_dir = file(dir.path(), "a file", b"");
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let absent = dir.path().join("absent");
    let message = |dirs: &ParamDirs| {
        let error = dirs.find("v28-x.params").unwrap_err();
        assert_eq!(error.status(), Status::ParamsMissing);
        error.to_string()
    };

    let configured = ParamDirs::new(vec![absent.clone(), no_dir.clone(), empty.clone()]);
    let text = message(&configured);
    for part in ["v28-x.params", "from the configuration", "not a directory"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for dir in [&absent, &no_dir, &empty] {
        assert!(text.contains(&*dir.to_string_lossy()), "{text}");
    }

    std::env::set_var(PARAM_DIR_ENV, &empty);
    let named = ParamDirs::new(vec![]);
    std::env::remove_var(PARAM_DIR_ENV);
    let default = ParamDirs::new(vec![]);
    assert_eq!(named.dirs(), [&*empty]);
    let text = message(&named);
    assert!(text.contains("from FIL_PROOFS_PARAMETER_CACHE") && text.contains(&*empty.to_string_lossy()), "{text}");
    assert_eq!(default.dirs(), [Path::new(DEFAULT_PARAM_DIR)]);
    let text = message(&default);
    assert!(text.contains(DEFAULT_PARAM_DIR) && text.contains("FIL_PROOFS_PARAMETER_CACHE isn't set"), "{text}");

    let found = file(&empty, "v28-x.params", bytes());
    assert_eq!(configured.find("v28-x.params").unwrap(), found);
    let shadow = file(&dir.path().join("empty"), "v28-y.params", bytes());
    assert_eq!(ParamDirs::new(vec![absent, empty]).find("v28-y.params").unwrap(), shadow);
}
