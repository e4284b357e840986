//! The layout that follows from an R1CS.
//!
//! # The rule
//!
//! A variable `x` is a bit if there is a row in which
//! - every other variable is ONE or known to be a bit, and these bits are at most [`MAX_KNOWN`];
//! - for each assignment of these bits, the row, which is `αx² + βx + γ = 0` then, has no root but 0 and 1.
//!
//! An assignment of the bits counts only if it doesn't violate the row that showed one of them to be a bit, where that
//! row stands in the same block and has no further variable. Newly found bits make more rows apply, until none does.
//!
//! So in every assignment that satisfies the R1CS these variables are 0 or 1, by induction over the order in which they
//! are found. The rule covers boolean rows `(1 − x)x = 0`, conditional ones `(1 − b − x)x = 0`, and whatever is
//! computed from bits: xor `2ab = a + b − x`, and, nor, SHA-256's ch. maj `(2d − b − c)a = d − x` is over four bits of
//! which `d` is `bc` (or `(1 − b)c` …), which is why violated rows are looked at. Inputs other than ONE are never bits.
//!
//! # Blocks
//!
//! A block is solved once, and the result is copied to each repeat whose variables (outside, ports and its own) are
//! known to be bits where the solved one's were. A repeat that differs is solved for itself.

use super::layout::Layout;
use super::row::{Row, Rows, MAX_KNOWN};
use crate::r1cs::{R1cs, Segment};

impl Layout {
    /// The layout that follows from an R1CS: full-size are the variables that aren't shown to be bits. See
    /// `docs/FORMATS.md` for the rule.
    pub fn derive(r1cs: &R1cs) -> Layout {
        let mut known = Bits::new(r1cs.aux_count as usize);
        let mut solvers: Vec<Solver> = r1cs.segments.iter().map(|segment| Solver::new(r1cs, segment)).collect();
        loop {
            let mut changed = false;
            for solver in &mut solvers {
                changed |= solver.apply(&mut known);
            }
            if !changed {
                break;
            }
        }
        let mut full = known.words;
        full.iter_mut().for_each(|word| *word = !*word);
        if r1cs.aux_count % 64 != 0 {
            *full.last_mut().expect("there are aux variables") &= (1 << (r1cs.aux_count % 64)) - 1;
        }
        Layout::with_generation(0, r1cs.aux_count, full)
    }
}

/// A bitmap: which variables are known to be bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(count: usize) -> Self {
        Bits { words: vec![0; count.div_ceil(64)] }
    }

    #[inline]
    fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    #[inline]
    fn set(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    /// Reads `into.len() × 64` bits from position `base` on, the last word cut to `count` bits in all.
    fn read(&self, base: usize, count: usize, into: &mut Bits) {
        let (word, shift) = (base / 64, base % 64);
        for (i, out) in into.words.iter_mut().enumerate() {
            let low = self.words.get(word + i).copied().unwrap_or(0) >> shift;
            let high = self.words.get(word + i + 1).copied().unwrap_or(0);
            *out = low | if shift == 0 { 0 } else { high << (64 - shift) };
        }
        if count % 64 != 0 {
            *into.words.last_mut().expect("count isn't 0") &= (1 << (count % 64)) - 1;
        }
    }

    /// Sets the bits that are set in `from`, from position `base` on.
    fn merge(&mut self, base: usize, from: &Bits) {
        let (word, shift) = (base / 64, base % 64);
        for (i, &bits) in from.words.iter().enumerate().filter(|(_, &bits)| bits != 0) {
            self.words[word + i] |= bits << shift;
            if shift != 0 && bits >> (64 - shift) != 0 {
                self.words[word + i + 1] |= bits >> (64 - shift);
            }
        }
    }
}

/// What is known of the variables of one repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// By offset from the block's first aux variable.
    local: Bits,
    /// By port; behind them by position in [`Rows::outside`].
    foreign: Bits,
    /// Which of the latter are inputs, and so never taken for bits.
    inputs: Bits,
}

/// One segment, with the last block solved.
struct Solver<'a> {
    rows: Rows<'a>,
    segment: &'a Segment,
    input_count: u32,
    before: State,
    after: State,
    solved: bool,
    /// For each of the block's own variables the row, plus 1, that showed it to be a bit; kept from one solution to the
    /// next, since what a row says doesn't depend on the repeat.
    shown_by: Vec<u32>,
}

impl<'a> Solver<'a> {
    fn new(r1cs: &'a R1cs, segment: &'a Segment) -> Self {
        let rows = Rows::new(r1cs, segment);
        let foreign = Bits::new(rows.foreign_count());
        let state = State { local: Bits::new(rows.local_count()), foreign: foreign.clone(), inputs: foreign };
        let input_count = r1cs.input_count;
        let shown_by = vec![0; rows.local_count()];
        Solver { rows, segment, input_count, before: state.clone(), after: state, solved: false, shown_by }
    }

