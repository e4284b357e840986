//! Affine additions in batches that share one inversion: sums of many points, each under its key.
//!
//! λ = (y₂ − y₁)/(x₂ − x₁), x₃ = λ² − x₁ − x₂, y₃ = λ(x₁ − x₃) − y₁: with the three products of a shared inversion 5M + 1S
//! an addition, where a mixed Jacobian one costs 7M + 4S. Equal points are doubled (λ = 3x²/2y), opposite ones cancel, and
//! infinity is skipped, in the same batch: their denominators are replaced by 2y or left out, so that no zero enters the
//! shared product.

use super::curve::{Affine, Field, Group};
#[cfg(target_arch = "x86_64")]
use super::wide::{self, WideAdder};

/// Entries that are added up at once: points, denominators and products fit in a core's second-level cache.
const GROUP: usize = 4096;

/// Marks a pair in [`PlainAdder::plan`].
const PAIR: u32 = 1 << 31;

/// Points to be summed by key, and the scratch for it, by the best arithmetic that the processor has. Points are taken and
/// given in the stored form. Holds its memory from use to use.
pub(crate) enum Adder<G: Group> {
    Plain(PlainAdder<G::Field>),
    #[cfg(target_arch = "x86_64")]
    Wide(WideAdder<G::Wide>),
}

impl<G: Group> Adder<G> {
    pub(crate) fn new() -> Self {
        #[cfg(target_arch = "x86_64")]
        if wide::available() {
            return Adder::Wide(WideAdder::new());
        }
        Adder::Plain(PlainAdder::new())
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Adder::Plain(adder) => adder.clear(),
            #[cfg(target_arch = "x86_64")]
            Adder::Wide(adder) => adder.clear(),
        }
    }

    /// Takes one entry, `point` or, if `negative`, its opposite. Entries of one key follow each other without a gap. When a
    /// group is full it is added up, and `emit` gets every key but the last with its sum.
    #[inline]
    pub(crate) fn push(
        &mut self,
        key: u32,
        point: &Affine<G::Field>,
        negative: bool,
        emit: &mut impl FnMut(u32, Affine<G::Field>),
    ) {
        match self {
            Adder::Plain(adder) => adder.push(key, point.neg_if(negative), emit),
            #[cfg(target_arch = "x86_64")]
            Adder::Wide(adder) => adder.push(key, point, negative, emit),
        }
    }

    /// Adds up what is left and hands it to `emit`; empty afterwards.
    pub(crate) fn finish(&mut self, emit: &mut impl FnMut(u32, Affine<G::Field>)) {
        match self {
            Adder::Plain(adder) => adder.finish(emit),
            #[cfg(target_arch = "x86_64")]
            Adder::Wide(adder) => adder.finish(emit),
        }
    }
}

/// Sums by blst's arithmetic, in its form.
pub(crate) struct PlainAdder<F> {
    /// Entries; equal keys stand side by side.
    points: Vec<Affine<F>>,
    keys: Vec<u32>,
    /// Per entry after a round: its source before, with [`PAIR`] if it is the sum of the source and its successor.
    plan: Vec<u32>,
    pairs: Vec<Pair<F>>,
}

/// Numerator and denominator of λ, and the product of this and all later denominators.
#[derive(Clone, Copy)]
struct Pair<F> {
    numerator: F,
    denominator: F,
    suffix: F,
    outcome: Outcome,
}

/// What the sum of two points needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// λ.
    Slope,
    /// Nothing: one of them is infinity, the sum is the other.
    First,
    /// As `First`.
    Second,
    /// Nothing: they are opposite.
    Infinity,
}

