//! The CUDA headers of Fr (cuda/field/fr*.cuh), compiled for the CPU, against blstrs; and their bounds, by intervals.
#![cfg(cuda_host_twin)]

use blstrs::Scalar as Fr;
use cuzk as _; // links the host twin
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

type Digits = [u64; 4];

const X: u64 = 0xd201_0000_0001_0000;
const SEED: u64 = 6;

extern "C" {
    fn czk_host_fr_mul(out: *mut u64, a: *const u64, b: *const u64);
    fn czk_host_fr_mul_rows(out: *mut u64, u: *const u64, w: *const u64);
    fn czk_host_fr_mul_twiddle(out: *mut u64, u: *const u64, w: *const u64);
    fn czk_host_fr_mul_four(out: *mut u64, u: *const u64, rows: *const u64);
    fn czk_host_fr_twiddle(out: *mut u64, w: *const u64);
    fn czk_host_fr_add(out: *mut u64, a: *const u64, b: *const u64);
    fn czk_host_fr_sub(out: *mut u64, a: *const u64, b: *const u64);
    fn czk_host_fr_neg(out: *mut u64, a: *const u64);
    fn czk_host_fr_by_i(out: *mut u64, a: *const u64);
    fn czk_host_fr_wide(out: *mut u64, a: *const u64, b: *const u64);
    fn czk_host_fr_narrow(out: *mut u64, wide: *const u32, extra: *const i32);
    fn czk_host_fr_quotient(mid: u32, top: u32) -> i32;
    fn czk_host_fr_from_canonical(out: *mut u64, canonical: *const u64);
    fn czk_host_fr_from_montgomery(out: *mut u64, montgomery: *const u64);
    fn czk_host_fr_to_canonical(out: *mut u64, a: *const u64);
    fn czk_host_fr_is_zero(a: *const u64) -> i32;
    fn czk_host_fr_constants(out: *mut u64);
    fn czk_host_fr_pow(out: *mut u64, a: *const u64, e: u64);
}

type Unary = unsafe extern "C" fn(*mut u64, *const u64);
type Binary = unsafe extern "C" fn(*mut u64, *const u64, *const u64);

fn unary(f: Unary, a: &Digits) -> Digits {
    let mut out = [0; 4];
    // SAFETY: f reads and writes four words.
    unsafe { f(out.as_mut_ptr(), a.as_ptr()) };
    out
}

