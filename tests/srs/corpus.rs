//! The fuzz target's corpus, replayed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::fixture::{bytes, points_of, smallest};
use cuzk::srs::Section;

#[path = "../../fuzz/checks/params.rs"]
mod check;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/params")
}

/// The seeds by name, with whether they are a valid SRS.
fn seeds() -> BTreeMap<&'static str, (Vec<u8>, bool)> {
    let smallest = smallest();
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut bytes = smallest.clone();
        change(&mut bytes);
        bytes
    };
    BTreeMap::from([
        ("seed-powers", (bytes().to_vec(), true)),
        ("seed-smallest", (smallest.clone(), true)),
        ("seed-vk", (bytes()[..points_of(Section::Ic).end].to_vec(), false)),
        ("seed-empty", (Vec::new(), false)),
        ("seed-zeros", (vec![0; 888], false)),
        ("seed-count", (changed(|bytes| bytes[864..868].fill(0xff)), false)),
        ("seed-longer", (changed(|bytes| bytes.push(0)), false)),
        ("seed-off-curve", (changed(|bytes| *bytes.last_mut().unwrap() ^= 1), false)),
        (
            "seed-infinity",
            (
                changed(|bytes| {
                    bytes[..96].fill(0);
                    bytes[0] = 0x40;
                }),
                false,
            ),
        ),
    ])
}

#[test]
fn seeds_are_what_they_are_said_to_be() {
    for (name, (bytes, valid)) in seeds() {
        let path = directory().join(name);
        assert!(fs::read(&path).is_ok_and(|found| found == bytes), "{}", path.display());
        assert_eq!(check::check(&bytes), valid, "{name}");
    }
}

#[test]
fn the_corpus_is_read_without_a_finding() {
    let mut count = 0;
    for entry in fs::read_dir(directory()).unwrap() {
        check::check(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= seeds().len());
}
