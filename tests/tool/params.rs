//! Damage to a real SRS file of 11 MB: cut at every listed place, and a flipped bit in every part.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use blstrs::G1Affine;
use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::srs::{Point, Section, SrsFile, SrsOptions};
use cuzk::{Error, Status};

use crate::fixture::{fails, succeeds, Place};

fn open(path: &Path) -> cuzk::Result<SrsFile> {
    SrsFile::open(path, &SrsOptions { allow_unknown_params: true, ..SrsOptions::default() })
}

/// A copy of the SRS that may be damaged, under its name in `damaged`.
fn copy(place: &Place) -> PathBuf {
    let name = params_file_name(CircuitId::new(Kind::WindowPoSt, 2 << 10).unwrap());
    fs::create_dir(place.join("damaged")).unwrap();
    let path = place.join("damaged").join(&name);
    fs::copy(place.join("params").join(name), &path).unwrap();
    path
}

/// Where each section's points begin and end.
fn sections(srs: &SrsFile) -> Vec<(Section, u64, u64)> {
    let mut end = 864;
    let ranges = Section::ALL.into_iter().map(|section| {
        let first = end + 4;
        end = first + srs.count(section) * section.point_bytes();
        (section, first, end)
    });
    ranges.collect()
}

const PROVE: &str = "prove --input window.json --out proof --params damaged --allow-unknown-params --cache cache";

#[test]
fn cut_anywhere_or_too_long() {
    let place = Place::new();
    let path = copy(&place);
    let whole = fs::read(&path).unwrap();
    let size = whole.len() as u64;
    let sections = sections(&open(&path).unwrap());
    assert_eq!(sections[5].2, size);
    let mut sizes = vec![0, 1, 863, 864, 1 << 20, size - 1, size + 1];
    for (_, first, end) in &sections {
        sizes.extend([first - 4, *first, *end].iter().flat_map(|at| [at - 1, *at, at + 1]));
    }
    let (_, first, end) = sections[5];
    sizes.extend([first + (end - first) * 3 / 4, first + (end - first) * 3 / 4 / 192 * 192]);
    sizes.retain(|cut| *cut != size);
    sizes.sort_unstable();
    // From the longest to the shortest: what is cut stays cut.
    let file = File::options().write(true).open(&path).unwrap();
    for cut in sizes.into_iter().rev() {
        file.set_len(cut).unwrap();
        let Err(Error::ParamsCorrupt(fault)) = open(&path) else { panic!("{cut} bytes were taken") };
        assert_eq!((&fault.file, fault.found), (&path, format!("{cut} bytes")));
    }
    // The same through the tool, which then works with the whole file.
    for cut in [0, 1 << 20, size - 1] {
        fs::write(&path, &whole[..cut as usize]).unwrap();
        fails(&place, PROVE, Status::ParamsCorrupt, &format!("found {cut} bytes"));
    }
    fs::write(&path, &whole).unwrap();
    succeeds(&place, PROVE);
}

#[test]
fn a_flipped_bit_in_any_part_and_a_point_outside_the_subgroup() {
    let place = Place::new();
    let path = copy(&place);
    let sections = sections(&open(&path).unwrap());
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let flip = |at: u64| {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 4], at).unwrap();
    };
    flip(432);
    fails(&place, PROVE, Status::ParamsCorrupt, "section vk, index 3");
    flip(432);
    let subgroup = "warm --circuit windowpost-2kib --check subgroup";
    let subgroup = format!("{subgroup} --params damaged --allow-unknown-params --cache cache");
    for &(section, first, end) in &sections {
        let index = (end - first) / section.point_bytes() / 2;
        let at = first + index * section.point_bytes();
        flip(at + 70);
        // Nothing loads b_g1: a subgroup check finds it.
        let command = if section == Section::BG1 { &subgroup } else { PROVE };
        let says = format!("section {}, index {index}: expected a point on the curve", section.name());
        fails(&place, command, Status::ParamsCorrupt, &says);
        flip(at + 70);
    }

    let (section, first, end) = sections[1];
    let index = (end - first) / section.point_bytes() / 2;
    let at = first + index * section.point_bytes();
    let mut kept = vec![0; section.point_bytes() as usize];
    file.read_exact_at(&mut kept, at).unwrap();
    file.write_all_at(&outside_subgroup(), at).unwrap();
    let says = format!("section h, index {index}: expected a point of the prime-order");
    fails(&place, &subgroup, Status::ParamsCorrupt, &says);
    file.write_all_at(&kept, at).unwrap();
    assert!(!place.join("proof").exists());
    succeeds(&place, PROVE);
}

/// A point on the curve and outside the subgroup. (tests/srs has one for every section.)
fn outside_subgroup() -> Vec<u8> {
    let g1 = |x: u8| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        let point = Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))?;
        (!point.in_subgroup()).then(|| point.to_uncompressed().to_vec())
    };
    (1..=255).find_map(g1).expect("most points are outside")
}
