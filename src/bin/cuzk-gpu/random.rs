//! Random satisfied circuits: bits, products of linear combinations with coefficients of every kind, inputs among them.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// A circuit of `rows` constraints whose structure follows from `seed`, and whose witness follows from `witness`.
#[derive(Clone, Copy)]
pub struct Random {
    pub seed: u64,
    pub rows: u32,
    pub witness: Option<u64>,
}

/// What is known of the variables so far.
struct State {
    structure: ChaCha8Rng,
    values: ChaCha8Rng,
    known: Vec<(Variable, Option<Fr>)>,
}

fn below(rng: &mut ChaCha8Rng, end: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(end)) >> 32) as u32
}

impl State {
    fn coefficient(&mut self) -> Fr {
        match below(&mut self.structure, 8) {
            0..3 => Fr::ONE,
            3..5 => -Fr::ONE,
            5..7 => Fr::from(2).pow_vartime([u64::from(below(&mut self.structure, 250))]),
            _ => Fr::random(&mut self.structure),
        }
    }

    /// A random combination of what is known, and its value.
    fn combination(&mut self, longest: u32) -> (LinearCombination<Fr>, Option<Fr>) {
        let length = match below(&mut self.structure, 40) {
            0 => longest,
            _ => 1 + below(&mut self.structure, 3),
        };
        let (mut sum, mut value) = (LinearCombination::zero(), Some(Fr::ZERO));
        for _ in 0..length {
            let at = below(&mut self.structure, self.known.len() as u32) as usize;
            let (variable, known) = self.known[at];
            let coefficient = self.coefficient();
            sum = sum + (coefficient, variable);
            value = value.zip(known).map(|(sum, known)| sum + coefficient * known);
        }
        (sum, value)
    }
}

fn given(value: Option<Fr>) -> impl FnOnce() -> Result<Fr, SynthesisError> {
    move || value.ok_or(SynthesisError::AssignmentMissing)
}

impl Circuit<Fr> for Random {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut state = State {
            structure: ChaCha8Rng::seed_from_u64(self.seed),
            values: ChaCha8Rng::seed_from_u64(self.witness.unwrap_or(0)),
            known: vec![(CS::one(), Some(Fr::ONE))],
        };
        let has_witness = self.witness.is_some();
        for _ in 0..self.rows {
            match below(&mut state.structure, 20) {
                0..10 => {
                    let bit = Fr::from(u64::from(below(&mut state.values, 2)));
                    let bit = has_witness.then_some(bit);
                    let b = cs.alloc(|| "bit", given(bit))?;
                    cs.enforce(|| "boolean", |lc| lc + b, |lc| lc + CS::one() - b, |lc| lc);
                    state.known.push((b, bit));
                }
                10 => {
                    let at = below(&mut state.structure, state.known.len() as u32) as usize;
                    let (variable, value) = state.known[at];
                    let input = cs.alloc_input(|| "input", given(value))?;
                    cs.enforce(|| "is public", |lc| lc + variable, |lc| lc + CS::one(), |lc| lc + input);
                    state.known.push((input, value));
                }
                _ => {
                    let ((a, a_value), (b, b_value)) = (state.combination(60), state.combination(5));
                    let value = a_value.zip(b_value).map(|(a, b)| a * b);
                    let c = cs.alloc(|| "product", given(value))?;
                    cs.enforce(|| "product", |_| a, |_| b, |lc| lc + c);
                    state.known.push((c, value));
                }
            }
        }
        // A value that no bit can hold, so that every witness has a full-size variable.
        let root = has_witness.then(|| Fr::random(&mut state.values));
        let square = root.map(|root| root.square());
        let (x, y) = (cs.alloc(|| "root", given(root))?, cs.alloc(|| "square", given(square))?);
        cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + y);
        Ok(())
    }
}
