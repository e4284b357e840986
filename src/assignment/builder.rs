//! [`Builder`]: a witness-only constraint system that fills the compact form while it synthesises.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use ff::Field;

use super::compact::{Assignment, Buffers};
use super::generations::Layouts;
use super::layout::Layout;
use crate::error::Error;

/// Why a builder has no assignment to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A value is neither 0 nor 1, but its variable is a bit in the pinned layout. The first such variable.
    Misfit {
        /// Index of the aux variable.
        aux: u32,
    },
    /// The circuit allocated other than the layout's number of aux variables.
    AuxCount {
        /// Aux variables of the layout.
        expected: u32,
        /// Aux variables allocated.
        found: u64,
    },
    /// The circuit allocated other than the R1CS's number of inputs, ONE included.
    InputCount {
        /// Inputs of the R1CS.
        expected: u32,
        /// Inputs allocated.
        found: u64,
    },
    /// The circuit gave up; says why.
    Synthesis(String),
}

/// A witness-only [`ConstraintSystem`] that writes a compact [`Assignment`], value by value, as a circuit allocates.
///
/// It starts with ONE allocated, so nobody else allocates it. Constraints are dropped without a look, and no linear
/// combination is built. It says that it is a witness generator, so that gadgets may hand over blocks of values; it
/// isn't extensible: circuits that would synthesise in chunks do so in one sequence, and the order of variables is
/// always that of the R1CS. All vectors have their final capacity from the start.
///
/// [`aux_slice`](ConstraintSystem::aux_slice) works, but expands the whole assignment to 32 bytes a value.
pub struct Builder {
    layouts: Arc<Layouts>,
    layout: Arc<Layout>,
    input_count: u32,
    inputs: Vec<Fr>,
    /// Complete words.
    bits: Vec<u64>,
    full: Vec<Fr>,
    /// Bits of the word that aux variable `next` belongs to.
    word: u64,
    /// Aux variables so far.
    next: u64,
    /// Variables that don't fit the layout, ascending, with their values. Empty while the layout is pinned.
    escaped: Vec<u32>,
    escaped_values: Vec<Fr>,
    first_misfit: Option<u32>,
    /// Aux values lent out by `allocate_empty`, taken in before anything else happens.
    lent: Vec<Fr>,
    /// All aux values, for `aux_slice`.
    expanded: OnceCell<Vec<Fr>>,
    /// `lent` or `expanded` holds something.
    unsettled: Cell<bool>,
}

impl Builder {
    /// A builder for the newest generation of a circuit's layout. `input_count` is the R1CS's, ONE included.
    pub fn new(layouts: &Arc<Layouts>, input_count: u32) -> Self {
        Self::with_buffers(layouts, input_count, Buffers::default())
    }

    /// Like [`Self::new`], but fills the vectors of a finished assignment again. Takes new memory only for what doesn't
    /// fit into them.
    pub fn with_buffers(layouts: &Arc<Layouts>, input_count: u32, buffers: Buffers) -> Self {
        let Buffers { mut inputs, mut bits, mut full } = buffers;
        let layout = layouts.current();
        inputs.clear();
        inputs.reserve_exact(input_count as usize);
        bits.clear();
        bits.reserve_exact(layout.full.len());
        full.clear();
        full.reserve_exact(layout.full_count() as usize);
        inputs.push(Fr::ONE);
        Builder {
            layouts: layouts.clone(),
            layout,
            input_count,
            inputs,
            bits,
            full,
            word: 0,
            next: 0,
            escaped: Vec::new(),
            escaped_values: Vec::new(),
            first_misfit: None,
            lent: Vec::new(),
            expanded: OnceCell::new(),
            unsettled: Cell::new(false),
        }
    }

    /// Synthesises a whole circuit and finishes.
    pub fn synthesize<C: Circuit<Fr>>(mut self, circuit: C) -> Result<Assignment, BuildError> {
        circuit.synthesize(&mut self).map_err(|error| BuildError::Synthesis(error.to_string()))?;
        self.finish()
    }

    /// The assignment, in the newest generation of the layout that it needs.
    pub fn finish(mut self) -> Result<Assignment, BuildError> {
        self.settle();
        if self.next != u64::from(self.layout.aux_count) {
            return Err(BuildError::AuxCount { expected: self.layout.aux_count, found: self.next });
        }
        if self.inputs.len() != self.input_count as usize {
            return Err(BuildError::InputCount { expected: self.input_count, found: self.inputs.len() as u64 });
        }
        if let Some(aux) = self.first_misfit {
            return Err(BuildError::Misfit { aux });
        }
        if self.next % 64 != 0 {
            self.bits.push(self.word);
        }
        if !self.escaped.is_empty() {
            self.adopt(self.layouts.grow(&self.escaped));
        }
        Ok(Assignment { layout: self.layout, inputs: self.inputs, bits: self.bits, full: self.full })
    }

