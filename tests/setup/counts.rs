//! An SRS and an R1CS of different circuits.

use cuzk::circuit::{CircuitId, Kind};
use cuzk::r1cs::R1cs;
use cuzk::setup::write_params;
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::{Error, Status};

use crate::pool::pool;

fn sector_2_kib(kind: Kind) -> R1cs {
    CircuitId::new(kind, 2048).and_then(CircuitId::record).unwrap()
}

#[test]
fn winning_and_window_post_are_told_apart_by_every_count() {
    let dir = tempfile::tempdir().unwrap();
    let (winning, window) = (sector_2_kib(Kind::WinningPoSt), sector_2_kib(Kind::WindowPoSt));
    let open = |r1cs: &R1cs, name: &str| {
        let path = dir.path().join(name);
        write_params(r1cs, [3; 32], &path, &pool(2)).unwrap();
        SrsFile::open(&path, &SrsOptions { allow_unknown_params: true, ..SrsOptions::default() }).unwrap()
    };
    let (winning_srs, window_srs) = (open(&winning, "winning.params"), open(&window, "window.params"));
    winning_srs.check_counts(&winning).unwrap();
    window_srs.check_counts(&window).unwrap();
    for (srs, r1cs, own) in [(&winning_srs, &window, &winning), (&window_srs, &winning, &window)] {
        let error = srs.check_counts(r1cs).unwrap_err();
        assert_eq!(error.status(), Status::ParamsCorrupt);
        let Error::ParamsCorrupt(fault) = &error else { panic!("{error}") };
        let (file, reason) = (&fault.file, &fault.found);
        assert_eq!(file, srs.path());
        let (expected, found) = (r1cs.query_counts(), own.query_counts());
        for (section, expected, found) in [
            ("ic", expected.ic, found.ic),
            ("h", expected.h, found.h),
            ("l", expected.l, found.l),
            ("a", expected.a, found.a),
            ("b_g1", expected.b, found.b),
            ("b_g2", expected.b, found.b),
        ] {
            let text = format!("{section}: expected {expected} points, found {found}");
            assert!(reason.contains(&text), "{text} in {reason}");
        }
    }
}
