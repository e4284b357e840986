//! The recorded R1CS of every 2 KiB circuit, expanded, against a plain reading of the same synthesis and against facts
//! about the network's circuits.

mod r1cs_support;

use cuzk::circuit::{CircuitId, Kind};
use cuzk::r1cs::R1cs;
use r1cs_support::reference::Reference;

struct Expected {
    kind: Kind,
    inputs: u32,
    aux: u32,
    constraints: u64,
    non_zeros: [u64; 3],
    lg_domain: u32,
    density_aux: [usize; 2],
    /// Repeats of the last segment.
    repeats: u32,
}

const POREP: Expected = Expected {
    kind: Kind::PoRep,
    inputs: 40,
    aux: 2_685_673,
    constraints: 2_687_921,
    non_zeros: [6_420_965, 2_689_006, 5_824_682],
    lg_domain: 22,
    density_aux: [2_674_908, 685_521],
    repeats: 2,
};

const SNAP_DEALS: Expected = Expected {
    kind: Kind::SnapDeals,
    inputs: 5,
    aux: 1_703_569,
    constraints: 1_705_039,
    non_zeros: [4_030_887, 1_706_537, 3_616_648],
    lg_domain: 21,
    density_aux: [1_697_189, 444_403],
    repeats: 10,
};

const WINNING_POST: Expected = Expected {
    kind: Kind::WinningPoSt,
    inputs: 133,
    aux: 91_674,
    constraints: 90_750,
    non_zeros: [621_852, 92_070, 113_652],
    lg_domain: 17,
    density_aux: [69_300, 66_792],
    repeats: 66,
};

const WINDOW_POST: Expected = Expected {
    kind: Kind::WindowPoSt,
    inputs: 23,
    aux: 22_128,
    constraints: 21_866,
    non_zeros: [150_262, 22_230, 27_456],
    lg_domain: 15,
    density_aux: [16_770, 16_028],
    repeats: 2,
};

fn check(expected: Expected) {
    let id = CircuitId::new(expected.kind, 2 << 10).unwrap();
    let r1cs: R1cs = id.record().unwrap();
    assert_eq!(r1cs.input_count, expected.inputs);
    assert_eq!(r1cs.aux_count, expected.aux);
    assert_eq!(r1cs.constraint_count, expected.constraints);
    assert_eq!(r1cs.non_zero_counts(), expected.non_zeros);
    assert_eq!(r1cs.lg_domain_size(), expected.lg_domain);
    assert_eq!(r1cs.segments.last().unwrap().repeat_count, expected.repeats);
    let counts = r1cs.query_counts();
    let inputs = expected.inputs as usize;
    assert_eq!(counts.a, (inputs + expected.density_aux[0]) as u64);
    assert_eq!(counts.b, (1 + expected.density_aux[1]) as u64);
    assert_eq!((counts.ic, counts.l), (expected.inputs.into(), expected.aux.into()));
    assert_eq!(counts.h, (1 << expected.lg_domain) - 1);

    let found: String = r1cs.structural_hash().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(r1cs.structural_hash(), id.pinned_hash(), "{id} has changed: {found}");
    assert_eq!(id.record_pinned().unwrap(), r1cs);
    r1cs.validate().unwrap();

    let mut reference = Reference::new(&r1cs);
    id.synthesize_blank(&mut reference).unwrap();
    reference.finish();
}

#[test]
fn porep() {
    check(POREP);
}

#[test]
fn snap_deals() {
    check(SNAP_DEALS);
}

#[test]
fn winning_post() {
    check(WINNING_POST);
}

#[test]
fn window_post() {
    check(WINDOW_POST);
}