fn binary(f: Binary, a: &Digits, b: &Digits) -> Digits {
    let mut out = [0; 4];
    // SAFETY: f reads four words of each and writes four.
    unsafe { f(out.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
    out
}

/// x = X, i = -x³.
fn basis() -> [Fr; 4] {
    let x = Fr::from(X);
    let i = -(x * x * x);
    assert_eq!(x * x, Fr::ONE - i * x, "r = X^4 - X^2 + 1");
    assert_eq!(i * i, -Fr::ONE);
    [Fr::ONE, x, i, i * x]
}

fn value(digits: &[u64]) -> Fr {
    digits.iter().zip(basis()).map(|(&d, b)| Fr::from(d) * b).sum()
}

fn two_64() -> Fr {
    Fr::from(u64::MAX) + Fr::ONE
}

/// Narrow: every digit within [0.018 X, 1.022 X].
fn assert_narrow(digits: &[u64]) {
    let x = u128::from(X);
    for &d in digits {
        let d = u128::from(d) * 1000;
        assert!(18 * x <= d && d <= 1022 * x, "{digits:x?}");
    }
}

fn assert_is(digits: &[u64], expected: Fr) {
    assert_eq!(value(digits), expected, "{digits:x?}");
    assert_narrow(digits);
}

fn words(v: Fr) -> [u64; 4] {
    let bytes = v.to_repr();
    std::array::from_fn(|k| u64::from_le_bytes(bytes[8 * k..8 * k + 8].try_into().unwrap()))
}

/// Every vector of digits that are extreme, each with an extreme in every place, then random ones.
fn samples(random: usize) -> Vec<Digits> {
    let extremes = [0, 1, X - 1, X, X + 1, u64::MAX];
    let mut all: Vec<Digits> =
        (0..6usize.pow(4)).map(|n| std::array::from_fn(|k| extremes[n / 6usize.pow(k as u32) % 6])).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    all.extend((0..random).map(|_| std::array::from_fn(|_| rng.next_u64())));
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(X), Fr::from(X - 1), Fr::from(X + 1), two_64()];
    all.extend(edges.map(|v| unary(czk_host_fr_from_canonical, &words(v))));
    all
}

#[test]
fn products() {
    let samples = samples(300);
    let inverse = two_64().invert().unwrap();
    // Steps that share no factor with 6 or with the count: every extreme meets every extreme in every place.
    for (n, u) in samples.iter().enumerate() {
        for step in [0, 1, 7, 43, 259, 1297] {
            let w = &samples[(n * 5 + step) % samples.len()];
            let expected = value(u) * value(w) * inverse;
            assert_is(&binary(czk_host_fr_mul, u, w), expected);
            assert_is(&binary(czk_host_fr_mul_rows, u, w), expected);
            assert_is(&binary(czk_host_fr_mul_twiddle, u, w), expected);
        }
    }
    let top = [u64::MAX; 4];
    assert_is(&binary(czk_host_fr_mul, &top, &top), value(&top) * value(&top) * inverse);
}

#[test]
fn products_by_any_four_rows() {
    let samples = samples(300);
    let inverse = two_64().invert().unwrap();
    for n in 0..samples.len() {
        let (mut rows, mut expected, u) = ([0; 16], Fr::ZERO, &samples[n]);
        for j in 0..4 {
            let row = &samples[(n * 11 + 131 * j + 17) % samples.len()];
            rows[4 * j..4 * j + 4].copy_from_slice(row);
            expected += Fr::from(u[j]) * value(row);
        }
        let mut out = [0; 4];
        // SAFETY: four words out, four and sixteen in.
        unsafe { czk_host_fr_mul_four(out.as_mut_ptr(), u.as_ptr(), rows.as_ptr()) };
        assert_is(&out, expected * inverse);
    }
}

#[test]
fn twiddles_have_four_rows_of_non_negative_digits() {
    let [one, x, i, ix] = basis();
    for w in samples(300) {
        let mut rows = [0; 16];
        // SAFETY: sixteen words out, four in.
        unsafe { czk_host_fr_twiddle(rows.as_mut_ptr(), w.as_ptr()) };
        for (row, factor) in rows.chunks(4).zip([one, x, i, ix]) {
            assert_eq!(value(row), value(&w) * factor);
        }
    }
}

#[test]
fn sums() {
    let samples = samples(300);
    let i = basis()[2];
    for (n, a) in samples.iter().enumerate() {
        assert_is(&unary(czk_host_fr_neg, a), -value(a));
        assert_is(&unary(czk_host_fr_by_i, a), value(a) * i);
        for step in [0, 1, 7, 43, 259] {
            let b = &samples[(n * 5 + step) % samples.len()];
            assert_is(&binary(czk_host_fr_add, a, b), value(a) + value(b));
            assert_is(&binary(czk_host_fr_sub, a, b), value(a) - value(b));
            let mut out = [0; 16];
            // SAFETY: sixteen words out, four of each in.
            unsafe { czk_host_fr_wide(out.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
            assert_is(&out[..4], value(a) + value(b));
            assert_is(&out[4..8], value(a) - value(b));
            assert_is(&out[8..12], value(a) + value(b) * i);
            assert_is(&out[12..], value(a) - value(b) * i);
        }
    }
}

#[test]
fn canonical_both_ways() {
    let inverse = two_64().invert().unwrap();
    for u in samples(2000) {
        assert_eq!(unary(czk_host_fr_to_canonical, &u), words(value(&u) * inverse), "{u:x?}");
        // As an integer of 256 bits, also above r.
        let integer = u.iter().rev().fold(Fr::ZERO, |sum, &word| sum * two_64() + Fr::from(word));
        assert_is(&unary(czk_host_fr_from_canonical, &u), integer * two_64());
        // A blstrs scalar as it lies in memory.
        let scalar = value(&u);
        // SAFETY: both are 32 bytes, and any bytes are four words.
        let memory: Digits = unsafe { std::mem::transmute::<Fr, Digits>(scalar) };
        assert_is(&unary(czk_host_fr_from_montgomery, &memory), scalar * two_64());
    }
}

#[test]
fn zero_in_all_its_forms() {
    // (X - x) times 0, 1, x, i, i x and sums of them, as digits.
    for v in 0..16u64 {
        let [a, b, c, d] = std::array::from_fn(|k| (v >> k & 1) as i128);
        let moved = [b, a + d, d, c - b];
        let digits: Vec<i128> = [a, b, c, d].iter().zip(moved).map(|(&k, m)| k * i128::from(X) - m).collect();
        if digits.iter().all(|&d| (0..1 << 64).contains(&d)) {
            let digits: Vec<u64> = digits.iter().map(|&d| d as u64).collect();
            // SAFETY: four words in.
            assert_ne!(unsafe { czk_host_fr_is_zero(digits.as_ptr()) }, 0, "{digits:x?}");
        }
    }
    let one = unary(czk_host_fr_from_canonical, &[1, 0, 0, 0]);
    // SAFETY: four words in.
    assert_eq!(unsafe { czk_host_fr_is_zero(one.as_ptr()) }, 0);
}

#[test]
fn constants() {
    let mut out = [0; 12];
    // SAFETY: twelve words out.
    unsafe { czk_host_fr_constants(out.as_mut_ptr()) };
    assert_is(&out[..4], two_64());
    assert_is(&out[4..8], Fr::ROOT_OF_UNITY * two_64());
    assert_is(&out[8..], Fr::ROOT_OF_UNITY.invert().unwrap() * two_64());
    assert_eq!(Fr::ROOT_OF_UNITY.pow_vartime([1 << 30]), -basis()[2], "the free fourth root is -i");
    for e in [0, 1, 2, 3, 1 << 27, (1 << 28) - 1] {
        let mut power = [0; 4];
        // SAFETY: four words out, four in.
        unsafe { czk_host_fr_pow(power.as_mut_ptr(), out[4..].as_ptr(), e) };
        assert_is(&power, Fr::ROOT_OF_UNITY.pow_vartime([e]) * two_64());
    }
}

/// A closed interval of integers; sums of intervals, and products with constants, outward.
#[derive(Clone, Copy, Debug)]
struct Range(i128, i128);

impl Range {
    fn plus(self, other: Range) -> Range {
        Range(self.0 + other.0, self.1 + other.1)
    }

    fn minus(self, other: Range) -> Range {
        Range(self.0 - other.1, self.1 - other.0)
    }

    fn times(self, k: i128) -> Range {
        Range((self.0 * k).min(self.1 * k), (self.0 * k).max(self.1 * k))
    }

    /// Floor of the quotient by 2^bits.
    fn shifted(self, bits: u32) -> Range {
        Range(self.0 >> bits, self.1 >> bits)
    }

    fn within(self, other: Range) -> bool {
        other.0 <= self.0 && self.1 <= other.1
    }
}

const WORD: Range = Range(0, (1 << 32) - 1);
const DIGIT: Range = Range(0, (1 << 64) - 1);
const X_HIGH: i128 = (X >> 32) as i128;
/// What fr_narrow accepts.
const WIDE: Range = Range(-(8 << 64) + 1, (8 << 64) - 1);

/// What a product's reduction adds to a digit as `extra`: the upper 16 bits of h 2^16, carries, a borrow.
const EXTRA: Range = Range(-1, 0xffff + 2);

#[test]
fn bounds_of_narrow() {
    // Every value of the 18 bits that the quotient looks at stands for an interval of digits.
    let (mut rest, mut quotients) = (Range(i128::MAX, i128::MIN), Range(i128::MAX, i128::MIN));
    for top in -(8i64 << 14)..8 << 14 {
        let t = Range(i128::from(top) << 50, ((i128::from(top) + 1) << 50) - 1);
        let product = top * 4993 - 1_342_177;
        assert!(i32::try_from(product).is_ok());
        // SAFETY: no pointers.
        let q = i128::from(unsafe { czk_host_fr_quotient((t.0 >> 32) as u32, (t.0 >> 64) as u32) });
        assert_eq!(q, i128::from(product >> 26));
        let left = t.minus(Range(q, q).times(i128::from(X)));
        rest = Range(rest.0.min(left.0), rest.1.max(left.1));
        quotients = Range(quotients.0.min(q), quotients.1.max(q));
    }
    // A digit gets at most two quotients, one of them possibly negative, and `extra`.
    let moved = quotients.plus(quotients).minus(quotients).plus(EXTRA);
    let m = moved.minus(quotients.times(65536));
    assert!(m.within(Range(i32::MIN.into(), i32::MAX.into())));
    let narrow = rest.plus(moved);
    let x = i128::from(X);
    assert!(narrow.within(Range(18 * x / 1000 + 1, 1022 * x / 1000)), "{narrow:?}");
    assert!(narrow.1 < 84 * (1 << 64) / 100);
}

#[test]
fn bounds_of_products() {
    let product = Range(0, WORD.1 * WORD.1);
    // fr_open: X_HIGH h + up + the carries of three low products, one word higher, fits 64 bits.
    let up = Range(0, EXTRA.1);
    let open = WORD.times(X_HIGH).plus(up).plus(Range(0, 3 << 32));
    assert!(open.within(DIGIT));
    // The negative mixed sum opens with a borrow and carries, and counts the carries of its four products.
    assert!(Range(0, 1).plus(Range(0, 3 << 32)).within(DIGIT));
    // Above the low words, in units of 2^32: upper halves of four low products, eight mixed, four high, one opening.
    let halves = product.times(4).shifted(32);
    let positive = halves.plus(product.times(8)).plus(open).plus(product.times(4).times(1 << 32));
    // Negative columns have half of that, and digit 1's borrow.
    let column = Range(-positive.1 / 2 - 2, positive.1);
    // Its words: the top one, word 4, is a signed word.
    assert!(column.shifted(96).within(Range(i32::MIN.into(), i32::MAX.into())));
    // The second step adds X_HIGH h before the low word goes; `extra` has the rest.
    let wide = column.shifted(32).plus(WORD.times(X_HIGH)).plus(Range(0, 1));
    assert!(wide.plus(EXTRA).within(Range(-(21 << 64) / 10, (49 << 64) / 10)), "{wide:?}");
    assert!(wide.within(WIDE));
}

#[test]
fn bounds_of_butterflies() {
    // Radix 8 without narrowing in between: eight terms of any digits, each with a sign.
    let eight = DIGIT.times(8);
    assert!(eight.within(WIDE) && Range(-eight.1, 0).within(WIDE));
}

#[test]
fn narrow_of_any_wide_digits() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let fr = |v: i128| if v < 0 { -Fr::from_u128(v.unsigned_abs()) } else { Fr::from_u128(v as u128) };
    let edges = [WIDE.0, WIDE.1, 0, -1, i128::from(X), -i128::from(X), 1 << 64, -(1 << 64)];
    for n in 0..20_000 {
        let digits: [i128; 4] = std::array::from_fn(|k| match n >> (4 * k) & 15 {
            edge @ 0..8 if n < 10_000 => edges[edge],
            _ => ((i128::from(rng.next_u64()) << 64) | i128::from(rng.next_u64())) >> 60 & ((16 << 64) - 1),
        });
        let digits = digits.map(|d| if d > WIDE.1 { d - (16 << 64) } else { d }).map(|d| d.max(WIDE.0));
        let wide: Vec<u32> = digits.iter().flat_map(|&d| [d as u32, (d >> 32) as u32, (d >> 64) as u32]).collect();
        let extra: [i32; 4] = std::array::from_fn(|_| (rng.next_u32() & 0xffff) as i32 - 1);
        let mut out = [0; 4];
        // SAFETY: four words out, twelve and four in.
        unsafe { czk_host_fr_narrow(out.as_mut_ptr(), wide.as_ptr(), extra.as_ptr()) };
        let expected: Fr = digits.iter().zip(extra).zip(basis()).map(|((&d, e), b)| fr(d + i128::from(e)) * b).sum();
        assert_is(&out, expected);
    }
}
