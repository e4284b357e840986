//! The recording constraint system: turns a circuit into an [`R1cs`] in one synthesis.
//!
//! A [`Proposer`] says where repeated blocks may start and end. The first is recorded, every later one is compared with it
//! row by row as it is enforced and kept only as a port table. A repeat that differs is recorded in full and becomes the
//! block that later ones are compared with, so a wrong proposal costs memory, never correctness.

use bellpepper_core::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

use super::block::{Block, Repeat};
use super::dictionary::Dictionary;
use super::draft::{too_large, Draft, Position, Row};
use super::{Column, R1cs, Segment};
use crate::error::{Error, Result};

/// What begins where a namespace is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    None,
    /// A repeat that ends with this namespace.
    Block,
    /// A repeat that ends where the next one starts, or when it has as many rows as the block.
    Start,
}

/// Knows a circuit's namespaces well enough to propose where its repeated blocks are. Proposals may be wrong.
pub trait Proposer: Send {
    /// Namespaces at this depth or deeper are never asked about: formatting their names is costly. The outermost
    /// namespaces have depth 0.
    fn depth_limit(&self) -> usize;

    /// What begins where the namespace `name` at `depth` is entered. Not asked inside a [`Mark::Block`].
    fn mark(&self, depth: usize, name: &str) -> Mark;
}

/// Proposes nothing: the circuit is recorded flat.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flat;

impl Proposer for Flat {
    fn depth_limit(&self) -> usize {
        0
    }

    fn mark(&self, _depth: usize, _name: &str) -> Mark {
        Mark::None
    }
}

impl R1cs {
    /// Records `circuit`, with the blocks that `proposer` finds. Values are never computed: allocation closures aren't
    /// called, so a blank circuit and one with a witness give the same R1CS.
    /// Errors: INVALID if synthesis fails or a row names a variable that isn't allocated; UNSUPPORTED beyond the limits of
    /// 2^30 − 1 variables, 2^32 − 1 rows and non-zeros a block.
    pub fn record<C: Circuit<Fr>>(circuit: C, proposer: impl Proposer) -> Result<R1cs> {
        let mut recorder = Recorder::new(proposer);
        let outcome = circuit.synthesize(&mut recorder);
        if let (None, Err(error)) = (&recorder.fault, outcome) {
            return Err(Error::invalid("circuit", format!("synthesis failed: {error}")));
        }
        recorder.finish()
    }
}

/// What the rows enforced now belong to.
#[derive(Debug)]
enum Unit {
    /// Rows outside of any proposed block.
    Outside(Draft),
    /// A proposed block that is recorded.
    First(Draft),
    /// A proposed block that so far equals the open one.
    Repeat(Repeat),
}

/// Where the current repeat ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With the namespace at this depth.
    Depth(usize),
    /// With the next mark.
    NextMark,
}

/// A part of the circuit that will not change, until indices are settled.
#[derive(Debug)]
enum Part {
    Single(Draft, Position),
    Block(Block),
}

/// A `ConstraintSystem` that keeps rows and no values.
#[derive(Debug)]
struct Recorder<P> {
    proposer: P,
    depth: usize,
    now: Position,
    unit: Unit,
    end: End,
    /// The block whose repeats stand directly before the current unit.
    block: Option<Block>,
    parts: Vec<Part>,
    dictionary: Dictionary,
    /// The first error: `enforce` can't return one.
    fault: Option<Error>,
}

impl<P: Proposer> Recorder<P> {
    /// Holds ONE already, as bellperson's prover and generator do.
    fn new(proposer: P) -> Self {
        let now = Position { row: 0, aux: 0, input: 1 };
        Recorder {
            proposer,
            depth: 0,
            now,
            unit: Unit::Outside(Draft::new(now)),
            end: End::NextMark,
            block: None,
            parts: Vec::new(),
            dictionary: Dictionary::default(),
            fault: None,
        }
    }

    fn count_variable(&mut self) -> Result<(), SynthesisError> {
        if self.now.aux + self.now.input <= Column::MAX_VALUE {
            return Ok(());
        }
        self.fault.get_or_insert_with(|| too_large("2^30 - 1 variables"));
        Err(SynthesisError::PolynomialDegreeTooLarge)
    }

    fn add_row(&mut self, row: &Row) -> Result<()> {
        if let (Unit::Repeat(repeat), Some(block)) = (&mut self.unit, &self.block) {
            if block.matches(repeat, row, self.now, self.dictionary.values()) {
                self.now.row += 1;
                return Ok(());
            }
            self.leave_repeat();
        }
        if let (Unit::Outside(_), Some(_)) = (&self.unit, &self.block) {
            self.close_block();
        }
        if let Unit::Outside(draft) | Unit::First(draft) = &mut self.unit {
            draft.push_row(row, self.now, &mut self.dictionary)?;
            self.now.row += 1;
        }
        Ok(())
    }