    /// Moves every value that is full-size in `newer` into a slot.
    fn adopt(&mut self, newer: Arc<Layout>) {
        let mut slots = Vec::with_capacity(newer.full_count() as usize);
        let mut full = self.full.iter();
        let mut escaped = self.escaped.iter().zip(&self.escaped_values).peekable();
        for aux in newer.full_positions() {
            let (word, bit) = (aux as usize / 64, aux % 64);
            slots.push(if self.layout.is_full(aux) {
                *full.next().expect("one slot per full-size variable")
            } else if let Some((_, value)) = escaped.next_if(|(&at, _)| at == aux) {
                *value
            } else {
                Fr::from(self.bits[word] >> bit & 1)
            });
        }
        self.bits.iter_mut().zip(&newer.full).for_each(|(bits, full)| *bits &= !full);
        self.full = slots;
        self.layout = newer;
    }

    /// Appends the value of the next aux variable.
    #[inline]
    fn push(&mut self, value: Fr) {
        if self.next >= u64::from(self.layout.aux_count) {
            // Counted, so that `finish` can say how many there were.
            self.next += 1;
            return;
        }
        let bit = self.next % 64;
        if self.layout.full[self.next as usize / 64] >> bit & 1 == 1 {
            self.full.push(value);
        } else if value == Fr::ONE {
            self.word |= 1 << bit;
        } else if value != Fr::ZERO {
            self.escape(value);
        }
        self.next += 1;
        if bit == 63 {
            self.bits.push(std::mem::take(&mut self.word));
        }
    }

    /// Keeps a value that doesn't fit the layout, or notes that there is one.
    #[cold]
    fn escape(&mut self, value: Fr) {
        let aux = self.next as u32;
        if self.layouts.is_pinned() {
            self.first_misfit.get_or_insert(aux);
        } else {
            self.escaped.push(aux);
            self.escaped_values.push(value);
        }
    }

    /// Takes in what `allocate_empty` lent out, and forgets what `aux_slice` expanded.
    #[inline]
    fn settle(&mut self) {
        if self.unsettled.get() {
            self.take_in();
        }
    }

    #[cold]
    fn take_in(&mut self) {
        let mut lent = std::mem::take(&mut self.lent);
        lent.drain(..).for_each(|value| self.push(value));
        self.lent = lent;
        self.expanded.take();
        self.unsettled.set(false);
    }

    /// All aux values so far.
    fn expand(&self) -> Vec<Fr> {
        let mut full = self.full.iter();
        let mut escaped = self.escaped.iter().zip(&self.escaped_values).peekable();
        let kept = self.next.min(u64::from(self.layout.aux_count)) as u32;
        let mut values = Vec::with_capacity(kept as usize + self.lent.len());
        for aux in 0..kept {
            let word = self.bits.get(aux as usize / 64).unwrap_or(&self.word);
            values.push(if self.layout.is_full(aux) {
                *full.next().expect("one slot per full-size variable")
            } else if let Some((_, value)) = escaped.next_if(|(&at, _)| at == aux) {
                *value
            } else {
                Fr::from(word >> (aux % 64) & 1)
            });
        }
        values.extend_from_slice(&self.lent);
        values
    }
}

impl ConstraintSystem<Fr> for Builder {
    type Root = Self;

    #[inline]
    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.settle();
        self.push(f()?);
        Ok(Variable::new_unchecked(Index::Aux(self.next as usize - 1)))
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
        true
    }

    fn extend_inputs(&mut self, new_inputs: &[Fr]) {
        self.inputs.extend_from_slice(new_inputs);
    }

    fn extend_aux(&mut self, new_aux: &[Fr]) {
        self.settle();
        new_aux.iter().for_each(|value| self.push(*value));
    }

    fn allocate_empty(&mut self, aux_n: usize, inputs_n: usize) -> (&mut [Fr], &mut [Fr]) {
        self.settle();
        self.lent.resize(aux_n, Fr::ZERO);
        self.unsettled.set(true);
        let before = self.inputs.len();
        self.inputs.resize(before + inputs_n, Fr::ZERO);
        (&mut self.lent, &mut self.inputs[before..])
    }

    fn allocate_empty_inputs(&mut self, n: usize) -> &mut [Fr] {
        self.allocate_empty(0, n).1
    }

    fn allocate_empty_aux(&mut self, n: usize) -> &mut [Fr] {
        self.allocate_empty(n, 0).0
    }

    fn inputs_slice(&self) -> &[Fr] {
        &self.inputs
    }

    fn aux_slice(&self) -> &[Fr] {
        self.unsettled.set(true);
        self.expanded.get_or_init(|| self.expand())
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Misfit { aux } => write!(f, "aux variable {aux} is a bit in the layout, but its value isn't"),
            BuildError::AuxCount { expected, found } => write!(f, "{found} aux variables, the layout has {expected}"),
            BuildError::InputCount { expected, found } => write!(f, "{found} inputs, the R1CS has {expected}"),
            BuildError::Synthesis(why) => write!(f, "synthesis failed: {why}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Error::invalid("witness", error.to_string())
    }
}
