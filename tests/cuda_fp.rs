//! cuda/field/fp*, compiled for the host, against blst: extremes in every digit first, then random ones; and the proof by
//! intervals that no accumulator overflows and every digit stays where fp.cuh says.
#![cfg(cuda_host_twin)]

extern crate cuzk;

#[path = "../src/bin/cuzk-gpu/fp_oracle.rs"]
mod fp_oracle;

use fp_oracle::*;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

extern "C" {
    fn czk_host_fp_op(op: i32, r: *mut u32, a: *const u32, b: *const u32, c: *const u32);
    fn czk_host_fp_mont_mul(r: *mut u32, a: *const u32, b: *const u32);
    fn czk_host_fp_normalise_constants(reciprocal: *mut i32, bias: *mut i32);
}

fn twin(op: Op, [a, b, c]: [&Words; 3]) -> Words {
    let mut r = [0xdead_beef; 12];
    // SAFETY: all arrays have the twelve words that the twin reads and writes.
    unsafe { czk_host_fp_op(op as i32, r.as_mut_ptr(), a.as_ptr(), b.as_ptr(), c.as_ptr()) };
    r
}

#[test]
fn host_twin_operations_equal_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6670);
    let samples = samples(&mut rng, 600);
    for op in OPS {
        let partners =
            if matches!(op, Op::Mul | Op::Sub | Op::Eq | Op::MulSub | Op::SqrSub | Op::SubSum) { 40 } else { 2 };
        for a in &samples {
            for _ in 0..partners {
                let b = &samples[rng.next_u32() as usize % samples.len()];
                let c = &samples[rng.next_u32() as usize % samples.len()];
                let r = twin(op, [a, b, c]);
                assert!(holds(op, [a, b, c], &r), "{op:?} of {a:x?} {b:x?} {c:x?}: {r:x?}");
            }
        }
    }
}

#[test]
fn host_twin_eq_sees_through_forms() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6571);
    let (zero, one) = (words(&[0; 6]), words(&[1, 0, 0, 0, 0, 0]));
    let samples = samples(&mut rng, 600);
    for a in &samples {
        // a + b - b has another form than a
        let b = &samples[rng.next_u32() as usize % samples.len()];
        let back = twin(Op::Sub, [&twin(Op::Add, [a, b, &zero]), b, &zero]);
        let off = twin(Op::Add, [a, &one, &zero]);
        assert_eq!(twin(Op::Eq, [a, &back, &zero])[0], 1, "{a:x?} {back:x?}");
        assert_eq!(twin(Op::Eq, [a, &off, &zero])[0], 0, "{a:x?} {off:x?}");
        let difference = twin(Op::Sub, [a, &back, &zero]);
        assert_eq!(twin(Op::IsZero, [&difference, &zero, &zero])[0], 1, "{difference:x?}");
    }
}

#[test]
fn host_twin_montgomery_yardstick_equals_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6d6d);
    let samples: Vec<_> = samples(&mut rng, 400).iter().map(decode).collect();
    for a in &samples {
        for b in &samples[..60] {
            let mut r = [0u32; 12];
            // SAFETY: blst's elements are twelve words of Montgomery form.
            unsafe { czk_host_fp_mont_mul(r.as_mut_ptr(), a.l.as_ptr().cast(), b.l.as_ptr().cast()) };
            assert_eq!(r, words(&times(a, b).l));
        }
    }
}

/// Closed intervals of integers in units of 2^32, rounded outwards, so that 160-bit sums fit.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: i128,
    high: i128,
}

impl Interval {
    const UNIT: i128 = 1 << 32;

    fn new(low: i128, high: i128) -> Self {
        assert!(low <= high && -(1 << 126) < low && high < 1 << 126, "160 bits: {low} {high}");
        Self { low, high }
    }

    /// c a + self.
    fn plus(self, c: i128, a: Self) -> Self {
        let (low, high) = if c >= 0 { (c * a.low, c * a.high) } else { (c * a.high, c * a.low) };
        // new() asserts that every intermediate sum is a two's complement integer of less than 160 bits
        Self::new(self.low + low, self.high + high)
    }
}

