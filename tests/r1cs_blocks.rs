//! Repeated blocks: whatever is proposed and however a repeat differs, the expanded rows are those of the circuit.

mod r1cs_support;

use bellpepper_core::{Circuit, Index};
use blstrs::Scalar as Fr;
use cuzk::r1cs::{ColumnClass, Flat, R1cs};
use cuzk::Status;
use r1cs_support::program::{one, term, ByName, Program};
use r1cs_support::random::{below, blocks, noise, Disturbance, DISTURBANCES};
use r1cs_support::reference::Reference;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

fn record(program: &Program) -> R1cs {
    let r1cs = R1cs::record(program, ByName).unwrap();
    r1cs.validate().unwrap();
    let mut reference = Reference::new(&r1cs);
    program.synthesize(&mut reference).unwrap();
    reference.finish();
    r1cs
}

fn repeats(r1cs: &R1cs) -> Vec<u32> {
    r1cs.segments.iter().map(|segment| segment.repeat_count).collect()
}

#[test]
fn random_blocks_with_one_repeat_disturbed() {
    let seed = rand_core::OsRng.next_u64();
    println!("seed {seed}");
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    for how in DISTURBANCES {
        let mut repeated = 0;
        for _ in 0..300 {
            let count = 1 + below(&mut rng, 6);
            let at = below(&mut rng, count);
            let program = blocks(&mut rng, count, at, how);
            let r1cs = record(&program);
            repeated += usize::from(repeats(&r1cs).iter().any(|count| *count > 1));
            assert_eq!(R1cs::from_body(&r1cs.to_body()).unwrap(), r1cs);
            let flat = R1cs::record(&program, Flat).unwrap();
            assert!(flat.segments.len() <= 1, "{how:?}: nothing was proposed");
        }
        assert!(repeated > 30, "{how:?}: only {repeated} of 300 circuits were found to repeat");
    }
}

#[test]
fn proposals_anywhere_stay_correct() {
    let seed = rand_core::OsRng.next_u64();
    println!("seed {seed}");
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    for _ in 0..2000 {
        record(&noise(&mut rng));
    }
}

/// `y_t = x_t²` in each block, for an `x_t` that the block itself allocates.
fn squares(name: &'static str, count: usize) -> Program {
    let mut program = Program::new();
    let bits: Vec<Index> = (0..count).map(|_| program.aux()).collect();
    program.enforce(term(bits[0]), term(one()), term(one()));
    for bit in bits {
        program.inside(name, |program| {
            let (x, y) = (program.aux(), program.input());
            program.enforce(term(x), term(x), term(y));
            program.enforce(term(bit), term(y), vec![(one(), Fr::from(7))]);
        });
    }
    program
}

#[test]
fn equal_blocks_are_stored_once_with_a_port_each() {
    for name in ["block", "start"] {
        let r1cs = record(&squares(name, 9));
        assert_eq!(repeats(&r1cs), [1, 9]);
        let segment = &r1cs.segments[1];
        assert_eq!((segment.first_row, segment.row_count), (1, 2));
        assert_eq!((segment.aux_base, segment.aux_stride), (9, 1));
        assert_eq!((segment.input_base, segment.input_stride), (1, 1));
        let bits: Vec<u32> = (10..19).collect();
        assert_eq!((segment.port_count, &segment.ports), (1, &bits));
        assert_eq!(segment.a.columns[0].class(), ColumnClass::LocalAux(0));
        assert_eq!(segment.c.columns[0].class(), ColumnClass::LocalInput(0));
        assert_eq!(segment.a.columns[1].class(), ColumnClass::Port(0));
        assert_eq!(segment.c.columns[1].class(), ColumnClass::Outside(0));
    }
}

#[test]
fn blocks_that_are_not_proposed_are_flat() {
    assert_eq!(repeats(&record(&squares("other", 9))), [1]);
}

#[test]
fn rows_behind_an_open_block_are_flat() {
    let mut program = squares("start", 5);
    program.enforce(term(one()), term(one()), term(one()));
    assert_eq!(repeats(&record(&program)), [1, 5, 1]);
}

#[test]
fn a_longer_block_starts_a_block_of_its_own() {
    let mut program = Program::new();
    for rows in [2, 3, 3, 3, 1] {
        program.inside("block", |program| {
            let x = program.aux();
            (0..rows).for_each(|_| program.enforce(term(x), term(x), term(x)));
        });
    }
    assert_eq!(repeats(&record(&program)), [1, 3, 1]);
}

/// One variable of the first repeat is two different ones in the second: no port can be both.
#[test]
fn a_port_that_would_be_two_variables_is_refused() {
    let mut program = Program::new();
    let (x, y) = (program.aux(), program.aux());
    for [first, second] in [[x, x], [x, y], [x, y]] {
        program.inside("block", |program| {
            program.enforce(term(first), term(second), term(one()));
        });
    }
    assert_eq!(repeats(&record(&program)), [1, 2]);
}

#[test]
fn a_variable_of_the_repeat_before_is_a_port() {
    let mut program = Program::new();
    let mut before = program.aux();
    for _ in 0..4 {
        program.inside("block", |program| {
            let x = program.aux();
            program.enforce(term(before), term(before), term(x));
            before = x;
        });
    }
    let r1cs = record(&program);
    assert_eq!(repeats(&r1cs), [4]);
    assert_eq!(r1cs.segments[0].ports, [1, 2, 3, 4]);
}

#[test]
fn disturbances_change_what_is_recorded() {
    for (how, seed) in [(Disturbance::Coefficient, 1), (Disturbance::TermMore, 2), (Disturbance::RowMore, 3)] {
        let hash = |how| {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            record(&blocks(&mut rng, 3, 1, how)).structural_hash()
        };
        assert_ne!(hash(how), hash(Disturbance::None), "{how:?}");
    }
}

/// Blocks with inputs of their own, which read an input and an aux variable that stand before them.
fn without_ports(count: usize) -> Program {
    let mut program = Program::new();
    let (x, y) = (program.aux(), program.input());
    program.enforce(term(x), term(y), term(one()));
    for _ in 0..count {
        program.inside("block", |program| {
            let (u, v, w) = (program.aux(), program.input(), program.aux());
            program.enforce(term(u), vec![(v, Fr::from(3)), (x, Fr::from(5))], term(w));
            program.enforce(term(y), term(w), term(one()));
        });
    }
    program
}

#[test]
fn repeats_that_were_not_recorded_follow_from_two() {
    for (recorded, count) in [(2, 2), (2, 3), (2, 50), (7, 50)] {
        let short = record(&without_ports(recorded)).with_repeats(count as u32).unwrap();
        let full = record(&without_ports(count));
        assert_eq!(short, full);
        assert_eq!(short.structural_hash(), full.structural_hash());
    }
}

#[test]
fn repeats_are_not_made_up_where_they_do_not_follow() {
    let mut followed = without_ports(3);
    followed.aux();
    let mut row_behind = without_ports(3);
    row_behind.enforce(term(one()), term(one()), term(one()));
    for (program, count, reason) in [
        (squares("block", 3), 5, "ports"),
        (without_ports(1), 5, "stands 1 times"),
        (without_ports(3), 2, "stands 3 times"),
        (followed, 5, "followed by variables"),
        (row_behind, 5, "stands 1 times"),
        (Program::new(), 5, "doesn't exist"),
    ] {
        let error = record(&program).with_repeats(count).unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
        assert!(error.to_string().contains(reason), "{error}");
    }
    let too_large = record(&without_ports(2)).with_repeats(1 << 30).unwrap_err();
    assert_eq!(too_large.status(), Status::Unsupported);
}
