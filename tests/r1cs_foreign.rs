//! Recording of circuits that are not Filecoin's.

mod r1cs_support;

use bellpepper_core::Index;
use blstrs::Scalar as Fr;
use cuzk::r1cs::{Flat, R1cs, ESCAPE};
use cuzk::{Error, Status};
use ff::Field;
use r1cs_support::program::{one, term, ByName, Program};
use r1cs_support::reference::Reference;

use bellpepper_core::Circuit;

/// Records `program` and compares its rows with a plain reading.
fn record(program: &Program) -> R1cs {
    let r1cs = R1cs::record(program, Flat).unwrap();
    check(program, &r1cs);
    r1cs
}

fn check(program: &Program, r1cs: &R1cs) {
    r1cs.validate().unwrap();
    let mut reference = Reference::new(r1cs);
    program.synthesize(&mut reference).unwrap();
    reference.finish();
    assert_eq!(R1cs::from_body(&r1cs.to_body()).unwrap(), *r1cs);
}

fn columns(r1cs: &R1cs, row: u64) -> Vec<(u32, Fr)> {
    r1cs.row(row).a.map(|(index, coefficient)| (index, *coefficient)).collect()
}

#[test]
fn an_empty_circuit_has_the_row_of_one() {
    let r1cs = record(&Program::new());
    assert_eq!((r1cs.row_count(), r1cs.variable_count(), r1cs.lg_domain_size()), (1, 1, 0));
    assert_eq!(columns(&r1cs, 0), [(0, Fr::ONE)]);
    let counts = r1cs.query_counts();
    assert_eq!((counts.ic, counts.h, counts.l, counts.a, counts.b), (1, 0, 0, 1, 0));
}

#[test]
fn explicit_zeros_are_dropped_and_repeated_terms_added() {
    let mut program = Program::new();
    let (x, y, z) = (program.aux(), program.aux(), program.aux());
    let two = Fr::from(2);
    program.enforce(vec![(x, Fr::ZERO), (y, two), (y, Fr::ONE)], vec![(z, Fr::ONE), (z, -Fr::ONE)], term(one()));
    let r1cs = record(&program);
    assert_eq!(columns(&r1cs, 0), [(2, Fr::from(3))]);
    assert_eq!(r1cs.row(0).b.len(), 0, "terms that cancel");
    assert!(!r1cs.density_a().aux.get(0), "a zero coefficient puts nothing into the query");
    assert_eq!(r1cs.density_b().count(), 0);
    assert_eq!(r1cs.non_zero_counts(), [1, 0, 1]);
}

#[test]
fn inputs_and_aux_interleave() {
    let mut program = Program::new();
    let mut all = Vec::new();
    for _ in 0..50 {
        all.push((program.aux(), Fr::from(3)));
        all.push((program.input(), Fr::from(5)));
        program.enforce(all.clone(), term(all[all.len() - 1].0), term(one()));
    }
    let r1cs = record(&program);
    assert_eq!((r1cs.input_count, r1cs.aux_count), (51, 50));
    assert_eq!(columns(&r1cs, 0), [(1, Fr::from(5)), (51, Fr::from(3))]);
    assert_eq!(r1cs.density_b().inputs.count_ones(), 50);
}

#[test]
fn the_dictionary_overflows_into_escapes() {
    let mut program = Program::new();
    let x = program.aux();
    let distinct = u64::from(ESCAPE) + 1000;
    for k in 1..=distinct {
        program.enforce(vec![(x, Fr::from(k)), (one(), Fr::ONE)], term(one()), vec![(x, -Fr::from(k))]);
    }
    let r1cs = record(&program);
    assert_eq!(r1cs.dictionary.len(), usize::from(ESCAPE));
    let escapes: usize = r1cs.segments[0].matrices().iter().map(|matrix| matrix.escapes.len()).sum();
    // 1 to `distinct` and their negatives are all different; ONE is one of them.
    assert_eq!(escapes as u64, 2 * distinct - u64::from(ESCAPE));
}

