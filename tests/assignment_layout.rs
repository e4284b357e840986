//! The layout that follows from the R1CS of Filecoin's circuits, against what satisfied 2 KiB witnesses show; and the
//! builder against bellperson's witness, value by value.

mod assignment_filecoin;

use std::sync::Arc;

use assignment_filecoin::Witnessed;
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::util_cs::witness_cs::WitnessCS;
use blstrs::Scalar as Fr;
use cuzk::assignment::{Assignment, Builder, Layout, Layouts};
use cuzk::circuit::{CircuitId, Kind};
use cuzk::r1cs::{Flat, R1cs};
use ff::Field;

struct Expected {
    kind: Kind,
    full_count: u32,
    /// Of the layout.
    hash: &'static str,
    /// Full-size variables that are 0 or 1 in every sample.
    never_larger: &'static [u32],
}

const POREP: Expected = Expected {
    kind: Kind::PoRep,
    full_count: 43_806,
    hash: "2f7c49f7f387af66c8d6993ebbf23a28a919368bc8ebad2a46a136194fe18b1f",
    never_larger: &[],
};

/// Numbers that could be larger in another witness: the sum of `k` and of the bit that selects `h`, and for each
/// challenge the leaf bits that remain of its index under the `h` of this sample.
const SNAP_DEALS: Expected = Expected {
    kind: Kind::SnapDeals,
    full_count: 25_896,
    hash: "13e010302004cbb25fe1a59ac4a522f6a9a4ebf65b6ee7a110a8ec0ceb18e8f1",
    never_larger: &[
        0, 318_851, 457_324, 595_797, 734_270, 872_743, 1_011_216, 1_149_689, 1_288_162, 1_426_635, 1_565_108,
    ],
};

const WINDOW_POST: Expected = Expected {
    kind: Kind::WindowPoSt,
    full_count: 21_928,
    hash: "ccb060092288f052803239c238e0fbb06f616690a67f9264c1423161e34910e2",
    never_larger: &[],
};

const WINNING_POST: Expected = Expected {
    kind: Kind::WinningPoSt,
    full_count: 91_014,
    hash: "ba2cdce2e838be3834f8b7b269db51174f37668df53decbc1b17e11779b557a5",
    never_larger: &[],
};

/// The witness as bellperson's generator gives it. Its WitnessCS is extensible, but holds ONE from the start, so that
/// PoSt circuits, which then synthesise in chunks, would gain an input per chunk; a namespace isn't extensible.
fn reference(witnessed: Witnessed) -> WitnessCS<Fr> {
    let mut witness = WitnessCS::new();
    witnessed.synthesize(&mut witness.namespace(|| "")).unwrap();
    witness
}

fn check(expected: Expected) {
    let id = CircuitId::new(expected.kind, 2 << 10).unwrap();
    let r1cs = id.record().unwrap();
    let layout = Layout::derive(&r1cs);
    let mut larger = vec![false; r1cs.aux_count as usize];
    let of_kind = Witnessed::all().into_iter().filter(|(kind, _)| *kind == expected.kind);
    for (sample, (_, witnessed)) in of_kind.enumerate() {
        let reference = reference(witnessed);
        let assignment = check_witness(&r1cs, &layout, witnessed, &reference);
        let is_larger = |value: &Fr| *value != Fr::ZERO && *value != Fr::ONE;
        larger.iter_mut().zip(reference.aux_slice()).for_each(|(seen, value)| *seen |= is_larger(value));
        if sample == 0 {
            check_rows_and_growth(&r1cs, witnessed, &assignment);
        }
    }
    let never_larger: Vec<u32> = layout.full_positions().filter(|aux| !larger[*aux as usize]).collect();
    assert_eq!(never_larger, expected.never_larger);
    assert_eq!(layout.full_count(), expected.full_count);
    assert_eq!(hex::encode(layout.hash()), expected.hash);

    struct Blank(CircuitId);
    impl Circuit<Fr> for Blank {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            self.0.synthesize_blank(cs)
        }
    }
    let flat = R1cs::record(Blank(id), Flat).unwrap();
    assert_eq!(flat.segments.len(), 1);
    assert_eq!(Layout::derive(&flat), layout, "blocks don't change the layout");
}

/// Every value of the assignment that a request leads to equals the reference's.
fn check_witness(r1cs: &R1cs, layout: &Layout, witnessed: Witnessed, reference: &WitnessCS<Fr>) -> Assignment {
    let pinned = Arc::new(Layouts::pinned(layout.clone()));
    let mut builder = Builder::new(&pinned, r1cs.input_count);
    witnessed.checked().partitions().next().unwrap().synthesize(&mut builder).unwrap();
    let assignment = builder.finish().unwrap();
    assert_eq!(assignment.inputs(), reference.inputs_slice());
    assert_eq!(assignment.aux_count() as usize, reference.aux_slice().len());
    assert!(assignment.aux_values().eq(reference.aux_slice().iter().copied()));
    assert!(reference.aux_slice().iter().enumerate().all(|(aux, value)| assignment.aux(aux as u32) == *value));
    assert_eq!(assignment.bytes_used(), bytes_needed(&assignment));
    assignment
}

/// Every row holds, and a layout that is learnt instead of derived gives the same values.
fn check_rows_and_growth(r1cs: &R1cs, witnessed: Witnessed, assignment: &Assignment) {
    assert_eq!(r1cs.rows().find(|row| !row.is_satisfied(|k| assignment.z(k))).map(|row| row.index), None);
    let growing = Arc::new(Layouts::growing(r1cs.aux_count));
    let other = Builder::new(&growing, r1cs.input_count).synthesize(witnessed).unwrap();
    assert!(other.same_values(assignment));
    assert!(assignment.layout().covers(other.layout()));
}

/// The parts alone, no spare capacity.
fn bytes_needed(assignment: &Assignment) -> usize {
    let values = assignment.inputs().len() + assignment.full().len();
    size_of::<Assignment>() + 32 * values + 8 * assignment.bits().len()
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
fn window_post() {
    check(WINDOW_POST);
}

#[test]
fn winning_post() {
    check(WINNING_POST);
}
