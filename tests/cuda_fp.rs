//! cuda/field/fp*, compiled for the host, against blst: extremes in every digit first, then random ones; and the proof by
//! intervals that no accumulator overflows and every digit stays where fp.cuh says.
#![cfg(cuda_host_twin)]

extern crate cuzk;

use blst::*;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Twelve words: digits of an element, or a 384-bit integer.
type Words = [u32; 12];

/// X, and W = 2^64.
const X: u64 = 0xd201_0000_0001_0000;
const W: i128 = 1 << 64;
/// What fp.cuh promises of the digits that every operation returns.
const DIGIT_LIMIT: i128 = W / 100 * 83;

type Unary = unsafe extern "C" fn(*mut u32, *const u32);
type Binary = unsafe extern "C" fn(*mut u32, *const u32, *const u32);

extern "C" {
    fn czk_host_fp_mul(r: *mut u32, a: *const u32, b: *const u32);
    fn czk_host_fp_add(r: *mut u32, a: *const u32, b: *const u32);
    fn czk_host_fp_sub(r: *mut u32, a: *const u32, b: *const u32);
    fn czk_host_fp_sqr(r: *mut u32, a: *const u32);
    fn czk_host_fp_neg(r: *mut u32, a: *const u32);
    fn czk_host_fp_dbl(r: *mut u32, a: *const u32);
    fn czk_host_fp_inv(r: *mut u32, a: *const u32);
    fn czk_host_fp_sub_sum(r: *mut u32, a: *const u32, b: *const u32, c: *const u32);
    fn czk_host_fp_sqr_sub(r: *mut u32, a: *const u32, b: *const u32, c: *const u32);
    fn czk_host_fp_mul_sub(r: *mut u32, a: *const u32, b: *const u32, c: *const u32);
    fn czk_host_fp_is_zero(a: *const u32) -> i32;
    fn czk_host_fp_eq(a: *const u32, b: *const u32) -> i32;
    fn czk_host_fp_constant(r: *mut u32, which: i32);
    fn czk_host_fp_from_canonical(r: *mut u32, v: *const u32);
    fn czk_host_fp_from_montgomery(r: *mut u32, v: *const u32);
    fn czk_host_fp_to_canonical(v: *mut u32, a: *const u32);
    fn czk_host_fp_to_montgomery(v: *mut u32, a: *const u32);
    fn czk_host_fp_from_be_words(r: *mut u32, bytes: *const u32) -> i32;
    fn czk_host_fp_to_be_words(bytes: *mut u32, a: *const u32);
    fn czk_host_fp_normalise_constants(reciprocal: *mut i32, bias: *mut i32);
}

fn unary(f: Unary, a: &Words) -> Words {
    let mut r = [0xdead_beef; 12];
    // SAFETY: all arrays have the twelve words that the twin reads and writes.
    unsafe { f(r.as_mut_ptr(), a.as_ptr()) };
    r
}

fn binary(f: Binary, a: &Words, b: &Words) -> Words {
    let mut r = [0xdead_beef; 12];
    // SAFETY: as above.
    unsafe { f(r.as_mut_ptr(), a.as_ptr(), b.as_ptr()) };
    r
}

fn digits(w: &Words) -> [u64; 6] {
    std::array::from_fn(|i| u64::from(w[2 * i]) | u64::from(w[2 * i + 1]) << 32)
}

fn words(d: &[u64; 6]) -> Words {
    std::array::from_fn(|i| (d[i / 2] >> (32 * (i % 2))) as u32)
}

/// The element that 384 canonical bits stand for.
fn element(limbs: &[u64; 6]) -> blst_fp {
    let mut r = blst_fp::default();
    // SAFETY: six limbs.
    unsafe { blst_fp_from_uint64(&mut r, limbs.as_ptr()) };
    r
}

fn small(v: u64) -> blst_fp {
    element(&[v, 0, 0, 0, 0, 0])
}

macro_rules! fp_op {
    ($name:ident, $blst:ident) => {
        fn $name(a: &blst_fp, b: &blst_fp) -> blst_fp {
            let mut r = blst_fp::default();
            // SAFETY: plain values.
            unsafe { $blst(&mut r, a, b) };
            r
        }
    };
}
fp_op!(times, blst_fp_mul);
fp_op!(plus, blst_fp_add);
fp_op!(minus, blst_fp_sub);

