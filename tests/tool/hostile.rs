//! Hostile content, small stacks, and what is logged.

use std::fs;
use std::process::Command;

use base64::{engine::general_purpose::STANDARD, Engine};
use cuzk::vanilla::{samples_2kib, Input, PorepInput};
use cuzk::Status;

use crate::fixture::{code, command, said, succeeds, Place, SRS};

/// Runs the tool with 512 KiB of stack, as a main thread may have it.
fn on_a_small_stack(place: &Place, arguments: &str) -> (i32, String) {
    let line = format!("ulimit -s 512 && exec {} {arguments}", env!("CARGO_BIN_EXE_cuzk"));
    said(Command::new("sh").args(["-c", &line]).current_dir(&**place).output().unwrap())
}

#[test]
fn a_small_stack_is_enough_and_deep_json_is_refused() {
    let place = Place::new();
    let (found, told) = on_a_small_stack(&place, &format!("prove --input winning.json --out proof {SRS}"));
    assert_eq!(found, 0, "{told}");
    let (found, told) = on_a_small_stack(&place, "verify --input winning.json --proof proof --params params");
    assert_eq!(found, 0, "{told}");

    let sample = &samples_2kib().unwrap().porep;
    let text = String::from_utf8(sample.c1.clone()).unwrap();
    for depth in [1000, 100_000] {
        let nested = "[".repeat(depth);
        let inside = text.replacen("\"comm_r\":[", &format!("\"comm_r\":{nested}["), 1);
        for c1 in [nested.clone(), format!("{{\"a\":{nested}"), inside] {
            let input = Input::Porep(PorepInput { c1: c1.into_bytes(), ..sample.clone() });
            input.write(&place.join("deep.json")).unwrap();
            let (found, told) = on_a_small_stack(&place, &format!("prove --input deep.json --out proof {SRS}"));
            assert_eq!(found, code(Status::Invalid), "depth {depth}: {told}");
        }
        fs::write(place.join("deep.json"), format!("{{\"kind\":{nested}")).unwrap();
        let (found, told) = on_a_small_stack(&place, &format!("prove --input deep.json --out proof {SRS}"));
        assert_eq!(found, code(Status::Invalid), "depth {depth}: {told}");
    }
}

#[test]
fn the_log_of_a_whole_run_tells_nothing_of_the_vanilla_proofs() {
    let place = Place::new();
    let Input::Post(input) = Input::read(&place.join("window.json")).unwrap() else { panic!("a PoSt") };
    let prove = format!("prove --input window.json --out proof {SRS}");
    // A damaged cache makes a whole run that has something to say.
    succeeds(&place, &format!("warm --circuit windowpost-2kib --check identity {SRS}"));
    let recorded = place.join("cache").join(&place.names("cache")[0]);
    fs::write(&recorded, &fs::read(&recorded).unwrap()[..1000]).unwrap();
    let (found, log) = said(command(&place, &prove).env("RUST_LOG", "trace").output().unwrap());
    assert_eq!(found, 0, "{log}");
    assert!(log.contains("WARN") && log.contains("is recorded anew"), "{log}");
    for proof in &input.vanilla_proofs {
        // Each node of a path stands in the bytes by itself; eight bytes of it in any usual form would give it away.
        for node in proof[8..].chunks(32).filter(|node| node.len() >= 24) {
            let part = &node[8..17];
            let list = part.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
            for form in [hex::encode(part), STANDARD.encode(part), list.replace(", ", ","), list] {
                assert!(!log.to_lowercase().contains(&form.to_lowercase()), "{form}");
            }
        }
    }
    // Places of files are for warnings and for the result, not for what is logged by the way.
    let dir = place.to_str().unwrap();
    let by_the_way = log.lines().filter(|line| ["INFO", "DEBUG", "TRACE"].iter().any(|level| line.contains(level)));
    let named: Vec<_> = by_the_way.filter(|line| line.contains("cuzk") && line.contains(dir)).collect();
    assert!(named.is_empty(), "{named:?}");
}
