//! Eight elements of Fp side by side, for processors with 52-bit multiply-add (AVX-512 IFMA).
//!
//! An element is 8 limbs of 52 bits, in Montgomery form with R = 2^416. Since R is 2^35 times p, products of *operands*,
//! values in [0, 2^15 p) with limbs in [0, 2^52), come out below 1.01 p, and nothing is ever reduced otherwise. A sum or
//! difference that only enters other sums may be *signed*: below 2^11 p in magnitude, and if negative, its top limb is.

use std::arch::x86_64::*;

use blst::blst_fp;

use super::super::curve::Field;

/// p, in words.
pub(super) const P: [u64; 6] = [
    0xb9feffffffffaaab,
    0x1eabfffeb153ffff,
    0x6730d2a0f6b0f624,
    0x64774b84f38512bf,
    0x4b1ba7b6434bacd7,
    0x1a0111ea397fe69a,
];
const MASK: u64 = (1 << 52) - 1;
const P_LIMBS: [u64; 8] = split(&P);
/// 2^12 p: added to signed values and their differences, it makes them operands.
const LIFT: [u64; 8] = lifted_p(12);
/// 2^14 p: above all of these.
const LIFT_OPPOSITE: [u64; 8] = lifted_p(14);
/// −1/p mod 2^52.
const P_INVERSE: u64 = 0x89f3fffcfffcfffd & MASK;
/// 2^416 mod p: 1 in this form, and what takes blst's form to this one by blst's product.
pub(super) const ONE: blst_fp = blst_fp { l: times_2_32(blst_fp::ONE.l) };
/// 2^352: what takes this form to blst's by blst's product.
const TO_BLST: blst_fp = blst_fp { l: [0, 0, 0, 0, 0, 1 << 32] };

const _: () = assert!(P[0].wrapping_mul(0x89f3fffcfffcfffd) == u64::MAX);

/// Words to limbs.
pub(super) const fn split(words: &[u64; 6]) -> [u64; 8] {
    let mut limbs = [0; 8];
    let mut i = 0;
    while i < 8 {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        let high = if word + 1 < 6 { words[word + 1] } else { 0 };
        limbs[i] = ((((high as u128) << 64 | words[word] as u128) >> shift) as u64) & MASK;
        i += 1;
    }
    limbs
}

/// Limbs in [0, 2^52) of a value below 2^384 to words.
pub(super) fn join(limbs: &[u64; 8]) -> [u64; 6] {
    let mut words = [0; 6];
    for (i, limb) in limbs.iter().enumerate() {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        words[word] |= limb << shift;
        if shift > 12 && word + 1 < 6 {
            words[word + 1] |= limb >> (64 - shift);
        }
    }
    words
}

/// 2^bits p, in limbs.
const fn lifted_p(bits: u32) -> [u64; 8] {
    let mut limbs = split(&P);
    let mut carry = 0;
    let mut i = 0;
    while i < 8 {
        let next = limbs[i] >> (52 - bits);
        limbs[i] = (limbs[i] << bits) & MASK | carry;
        carry = next;
        i += 1;
    }
    limbs
}

const fn shifted_left(words: &[u64; 6], bits: u32) -> [u64; 6] {
    let mut out = [0; 6];
    let mut i = 0;
    while i < 6 {
        out[i] = words[i] << bits | if i > 0 { words[i - 1] >> (64 - bits) } else { 0 };
        i += 1;
    }
    out
}

/// 2^32 x mod p.
const fn times_2_32(x: [u64; 6]) -> [u64; 6] {
    let mut x = x;
    let mut step = 0;
    while step < 32 {
        x = shifted_left(&x, 1);
        let mut reduced = [0; 6];
        let mut borrow = false;
        let mut i = 0;
        while i < 6 {
            let (difference, first) = x[i].overflowing_sub(P[i]);
            let (difference, second) = difference.overflowing_sub(borrow as u64);
            reduced[i] = difference;
            borrow = first | second;
            i += 1;
        }
        if !borrow {
            x = reduced;
        }
        step += 1;
    }
    x
}

/// From blst's form to this one, in words.
pub(super) fn to_stored(x: &blst_fp) -> blst_fp {
    x.mul(&ONE)
}

/// From this form, in words and below 1.01 p, to blst's.
pub(super) fn from_stored(x: &blst_fp) -> blst_fp {
    x.mul(&TO_BLST)
}

/// Limb i of eight elements in vector i.
#[derive(Clone, Copy)]
pub(crate) struct Fp8(pub(super) [__m512i; 8]);

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

impl Fp8 {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn constant(limbs: &[u64; 8]) -> Self {
        let mut out = [_mm512_setzero_si512(); 8];
        for i in 0..8 {
            out[i] = splat(limbs[i]);
        }
        Fp8(out)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn one() -> Self {
        const LIMBS: [u64; 8] = split(&ONE.l);
        Self::constant(&LIMBS)
    }