fn inverse(a: &blst_fp) -> blst_fp {
    let mut r = blst_fp::default();
    // SAFETY: plain values.
    unsafe { blst_fp_inverse(&mut r, a) };
    r
}

/// The integer sum d[i] X^i modulo p.
fn value(d: &[u64; 6]) -> blst_fp {
    d.iter().rev().fold(blst_fp::default(), |v, &digit| plus(&times(&v, &small(X)), &small(digit)))
}

/// The element whose device form has these words: value / W.
fn decode(w: &Words) -> blst_fp {
    times(&value(&digits(w)), &inverse(&element(&[0, 1, 0, 0, 0, 0])))
}

fn in_range(w: &Words) -> bool {
    digits(w).iter().all(|&d| i128::from(d) < DIGIT_LIMIT)
}

/// Digits with extremes, multiples of p and their neighbours, and random ones.
fn samples(rng: &mut ChaCha8Rng, count: usize) -> Vec<Words> {
    let extremes =
        [0, 1, X - 1, X, X + 1, u64::MAX, u64::MAX - 1, 1 << 63, u64::from(u32::MAX), 1 << 32, !u64::from(u32::MAX)];
    let mut out: Vec<Words> = extremes.iter().map(|&d| words(&[d; 6])).collect();
    for &extreme in &extremes {
        for i in 0..6 {
            for base in [0, u64::MAX] {
                let mut d = [base; 6];
                d[i] = extreme;
                out.push(words(&d));
            }
        }
    }
    out.extend(multiples_of_p());
    while out.len() < count {
        let mut d: [u64; 6] = std::array::from_fn(|_| rng.next_u64());
        if rng.next_u32() % 2 == 0 {
            for digit in &mut d {
                if rng.next_u32() % 3 > 0 {
                    *digit = extremes[rng.next_u32() as usize % extremes.len()];
                }
            }
        }
        out.push(words(&d));
    }
    out
}

/// p, 2 p, 3 p in digits, in several forms of each, and forms one off.
fn multiples_of_p() -> Vec<Words> {
    let p: [u64; 6] = [
        0x4600_5555_5555_aaab,
        0x4600_5555_5555_aaaa,
        0x8c00_aaaa_aaab_5555,
        0x8c00_aaaa_aaab_5554,
        0x4600_5555_5555_aaaa,
        0x4600_5555_5555_aaab,
    ];
    let mut out = Vec::new();
    for k in 1..=3u64 {
        let mut carry = 0;
        let normal: [u64; 6] = std::array::from_fn(|i| {
            let t = u128::from(p[i]) * u128::from(k) + carry;
            carry = if i < 5 { t / u128::from(X) } else { 0 };
            (t - carry * u128::from(X)) as u64
        });
        out.push(words(&normal));
        for i in 0..5 {
            let (mut redundant, mut off) = (normal, normal);
            off[i] = off[i].wrapping_add(1);
            out.push(words(&off));
            // X more in one digit, 1 less in the next
            if let (Some(more), Some(less)) = (normal[i].checked_add(X), normal[i + 1].checked_sub(1)) {
                redundant[i] = more;
                redundant[i + 1] = less;
                out.push(words(&redundant));
            }
        }
    }
    out
}

#[test]
fn host_twin_operations_equal_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6670);
    let samples = samples(&mut rng, 600);
    for (i, a) in samples.iter().enumerate() {
        let x = decode(a);
        let checks: [(&str, Words, blst_fp); 3] = [
            ("sqr", unary(czk_host_fp_sqr, a), times(&x, &x)),
            ("neg", unary(czk_host_fp_neg, a), minus(&blst_fp::default(), &x)),
            ("dbl", unary(czk_host_fp_dbl, a), plus(&x, &x)),
        ];
        for (name, r, want) in checks {
            assert!(in_range(&r) && decode(&r) == want, "{name} of sample {i}: {a:x?} -> {r:x?}");
        }
        let zero = x == blst_fp::default();
        // SAFETY: twelve words.
        assert_eq!(unsafe { czk_host_fp_is_zero(a.as_ptr()) } != 0, zero, "is_zero of sample {i}: {a:x?}");
        for _ in 0..60 {
            let b = &samples[rng.next_u32() as usize % samples.len()];
            let c = &samples[rng.next_u32() as usize % samples.len()];
            check_pair(a, b, c);
        }
    }
}

