//! A second, plain reading of a circuit, after bellperson's generator: one pass, nothing compressed. Each row is compared
//! with the recorded one as it is enforced, so that nothing has to be kept.

use bellpepper_core::{ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use cuzk::r1cs::{Bitmap, R1cs, Terms};
use ff::Field;

/// Compares the rows that it is given with `r1cs`; collects densities and counts.
pub struct Reference<'a> {
    r1cs: &'a R1cs,
    pub row: u64,
    pub inputs: usize,
    pub aux: usize,
    pub non_zeros: [u64; 3],
    /// z indices in A and in B.
    pub density: [Bitmap; 2],
}

impl<'a> Reference<'a> {
    pub fn new(r1cs: &'a R1cs) -> Self {
        let bitmap = || Bitmap::new(r1cs.variable_count() as usize);
        Reference { r1cs, row: 0, inputs: 1, aux: 0, non_zeros: [0; 3], density: [bitmap(), bitmap()] }
    }

    /// Checks everything that is known once synthesis is over; adds the input rows as bellperson does.
    pub fn finish(mut self) {
        assert_eq!(self.row, self.r1cs.constraint_count, "constraints");
        assert_eq!(self.inputs, self.r1cs.input_count as usize, "inputs");
        assert_eq!(self.aux, self.r1cs.aux_count as usize, "aux");
        assert_eq!(self.non_zeros, self.r1cs.non_zero_counts(), "non-zeros");
        for input in 0..self.inputs {
            let variable = Variable::new_unchecked(Index::Input(input));
            self.enforce(|| "", |lc| lc + variable, |lc| lc, |lc| lc);
        }
        assert_eq!(self.row, self.r1cs.row_count(), "rows");
        let densities = [self.r1cs.density_a(), self.r1cs.density_b()];
        for (density, expected) in densities.iter().zip(&self.density) {
            assert_eq!(density.inputs.len(), self.inputs);
            assert_eq!(density.aux.len(), self.aux);
            let found = density.inputs.ones().chain(density.aux.ones().map(|j| j + self.inputs));
            assert!(found.eq(expected.ones()), "densities differ");
            assert_eq!(density.count(), expected.count_ones());
        }
    }

    fn check(&mut self, matrix: usize, found: Terms<'_>, expected: &LinearCombination<Fr>) {
        let input_count = self.r1cs.input_count;
        let terms = expected.iter().filter(|(_, coefficient)| !bool::from(coefficient.is_zero()));
        let index = |variable: Variable| match variable.0 {
            Index::Input(i) => i as u32,
            Index::Aux(j) => input_count + j as u32,
        };
        let found: Vec<_> = found.collect();
        let expected: Vec<_> = terms.map(|(variable, coefficient)| (index(variable), coefficient)).collect();
        assert_eq!(found, expected, "matrix {matrix}, row {}", self.row);
        self.non_zeros[matrix] += expected.len() as u64;
        if let Some(density) = self.density.get_mut(matrix) {
            expected.iter().for_each(|(index, _)| density.set(*index as usize));
        }
    }
}

impl ConstraintSystem<Fr> for Reference<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.aux - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, _: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs += 1;
        Ok(Variable::new_unchecked(Index::Input(self.inputs - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        let row = self.r1cs.row(self.row);
        assert_eq!(row.index, self.row);
        self.check(0, row.a, &a(LinearCombination::zero()));
        self.check(1, row.b, &b(LinearCombination::zero()));
        self.check(2, row.c, &c(LinearCombination::zero()));
        self.row += 1;
    }

    fn push_namespace<NR: Into<String>, N: FnOnce() -> NR>(&mut self, _: N) {}

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
