//! Checked proofs satisfy their circuit, and its inputs are those that the verifier will compute.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use super::all_samples;
use crate::assignment::{Builder, Layouts};
use crate::circuit::Blocks;
use crate::error::Error;
use crate::groth16::first_unsatisfied_row;
use crate::r1cs::R1cs;

/// (constraints, inputs with ONE) of the 2 KiB circuits.
fn expected_counts(name: &str) -> (u64, u32) {
    match name {
        name if name.contains("PoRep") => (2_687_921, 40),
        "SnapDeals" => (1_705_039, 5),
        "WinningPoSt" => (90_750, 133),
        _ => (21_866, 23),
    }
}

#[test]
fn a_check_ends_when_nobody_waits_for_it() {
    for (name, asked) in all_samples() {
        let questions = AtomicUsize::new(0);
        let until = |last: usize| {
            questions.store(0, Ordering::Relaxed);
            let proofs = asked.decode().unwrap();
            proofs.check_while(&|| questions.fetch_add(1, Ordering::Relaxed) < last).map(drop)
        };
        until(usize::MAX).unwrap();
        let all = questions.load(Ordering::Relaxed);
        assert!(all > 1, "{name}: {all} questions");
        for last in [0, all / 2, all - 1] {
            assert_eq!(until(last), Err(Error::Cancelled), "{name}, after {last} questions");
        }
    }
}

#[test]
fn circuits_are_satisfied_and_have_these_inputs() {
    for (name, asked) in all_samples() {
        let checked = asked.check().unwrap();
        let id = checked.circuit();
        assert_eq!(checked.partitions().len(), 1, "{name}");
        for partition in checked.partitions() {
            // The rows as they are enforced with this very witness; they are those of the blank circuit.
            let r1cs = R1cs::record(partition.circuit().unwrap(), Blocks(id.kind())).unwrap();
            assert_eq!(r1cs.structural_hash(), id.pinned_hash(), "{name}");
            assert_eq!((r1cs.constraint_count, r1cs.input_count), expected_counts(name), "{name}");
            let layouts = Arc::new(Layouts::pinned(id.layout(&r1cs).unwrap()));
            let mut builder = Builder::new(&layouts, r1cs.input_count);
            partition.synthesize(&mut builder).unwrap();
            let assignment = builder.finish().unwrap();
            assert_eq!(first_unsatisfied_row(&r1cs, &assignment), None, "{name}");
            assert_eq!(assignment.inputs()[1..], partition.inputs(), "{name}");
        }
    }
}