/// What leaves divide_by_w, in units of 1, if column k is a sum of products(k) products of any 64-bit digits.
fn quotient_digits(products: fn(usize) -> i128) -> [(i128, i128); 6] {
    // one product of two 64-bit digits, in units of 2^32
    let product = Interval::new(0, 1 << 96);
    let p = |k: usize| Interval::new(0, 0).plus(products(k), product);
    let c10 = p(10);
    let c9 = p(9).plus(-2, c10);
    // folded columns are no independent intervals: expand each in the products, so that their bounds are exact
    let fold = |coefficients: &[(usize, i128)]| {
        coefficients.iter().fold(Interval::new(0, 0), |sum, &(k, c)| sum.plus(c, p(k)))
    };
    let c8 = fold(&[(8, 1), (9, -2), (10, 4)]);
    let c7 = fold(&[(7, 1), (8, -2), (9, 4), (10, -6)]);
    let c6 = fold(&[(6, 1), (7, -2), (8, 4), (9, -6), (10, 8)]);
    for column in [c10, c9, c8, c7, c6] {
        let _doubled = Interval::new(0, 0).plus(2, column);
    }
    let lower = [
        fold(&[(0, 1), (6, -1), (7, 2), (8, -4), (9, 6), (10, -8)]),
        fold(&[(1, 1), (6, 1), (7, -3), (8, 6), (9, -10), (10, 14)]),
        fold(&[(2, 1), (7, 1), (8, -3), (9, 6), (10, -10)]),
        fold(&[(3, 1), (6, 2), (7, -4), (8, 9), (9, -15), (10, 22)]),
        fold(&[(4, 1), (7, 2), (8, -4), (9, 9), (10, -15)]),
        fold(&[(5, 1), (6, -2), (7, 4), (8, -6), (9, 8), (10, -7)]),
    ];
    // folding c6 - m for m in [0, W), and X q for q in [0, W)
    let m = Interval::new(0, W / Interval::UNIT);
    let moved = Interval::new(0, (i128::from(X) * (W / Interval::UNIT)).min(1 << 96));
    let with_m = [(0, 1), (1, -1), (2, 0), (3, -2), (4, 0), (5, 2)];
    std::array::from_fn(|i| {
        let c = lower[i].plus(with_m[i].1, m).plus(1, moved);
        assert!(-(64 << 96) < c.low && c.high < 64 << 96, "column {i} within 64 W^2: {c:?}");
        // column / W, rounded outwards, in units of 1
        (c.low.div_euclid(Interval::UNIT) - 1, c.high.div_euclid(Interval::UNIT) + 1)
    })
}

/// The constants of normalise(), and the bound that its digits must keep.
#[derive(Clone, Copy)]
struct Normalise {
    reciprocal: i32,
    bias: i32,
    limit: i128,
}

impl Normalise {
    /// As compiled.
    fn compiled() -> Self {
        let (mut reciprocal, mut bias) = (0, 0);
        // SAFETY: plain values.
        unsafe { czk_host_fp_normalise_constants(&mut reciprocal, &mut bias) };
        Self { reciprocal, bias, limit: DIGIT_LIMIT }
    }

    /// The quotient for digit d.
    fn quotient(self, d: i128) -> i128 {
        let top = d.div_euclid(1 << 53);
        let t = top * i128::from(self.reciprocal) - i128::from(self.bias);
        assert!(i32::try_from(top).is_ok() && i32::try_from(t).is_ok(), "32 bits: {top} {t}");
        t.div_euclid(1 << 23)
    }
}

