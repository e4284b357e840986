//! The generic builder against bellperson's witness, value by value, for circuits that aren't Filecoin's.

mod assignment_circuits;

use std::sync::Arc;

use assignment_circuits::{Interleaved, PoseidonPath, Preimage, Random};
use bellpepper_core::test_cs::TestConstraintSystem;
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::util_cs::witness_cs::WitnessCS;
use blstrs::Scalar as Fr;
use cuzk::assignment::{Assignment, BuildError, Builder, Layout, Layouts};
use cuzk::{Error, Status};
use ff::Field;

/// Inputs and aux of a witness by way of the rows, as bellperson's prover computes it, and by way of its witness
/// generator; both must agree, and the rows must hold.
fn reference<C: Circuit<Fr> + Clone>(circuit: &C) -> (Vec<Fr>, Vec<Fr>) {
    let mut rows = TestConstraintSystem::<Fr>::new();
    circuit.clone().synthesize(&mut rows).unwrap();
    assert!(rows.is_satisfied(), "{:?}", rows.which_is_unsatisfied());
    let mut witness = WitnessCS::<Fr>::new();
    circuit.clone().synthesize(&mut witness).unwrap();
    assert_eq!(witness.scalar_inputs(), rows.scalar_inputs());
    assert_eq!(witness.scalar_aux(), rows.scalar_aux());
    (witness.scalar_inputs(), witness.scalar_aux())
}

fn assert_holds(assignment: &Assignment, inputs: &[Fr], aux: &[Fr]) {
    assert_eq!(assignment.inputs(), inputs);
    assert_eq!(assignment.aux_count() as usize, aux.len());
    assert!(assignment.aux_values().eq(aux.iter().copied()));
    for (k, value) in inputs.iter().chain(aux).enumerate() {
        assert_eq!(assignment.z(k as u32), *value);
    }
}

/// The layout in which exactly what isn't 0 or 1 is full-size.
fn layout_of(aux: &[Fr]) -> Layout {
    let mut words = vec![0u64; aux.len().div_ceil(64)];
    for (j, _) in aux.iter().enumerate().filter(|(_, value)| **value != Fr::ZERO && **value != Fr::ONE) {
        words[j / 64] |= 1 << (j % 64);
    }
    Layout::from_words(aux.len() as u32, words).unwrap()
}

/// Builds with a growing and with a pinned layout.
fn check<C: Circuit<Fr> + Clone>(circuit: C) -> Assignment {
    let (inputs, aux) = reference(&circuit);
    let growing = Arc::new(Layouts::growing(aux.len() as u32));
    let first = Builder::new(&growing, inputs.len() as u32).synthesize(circuit.clone()).unwrap();
    assert_holds(&first, &inputs, &aux);
    let expected = layout_of(&aux);
    assert_eq!(first.layout().full_words(), expected.full_words());
    let again = Builder::new(&growing, inputs.len() as u32).synthesize(circuit.clone()).unwrap();
    assert_eq!(again, first);
    assert!(Arc::ptr_eq(again.layout(), first.layout()));

    let pinned = Arc::new(Layouts::pinned(expected));
    let third = Builder::new(&pinned, inputs.len() as u32).synthesize(circuit).unwrap();
    assert_holds(&third, &inputs, &aux);
    assert_eq!(third.layout().generation(), 0);
    third
}

fn path(seed: u64, levels: usize) -> PoseidonPath {
    let value = |i: u64| Fr::from(seed + i).square().square();
    let levels = (0..levels as u64).map(|i| ((seed >> i) & 1 == 1, value(i + 1))).collect();
    PoseidonPath { leaf: value(0), levels }
}

#[test]
fn sha256_preimage() {
    let assignment = check(Preimage(b"a preimage of more than one block, so that two compressions follow".to_vec()));
    let layout = assignment.layout();
    assert_eq!(layout.full_count(), 0, "every variable of SHA-256 is a bit");
    // An eighth of a byte per variable, and no slot.
    assert!(assignment.bytes_used() < assignment.aux_count() as usize / 8 + 1000);
}

#[test]
fn poseidon_merkle_path() {
    check(path(5, 3));
}

#[test]
fn interleaved_inputs_and_explicit_zeros() {
    let assignment = check(Interleaved { seed: 3, count: 100 });
    assert_eq!(assignment.input_count(), 201);
}

#[test]
fn random_systems() {
    for (seed, rows) in [(1, 1), (2, 2), (3, 4), (4, 63), (5, 64), (6, 65), (7, 1000), (8, 20_000)] {
        check(Random { seed, rows });
    }
}

