//! Checked proofs satisfy their circuit, and its inputs are those that the verifier will compute.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;

use super::all_samples;

/// Keeps all values and checks each constraint as it comes.
struct Checker {
    inputs: Vec<Fr>,
    aux: Vec<Fr>,
    rows: u64,
    unsatisfied: Option<u64>,
}

impl Checker {
    fn value(&self, of: &LinearCombination<Fr>) -> Fr {
        let term = |(variable, coefficient): (Variable, &Fr)| match variable.get_unchecked() {
            Index::Input(i) => self.inputs[i] * coefficient,
            Index::Aux(i) => self.aux[i] * coefficient,
        };
        of.iter().map(term).sum()
    }
}

impl ConstraintSystem<Fr> for Checker {
    type Root = Self;

    fn new() -> Self {
        Checker { inputs: vec![Fr::ONE], aux: Vec::new(), rows: 0, unsatisfied: None }
    }

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux.push(f()?);
        Ok(Variable::new_unchecked(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        Ok(Variable::new_unchecked(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        let [a, b, c] = [a(LinearCombination::zero()), b(LinearCombination::zero()), c(LinearCombination::zero())];
        if self.value(&a) * self.value(&b) != self.value(&c) {
            self.unsatisfied.get_or_insert(self.rows);
        }
        self.rows += 1;
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }
}

/// (constraints, inputs with ONE) of the 2 KiB circuits.
fn expected_counts(name: &str) -> (u64, usize) {
    match name {
        name if name.contains("PoRep") => (2_687_921, 40),
        "SnapDeals" => (1_705_039, 5),
        "WinningPoSt" => (90_750, 133),
        _ => (21_866, 23),
    }
}

#[test]
fn circuits_are_satisfied_and_have_these_inputs() {
    for (name, asked) in all_samples() {
        let checked = asked.check().unwrap();
        assert_eq!(checked.partitions().len(), 1, "{name}");
        for partition in checked.partitions() {
            let mut cs = Checker::new();
            partition.synthesize(&mut cs).unwrap();
            assert_eq!(cs.unsatisfied, None, "{name}");
            assert_eq!((cs.rows, cs.inputs.len()), expected_counts(name), "{name}");
            assert_eq!(cs.inputs[1..], partition.inputs(), "{name}");
        }
    }
}