#[test]
fn escapes_are_compared_in_repeats() {
    let mut program = Program::new();
    let x = program.aux();
    for k in 1..=u64::from(ESCAPE) {
        program.enforce(vec![(x, Fr::from(k))], vec![], vec![]);
    }
    let big = Fr::from(1 << 40);
    for coefficient in [big, big, big + Fr::ONE, big + Fr::ONE] {
        program.inside("block", |program| {
            let y = program.aux();
            program.enforce(vec![(y, coefficient)], term(y), term(x));
        });
    }
    let r1cs = R1cs::record(&program, ByName).unwrap();
    check(&program, &r1cs);
    let repeats: Vec<u32> = r1cs.segments.iter().map(|segment| segment.repeat_count).collect();
    assert_eq!(repeats, [1, 2, 2]);
}

#[test]
fn a_variable_that_was_never_allocated_is_an_error() {
    for index in [Index::Aux(1), Index::Input(1), Index::Aux(usize::MAX)] {
        let mut program = Program::new();
        program.aux();
        program.enforce(term(index), vec![], vec![]);
        program.aux();
        program.input();
        let error = R1cs::record(&program, Flat).unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
        assert!(error.to_string().contains("row 0"), "{error}");
    }
}

#[test]
fn a_failing_synthesis_is_an_error() {
    struct Fails;
    impl Circuit<Fr> for Fails {
        fn synthesize<CS: bellpepper_core::ConstraintSystem<Fr>>(
            self,
            _cs: &mut CS,
        ) -> Result<(), bellpepper_core::SynthesisError> {
            Err(bellpepper_core::SynthesisError::Unsatisfiable)
        }
    }
    assert!(matches!(R1cs::record(Fails, Flat), Err(Error::Invalid { field: "circuit", .. })));
}

#[test]
fn rows_are_evaluated() {
    let mut program = Program::new();
    let (x, y) = (program.aux(), program.aux());
    program.enforce(vec![(x, Fr::from(2)), (one(), Fr::from(7))], term(x), term(y));
    let r1cs = record(&program);
    let z = [1, 5, 85].map(Fr::from);
    assert_eq!(r1cs.row(0).evaluate(|index| z[index as usize]), [17, 5, 85].map(Fr::from));
    assert!(r1cs.row(0).is_satisfied(|index| z[index as usize]));
    let z = [1, 5, 86].map(Fr::from);
    assert!(!r1cs.row(0).is_satisfied(|index| z[index as usize]));
    assert!(r1cs.row(1).is_satisfied(|index| z[index as usize]), "an input row");
}

#[test]
fn a_range_of_rows_is_that_part_of_all_rows() {
    let mut program = Program::new();
    for k in 0..20 {
        program.inside("block", |program| {
            let x = program.aux();
            (0..3).for_each(|i| program.enforce(vec![(x, Fr::from(i + 1))], term(x), term(one())));
        });
        if k % 5 == 0 {
            program.enforce(term(one()), term(one()), term(one()));
        }
    }
    let r1cs = R1cs::record(&program, ByName).unwrap();
    assert!(r1cs.segments.len() > 3);
    let all: Vec<_> = r1cs.rows().map(|row| (row.index, row.a.map(|(i, k)| (i, *k)).collect::<Vec<_>>())).collect();
    assert_eq!(all.len() as u64, r1cs.row_count());
    for start in 0..r1cs.row_count() {
        let range = start..(start + 7).min(r1cs.row_count());
        let part: Vec<_> = r1cs.rows_in(range.clone()).map(|row| row.index).collect();
        assert!(part.iter().copied().eq(range.clone()));
        for row in r1cs.rows_in(range) {
            assert_eq!(row.a.map(|(i, k)| (i, *k)).collect::<Vec<_>>(), all[row.index as usize].1);
        }
    }
}