/// Allocates these aux values, and nothing else.
#[derive(Clone)]
struct Values(Vec<Fr>);

impl Circuit<Fr> for Values {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        for (i, value) in self.0.into_iter().enumerate() {
            cs.alloc(|| format!("value {i}"), || Ok(value))?;
        }
        Ok(())
    }
}

fn bits(count: usize) -> Vec<Fr> {
    (0..count).map(|j| Fr::from(u64::from(j % 3 == 0))).collect()
}

#[test]
fn aux_counts_at_the_edges_of_a_word() {
    for count in [0, 1, 63, 64, 65, 127, 128, 129] {
        check(Values(bits(count)));
        for (at, value) in [(0, Fr::from(2)), (count.saturating_sub(1), -Fr::ONE)] {
            let mut values = bits(count);
            values.iter_mut().skip(at).take(1).for_each(|slot| *slot = value);
            check(Values(values));
        }
    }
}

#[test]
fn zero_and_one_stay_in_a_full_size_slot() {
    let layouts = Arc::new(Layouts::pinned(layout_of(&[Fr::from(7); 3])));
    let values = vec![Fr::ZERO, Fr::ONE, -Fr::ONE];
    let assignment = Builder::new(&layouts, 1).synthesize(Values(values.clone())).unwrap();
    assert_eq!(assignment.full(), values);
    assert_eq!(assignment.bits(), [0]);
}

#[test]
fn a_value_that_does_not_fit_a_pinned_layout_is_an_error() {
    for value in [Fr::from(2), -Fr::ONE, Fr::from(1 << 40)] {
        for at in [0, 63, 64, 99] {
            let mut values = bits(100);
            values[at] = value;
            values[99] = Fr::from(3);
            let layouts = Arc::new(Layouts::pinned(Layout::all_bits(100)));
            let error = Builder::new(&layouts, 1).synthesize(Values(values)).unwrap_err();
            assert_eq!(error, BuildError::Misfit { aux: at as u32 });
            let error = Error::from(error);
            assert_eq!(error.status(), Status::Invalid);
            assert!(error.to_string().contains(&format!("aux variable {at} ")), "{error}");
            assert_eq!(*layouts.current(), Layout::all_bits(100));
        }
    }
}

#[test]
fn counts_are_checked() {
    let layouts = Arc::new(Layouts::growing(65));
    let build = |count, inputs| Builder::new(&layouts, inputs).synthesize(Values(vec![Fr::from(5); count]));
    assert_eq!(build(64, 1).unwrap_err(), BuildError::AuxCount { expected: 65, found: 64 });
    assert_eq!(build(0, 1).unwrap_err(), BuildError::AuxCount { expected: 65, found: 0 });
    assert_eq!(build(200, 1).unwrap_err(), BuildError::AuxCount { expected: 65, found: 200 });
    assert_eq!(build(65, 2).unwrap_err(), BuildError::InputCount { expected: 2, found: 1 });
    let interleaved = Interleaved { seed: 1, count: 2 };
    let few = Arc::new(Layouts::growing(2));
    let error = Builder::new(&few, 4).synthesize(interleaved).unwrap_err();
    assert_eq!(error, BuildError::InputCount { expected: 4, found: 5 });
    assert_eq!(layouts.current().generation(), 0, "a failed build adds no generation");
}

#[test]
fn a_circuit_that_gives_up_is_an_error() {
    struct GivesUp;
    impl Circuit<Fr> for GivesUp {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            cs.alloc(|| "nothing", || Err(SynthesisError::AssignmentMissing)).map(|_| ())
        }
    }
    let error = Builder::new(&Arc::new(Layouts::growing(1)), 1).synthesize(GivesUp).unwrap_err();
    assert!(matches!(error, BuildError::Synthesis(_)), "{error}");
}

