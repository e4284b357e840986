//! The tool from vanilla proofs to proofs that filecoin-proofs accepts, for both PoSts at 2 KiB, and its exit codes.
//! (`scripts/demo.sh` does the same for all kinds; the SRS of the larger circuits takes minutes.)

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::vanilla::Input;
use cuzk::Status;

/// Runs the tool in `dir`; returns its exit code and what it said.
fn cuzk(dir: &Path, arguments: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuzk"));
    command.current_dir(dir).args(arguments.split_whitespace()).env_remove("FIL_PROOFS_PARAMETER_CACHE");
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    (status.code().unwrap_or_else(|| panic!("{arguments}: killed; {said}")), said)
}

fn succeeds(dir: &Path, arguments: &str) -> String {
    let (code, said) = cuzk(dir, arguments);
    assert_eq!(code, 0, "{arguments}: {said}");
    said
}

/// Exit code of a status.
fn code(status: Status) -> i32 {
    10 + status as i32
}

#[track_caller]
fn fails(dir: &Path, arguments: &str, status: Status, says: &str) {
    let (found, said) = cuzk(dir, arguments);
    assert_eq!(found, code(status), "{arguments}: {said}");
    assert!(said.contains(says), "{arguments}: {said}");
}

const SRS: &str = "--params params --allow-unknown-params --cache cache";

#[test]
fn from_vanilla_proofs_to_accepted_proofs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(dir, "gen-vanilla --out . --kind winning,window");
    let said = succeeds(dir, "setup --circuit winningpost-2kib,windowpost-2kib --out params");
    assert!(said.contains("INSECURE"), "{said}");
    for kind in ["winning", "window"] {
        succeeds(dir, &format!("prove --input {kind}.json --out {kind}.proof {SRS}"));
        assert_eq!(fs::read(dir.join(format!("{kind}.proof"))).unwrap().len(), 192);
        let said = succeeds(dir, &format!("verify --input {kind}.json --proof {kind}.proof --params params"));
        assert!(said.contains("accepted by filecoin-proofs"), "{said}");
    }
    wrong_proofs(dir);
    wrong_inputs(dir);
    wrong_params(dir);
}

/// What isn't a proof of this input isn't accepted.
fn wrong_proofs(dir: &Path) {
    let proof = fs::read(dir.join("winning.proof")).unwrap();
    let window = fs::read(dir.join("window.proof")).unwrap();
    let mut flipped = proof.clone();
    flipped[191] ^= 1;
    for (what, bytes) in [("empty", &[][..]), ("short", &proof[..191]), ("flipped", &flipped), ("other", &window)] {
        fs::write(dir.join("wrong.proof"), bytes).unwrap();
        let (found, said) = cuzk(dir, "verify --input winning.json --proof wrong.proof --params params");
        assert_eq!(found, code(Status::Invalid), "{what}: {said}");
    }
}

/// A false vanilla proof is named, and no proof is written.
fn wrong_inputs(dir: &Path) {
    let Input::Post(mut input) = Input::read(&dir.join("winning.json")).unwrap() else { panic!("a PoSt") };
    input.vanilla_proofs[0][200] ^= 1;
    Input::Post(input).write(&dir.join("false.json")).unwrap();
    let arguments = format!("prove --input false.json --out false.proof {SRS}");
    fails(dir, &arguments, Status::Invalid, "vanilla_proofs");
    assert!(!dir.join("false.proof").exists());
    fs::write(dir.join("not.json"), "{}").unwrap();
    fails(dir, &format!("prove --input not.json --out false.proof {SRS}"), Status::Invalid, "not.json");
    assert_eq!(cuzk(dir, "prove").0, 2);
    let synthetic = "gen-vanilla --out . --sectorless --kind porep-synthetic";
    fails(dir, synthetic, Status::Unsupported, "synthetic PoRep without a sector");
    fails(dir, "setup --circuit porep-3kib --out params", Status::Invalid, "winningpost-64gib");
}

/// Unknown, missing and exchanged SRS.
fn wrong_params(dir: &Path) {
    let prove = "prove --input winning.json --out again.proof --cache cache";
    fails(dir, &format!("{prove} --params params"), Status::ParamsUnknown, "isn't one of the network's");
    fails(dir, &format!("{prove} --params nowhere --allow-unknown-params"), Status::ParamsMissing, "nowhere");
    let name = |kind| params_file_name(CircuitId::new(kind, 2 << 10).unwrap());
    fs::create_dir(dir.join("exchanged")).unwrap();
    let window = dir.join("params").join(name(Kind::WindowPoSt));
    fs::copy(window, dir.join("exchanged").join(name(Kind::WinningPoSt))).unwrap();
    let exchanged = format!("{prove} --params exchanged --allow-unknown-params");
    fails(dir, &exchanged, Status::Invalid, "of another circuit");
    assert!(!dir.join("again.proof").exists());
    let said = succeeds(dir, "info --params params");
    assert!(said.lines().any(|line| line.starts_with("winningpost-2kib") && line.contains("unknown")), "{said}");
    let warm = format!("warm --circuit winningpost-2kib --check on-curve {SRS}");
    assert!(succeeds(dir, &warm).contains("R1CS of 90883 rows"));
}