/// Proves that normalise() takes digits in these intervals to [0, limit) without a wrap.
fn check_normalise(with: Normalise, d: &[(i128, i128); 6]) {
    let quotient = |d: i128| with.quotient(d);
    let k: [(i128, i128); 6] = std::array::from_fn(|i| (quotient(d[i].0), quotient(d[i].1)));
    // the remainder d - k X is piecewise linear in d: for each k its extremes are at the ends of the piece, which are
    // multiples of 2^53 where k jumps; walk all of those
    let top = k[5];
    let range = |parts: &[(i128, (i128, i128))]| {
        parts.iter().fold(
            (0, 0),
            |(low, high), &(c, (a, b))| {
                if c >= 0 {
                    (low + c * a, high + c * b)
                } else {
                    (low + c * b, high + c * a)
                }
            },
        )
    };
    let moved = [
        range(&[(-1, top)]),
        range(&[(1, k[0]), (1, top)]),
        range(&[(1, k[1])]),
        range(&[(1, k[2]), (2, top)]),
        range(&[(1, k[3])]),
        range(&[(1, k[4]), (-2, top)]),
    ];
    for i in 0..6 {
        let (mut low, mut high) = (i128::MAX, i128::MIN);
        let mut start = d[i].0;
        while start <= d[i].1 {
            let end = ((start.div_euclid(1 << 53) + 1) * (1 << 53) - 1).min(d[i].1);
            let k = quotient(start);
            assert_eq!(k, quotient(end));
            assert!(i32::try_from(moved[i].0 - k * 65536).is_ok() && i32::try_from(moved[i].1 - k * 65536).is_ok());
            low = low.min(start - k * i128::from(X));
            high = high.max(end - k * i128::from(X));
            start = end + 1;
        }
        assert!(low + moved[i].0 >= 0, "digit {i} can be negative: {low} {:?}", moved[i]);
        assert!(high + moved[i].1 < with.limit, "digit {i} can be too large: {:.4}", high as f64 / W as f64);
    }
}

/// All digits that enter normalise(), as many products in a column as `products` says.
fn check_all(with: Normalise, products: fn(usize) -> i128, largest: i128) {
    let digit = (0, largest);
    // products, and products less two elements
    let columns = quotient_digits(products);
    check_normalise(with, &columns);
    check_normalise(with, &columns.map(|(low, high)| (low - 2 * digit.1, high)));
    // combine(): six products in each of the columns 0 to 5 alone
    check_normalise(with, &quotient_digits(|k| if k < 6 { 6 } else { 0 }));
    // sums and differences
    check_normalise(with, &[(0, 2 * digit.1); 6]);
    check_normalise(with, &[(-digit.1, digit.1); 6]);
    check_normalise(with, &[(-2 * digit.1, digit.1); 6]);
}

fn products_in_column(k: usize) -> i128 {
    if k < 6 {
        k as i128 + 1
    } else {
        11 - k as i128
    }
}

#[test]
fn fp_bounds() {
    check_all(Normalise::compiled(), products_in_column, W - 1);
    // a column's odd words: at most 2 * 6 products of 32 x 32 bits and one of q, below 2^96 together
    assert!(14 * ((1u128 << 32) - 1).pow(2) + (1 << 64) < 1 << 96);
}

/// The proof above notices constants that are a little off, digits that are a little larger, and columns that hold more.
#[test]
fn fp_bounds_are_tight() {
    let own = Normalise::compiled();
    let fails = |what: &str, with: Normalise, products: fn(usize) -> i128, largest: i128| {
        let outcome = std::panic::catch_unwind(|| check_all(with, products, largest));
        assert!(outcome.is_err(), "{what} goes unnoticed");
    };
    fails("no bias", Normalise { bias: 0, ..own }, products_in_column, W - 1);
    fails("a tenth of the bias", Normalise { bias: own.bias / 10, ..own }, products_in_column, W - 1);
    fails("a larger bias", Normalise { bias: own.bias * 8, ..own }, products_in_column, W - 1);
    fails("a larger reciprocal", Normalise { reciprocal: own.reciprocal + 100, ..own }, products_in_column, W - 1);
    fails("a smaller reciprocal", Normalise { reciprocal: own.reciprocal - 100, ..own }, products_in_column, W - 1);
    fails("a lower limit", Normalise { limit: i128::from(X), ..own }, products_in_column, W - 1);
    fails("66-bit columns", own, |k| 4 * products_in_column(k), W - 1);
    fails("digits of 70 bits", own, products_in_column, 64 * W);
}
