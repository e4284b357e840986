//! What a user may get wrong, and what happens when two run at once or one is killed.

use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, Instant};

use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::Status;

use crate::fixture::{code, fails, start, succeeds, Place, SRS};

fn window_params() -> String {
    params_file_name(CircuitId::new(Kind::WindowPoSt, 2 << 10).unwrap())
}

#[test]
fn wrong_usage_has_its_own_exit_code() {
    let place = Place::new();
    for arguments in ["", "prove", "prove --input a --out", "frobnicate", "setup --circuit a --out b --threads 99999"] {
        assert_eq!(place.cuzk(arguments).0, 2, "{arguments}");
    }
    assert_eq!(place.cuzk("--help").0, 0);
    fails(&place, "setup --circuit porep-3kib --out made", Status::Invalid, "winningpost-64gib");
    fails(&place, "warm --circuit porep --cache cache", Status::Invalid, "winningpost-64gib");
    assert!(!place.join("made").exists(), "names are checked before anything is made");
}

#[test]
fn what_is_no_input_is_named() {
    let place = Place::new();
    File::create(place.join("huge.json")).unwrap().set_len(2 << 30).unwrap();
    fs::write(place.join("not.json"), "{}").unwrap();
    fs::write(place.join("cut.json"), &fs::read(place.join("window.json")).unwrap()[..1000]).unwrap();
    for (name, says) in [
        ("absent.json", "No such file"),
        ("params", "directory"),
        ("not.json", "no file of gen-vanilla"),
        ("cut.json", "no file of gen-vanilla"),
        ("huge.json", "more than"),
    ] {
        for command in ["prove --out proof", "verify --proof proof", "bench c2"] {
            let srs = if command.starts_with("verify") { "--params params" } else { SRS };
            fails(&place, &format!("{command} --input {name} {srs}"), Status::Invalid, says);
            let (_, said) = place.cuzk(&format!("{command} --input {name} {srs}"));
            assert!(said.contains(name) && said.len() < 600, "{said}");
        }
    }
    fails(&place, "verify --input window.json --proof absent --params params", Status::Invalid, "absent");
}

#[test]
fn an_output_that_cannot_be_written_costs_no_proof() {
    let place = Place::new();
    fs::write(place.join("file"), b"").unwrap();
    for out in ["nowhere/proof", "params", "file/proof", "/", "."] {
        // The SRS isn't looked at: its directory doesn't exist.
        let arguments = format!("prove --input window.json --out {out} --params absent");
        fails(&place, &arguments, Status::Invalid, "out: ");
    }
    for command in ["setup --circuit windowpost-2kib", "gen-vanilla --kind winning"] {
        fails(&place, &format!("{command} --out file/below"), Status::Invalid, "file/below");
    }
    // An older proof stays until the new one is there.
    fs::write(place.join("proof"), b"older").unwrap();
    fails(&place, "prove --input window.json --out proof --params absent", Status::ParamsMissing, "absent");
    assert_eq!(fs::read(place.join("proof")).unwrap(), b"older");
    succeeds(&place, &format!("prove --input window.json --out proof {SRS}"));
    assert_eq!(fs::read(place.join("proof")).unwrap().len(), 192);
    assert!(!place.names(".").iter().any(|name| name.ends_with(".tmp")), "{:?}", place.names("."));
    succeeds(&place, &format!("prove --input window.json --out /dev/null {SRS}"));
}