fn check_pair(a: &Words, b: &Words, c: &Words) {
    let (x, y, z) = (decode(a), decode(b), decode(c));
    let ternary = |f: unsafe extern "C" fn(*mut u32, *const u32, *const u32, *const u32)| {
        let mut r = [0; 12];
        // SAFETY: twelve words each.
        unsafe { f(r.as_mut_ptr(), a.as_ptr(), b.as_ptr(), c.as_ptr()) };
        r
    };
    let checks: [(&str, Words, blst_fp); 6] = [
        ("mul", binary(czk_host_fp_mul, a, b), times(&x, &y)),
        ("add", binary(czk_host_fp_add, a, b), plus(&x, &y)),
        ("sub", binary(czk_host_fp_sub, a, b), minus(&x, &y)),
        ("sub_sum", ternary(czk_host_fp_sub_sum), minus(&minus(&x, &y), &z)),
        ("sqr_sub", ternary(czk_host_fp_sqr_sub), minus(&minus(&times(&x, &x), &y), &z)),
        ("mul_sub", ternary(czk_host_fp_mul_sub), minus(&times(&x, &y), &z)),
    ];
    for (name, r, want) in checks {
        assert!(in_range(&r) && decode(&r) == want, "{name}: {a:x?} {b:x?} {c:x?} -> {r:x?}");
    }
    // SAFETY: twelve words each.
    assert_eq!(unsafe { czk_host_fp_eq(a.as_ptr(), b.as_ptr()) } != 0, x == y, "eq: {a:x?} {b:x?}");
}

#[test]
fn host_twin_eq_sees_through_forms() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6571);
    for a in samples(&mut rng, 400) {
        // a + b - b has another form than a
        let b = samples(&mut rng, 200).pop().unwrap();
        let back = binary(czk_host_fp_sub, &binary(czk_host_fp_add, &a, &b), &b);
        let off = binary(czk_host_fp_add, &a, &words(&[1, 0, 0, 0, 0, 0]));
        // SAFETY: twelve words each.
        unsafe {
            assert_ne!(czk_host_fp_eq(a.as_ptr(), back.as_ptr()), 0, "{a:x?} {back:x?}");
            assert_eq!(czk_host_fp_eq(a.as_ptr(), off.as_ptr()), 0, "{a:x?} {off:x?}");
            let zero = binary(czk_host_fp_sub, &a, &back);
            assert_ne!(czk_host_fp_is_zero(zero.as_ptr()), 0, "{zero:x?}");
        }
    }
}

#[test]
fn host_twin_conversions_equal_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x636f);
    let mut p = [0u64; 6];
    // SAFETY: plain values. -1 is p - 1.
    unsafe { blst_uint64_from_fp(p.as_mut_ptr(), &minus(&blst_fp::default(), &small(1))) };
    let p_minus_1 = p;
    p[0] += 1;
    for a in samples(&mut rng, 800) {
        let x = decode(&a);
        let mut limbs = [0u64; 6];
        // SAFETY: six limbs.
        unsafe { blst_uint64_from_fp(limbs.as_mut_ptr(), &x) };
        assert_eq!(unary(czk_host_fp_to_canonical, &a), words(&limbs));
        assert_eq!(unary(czk_host_fp_to_montgomery, &a), words(&x.l));
        let (from_c, from_m) =
            (unary(czk_host_fp_from_canonical, &words(&limbs)), unary(czk_host_fp_from_montgomery, &words(&x.l)));
        assert!(decode(&from_c) == x && in_range(&from_c));
        assert!(decode(&from_m) == x && in_range(&from_m));
        let mut bytes = [0u32; 12];
        let mut want = [0u8; 48];
        let mut back = [0u32; 12];
        // SAFETY: 48 bytes each.
        unsafe {
            czk_host_fp_to_be_words(bytes.as_mut_ptr(), a.as_ptr());
            blst_bendian_from_fp(want.as_mut_ptr(), &x);
            assert_eq!(czk_host_fp_from_be_words(back.as_mut_ptr(), bytes.as_ptr()), 1);
        }
        assert_eq!(bytes.map(u32::to_le_bytes).concat(), want);
        assert_eq!(decode(&back), x);
        // any 384 bits are taken modulo p, but bytes from a file must be canonical
        let raw = digits(&a);
        assert_eq!(decode(&unary(czk_host_fp_from_canonical, &a)), element(&reduced(&raw)));
    }
    for (limbs, below) in [(p, 0), (p_minus_1, 1), ([u64::MAX; 6], 0), ([0; 6], 1)] {
        let mut bytes = limbs.map(u64::to_be_bytes);
        bytes.reverse();
        let bytes = bytes.concat();
        let (mut r, in_words) = ([0u32; 12], bytes.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())));
        let in_words: Vec<u32> = in_words.collect();
        // SAFETY: twelve words each.
        assert_eq!(unsafe { czk_host_fp_from_be_words(r.as_mut_ptr(), in_words.as_ptr()) }, below);
    }
}