    /// Brings what the segment's rows tell into `known`; whether that was anything new.
    fn apply(&mut self, known: &mut Bits) -> bool {
        let mut changed = false;
        let mut state = self.before.clone();
        for repeat in 0..self.segment.repeat_count {
            self.read(known, repeat, &mut state);
            if self.solved && state == self.after {
                continue;
            }
            if !self.solved || state != self.before {
                self.before.clone_from(&state);
                self.after = solve(&self.rows, state.clone(), &mut self.shown_by);
                self.solved = true;
            }
            if self.after != state {
                self.write(known, repeat);
                changed = true;
            }
        }
        changed
    }

    fn local_base(&self, repeat: u32) -> usize {
        (self.segment.aux_base + repeat * self.segment.aux_stride) as usize
    }

    /// Aux index of a variable that isn't the block's own; none for an input.
    fn foreign_aux(&self, repeat: u32, foreign: usize) -> Option<usize> {
        let ports = self.segment.port_count as usize;
        let z = match foreign.checked_sub(ports) {
            None => self.segment.ports[repeat as usize * ports + foreign],
            Some(outside) => self.rows.outside[outside],
        };
        z.checked_sub(self.input_count).map(|aux| aux as usize)
    }

    fn read(&self, known: &Bits, repeat: u32, state: &mut State) {
        known.read(self.local_base(repeat), self.rows.local_count(), &mut state.local);
        state.foreign.words.fill(0);
        state.inputs.words.fill(0);
        for foreign in 0..self.rows.foreign_count() {
            match self.foreign_aux(repeat, foreign) {
                Some(aux) if known.get(aux) => state.foreign.set(foreign),
                Some(_) => {}
                None => state.inputs.set(foreign),
            }
        }
    }

    fn write(&self, known: &mut Bits, repeat: u32) {
        known.merge(self.local_base(repeat), &self.after.local);
        for foreign in (0..self.rows.foreign_count()).filter(|&foreign| self.after.foreign.get(foreign)) {
            if let Some(aux) = self.foreign_aux(repeat, foreign) {
                known.set(aux);
            }
        }
    }
}

/// All bits that follow for one repeat from what is known before.
fn solve(rows: &Rows<'_>, mut state: State, shown_by: &mut [u32]) -> State {
    let local_count = rows.local_count();
    let foreign_count = rows.foreign_count();
    let mut open: Vec<u32> = (0..rows.count()).collect();
    loop {
        let mut found = false;
        open.retain(|&index| {
            let Some(row) = rows.row(index) else { return false };
            let is_known = |variable: u32| match variable as usize {
                local if local < local_count => state.local.get(local),
                foreign => foreign < local_count + foreign_count && state.foreign.get(foreign - local_count),
            };
            let Some(unknown) = only_unknown(&row, is_known) else { return row.variables().any(|v| !is_known(v)) };
            let variable = row.variable(unknown) as usize;
            let is_input = |foreign: usize| foreign >= foreign_count || state.inputs.get(foreign);
            if variable.checked_sub(local_count).is_some_and(is_input) || !is_bit(rows, &row, unknown, shown_by) {
                return true;
            }
            match variable {
                local if local < local_count => {
                    state.local.set(local);
                    shown_by[local] = index + 1;
                }
                foreign => state.foreign.set(foreign - local_count),
            }
            found = true;
            false
        });
        if !found {
            return state;
        }
    }
}

/// Position in the row of the only variable that isn't known to be a bit.
fn only_unknown(row: &Row, is_known: impl Fn(u32) -> bool) -> Option<usize> {
    let mut unknown = row.variables().enumerate().filter(|(_, variable)| !is_known(*variable)).map(|(at, _)| at);
    let first = unknown.next()?;
    unknown.next().is_none().then_some(first)
}

/// Whether the variable at position `unknown` can only be 0 or 1 if all others of the row are.
fn is_bit(rows: &Rows<'_>, row: &Row, unknown: usize, shown_by: &[u32]) -> bool {
    debug_assert!(row.variables().count() <= MAX_KNOWN + 1);
    row.assignments(unknown)
        .all(|bits| row.has_bit_roots(unknown, bits) || violates(rows, row, unknown, bits, shown_by))
}

/// Whether an assignment of the row's other variables violates the row that showed one of them to be a bit.
fn violates(rows: &Rows<'_>, row: &Row, unknown: usize, bits: u32, shown_by: &[u32]) -> bool {
    row.variables().enumerate().filter(|(at, _)| *at != unknown).any(|(_, variable)| {
        let shown = shown_by.get(variable as usize).copied().unwrap_or(0);
        let Some(definition) = shown.checked_sub(1).and_then(|index| rows.row(index)) else { return false };
        let unknown_variable = row.variable(unknown);
        let mut own = 0u32;
        for (at, defined) in definition.variables().enumerate() {
            match row.variables().position(|variable| variable == defined && variable != unknown_variable) {
                Some(position) => own |= (bits >> position & 1) << at,
                None => return false,
            }
        }
        !definition.holds(own)
    })
}
