//! Circuits that aren't Filecoin's, with their witnesses.

#[path = "../../examples/preimage/circuit.rs"]
mod preimage;

use bellpepper_core::boolean::AllocatedBit;
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use neptune::circuit2::poseidon_hash_allocated;
use neptune::poseidon::PoseidonConstants;
pub use preimage::Preimage;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

/// A leaf's path in a binary Poseidon tree (neptune's circuit, which hands over whole blocks of a witness): a sibling
/// and a bit for its side per level, the root as an input. The same circuit may meet bits that are 0 in one witness and
/// numbers that are 0 in another.
#[derive(Clone)]
pub struct PoseidonPath {
    pub leaf: Fr,
    pub levels: Vec<(bool, Fr)>,
}

impl Circuit<Fr> for PoseidonPath {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let constants = PoseidonConstants::<Fr, generic_array::typenum::U2>::new();
        let mut node = AllocatedNum::alloc(cs.namespace(|| "leaf"), || Ok(self.leaf))?;
        for (i, (is_right, sibling)) in self.levels.into_iter().enumerate() {
            let cs = &mut cs.namespace(|| format!("level {i}"));
            let side = AllocatedBit::alloc(cs.namespace(|| "side"), Some(is_right))?.into();
            let sibling = AllocatedNum::alloc(cs.namespace(|| "sibling"), || Ok(sibling))?;
            let pair = AllocatedNum::conditionally_reverse(cs.namespace(|| "order"), &node, &sibling, &side)?;
            node = poseidon_hash_allocated(cs.namespace(|| "hash"), vec![pair.0, pair.1], &constants)?;
        }
        node.inputize(cs.namespace(|| "root"))
    }
}

/// Inputs allocated between aux variables and constraints; zero and repeated terms; rows over the empty sum.
#[derive(Clone)]
pub struct Interleaved {
    pub seed: u64,
    pub count: usize,
}

impl Circuit<Fr> for Interleaved {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let mut last = (Fr::ONE, CS::one());
        for i in 0..self.count {
            let value = Fr::from(rng.next_u64());
            let input = cs.alloc_input(|| format!("input {i}"), || Ok(value))?;
            let square = cs.alloc(|| format!("square {i}"), || Ok(value * value))?;
            cs.enforce(
                || format!("square row {i}"),
                |lc| lc + input,
                |lc| lc + input + (Fr::ZERO, square),
                |lc| lc + square,
            );
            let sum = value.double() + last.0;
            let total = cs.alloc_input(|| format!("total {i}"), || Ok(sum))?;
            cs.enforce(
                || format!("total row {i}"),
                |lc| lc + input + last.1 + input,
                |lc| lc + CS::one(),
                |lc| lc + total + (Fr::ZERO, input),
            );
            cs.enforce(|| format!("nothing {i}"), |lc| lc, |lc| lc, |lc| lc);
            last = (sum, total);
        }
        Ok(())
    }
}

/// Rows of random linear combinations; each allocates the product.
#[derive(Clone)]
pub struct Random {
    pub seed: u64,
    pub rows: usize,
}

impl Random {
    /// A combination of up to four earlier variables, and its value.
    fn combination(rng: &mut ChaCha20Rng, known: &[(Variable, Fr)]) -> (LinearCombination<Fr>, Fr) {
        let mut sum = (LinearCombination::zero(), Fr::ZERO);
        for _ in 0..rng.next_u32() % 5 {
            let (variable, value) = known[rng.next_u64() as usize % known.len()];
            let coefficient = match rng.next_u32() % 3 {
                0 => Fr::ONE,
                1 => -Fr::from(u64::from(rng.next_u32() % 10)),
                _ => Fr::random(&mut *rng),
            };
            sum = (sum.0 + (coefficient, variable), sum.1 + coefficient * value);
        }
        sum
    }
}

impl Circuit<Fr> for Random {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let mut known = vec![(CS::one(), Fr::ONE)];
        for i in 0..self.rows {
            let (a, a_value) = Self::combination(&mut rng, &known);
            let (b, b_value) = Self::combination(&mut rng, &known);
            let product = a_value * b_value;
            let variable = match rng.next_u32() % 16 {
                0 => cs.alloc_input(|| format!("input {i}"), || Ok(product))?,
                _ => cs.alloc(|| format!("aux {i}"), || Ok(product))?,
            };
            cs.enforce(|| format!("row {i}"), |_| a, |_| b, |lc| lc + variable);
            known.push((variable, product));
        }
        Ok(())
    }
}