/// 384 bits modulo p: Horner in blst, 64 bits at a time.
fn reduced(raw: &[u64; 6]) -> [u64; 6] {
    let w = element(&[0, 1, 0, 0, 0, 0]);
    let x = raw.iter().rev().fold(blst_fp::default(), |v, &limb| plus(&times(&v, &w), &small(limb)));
    let mut limbs = [0u64; 6];
    // SAFETY: six limbs.
    unsafe { blst_uint64_from_fp(limbs.as_mut_ptr(), &x) };
    limbs
}

#[test]
fn host_twin_inverse_and_constants() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x696e);
    for a in samples(&mut rng, 300) {
        let x = decode(&a);
        assert_eq!(decode(&unary(czk_host_fp_inv, &a)), inverse(&x));
    }
    for (which, want) in [(0, small(0)), (1, small(1)), (2, small(4))] {
        let mut r = [0u32; 12];
        // SAFETY: twelve words.
        unsafe { czk_host_fp_constant(r.as_mut_ptr(), which) };
        assert_eq!(decode(&r), want);
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

/// What leaves divide_by_w for digits of any 64 bits: columns divided by W, as multiples of 2^32 / W … in plain units.
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
        // column / W, rounded outwards, in units of 1
        (c.low.div_euclid(Interval::UNIT) - 1, c.high.div_euclid(Interval::UNIT) + 1)
    })
}

/// The quotient of normalise() for digit d.
fn quotient(d: i128) -> i128 {
    let (mut reciprocal, mut bias) = (0, 0);
    // SAFETY: plain values.
    unsafe { czk_host_fp_normalise_constants(&mut reciprocal, &mut bias) };
    let top = d.div_euclid(1 << 53);
    let t = top * i128::from(reciprocal) - i128::from(bias);
    assert!(i32::try_from(top).is_ok() && i32::try_from(t).is_ok(), "32 bits: {top} {t}");
    t.div_euclid(1 << 23)
}

/// Proves that normalise() takes digits in these intervals to [0, DIGIT_LIMIT) without a wrap.
fn check_normalise(d: &[(i128, i128); 6]) {
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
        assert!(high + moved[i].1 < DIGIT_LIMIT, "digit {i} can be too large: {:.4}", high as f64 / W as f64);
    }
}

#[test]
fn fp_bounds() {
    let digit = (0, W - 1);
    // products, and products less two elements
    let columns = quotient_digits(|k| if k < 6 { k as i128 + 1 } else { 11 - k as i128 });
    check_normalise(&columns);
    check_normalise(&columns.map(|(low, high)| (low - 2 * (W - 1), high)));
    // combine(): six products in each of the columns 0 to 5 alone
    check_normalise(&quotient_digits(|k| if k < 6 { 6 } else { 0 }));
    // sums and differences
    check_normalise(&[(0, 2 * digit.1); 6]);
    check_normalise(&[(-digit.1, digit.1); 6]);
    check_normalise(&[(-2 * digit.1, digit.1); 6]);
    // a column's odd words: at most 2 * 6 products of 32 x 32 bits and one of q, below 2^96 together
    assert!(14 * ((1u128 << 32) - 1).pow(2) + (1 << 64) < 1 << 96);
}