    /// Carries from limb to limb; the top limb keeps its sign.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn carried(mut self) -> Self {
        let mask = splat(MASK);
        for i in 0..7 {
            self.0[i + 1] = _mm512_add_epi64(self.0[i + 1], _mm512_srai_epi64(self.0[i], 52));
            self.0[i] = _mm512_and_si512(self.0[i], mask);
        }
        self
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn plus(mut self, rhs: &Self) -> Self {
        for i in 0..8 {
            self.0[i] = _mm512_add_epi64(self.0[i], rhs.0[i]);
        }
        self
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn minus(mut self, rhs: &Self) -> Self {
        for i in 0..8 {
            self.0[i] = _mm512_sub_epi64(self.0[i], rhs.0[i]);
        }
        self
    }

    /// self + rhs, signed.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(&self, rhs: &Self) -> Self {
        self.plus(rhs).carried()
    }

    /// self − rhs, signed.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sub(&self, rhs: &Self) -> Self {
        self.minus(rhs).carried()
    }

    /// self − a − b, signed.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sub2(&self, a: &Self, b: &Self) -> Self {
        self.minus(a).minus(b).carried()
    }

    /// −self of an operand, as an operand.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn opposite(&self) -> Self {
        Self::constant(&LIFT_OPPOSITE).minus(self).carried()
    }

    /// self − rhs of signed values, as an operand.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn difference(&self, rhs: &Self) -> Self {
        self.minus(rhs).plus(&Self::constant(&LIFT)).carried()
    }

    /// self as an operand.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn lifted(&self) -> Self {
        self.plus(&Self::constant(&LIFT)).carried()
    }

    /// Σ a_n b_n / R, of operands.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn dot<const N: usize>(a: [&Self; N], b: [&Self; N]) -> Self {
        let zero = _mm512_setzero_si512();
        let (p, p_inverse) = (Self::constant(&P_LIMBS).0, splat(P_INVERSE));
        let mut t = [zero; 8];
        for i in 0..8 {
            for n in 0..N {
                for j in 0..8 {
                    t[j] = _mm512_madd52lo_epu64(t[j], a[n].0[j], b[n].0[i]);
                }
            }
            let quotient = _mm512_madd52lo_epu64(zero, t[0], p_inverse);
            for j in 0..8 {
                t[j] = _mm512_madd52lo_epu64(t[j], quotient, p[j]);
            }
            // The lowest limb is a multiple of 2^52 now.
            let carry = _mm512_srli_epi64(t[0], 52);
            t = [_mm512_add_epi64(t[1], carry), t[2], t[3], t[4], t[5], t[6], t[7], zero];
            for n in 0..N {
                for j in 0..8 {
                    t[j] = _mm512_madd52hi_epu64(t[j], a[n].0[j], b[n].0[i]);
                }
            }
            for j in 0..8 {
                t[j] = _mm512_madd52hi_epu64(t[j], quotient, p[j]);
            }
        }
        Fp8(t).carried()
    }

    /// Not inlined: 340 instructions.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, rhs: &Self) -> Self {
        Self::dot([self], [rhs])
    }

    /// Lanes of a product that are 0 mod p.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zero_lanes(&self) -> u8 {
        let (mut zero, mut p) = (0xff, 0xff);
        for i in 0..8 {
            zero &= _mm512_cmpeq_epi64_mask(self.0[i], _mm512_setzero_si512());
            p &= _mm512_cmpeq_epi64_mask(self.0[i], splat(P_LIMBS[i]));
        }
        zero | p
    }

    /// `rhs` in the lanes of `lanes`, self in the others.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn blend(&self, lanes: u8, rhs: &Self) -> Self {
        let mut out = *self;
        for i in 0..8 {
            out.0[i] = _mm512_mask_blend_epi64(lanes, self.0[i], rhs.0[i]);
        }
        out
    }
}

/// Eight rows of eight limbs to their transpose, which takes elements in rows to limbs in vectors and back.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    // Pairs of words, then pairs of pairs, then halves.
    let [a, b, c, d, e, f, g, h] = rows;
    let pairs = [
        (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
        (_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d)),
        (_mm512_unpacklo_epi64(e, f), _mm512_unpackhi_epi64(e, f)),
        (_mm512_unpacklo_epi64(g, h), _mm512_unpackhi_epi64(g, h)),
    ];
    let quads = |x: __m512i, y: __m512i| {
        let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        (_mm512_permutex2var_epi64(x, low, y), _mm512_permutex2var_epi64(x, high, y))
    };
    let (even_abcd, even_efgh) = (quads(pairs[0].0, pairs[1].0), quads(pairs[2].0, pairs[3].0));
    let (odd_abcd, odd_efgh) = (quads(pairs[0].1, pairs[1].1), quads(pairs[2].1, pairs[3].1));
    let low = |x, y| _mm512_shuffle_i64x2::<0b01_00_01_00>(x, y);
    let high = |x, y| _mm512_shuffle_i64x2::<0b11_10_11_10>(x, y);
    [
        low(even_abcd.0, even_efgh.0),
        low(odd_abcd.0, odd_efgh.0),
        low(even_abcd.1, even_efgh.1),
        low(odd_abcd.1, odd_efgh.1),
        high(even_abcd.0, even_efgh.0),
        high(odd_abcd.0, odd_efgh.0),
        high(even_abcd.1, even_efgh.1),
        high(odd_abcd.1, odd_efgh.1),
    ]
}
