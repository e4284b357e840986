//! Counts and densities as bellperson's own generator sees them: the lengths of the sections of an SRS that it makes.

mod r1cs_support;

use blstrs::Bls12;
use cuzk::r1cs::{QueryCounts, R1cs};
use r1cs_support::program::{one, term, ByName, Program};
use r1cs_support::random::{below, blocks, noise, DISTURBANCES};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// Section lengths of an SRS by bellperson; `None` if it refuses the circuit, as it does for a variable in no row.
fn bellperson(program: &Program, rng: &mut ChaCha20Rng) -> Option<QueryCounts> {
    let srs = bellperson::groth16::generate_random_parameters::<Bls12, _, _>(program, rng).ok()?;
    let b = srs.b_g1.len() as u64;
    assert_eq!(b, srs.b_g2.len() as u64);
    let (ic, h, l, a) = (srs.vk.ic.len(), srs.h.len(), srs.l.len(), srs.a.len());
    Some(QueryCounts { ic: ic as u64, h: h as u64, l: l as u64, a: a as u64, b })
}

#[test]
fn sections_have_the_lengths_that_bellperson_gives_them() {
    let seed = rand_core::OsRng.next_u64();
    println!("seed {seed}");
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut compared = 0;
    for round in 0..60 {
        let mut program = match round % 2 {
            0 => noise(&mut rng),
            _ => {
                let disturbed = below(&mut rng, 4);
                blocks(&mut rng, 4, disturbed, DISTURBANCES[round / 2 % DISTURBANCES.len()])
            }
        };
        // No variable is in no row, or bellperson gives up.
        let all = (0..program.aux).map(|j| (bellpepper_core::Index::Aux(j), blstrs::Scalar::from(3))).collect();
        program.enforce(vec![], term(one()), all);
        let counts = R1cs::record(&program, ByName).unwrap().query_counts();
        if let Some(expected) = bellperson(&program, &mut rng) {
            assert_eq!(counts, expected);
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} circuits were compared");
}
