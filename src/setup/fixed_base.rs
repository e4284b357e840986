//! Many multiples of one point: tables of window multiples, and affine additions that share an inversion.
//!
//! A scalar is cut into `k` signed digits of `c` bits, and its multiple is the sum of one table entry per digit,
//! `d · 2^(c w) · base` for `0 < d ≤ 2^(c−1)`, with the sign put on y. For a piece of [`PIECE`] scalars the entries are
//! added window by window, so that one inversion serves the whole piece and one window's table is what a core's cache
//! sees: (k − 1) additions of 5M + 1S and 3M for each share of an inversion. bellperson's wNAF costs 255 doublings
//! more.

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G2Affine, Scalar as Fr};
use group::Group as _;
use rayon::prelude::*;

use crate::backend::cpu::curve::{Affine, Field, Group, G1, G2};
use crate::backend::cpu::digits::{canonical, key, offset, recode, window_count, Limbs, NO_BUCKET};
use crate::srs::Point;

/// Scalars that share their inversions.
pub(super) const PIECE: usize = 1 << 12;

/// Additions between the request of a table entry and its use.
const AHEAD: usize = 8;

/// Bytes that a table may take.
const TABLE_BYTES: usize = 128 << 20;

/// Widths of windows that a table is made for.
const WINDOW_BITS: std::ops::RangeInclusive<u32> = 4..=17;

/// A group whose points can be written to an SRS.
pub(super) trait Base: Group {
    /// The point as the SRS's writer takes it.
    type Point: Point;
    fn from_point(point: &Self::Point) -> Affine<Self::Field>;
    fn to_point(point: &Affine<Self::Field>) -> Self::Point;
    fn normalize(point: &Self::Projective) -> Affine<Self::Field>;
}

/// Multiples of one base point. Never changed once built; shared by all threads.
pub(super) struct FixedBase<G: Group> {
    window_bits: u32,
    /// `window_count × 2^(window_bits − 1)` points; never infinity.
    entries: Vec<Affine<G::Field>>,
}

/// Additions that wait for their inversion: `steps[..count]`.
struct Adder<F> {
    steps: Vec<Step<F>>,
    count: usize,
    product: F,
}

/// λ's numerator and denominator, the product of all earlier denominators, and the sum of both points' x.
#[derive(Clone, Copy)]
struct Step<F> {
    at: usize,
    numerator: F,
    denominator: F,
    prefix: F,
    sum_x: F,
}

impl<G: Base> FixedBase<G> {
    /// The tables for about `count` multiples of `base`, which must not be infinity.
    pub(super) fn new(base: &G::Projective, count: u64) -> Self {
        let window_bits = best_window_bits(count, size_of::<Affine<G::Field>>());
        let half = 1 << (window_bits - 1);
        let mut power = *base;
        let mut bases = Vec::new();
        for _ in 0..window_count(window_bits) {
            bases.push(G::normalize(&power));
            (0..window_bits).for_each(|_| power = power.double());
        }
        let mut entries = vec![Affine::INFINITY; bases.len() * half];
        entries.par_chunks_mut(half).zip(bases).for_each(|(window, base)| fill_window(window, base));
        FixedBase { window_bits, entries }
    }

    /// The multiple for each scalar; infinity for 0. Spreads over the rayon pool it is called from.
    pub(super) fn multiply(&self, scalars: &[Fr]) -> Vec<G::Point> {
        let offset = offset(self.window_bits);
        let mut points = vec![G::Point::default(); scalars.len()];
        points.par_chunks_mut(PIECE).zip(scalars.par_chunks(PIECE)).for_each_init(
            || (Adder::new(), vec![Affine::INFINITY; PIECE], vec![Limbs::default(); PIECE], Vec::new()),
            |(adder, sums, recoded, keys), (points, scalars)| {
                let sums = &mut sums[..scalars.len()];
                let recoded = &mut recoded[..scalars.len()];
                for (recoded, scalar) in recoded.iter_mut().zip(scalars) {
                    *recoded = recode(&canonical(&(*scalar).into()), &offset);
                }
                self.multiply_piece(adder, recoded, keys, sums);
                points.iter_mut().zip(sums).for_each(|(point, sum)| *point = G::to_point(sum));
            },
        );
        points
    }

    fn multiply_piece(
        &self,
        adder: &mut Adder<G::Field>,
        recoded: &[Limbs],
        keys: &mut Vec<u32>,
        sums: &mut [Affine<G::Field>],
    ) {
        sums.fill(Affine::INFINITY);
        let half = 1 << (self.window_bits - 1);
        for (window, entries) in self.entries.chunks_exact(half).enumerate() {
            keys.clear();
            keys.extend(recoded.iter().map(|recoded| key(recoded, window as u32, self.window_bits)));
            for (at, &key) in keys.iter().enumerate() {
                if let Some(&ahead) = keys.get(at + AHEAD).filter(|key| **key != NO_BUCKET) {
                    prefetch(&entries[(ahead >> 1) as usize]);
                }
                if key != NO_BUCKET {
                    adder.push(sums, at, &entries[(key >> 1) as usize], key & 1 == 1);
                }
            }
            adder.finish(sums);
        }
    }
}

