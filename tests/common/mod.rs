//! Foreign circuits that tests share. The structure of each depends on its parameters alone, never on its witness.
#![allow(dead_code)] // every test binary uses some of them

mod pool;
#[path = "../../examples/preimage/circuit.rs"]
pub mod preimage;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use neptune::poseidon::PoseidonConstants;
use neptune::Poseidon;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

pub use pool::pool;

/// "I know a leaf and a path of 2-ary Poseidon hashes that lead to the public root."
#[derive(Clone)]
pub struct MerklePath {
    pub leaf: Fr,
    /// (sibling, whether the node is the right child), from the leaf up.
    pub path: Vec<(Fr, bool)>,
}

impl MerklePath {
    pub fn random(depth: usize, seed: u64) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let path = (0..depth).map(|_| (Fr::random(&mut rng), rng.next_u32() & 1 == 1)).collect();
        MerklePath { leaf: Fr::random(&mut rng), path }
    }

    pub fn root(&self) -> Fr {
        let constants = PoseidonConstants::<Fr, typenum::U2>::new();
        self.path.iter().fold(self.leaf, |node, (sibling, right)| {
            let children = if *right { [*sibling, node] } else { [node, *sibling] };
            Poseidon::new_with_preimage(&children, &constants).hash()
        })
    }
}

impl Circuit<Fr> for MerklePath {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let constants = PoseidonConstants::<Fr, typenum::U2>::new();
        let mut node = AllocatedNum::alloc(cs.namespace(|| "leaf"), || Ok(self.leaf))?;
        for (i, (sibling, right)) in self.path.into_iter().enumerate() {
            let mut cs = cs.namespace(|| format!("level {i}"));
            let sibling = AllocatedNum::alloc(cs.namespace(|| "sibling"), || Ok(sibling))?;
            let right = Boolean::from(AllocatedBit::alloc(cs.namespace(|| "right"), Some(right))?);
            let (left, right) = AllocatedNum::conditionally_reverse(cs.namespace(|| "order"), &node, &sibling, &right)?;
            node = neptune::circuit::poseidon_hash(cs.namespace(|| "hash"), vec![left, right], &constants)?;
        }
        node.inputize(cs.namespace(|| "root"))
    }
}

/// Rows with explicit zeros, with terms that repeat, and with terms that cancel: x² = y, many times over.
#[derive(Clone)]
pub struct ZerosAndRepeats {
    pub x: Fr,
    pub count: usize,
}

impl Circuit<Fr> for ZerosAndRepeats {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut x_value = self.x;
        let mut x = cs.alloc(|| "x", || Ok(x_value))?;
        let never = cs.alloc(|| "seldom in a row", || Ok(Fr::from(9)))?;
        cs.enforce(|| "its only row", |lc| lc + never, |lc| lc + CS::one(), |lc| lc + never);
        for i in 0..self.count {
            let y_value = x_value.square();
            let y = cs.alloc(|| format!("y {i}"), || Ok(y_value))?;
            let half = Fr::from(2).invert().unwrap();
            cs.enforce(
                || format!("square {i}"),
                |lc| lc + (half, x) + (Fr::ZERO, never) + (half, x),
                |lc| lc + x + (Fr::from(5), y) - (Fr::from(5), y) + (Fr::ZERO, CS::one()),
                |lc| lc + y + (Fr::from(3), never) - (Fr::from(3), never),
            );
            (x, x_value) = (y, y_value);
        }
        let public = cs.alloc_input(|| "public", || Ok(x_value))?;
        cs.enforce(|| "public", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + public);
        cs.enforce(|| "zero by zero", |lc| lc + (Fr::ZERO, x), |lc| lc, |lc| lc + (Fr::ZERO, CS::one()));
        Ok(())
    }
}

/// Inputs and aux allocated by turns, between constraints that use both; query B holds inputs too.
#[derive(Clone)]
pub struct Interleaved {
    pub seed: u64,
    pub count: usize,
}

impl Interleaved {
    fn values(&self) -> Vec<(Fr, Fr)> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        (0..self.count).map(|_| (Fr::random(&mut rng), Fr::from(u64::from(rng.next_u32() & 1)))).collect()
    }

    /// The public inputs, without ONE.
    pub fn inputs(&self) -> Vec<Fr> {
        self.values().into_iter().map(|(input, _)| input).collect()
    }
}

