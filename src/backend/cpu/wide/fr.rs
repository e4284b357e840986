//! Eight elements of Fr side by side, as [`super::fp`] has those of Fp.
//!
//! An element is 5 limbs of 52 bits; a product divides by R = 2^260. Twiddles are in Montgomery form for R, data stay as
//! they are: the product of a value in blst's form and a twiddle is a value in blst's form. R is 35 times the order r, so
//! that values below 34 r are operands, and a product with a twiddle is below 2 r.

use std::arch::x86_64::*;

use blstrs::Scalar as Fr;

use super::super::digits::ORDER;

const MASK: u64 = (1 << 52) - 1;
const R_LIMBS: [u64; 5] = split(&ORDER);
/// −1/r mod 2^52.
const R_INVERSE: u64 = 0xfffffffeffffffff & MASK;
const _: () = assert!(ORDER[0].wrapping_mul(0xfffffffeffffffff) == u64::MAX);

const fn split(words: &[u64; 4]) -> [u64; 5] {
    [
        words[0] & MASK,
        (words[0] >> 52 | words[1] << 12) & MASK,
        (words[1] >> 40 | words[2] << 24) & MASK,
        (words[2] >> 28 | words[3] << 36) & MASK,
        words[3] >> 16,
    ]
}

/// Limb i of eight elements in vector i.
#[derive(Clone, Copy)]
pub(crate) struct Fr8([__m512i; 5]);

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

impl Fr8 {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zero() -> Self {
        Fr8([_mm512_setzero_si512(); 5])
    }

