//! What an operation of cuda/field must return, by blst. Shared with tests/cuda_fp.rs, which asks the host twin.

use blst::*;
use rand_chacha::rand_core::RngCore;
use rand_chacha::ChaCha8Rng;

/// Twelve words: the digits of an element, or a 384-bit integer.
pub type Words = [u32; 12];

/// X, of which digits are the base.
pub const X: u64 = 0xd201_0000_0001_0000;
/// W = 2^64, the factor of the device's form.
pub const W: i128 = 1 << 64;
/// What fp.cuh promises of the digits that every operation returns.
pub const DIGIT_LIMIT: i128 = W / 100 * 83;

/// `fp_op_t` of cuda/testing/fp_ops.cuh, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Mul,
    Sqr,
    Add,
    Sub,
    Neg,
    Dbl,
    Inv,
    SubSum,
    SqrSub,
    MulSub,
    IsZero,
    Eq,
    FromCanonical,
    FromMontgomery,
    ToCanonical,
    ToMontgomery,
    FromBeWords,
    IsCanonical,
    ToBeWords,
    Zero,
    One,
    CurveB,
}

/// Every operation.
pub const OPS: [Op; 22] = [
    Op::Mul,
    Op::Sqr,
    Op::Add,
    Op::Sub,
    Op::Neg,
    Op::Dbl,
    Op::Inv,
    Op::SubSum,
    Op::SqrSub,
    Op::MulSub,
    Op::IsZero,
    Op::Eq,
    Op::FromCanonical,
    Op::FromMontgomery,
    Op::ToCanonical,
    Op::ToMontgomery,
    Op::FromBeWords,
    Op::IsCanonical,
    Op::ToBeWords,
    Op::Zero,
    Op::One,
    Op::CurveB,
];

/// The six digits of twelve words.
pub fn digits(w: &Words) -> [u64; 6] {
    std::array::from_fn(|i| u64::from(w[2 * i]) | u64::from(w[2 * i + 1]) << 32)
}

/// The twelve words of six digits.
pub fn words(d: &[u64; 6]) -> Words {
    std::array::from_fn(|i| (d[i / 2] >> (32 * (i % 2))) as u32)
}

/// The element of a canonical integer below p.
pub fn element(limbs: &[u64; 6]) -> blst_fp {
    let mut r = blst_fp::default();
    // SAFETY: six limbs.
    unsafe { blst_fp_from_uint64(&mut r, limbs.as_ptr()) };
    r
}

/// The element of a small integer.
pub fn small(v: u64) -> blst_fp {
    element(&[v, 0, 0, 0, 0, 0])
}

/// The canonical integer of an element.
pub fn integer(x: &blst_fp) -> [u64; 6] {
    let mut limbs = [0; 6];
    // SAFETY: six limbs.
    unsafe { blst_uint64_from_fp(limbs.as_mut_ptr(), x) };
    limbs
}

macro_rules! fp_op {
    ($name:ident, $blst:ident, $doc:literal) => {
        #[doc = $doc]
        pub fn $name(a: &blst_fp, b: &blst_fp) -> blst_fp {
            let mut r = blst_fp::default();
            // SAFETY: plain values.
            unsafe { $blst(&mut r, a, b) };
            r
        }
    };
}
fp_op!(times, blst_fp_mul, "a b");
fp_op!(plus, blst_fp_add, "a + b");
fp_op!(minus, blst_fp_sub, "a - b");

fn inverse(a: &blst_fp) -> blst_fp {
    let mut r = blst_fp::default();
    // SAFETY: plain values.
    unsafe { blst_fp_inverse(&mut r, a) };
    r
}

/// sum d[i] base^i modulo p.
fn horner(d: &[u64; 6], base: &blst_fp) -> blst_fp {
    d.iter().rev().fold(blst_fp::default(), |v, &digit| plus(&times(&v, base), &small(digit)))
}

fn two_to_64() -> blst_fp {
    element(&[0, 1, 0, 0, 0, 0])
}

/// The element whose device form has these words: sum d[i] X^i / W.
pub fn decode(w: &Words) -> blst_fp {
    times(&horner(&digits(w), &small(X)), &inverse(&two_to_64()))
}

fn is_normal(w: &Words) -> bool {
    digits(w).iter().all(|&d| i128::from(d) < DIGIT_LIMIT)
}

fn be_words(x: &blst_fp) -> Words {
    let mut bytes = [0u8; 48];
    // SAFETY: 48 bytes.
    unsafe { blst_bendian_from_fp(bytes.as_mut_ptr(), x) };
    std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()))
}

/// The 384-bit integer whose big-endian bytes lie in these words.
fn from_be(w: &Words) -> [u64; 6] {
    digits(&std::array::from_fn(|i| w[11 - i].swap_bytes()))
}

/// Whether `r` is what `op` must return for a, b, c: elements by value and with digits in range, everything else exactly.
pub fn holds(op: Op, [a, b, c]: [&Words; 3], r: &Words) -> bool {
    let flag = |yes: bool| *r == words(&[yes.into(), 0, 0, 0, 0, 0]);
    let modulo_p = |v: &[u64; 6]| horner(v, &two_to_64());
    let (x, y, z) = (decode(a), decode(b), decode(c));
    let zero = blst_fp::default();
    let want = match op {
        Op::Mul => times(&x, &y),
        Op::Sqr => times(&x, &x),
        Op::Add => plus(&x, &y),
        Op::Sub => minus(&x, &y),
        Op::Neg => minus(&zero, &x),
        Op::Dbl => plus(&x, &x),
        Op::Inv => inverse(&x),
        Op::SubSum => minus(&minus(&x, &y), &z),
        Op::SqrSub => minus(&minus(&times(&x, &x), &y), &z),
        Op::MulSub => minus(&times(&x, &y), &z),
        Op::FromCanonical => modulo_p(&digits(a)),
        Op::FromMontgomery => blst_fp { l: integer(&modulo_p(&digits(a))) },
        Op::FromBeWords => modulo_p(&from_be(a)),
        Op::Zero => zero,
        Op::One => small(1),
        Op::CurveB => small(4),
        Op::IsZero => return flag(x == zero),
        Op::Eq => return flag(x == y),
        Op::ToCanonical => return *r == words(&integer(&x)),
        Op::ToMontgomery => return *r == words(&x.l),
        Op::IsCanonical => return flag(integer(&modulo_p(&from_be(a))) == from_be(a)),
        Op::ToBeWords => return *r == be_words(&x),
    };
    decode(r) == want && is_normal(r)
}

/// Digits with extremes, multiples of p and their neighbours, and random ones.
pub fn samples(rng: &mut ChaCha8Rng, count: usize) -> Vec<Words> {
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
    let p_minus_1 = integer(&minus(&blst_fp::default(), &small(1)));
    let mut p = p_minus_1;
    p[0] += 1;
    for limbs in [p, p_minus_1] {
        // as integers, and as big-endian bytes
        out.push(words(&limbs));
        out.push(words(&from_be(&words(&limbs))));
    }
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
    assert!(decode(&words(&p)) == blst_fp::default());
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
