//! The tool from vanilla proofs to proofs that filecoin-proofs accepts, for both PoSts at 2 KiB, what it says of wrong
//! inputs, and how it ends. (`scripts/demo.sh` does the same for all kinds; the SRS of the larger circuits takes minutes.)

mod clumsy;
mod fixture;
mod hostile;
mod params;

use std::fs;

use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::vanilla::{Input, PostInput};
use cuzk::Status;
use fixture::{code, fails, start, succeeds, Place, SRS};

#[test]
fn from_vanilla_proofs_to_accepted_proofs() {
    let place = Place::new();
    for kind in ["winning", "window"] {
        succeeds(&place, &format!("prove --input {kind}.json --out {kind}.proof {SRS}"));
        assert_eq!(fs::read(place.join(&format!("{kind}.proof"))).unwrap().len(), 192);
        let said = succeeds(&place, &format!("verify --input {kind}.json --proof {kind}.proof --params params"));
        assert!(said.contains("accepted by filecoin-proofs"), "{said}");
    }
    // What isn't a proof of this input isn't accepted.
    let proof = fs::read(place.join("winning.proof")).unwrap();
    let window = fs::read(place.join("window.proof")).unwrap();
    let mut flipped = proof.clone();
    flipped[191] ^= 1;
    for (what, bytes) in [("empty", &[][..]), ("short", &proof[..191]), ("flipped", &flipped), ("other", &window)] {
        fs::write(place.join("wrong.proof"), bytes).unwrap();
        let (found, said) = place.cuzk("verify --input winning.json --proof wrong.proof --params params");
        assert_eq!(found, code(Status::Invalid), "{what}: {said}");
    }
}

#[test]
fn two_processes_at_once_make_different_proofs_of_one_input() {
    let place = Place::new();
    let prove = |out: &str| start(&place, &format!("prove --input window.json --out {out} {SRS}"));
    let both = [prove("one.proof"), prove("two.proof")];
    for child in both {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let [one, two] = ["one.proof", "two.proof"].map(|name| fs::read(place.join(name)).unwrap());
    // A, B and C all differ.
    for part in [0..48, 48..144, 144..192] {
        assert_ne!(one[part.clone()], two[part]);
    }
    for name in ["one.proof", "two.proof"] {
        succeeds(&place, &format!("verify --input window.json --proof {name} --params params"));
    }
}

/// A false vanilla proof is named, and no proof is written.
#[test]
fn a_false_input_is_named_and_gives_no_proof() {
    let place = Place::new();
    let Input::Post(mut input) = Input::read(&place.join("winning.json")).unwrap() else { panic!("a PoSt") };
    input.vanilla_proofs[0][200] ^= 1;
    Input::Post(input).write(&place.join("false.json")).unwrap();
    let arguments = format!("prove --input false.json --out false.proof {SRS}");
    fails(&place, &arguments, Status::Invalid, "vanilla_proofs");
    assert!(!place.join("false.proof").exists());
    // What `verify` would be told of the sectors.
    let Input::Post(input) = Input::read(&place.join("window.json")).unwrap() else { panic!("a PoSt") };
    let mut others = [(); 3].map(|()| input.sectors.clone());
    others[0].clear();
    others[1][0].sector += 1;
    others[2][0].comm_r[0] ^= 1;
    for sectors in others {
        Input::Post(PostInput { sectors, ..input.clone() }).write(&place.join("false.json")).unwrap();
        fails(&place, &arguments, Status::Invalid, "sectors");
    }
    assert!(!place.join("false.proof").exists());
}

#[test]
fn unknown_missing_and_exchanged_srs() {
    let place = Place::new();
    let prove = "prove --input winning.json --out again.proof --cache cache";
    fails(&place, &format!("{prove} --params params"), Status::ParamsUnknown, "--allow-unknown-params");
    fails(&place, &format!("{prove} --params nowhere --allow-unknown-params"), Status::ParamsMissing, "nowhere");
    let name = |kind| params_file_name(CircuitId::new(kind, 2 << 10).unwrap());
    fs::create_dir(place.join("exchanged")).unwrap();
    for (of, at, input) in
        [(Kind::WindowPoSt, Kind::WinningPoSt, "winning.json"), (Kind::WinningPoSt, Kind::WindowPoSt, "window.json")]
    {
        fs::copy(place.join("params").join(name(of)), place.join("exchanged").join(name(at))).unwrap();
        let prove = format!("prove --input {input} --out again.proof --cache cache --params exchanged");
        let exchanged = format!("{prove} --allow-unknown-params");
        fails(&place, &exchanged, Status::ParamsCorrupt, "of another circuit: ic: expected");
    }
    assert!(!place.join("again.proof").exists());
}

#[test]
fn info_and_warm_say_what_is_there() {
    let place = Place::new();
    let said = succeeds(&place, "info --params params");
    let line = |name: &str| said.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{said}"));
    assert!(line("winningpost-2kib").contains("unknown"), "{said}");
    // PoRep 32 GiB: ten partitions, its SRS of 44 GiB and the R1CS on disk, not found here.
    let words: Vec<_> = line("porep-32gib").split_whitespace().collect();
    assert_eq!((words[1], &words[4..6]), ("10", &["not", "found"][..]), "{said}");
    assert!((45_000..46_500).contains(&words[3].parse::<u64>().unwrap()), "{said}");
    assert_eq!(said.lines().filter(|line| line.ends_with(".params")).count(), 20, "{said}");

    let warm = format!("warm --circuit winningpost-2kib,windowpost-2kib {SRS}");
    let said = succeeds(&place, &format!("{warm} --check identity"));
    assert!(said.contains("R1CS of 90883 rows") && said.contains("is unknown"), "{said}");
    fails(&place, &warm, Status::Invalid, "add --check subgroup");
    let nowhere = "--params params --allow-unknown-params --cache winning.json";
    let nowhere = format!("warm --circuit winningpost-2kib --check identity {nowhere}");
    fails(&place, &nowhere, Status::Invalid, "can't be written");
    let kept = place.names("cache");
    assert!(kept.len() == 2 && kept.iter().all(|name| name.starts_with("r1cs-")), "{kept:?}");
}

#[test]
fn bench_names_machine_and_phases() {
    let place = Place::new();
    for (what, phase) in [("c2", "synthesis and proof"), ("synth", "synthesis")] {
        let said = succeeds(&place, &format!("bench {what} --input window.json --runs 1 {SRS}"));
        for part in ["windowpost-2kib, cuzk ", "Linux", "SRS load", "decode and check", phase] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