    /// One element in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn constant(limbs: &[u64; 5]) -> Self {
        let mut out = Self::zero();
        for i in 0..5 {
            out.0[i] = splat(limbs[i]);
        }
        out
    }

    /// `value`, in blst's form, in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn broadcast(value: &Fr) -> Self {
        Self::constant(&split(&blst::blst_fr::from(*value).l))
    }

    /// Eight consecutive elements in blst's form.
    ///
    /// # Safety
    /// `from` points to eight elements.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn load(from: *const Fr) -> Self {
        // SAFETY: the caller's promise; an element is four words.
        let [a, b, c, d] = [0, 2, 4, 6].map(|at| unsafe { _mm512_loadu_si512(from.add(at).cast()) });
        let low = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
        let high = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
        let (ab_01, ab_23) = (_mm512_permutex2var_epi64(a, low, b), _mm512_permutex2var_epi64(a, high, b));
        let (cd_01, cd_23) = (_mm512_permutex2var_epi64(c, low, d), _mm512_permutex2var_epi64(c, high, d));
        let (first, second) =
            (_mm512_setr_epi64(0, 1, 2, 3, 8, 9, 10, 11), _mm512_setr_epi64(4, 5, 6, 7, 12, 13, 14, 15));
        let w = [
            _mm512_permutex2var_epi64(ab_01, first, cd_01),
            _mm512_permutex2var_epi64(ab_01, second, cd_01),
            _mm512_permutex2var_epi64(ab_23, first, cd_23),
            _mm512_permutex2var_epi64(ab_23, second, cd_23),
        ];
        let mask = splat(MASK);
        let join = |low: __m512i, high: __m512i| _mm512_and_si512(_mm512_or_si512(low, high), mask);
        Fr8([
            _mm512_and_si512(w[0], mask),
            join(_mm512_srli_epi64(w[0], 52), _mm512_slli_epi64(w[1], 12)),
            join(_mm512_srli_epi64(w[1], 40), _mm512_slli_epi64(w[2], 24)),
            join(_mm512_srli_epi64(w[2], 28), _mm512_slli_epi64(w[3], 36)),
            _mm512_srli_epi64(w[3], 16),
        ])
    }

    /// Stores eight elements below r; what [`Self::load`] reads.
    ///
    /// # Safety
    /// `to` points to eight elements.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn store(&self, to: *mut Fr) {
        let l = &self.0;
        let w = [
            _mm512_or_si512(l[0], _mm512_slli_epi64(l[1], 52)),
            _mm512_or_si512(_mm512_srli_epi64(l[1], 12), _mm512_slli_epi64(l[2], 40)),
            _mm512_or_si512(_mm512_srli_epi64(l[2], 24), _mm512_slli_epi64(l[3], 28)),
            _mm512_or_si512(_mm512_srli_epi64(l[3], 36), _mm512_slli_epi64(l[4], 16)),
        ];
        let (low, high) = (_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        // Words 0, 1 and words 2, 3 of elements 0 to 3 and 4 to 7.
        let (w01, w01_up) = (_mm512_permutex2var_epi64(w[0], low, w[1]), _mm512_permutex2var_epi64(w[0], high, w[1]));
        let (w23, w23_up) = (_mm512_permutex2var_epi64(w[2], low, w[3]), _mm512_permutex2var_epi64(w[2], high, w[3]));
        let (first, second) =
            (_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15));
        let rows = [
            _mm512_permutex2var_epi64(w01, first, w23),
            _mm512_permutex2var_epi64(w01, second, w23),
            _mm512_permutex2var_epi64(w01_up, first, w23_up),
            _mm512_permutex2var_epi64(w01_up, second, w23_up),
        ];
        for (at, row) in rows.into_iter().enumerate() {
            // SAFETY: the caller's promise; an element is four words.
            unsafe { _mm512_storeu_si512(to.add(2 * at).cast(), row) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn carried(mut self) -> Self {
        let mask = splat(MASK);
        for i in 0..4 {
            self.0[i + 1] = _mm512_add_epi64(self.0[i + 1], _mm512_srai_epi64(self.0[i], 52));
            self.0[i] = _mm512_and_si512(self.0[i], mask);
        }
        self
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(&self, rhs: &Self) -> Self {
        let mut out = *self;
        for i in 0..5 {
            out.0[i] = _mm512_add_epi64(self.0[i], rhs.0[i]);
        }
        out.carried()
    }

    /// self − rhs + 2r; rhs below 2r.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn sub(&self, rhs: &Self) -> Self {
        let mut out = *self;
        for i in 0..5 {
            out.0[i] = _mm512_add_epi64(_mm512_sub_epi64(self.0[i], rhs.0[i]), splat(2 * R_LIMBS[i]));
        }
        out.carried()
    }

    /// self, or self − `times` r if that isn't negative; `times` is 1 or 2.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn reduced_once(&self, times: u64) -> Self {
        let mut out = *self;
        for i in 0..5 {
            out.0[i] = _mm512_sub_epi64(self.0[i], splat(times * R_LIMBS[i]));
        }
        let out = out.carried();
        let negative = negative_lanes(out.0[4]);
        let mut chosen = out;
        for i in 0..5 {
            chosen.0[i] = _mm512_mask_blend_epi64(negative, out.0[i], self.0[i]);
        }
        chosen
    }

    /// self · rhs / R.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, rhs: &Self) -> Self {
        let zero = _mm512_setzero_si512();
        let (r, inverse) = (Self::constant(&R_LIMBS).0, splat(R_INVERSE));
        let mut t = [zero; 5];
        for i in 0..5 {
            for j in 0..5 {
                t[j] = _mm512_madd52lo_epu64(t[j], self.0[j], rhs.0[i]);
            }
            let quotient = _mm512_madd52lo_epu64(zero, t[0], inverse);
            for j in 0..5 {
                t[j] = _mm512_madd52lo_epu64(t[j], quotient, r[j]);
            }
            let carry = _mm512_srli_epi64(t[0], 52);
            t = [_mm512_add_epi64(t[1], carry), t[2], t[3], t[4], zero];
            for j in 0..5 {
                t[j] = _mm512_madd52hi_epu64(t[j], self.0[j], rhs.0[i]);
            }
            for j in 0..5 {
                t[j] = _mm512_madd52hi_epu64(t[j], quotient, r[j]);
            }
        }
        Fr8(t).carried()
    }

    /// Lane i of vector j to lane j of vector i.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn transposed(block: &mut [Self; 8]) {
        for limb in 0..5 {
            let rows = super::fp::transpose(std::array::from_fn(|i| block[i].0[limb]));
            for i in 0..8 {
                block[i].0[limb] = rows[i];
            }
        }
    }
}

/// Lanes that are negative.
#[inline]
#[target_feature(enable = "avx512f")]
fn negative_lanes(x: __m512i) -> u8 {
    _mm512_cmplt_epi64_mask(x, _mm512_setzero_si512())
}
