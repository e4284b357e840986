//! A synthesis that ends when nobody waits for it any more.

use bellpepper_core::{ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

use super::job::Life;
use crate::assignment::Builder;

/// A [`Builder`] whose allocations fail once its job has ended, so that synthesis gives up.
pub(super) struct Stoppable<'a> {
    builder: Builder,
    life: &'a Life,
}

impl<'a> Stoppable<'a> {
    pub fn new(builder: Builder, life: &'a Life) -> Self {
        Stoppable { builder, life }
    }

    pub fn into_builder(self) -> Builder {
        self.builder
    }

    #[inline]
    fn go_on(&self) -> Result<(), SynthesisError> {
        match self.life.has_ended() {
            // The error's kind doesn't matter: whoever ended the job knows why.
            true => Err(SynthesisError::AssignmentMissing),
            false => Ok(()),
        }
    }
}

impl ConstraintSystem<Fr> for Stoppable<'_> {
    type Root = Self;

    #[inline]
    fn alloc<F, A, AR>(&mut self, annotation: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.go_on()?;
        self.builder.alloc(annotation, f)
    }

    fn alloc_input<F, A, AR>(&mut self, annotation: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.go_on()?;
        self.builder.alloc_input(annotation, f)
    }

    #[inline]
    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, _: LA, _: LB, _: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
    }

    #[inline]
    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    #[inline]
    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self {
        self
    }

    fn is_witness_generator(&self) -> bool {
        self.builder.is_witness_generator()
    }

    fn extend_inputs(&mut self, new_inputs: &[Fr]) {
        self.builder.extend_inputs(new_inputs);
    }

    fn extend_aux(&mut self, new_aux: &[Fr]) {
        self.builder.extend_aux(new_aux);
    }

    fn allocate_empty(&mut self, aux_n: usize, inputs_n: usize) -> (&mut [Fr], &mut [Fr]) {
        self.builder.allocate_empty(aux_n, inputs_n)
    }

    fn allocate_empty_inputs(&mut self, n: usize) -> &mut [Fr] {
        self.builder.allocate_empty_inputs(n)
    }

    fn allocate_empty_aux(&mut self, n: usize) -> &mut [Fr] {
        self.builder.allocate_empty_aux(n)
    }

    fn inputs_slice(&self) -> &[Fr] {
        self.builder.inputs_slice()
    }

    fn aux_slice(&self) -> &[Fr] {
        self.builder.aux_slice()
    }
}
