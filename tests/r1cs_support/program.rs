//! Circuits as lists of steps, so that tests can generate and disturb them.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use cuzk::r1cs::{Mark, Proposer};
use ff::Field;

/// One linear combination; the same variable may stand in it more than once.
pub type Terms = Vec<(Index, Fr)>;

#[derive(Clone, Debug)]
pub enum Step {
    Aux,
    Input,
    Enforce([Terms; 3]),
    Push(&'static str),
    Pop,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub steps: Vec<Step>,
    pub aux: usize,
    /// ONE included.
    pub inputs: usize,
}

impl Program {
    pub fn new() -> Self {
        Program { steps: Vec::new(), aux: 0, inputs: 1 }
    }

    pub fn aux(&mut self) -> Index {
        self.steps.push(Step::Aux);
        self.aux += 1;
        Index::Aux(self.aux - 1)
    }

    pub fn many_aux(&mut self, count: usize) {
        for _ in 0..count {
            self.aux();
        }
    }

    pub fn input(&mut self) -> Index {
        self.steps.push(Step::Input);
        self.inputs += 1;
        Index::Input(self.inputs - 1)
    }

    pub fn enforce(&mut self, a: Terms, b: Terms, c: Terms) {
        self.steps.push(Step::Enforce([a, b, c]));
    }

    /// Runs `body` inside a namespace.
    pub fn inside(&mut self, name: &'static str, body: impl FnOnce(&mut Self)) {
        self.steps.push(Step::Push(name));
        body(self);
        self.steps.push(Step::Pop);
    }
}

fn combination(terms: &Terms) -> LinearCombination<Fr> {
    terms.iter().fold(LinearCombination::zero(), |sum, (index, coefficient)| {
        sum + (*coefficient, Variable::new_unchecked(*index))
    })
}

impl Circuit<Fr> for &Program {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let root = cs.get_root();
        for step in &self.steps {
            match step {
                Step::Aux => drop(root.alloc(|| "", || Err(SynthesisError::AssignmentMissing))?),
                Step::Input => drop(root.alloc_input(|| "", || Err(SynthesisError::AssignmentMissing))?),
                Step::Enforce([a, b, c]) => {
                    root.enforce(|| "", |_| combination(a), |_| combination(b), |_| combination(c))
                }
                Step::Push(name) => root.push_namespace(|| *name),
                Step::Pop => root.pop_namespace(),
            }
        }
        Ok(())
    }
}

/// Proposes blocks at namespaces with these names.
#[derive(Clone, Copy, Debug)]
pub struct ByName;

impl Proposer for ByName {
    fn depth_limit(&self) -> usize {
        2
    }

    fn mark(&self, _depth: usize, name: &str) -> Mark {
        match name {
            "block" => Mark::Block,
            "start" => Mark::Start,
            _ => Mark::None,
        }
    }
}

pub fn one() -> Index {
    Index::Input(0)
}

pub fn term(index: Index) -> Terms {
    vec![(index, Fr::ONE)]
}