impl<F: Field> PlainAdder<F> {
    pub(crate) fn new() -> Self {
        PlainAdder {
            points: Vec::with_capacity(GROUP),
            keys: Vec::with_capacity(GROUP),
            plan: Vec::with_capacity(GROUP),
            pairs: Vec::with_capacity(GROUP / 2),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.keys.clear();
    }

    /// Takes one entry. Entries of one key follow each other without a gap. When the group is full it is added up, and
    /// `emit` gets every key but the last with its sum.
    #[inline]
    pub(crate) fn push(&mut self, key: u32, point: Affine<F>, emit: &mut impl FnMut(u32, Affine<F>)) {
        if self.points.len() == GROUP {
            self.reduce();
            let last = self.points.len() - 1;
            for (key, sum) in self.keys.drain(..last).zip(self.points.drain(..last)) {
                emit(key, sum);
            }
        }
        self.points.push(point);
        self.keys.push(key);
    }

    /// Adds up what is left and hands it to `emit`; empty afterwards.
    pub(crate) fn finish(&mut self, emit: &mut impl FnMut(u32, Affine<F>)) {
        self.reduce();
        for (key, sum) in self.keys.drain(..).zip(self.points.drain(..)) {
            emit(key, sum);
        }
    }

    /// Until every key stands once.
    fn reduce(&mut self) {
        while self.round() {}
    }

    /// Adds neighbours of one key in pairs. False if there were none.
    fn round(&mut self) -> bool {
        self.plan.clear();
        let mut at = 0;
        while at < self.keys.len() {
            let paired = at + 1 < self.keys.len() && self.keys[at] == self.keys[at + 1];
            self.plan.push(at as u32 | if paired { PAIR } else { 0 });
            at += 1 + usize::from(paired);
        }
        if self.plan.len() == self.keys.len() {
            return false;
        }
        let product = self.multiply_denominators();
        self.add_pairs(product.invert());
        self.points.truncate(self.plan.len());
        self.keys.truncate(self.plan.len());
        true
    }

    /// From the last pair to the first, so that `add_pairs` can go forward and write in place. The product of all
    /// denominators; `pairs` stands in reverse.
    fn multiply_denominators(&mut self) -> F {
        self.pairs.clear();
        let mut product = F::ONE;
        for &step in self.plan.iter().rev() {
            if step & PAIR == 0 {
                continue;
            }
            let at = (step & !PAIR) as usize;
            let mut pair = Pair::of(&self.points[at], &self.points[at + 1]);
            pair.suffix = product;
            if pair.outcome == Outcome::Slope {
                product = product.mul(&pair.denominator);
            }
            self.pairs.push(pair);
        }
        product
    }

    /// Each entry of `plan` in place; `inverse` is that of the product of all denominators.
    fn add_pairs(&mut self, mut inverse: F) {
        for (to, &step) in self.plan.iter().enumerate() {
            let from = (step & !PAIR) as usize;
            self.keys[to] = self.keys[from];
            if step & PAIR == 0 {
                self.points[to] = self.points[from];
                continue;
            }
            let pair = self.pairs.pop().expect("as many pairs as the plan has");
            let (p, q) = (self.points[from], self.points[from + 1]);
            self.points[to] = match pair.outcome {
                Outcome::First => p,
                Outcome::Second => q,
                Outcome::Infinity => Affine::INFINITY,
                Outcome::Slope => {
                    let slope = inverse.mul(&pair.suffix).mul(&pair.numerator);
                    inverse = inverse.mul(&pair.denominator);
                    let x = slope.square().sub(&p.x).sub(&q.x);
                    Affine { x, y: slope.mul(&p.x.sub(&x)).sub(&p.y) }
                }
            };
        }
    }
}

impl<F: Field> Pair<F> {
    #[inline]
    fn of(p: &Affine<F>, q: &Affine<F>) -> Self {
        let mut pair =
            Pair { numerator: F::ZERO, denominator: q.x.sub(&p.x), suffix: F::ZERO, outcome: Outcome::Slope };
        if !pair.denominator.is_zero() && !p.x.is_zero() && !q.x.is_zero() {
            pair.numerator = q.y.sub(&p.y);
            return pair;
        }
        pair.outcome = if q.is_infinity() {
            Outcome::First
        } else if p.is_infinity() {
            Outcome::Second
        } else if !pair.denominator.is_zero() {
            pair.numerator = q.y.sub(&p.y);
            Outcome::Slope
        } else if p.y == q.y && !p.y.is_zero() {
            let square = p.x.square();
            pair.numerator = square.add(&square).add(&square);
            pair.denominator = p.y.add(&p.y);
            Outcome::Slope
        } else {
            Outcome::Infinity
        };
        pair
    }
}