    /// The next row isn't the one that would continue the repeat. One that is open and complete has ended before it; any
    /// other isn't a repeat of this block.
    fn leave_repeat(&mut self) {
        let outside = Unit::Outside(Draft::new(self.now));
        let (Unit::Repeat(repeat), Some(block)) = (std::mem::replace(&mut self.unit, outside), &mut self.block) else {
            return;
        };
        if self.end == End::NextMark && block.is_complete(&repeat) {
            block.accept(repeat, self.now);
            return;
        }
        self.unit = Unit::First(block.expand(&repeat));
        self.close_block();
    }

    /// Ends the current unit here.
    fn end_unit(&mut self) {
        let outside = Unit::Outside(Draft::new(self.now));
        match std::mem::replace(&mut self.unit, outside) {
            Unit::Outside(draft) => self.keep_single(draft, self.now),
            Unit::First(draft) if draft.row_count() == 0 => {}
            Unit::First(draft) => {
                self.close_block();
                self.block = Some(Block::new(draft, self.now));
            }
            Unit::Repeat(repeat) => match &mut self.block {
                Some(block) if block.is_complete(&repeat) => block.accept(repeat, self.now),
                Some(block) => {
                    let draft = block.expand(&repeat);
                    self.unit = Unit::First(draft);
                    self.close_block();
                    self.end_unit();
                }
                None => {}
            },
        }
    }

    /// Begins a proposed block here.
    fn begin(&mut self, end: End) {
        self.end_unit();
        self.end = end;
        self.unit = match self.block.as_mut().and_then(|block| block.begin(self.now)) {
            Some(repeat) => Unit::Repeat(repeat),
            None => {
                self.close_block();
                Unit::First(Draft::new(self.now))
            }
        };
    }

    /// No more repeats of the open block.
    fn close_block(&mut self) {
        match self.block.take() {
            Some(block) if block.is_single() => {
                let (draft, end) = block.into_single();
                self.keep_single(draft, end);
            }
            Some(block) => self.parts.push(Part::Block(block)),
            None => {}
        }
    }

    /// Keeps rows that stand once, joined to such rows before them.
    fn keep_single(&mut self, draft: Draft, end: Position) {
        if draft.row_count() == 0 {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Single(last, last_end)) if last.can_append(&draft) => {
                last.append(draft);
                *last_end = end;
            }
            _ => self.parts.push(Part::Single(draft, end)),
        }
    }

    fn finish(mut self) -> Result<R1cs> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.end_unit();
        self.close_block();
        let input_count = self.now.input;
        let settle = |part| -> Result<Segment> {
            match part {
                Part::Single(draft, end) => Ok(draft.settle(end, input_count)),
                Part::Block(block) => block.settle(input_count),
            }
        };
        Ok(R1cs {
            input_count,
            aux_count: self.now.aux,
            constraint_count: self.now.row,
            dictionary: self.dictionary.into_values(),
            segments: self.parts.into_iter().map(settle).collect::<Result<_>>()?,
        })
    }
}

impl<P: Proposer> ConstraintSystem<Fr> for Recorder<P> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, _annotation: A, _value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.count_variable()?;
        self.now.aux += 1;
        Ok(Variable::new_unchecked(Index::Aux(self.now.aux as usize - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _annotation: A, _value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.count_variable()?;
        self.now.input += 1;
        Ok(Variable::new_unchecked(Index::Input(self.now.input as usize - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _annotation: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        if self.fault.is_some() {
            return;
        }
        let zero = LinearCombination::zero;
        let row = [a(zero()), b(zero()), c(zero())];
        self.fault = self.add_row(&row).err();
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        let inside_block = matches!(self.end, End::Depth(_)) && !matches!(self.unit, Unit::Outside(_));
        if self.depth < self.proposer.depth_limit() && !inside_block {
            match self.proposer.mark(self.depth, &name().into()) {
                Mark::None => {}
                Mark::Block => self.begin(End::Depth(self.depth)),
                Mark::Start => self.begin(End::NextMark),
            }
        }
        self.depth += 1;
    }

    fn pop_namespace(&mut self) {
        self.depth -= 1;
        if self.end == End::Depth(self.depth) && !matches!(self.unit, Unit::Outside(_)) {
            self.end_unit();
        }
    }

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