impl Circuit<Fr> for Interleaved {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut before: Option<(Variable, Fr)> = None;
        for (i, (input_value, bit_value)) in self.values().into_iter().enumerate() {
            let bit = cs.alloc(|| format!("bit {i}"), || Ok(bit_value))?;
            cs.enforce(|| format!("bit {i}"), |lc| lc + bit, |lc| lc + CS::one() - bit, |lc| lc);
            let input = cs.alloc_input(|| format!("input {i}"), || Ok(input_value))?;
            let (other, other_value) = before.unwrap_or((CS::one(), Fr::ONE));
            let product_value = (bit_value + other_value) * (input_value + Fr::from(7));
            let product = cs.alloc(|| format!("product {i}"), || Ok(product_value))?;
            let sum = |lc: LinearCombination<Fr>| lc + bit + other;
            cs.enforce(|| format!("product {i}"), sum, |lc| lc + input + (Fr::from(7), CS::one()), |lc| lc + product);
            before = Some((product, product_value));
        }
        Ok(())
    }
}

/// A random satisfied system: each row multiplies two random combinations and names the product with a new variable.
#[derive(Clone)]
pub struct RandomSystem {
    pub rows: usize,
    pub structure_seed: u64,
    pub value_seed: u64,
}

impl RandomSystem {
    pub fn new(rows: usize, seed: u64) -> Self {
        RandomSystem { rows, structure_seed: seed, value_seed: seed ^ 0x5555 }
    }
}

type Terms = Vec<(Fr, Variable)>;

fn combination(terms: &Terms) -> impl Fn(LinearCombination<Fr>) -> LinearCombination<Fr> + '_ {
    move |lc| terms.iter().fold(lc, |lc, (coefficient, variable)| lc + (*coefficient, *variable))
}

impl Circuit<Fr> for RandomSystem {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut shape = ChaCha20Rng::seed_from_u64(self.structure_seed);
        let mut values = ChaCha20Rng::seed_from_u64(self.value_seed);
        let mut known: Vec<(Variable, Fr)> = vec![(CS::one(), Fr::ONE)];
        for row in 0..self.rows {
            if shape.next_u32() % 4 == 0 {
                let value = match shape.next_u32() % 3 {
                    0 => Fr::from(u64::from(values.next_u32() & 1)),
                    1 => Fr::from(u64::from(values.next_u32())),
                    _ => Fr::random(&mut values),
                };
                let variable = if shape.next_u32() % 8 == 0 {
                    cs.alloc_input(|| format!("input {row}"), || Ok(value))?
                } else {
                    cs.alloc(|| format!("free {row}"), || Ok(value))?
                };
                known.push((variable, value));
            }
            let mut pick = |most: u32| -> (Terms, Fr) {
                let count = shape.next_u32() % (most + 1);
                let mut value = Fr::ZERO;
                let terms = (0..count).map(|_| {
                    let (variable, its_value) = known[shape.next_u32() as usize % known.len()];
                    let coefficient = match shape.next_u32() % 4 {
                        0 => Fr::ONE,
                        1 => -Fr::ONE,
                        2 => Fr::from(1 << (shape.next_u32() % 40)),
                        _ => Fr::random(&mut shape),
                    };
                    value += coefficient * its_value;
                    (coefficient, variable)
                });
                let terms = terms.collect();
                (terms, value)
            };
            let ((a, a_value), (b, b_value), (mut c, c_value)) = (pick(6), pick(3), pick(3));
            let new_value = a_value * b_value - c_value;
            let new = cs.alloc(|| format!("new {row}"), || Ok(new_value))?;
            c.push((Fr::ONE, new));
            cs.enforce(|| format!("row {row}"), combination(&a), combination(&b), combination(&c));
            known.push((new, new_value));
        }
        // A set-up refuses variables that are in no row.
        let every: Terms = known.iter().map(|(variable, _)| (Fr::ONE, *variable)).collect();
        cs.enforce(|| "every variable", combination(&every), |lc| lc + CS::one(), combination(&every));
        Ok(())
    }
}
