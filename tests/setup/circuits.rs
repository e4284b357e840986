//! Circuits that bellperson's generator accepts: every aux variable is in a row.

use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use ff::Field;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// `x^(2^squarings)`: as many rows as squarings, and one for ONE. None: no row but that.
#[derive(Clone, Copy)]
pub struct Powers(pub usize);

impl Circuit<Fr> for Powers {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        if self.0 == 0 {
            return Ok(());
        }
        let mut x = AllocatedNum::alloc(cs.namespace(|| "x"), || Ok(Fr::from(3)))?;
        for i in 0..self.0 {
            x = x.square(cs.namespace(|| format!("square {i}")))?;
        }
        Ok(())
    }
}

/// Terms that stand twice, cancel or are zero; inputs allocated between rows; B of more than ONE; rows without B or C.
#[derive(Clone, Copy)]
pub struct Irregular;

impl Circuit<Fr> for Irregular {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let one = CS::one();
        let five = Fr::from(5);
        for i in 0..11 {
            let x = cs.alloc(|| format!("x {i}"), || Ok(Fr::ONE))?;
            let input = cs.alloc_input(|| format!("input {i}"), || Ok(Fr::ONE))?;
            let y = cs.alloc(|| format!("y {i}"), || Ok(Fr::ONE))?;
            cs.enforce(
                || "repeated",
                |lc| lc + x + (five, x) + one,
                |lc| lc + input + (five, y),
                |lc| lc + (-Fr::ONE, y),
            );
            cs.enforce(|| "zeros", |lc| lc + (Fr::ZERO, y) + input, |lc| lc + (Fr::ZERO, x), |lc| lc + (Fr::ZERO, one));
            cs.enforce(|| "cancelling", |lc| lc + y + x - y, |lc| lc + one - one, |lc| lc + (five, input) - x);
        }
        // In no row but its own: A has it, B and L have not.
        cs.alloc_input(|| "unused", || Ok(Fr::ONE))?;
        Ok(())
    }
}

/// Random rows over random variables.
#[derive(Clone, Copy)]
pub struct Random {
    pub rows: usize,
    pub seed: u64,
}

impl Circuit<Fr> for Random {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut variables = vec![CS::one()];
        for row in 0..self.rows {
            variables.push(match rng.next_u32() % 4 {
                0 => cs.alloc_input(|| format!("input {row}"), || Ok(Fr::ONE))?,
                _ => cs.alloc(|| format!("aux {row}"), || Ok(Fr::ONE))?,
            });
            let newest = variables[variables.len() - 1];
            // Large enough that no sum of other terms of this row is its opposite.
            let keeps = Fr::from(1 << 20);
            let [a, b, c] = [2, 3, 5].map(|most| {
                let count = rng.next_u32() as usize % most;
                let terms = (0..count).map(|_| {
                    let coefficient = match rng.next_u32() % 3 {
                        0 => Fr::ONE,
                        1 => -Fr::ONE,
                        _ => Fr::random(&mut rng),
                    };
                    (coefficient, variables[rng.next_u32() as usize % variables.len()])
                });
                terms.collect::<Vec<_>>()
            });
            cs.enforce(
                || format!("row {row}"),
                |lc| a.iter().fold(lc, |lc, term| lc + *term),
                |lc| b.iter().fold(lc, |lc, term| lc + *term),
                |lc| c.iter().fold(lc, |lc, term| lc + *term) + (keeps, newest),
            );
        }
        Ok(())
    }
}