#[test]
fn a_witness_that_needs_more_makes_a_new_generation() {
    let layouts = Arc::new(Layouts::growing(130));
    let build = |full: &[usize]| {
        let mut values = bits(130);
        full.iter().for_each(|&at| values[at] = Fr::from(100 + at as u64));
        (Builder::new(&layouts, 1).synthesize(Values(values.clone())).unwrap(), values)
    };
    let (first, first_values) = build(&[3, 64]);
    let (second, second_values) = build(&[64]);
    assert!(Arc::ptr_eq(first.layout(), second.layout()), "fewer is no reason for a generation");
    let (third, third_values) = build(&[3, 5, 129]);
    assert_eq!((first.layout().generation(), third.layout().generation()), (1, 2));
    assert_eq!(third.layout().full_positions().collect::<Vec<_>>(), [3, 5, 64, 129]);
    assert!(third.layout().covers(first.layout()) && !first.layout().covers(third.layout()));
    for (assignment, values) in [(&first, first_values), (&second, second_values), (&third, third_values)] {
        assert_holds(assignment, &[Fr::ONE], &values);
    }
    let (fourth, fourth_values) = build(&[3, 64]);
    assert_holds(&fourth, &[Fr::ONE], &fourth_values);
    assert!(fourth.same_values(&first) && fourth != first);
}

#[test]
fn builders_that_overlap_agree_on_the_newest_generation() {
    let layouts = Arc::new(Layouts::growing(70));
    let mut builders: Vec<(Builder, Vec<Fr>)> = Vec::new();
    for own in [1, 66, 68] {
        let mut values = bits(70);
        values[own] = Fr::from(9);
        let mut builder = Builder::new(&layouts, 1);
        builder.extend_aux(&values);
        builders.push((builder, values));
    }
    let mut generations = Vec::new();
    for (builder, values) in builders {
        let assignment = builder.finish().unwrap();
        assert_holds(&assignment, &[Fr::ONE], &values);
        generations.push(assignment.layout().generation());
    }
    assert_eq!(generations, [1, 2, 3]);
    assert_eq!(layouts.current().full_positions().collect::<Vec<_>>(), [1, 66, 68]);
}

#[test]
fn blocks_of_values_are_taken_in_order() {
    let layouts = Arc::new(Layouts::growing(9));
    let mut builder = Builder::new(&layouts, 4);
    let value = |i: u64| Fr::from(i);
    builder.alloc(|| "", || Ok(value(1))).unwrap();
    let (aux, inputs) = builder.allocate_empty(3, 2);
    aux.copy_from_slice(&[value(2), value(0), value(3)]);
    inputs.copy_from_slice(&[value(20), value(21)]);
    assert_eq!(builder.aux_slice(), [value(1), value(2), value(0), value(3)]);
    builder.allocate_empty_aux(2)[1] = value(4);
    builder.alloc_input(|| "", || Ok(value(22))).unwrap();
    assert_eq!(builder.inputs_slice(), [Fr::ONE, value(20), value(21), value(22)]);
    builder.extend_aux(&[value(1), value(5)]);
    builder.alloc(|| "", || Ok(value(6))).unwrap();
    let expected = [1, 2, 0, 3, 0, 4, 1, 5, 6].map(value);
    assert_eq!(builder.aux_slice(), expected);
    assert_holds(&builder.finish().unwrap(), &[Fr::ONE, value(20), value(21), value(22)], &expected);
}

#[test]
fn a_block_that_is_the_last_thing_is_not_lost() {
    let mut builder = Builder::new(&Arc::new(Layouts::growing(2)), 1);
    builder.allocate_empty_aux(2).copy_from_slice(&[Fr::ONE, Fr::from(8)]);
    assert_holds(&builder.finish().unwrap(), &[Fr::ONE], &[Fr::ONE, Fr::from(8)]);
}

#[test]
fn buffers_of_a_finished_assignment_are_filled_again() {
    let circuit = path(9, 2);
    let (inputs, aux) = reference(&circuit);
    let layouts = Arc::new(Layouts::pinned(layout_of(&aux)));
    let first = Builder::new(&layouts, 2).synthesize(circuit).unwrap();
    let places = [first.inputs().as_ptr() as usize, first.bits().as_ptr() as usize, first.full().as_ptr() as usize];
    assert_eq!(first.bytes_used(), bytes_needed(&first), "no spare capacity");
    let other = Values(aux.iter().rev().copied().collect());
    assert!(Builder::new(&layouts, 2).synthesize(other).is_err(), "another circuit");

    let second = Builder::with_buffers(&layouts, 2, first.into_buffers()).synthesize(path(9, 2)).unwrap();
    assert_holds(&second, &inputs, &aux);
    let again = [second.inputs().as_ptr() as usize, second.bits().as_ptr() as usize, second.full().as_ptr() as usize];
    assert_eq!(again, places);
}

fn bytes_needed(assignment: &Assignment) -> usize {
    let values = assignment.inputs().len() + assignment.full().len();
    size_of::<Assignment>() + 32 * values + 8 * assignment.bits().len()
}