/// Asks for all cache lines of `value` before it is used.
#[inline]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(64) {
        // SAFETY: a hint; inside `value`.
        unsafe {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(line));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// `window[j] = (j + 1) · base`, by doubling the part that is filled.
fn fill_window<F: Field>(window: &mut [Affine<F>], base: Affine<F>) {
    let mut adder = Adder::new();
    window[0] = base;
    let mut filled = 1;
    while filled < window.len() {
        let more = filled.min(window.len() - filled);
        let (known, new) = window.split_at_mut(filled);
        let step = known[filled - 1];
        new[..more].copy_from_slice(&known[..more]);
        for first in (0..more).step_by(PIECE) {
            let piece = &mut new[first..more.min(first + PIECE)];
            (0..piece.len()).for_each(|at| adder.push(piece, at, &step, false));
            adder.finish(piece);
        }
        filled += more;
    }
}

/// The width at which table and additions cost least, among those whose table isn't too large.
fn best_window_bits(count: u64, point_bytes: usize) -> u32 {
    let entries = |bits: u32| u64::from(window_count(bits)) << (bits - 1);
    WINDOW_BITS
        .filter(|bits| entries(*bits) as usize * point_bytes <= TABLE_BYTES)
        .min_by_key(|bits| entries(*bits) + count * u64::from(window_count(*bits) - 1))
        .expect("the narrowest window's table is small")
}

impl<F: Field> Adder<F> {
    fn new() -> Self {
        let step = Step { at: 0, numerator: F::ZERO, denominator: F::ZERO, prefix: F::ZERO, sum_x: F::ZERO };
        Adder { steps: vec![step; PIECE], count: 0, product: F::ONE }
    }

    /// `sums[at] += ±point`, for a point other than infinity; done by the time `finish` returns. Each place at most
    /// once, and at most [`PIECE`] of them.
    #[inline]
    fn push(&mut self, sums: &mut [Affine<F>], at: usize, point: &Affine<F>, negative: bool) {
        let sum = &mut sums[at];
        let step = &mut self.steps[self.count];
        step.denominator = point.x.sub(&sum.x);
        if step.denominator.is_zero() || sum.is_infinity() {
            return self.push_special(sum, at, point.neg_if(negative));
        }
        step.at = at;
        step.numerator = if negative { point.y.add(&sum.y).neg() } else { point.y.sub(&sum.y) };
        step.sum_x = sum.x.add(&point.x);
        step.prefix = self.product;
        self.product = self.product.mul(&step.denominator);
        self.count += 1;
    }

    /// Sums that are infinity before or behind the addition, and doublings: λ = 3x² / 2y.
    #[cold]
    fn push_special(&mut self, sum: &mut Affine<F>, at: usize, point: Affine<F>) {
        if sum.is_infinity() {
            *sum = point;
        } else if sum.y != point.y || sum.y.is_zero() {
            *sum = Affine::INFINITY;
        } else {
            let square = sum.x.square();
            let (numerator, denominator) = (square.add(&square).add(&square), sum.y.add(&sum.y));
            let sum_x = sum.x.add(&sum.x);
            self.steps[self.count] = Step { at, numerator, denominator, prefix: self.product, sum_x };
            self.product = self.product.mul(&denominator);
            self.count += 1;
        }
    }

    /// λ = numerator / denominator, x₃ = λ² − x₁ − x₂, y₃ = λ(x₁ − x₃) − y₁, from the last step to the first.
    fn finish(&mut self, sums: &mut [Affine<F>]) {
        let mut inverse = self.product.invert();
        for step in self.steps[..self.count].iter().rev() {
            let sum = &mut sums[step.at];
            let slope = inverse.mul(&step.prefix).mul(&step.numerator);
            inverse = inverse.mul(&step.denominator);
            let x = slope.square().sub(&step.sum_x);
            sum.y = slope.mul(&sum.x.sub(&x)).sub(&sum.y);
            sum.x = x;
        }
        self.count = 0;
        self.product = F::ONE;
    }
}

/// Defines [`Base`] by blst's types.
macro_rules! base {
    ($group:ty, $field:ty, $point:ty, $affine:ident) => {
        impl Base for $group {
            type Point = $point;

            fn from_point(point: &$point) -> Affine<$field> {
                let $affine { x, y } = *point.as_ref();
                Affine { x, y }
            }

            fn to_point(point: &Affine<$field>) -> $point {
                let mut out = <$point>::default();
                *out.as_mut() = $affine { x: point.x, y: point.y };
                out
            }

            fn normalize(point: &Self::Projective) -> Affine<$field> {
                Self::from_point(&<$point>::from(point))
            }
        }
    };
}

base!(G1, blst_fp, G1Affine, blst_p1_affine);
base!(G2, blst_fp2, G2Affine, blst_p2_affine);

#[cfg(test)]
mod tests;