#[test]
fn a_pipe_is_read_a_closed_one_ends_quietly_and_a_full_disk_with_a_code() {
    let place = Place::new();
    let shell = |line: &str| {
        let line = line.replace("cuzk", env!("CARGO_BIN_EXE_cuzk"));
        Command::new("bash").args(["-c", &line]).current_dir(&*place).output().unwrap()
    };
    let output = shell(&format!("cat window.json | cuzk prove --input /dev/stdin --out proof {SRS}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = shell("set -o pipefail; cuzk info --params params | head -1 > /dev/null; true");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    let output = shell("cuzk info --params params > /dev/full");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code(Status::Internal)), "{said}");
    assert!(said.starts_with("cuzk: ") && said.contains("stdout: "), "{said}");
    let output = shell("cuzk info --params params > /dev/full 2>&1");
    assert_eq!(output.status.code(), Some(code(Status::Internal)), "stderr is full, too");
    // filecoin-proofs panics over this one.
    let output =
        shell("FIL_PROOFS_ROWS_TO_DISCARD=abc cuzk verify --input window.json --proof window.json --params params");
    assert_eq!(output.status.code(), Some(code(Status::Internal)), "{}", String::from_utf8_lossy(&output.stderr));
    // An SRS is never a pipe, and nobody waits for its writer.
    fs::create_dir(place.join("pipes")).unwrap();
    assert!(Command::new("mkfifo").arg(place.join("pipes").join(window_params())).status().unwrap().success());
    let prove = "prove --input window.json --out proof --params pipes --allow-unknown-params --cache cache";
    fails(&place, prove, Status::ParamsCorrupt, "found a FIFO");
}

#[test]
fn a_verifying_key_that_is_missing_or_damaged_is_no_false_proof() {
    let place = Place::new();
    fs::create_dir(place.join("keys")).unwrap();
    fs::write(place.join("proof"), [0; 192]).unwrap();
    let verify = "verify --input window.json --proof proof --params keys";
    fails(&place, verify, Status::ParamsMissing, "keys");
    let name = window_params().replace(".params", ".vk");
    let mut key = fs::read(place.join("params").join(&name)).unwrap();
    key[500] ^= 1;
    fs::write(place.join("keys").join(&name), &key).unwrap();
    fails(&place, verify, Status::ParamsCorrupt, "gamma_g2");
    key.pop();
    fs::write(place.join("keys").join(&name), &key).unwrap();
    fails(&place, verify, Status::ParamsCorrupt, "expected");
}

#[test]
fn what_stands_beside_the_results_is_left_alone() {
    let place = Place::new();
    fs::create_dir_all(place.join("out/sectors")).unwrap();
    fs::write(place.join("out/sectors/mine"), b"precious").unwrap();
    succeeds(&place, "gen-vanilla --out out --kind winning");
    assert_eq!(fs::read(place.join("out/sectors/mine")).unwrap(), b"precious");
    assert_eq!(place.names("out"), ["sectors", "winning.json"]);
    let synthetic = "gen-vanilla --out out --sectorless --kind porep-synthetic";
    fails(&place, synthetic, Status::Unsupported, "synthetic PoRep without a sector");
    fails(&place, "gen-vanilla --out out --size 32gib --kind porep", Status::Invalid, "--sectorless");
    assert_eq!(place.names("out"), ["sectors", "winning.json"]);
}

/// The SRS and its key stand in `dir`, whole, and nothing else but what a killed process left.
fn assert_set_up(place: &Place, dir: &str) {
    let path = place.join(dir).join(window_params());
    let srs = SrsFile::open(&path, &SrsOptions { allow_unknown_params: true, ..SrsOptions::default() }).unwrap();
    assert_eq!(fs::read(path.with_extension("vk")).unwrap(), srs.vk().to_bytes());
    let reference = place.join("params").join(window_params());
    assert!(fs::read(&path).unwrap() == fs::read(reference).unwrap(), "the file of the same seed");
}

#[test]
fn two_setups_at_once_make_one_srs() {
    let place = Place::new();
    let setup = "setup --circuit windowpost-2kib --out made";
    for child in [start(&place, setup), start(&place, setup)] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_set_up(&place, "made");
    assert_eq!(place.names("made").len(), 2, "{:?}", place.names("made"));
    // A key that is missing is made again, one of another SRS is refused.
    let key = place.join("made").join(window_params()).with_extension("vk");
    fs::remove_file(&key).unwrap();
    assert!(succeeds(&place, setup).contains("exists"));
    assert_set_up(&place, "made");
    let other = fs::read_dir(place.join("params")).unwrap().map(|entry| entry.unwrap().path());
    let other =
        other.filter(|path| path.extension().is_some_and(|e| e == "vk") && !path.ends_with(key.file_name().unwrap()));
    fs::copy(other.last().unwrap(), &key).unwrap();
    fails(&place, setup, Status::Invalid, ".vk");
}

#[test]
fn a_killed_setup_leaves_no_srs_and_can_be_run_again() {
    let place = Place::new();
    let setup = "setup --circuit windowpost-2kib --out made";
    let mut child = start(&place, setup);
    // Killed while it writes: the temporary file is there, the SRS isn't.
    let begun = Instant::now();
    while !(place.join("made").exists() && place.names("made").iter().any(|name| name.ends_with(".tmp"))) {
        assert!(begun.elapsed() < Duration::from_secs(300), "it never began to write");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if !place.join("made").join(window_params()).exists() {
        assert_eq!(place.names("made").len(), 1, "{:?}", place.names("made"));
    }
    assert!(succeeds(&place, setup).contains("windowpost-2kib"));
    assert_set_up(&place, "made");
}

#[test]
fn two_that_record_at_once_share_a_cache() {
    let place = Place::new();
    let warm = format!("warm --circuit windowpost-2kib --check subgroup {SRS}");
    for child in [start(&place, &warm), start(&place, &warm)] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let kept = place.names("cache");
    assert!(kept.len() == 2 && kept[0].starts_with("r1cs-windowpost-2kib"), "{kept:?}");
    assert!(kept[1].starts_with("srs-subgroup-"), "{kept:?}");
    // A damaged one is named, and recorded anew.
    let path = place.join("cache").join(&kept[0]);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(succeeds(&place, &warm).contains(&kept[0]));
    assert!(fs::read(&path).unwrap() == whole);
    // One that can't be kept costs a recording only.
    fs::write(place.join("no-dir"), b"").unwrap();
    let elsewhere = format!("prove --input window.json --out proof {SRS}").replace("--cache cache", "--cache no-dir");
    assert!(succeeds(&place, &elsewhere).contains("will be recorded again"));
}
