//! Fp and Fp2 as the wide additions see them: rows of limbs in memory, eight elements in registers.

use std::arch::x86_64::*;

use blst::{blst_fp, blst_fp2};

use super::fp::{from_stored, join, split, to_stored, transpose, Fp8};

/// Eight limbs of one element of Fp: a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Row(pub [u64; 8]);

/// Eight elements of a field. Operands, signed values and products are as in [`super::fp`].
///
/// # Safety
/// All functions but those on [`Wide::Element`] need AVX-512 F and IFMA.
pub(crate) unsafe trait Wide: Copy + Send + 'static {
    /// One element, in words.
    type Element: super::super::curve::Field;
    /// Rows of an element.
    const ROWS: usize;

    fn to_stored(x: &Self::Element) -> Self::Element;
    fn from_stored(x: &Self::Element) -> Self::Element;
    fn to_rows(x: &Self::Element, rows: &mut [Row]);
    /// Of rows that hold a product.
    fn of_rows(rows: &[Row]) -> Self::Element;

    unsafe fn one() -> Self;
    /// As `to_rows`; of −x if `negative`, as a signed value.
    unsafe fn unpack(x: &Self::Element, negative: bool, rows: *mut Row);
    /// Rows `[at, at + ROWS)` of each of eight places, which must exist.
    unsafe fn load(rows: *const Row, at: [usize; 8]) -> Self;
    /// Stores the lanes of `lanes` at their places, which must exist.
    unsafe fn store(&self, rows: *mut Row, at: [usize; 8], lanes: u8);
    /// Lanes whose first row has `mark` as its top limb.
    unsafe fn marked_lanes(&self, mark: u64) -> u8;
    unsafe fn add(&self, rhs: &Self) -> Self;
    unsafe fn sub(&self, rhs: &Self) -> Self;
    unsafe fn sub2(&self, a: &Self, b: &Self) -> Self;
    unsafe fn difference(&self, rhs: &Self) -> Self;
    unsafe fn lifted(&self) -> Self;
    unsafe fn mul(&self, rhs: &Self) -> Self;
    unsafe fn square(&self) -> Self;
    unsafe fn zero_lanes(&self) -> u8;
    unsafe fn blend(&self, lanes: u8, rhs: &Self) -> Self;
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load(rows: *const Row, at: [usize; 8]) -> Fp8 {
    // SAFETY: the caller's promise; a row is 64 bytes, aligned so.
    Fp8(transpose(at.map(|at| unsafe { _mm512_load_si512(rows.add(at).cast()) })))
}

#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store(x: &Fp8, rows: *mut Row, at: [usize; 8], lanes: u8) {
    for (lane, row) in transpose(x.0).into_iter().enumerate() {
        if lanes >> lane & 1 == 1 {
            // SAFETY: as in `load`.
            unsafe { _mm512_store_si512(rows.add(at[lane]).cast(), row) };
        }
    }
}

/// Words to limbs: limb i is what bit 52 i and the 51 above it are.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn unpack(x: &blst_fp, negative: bool, row: *mut Row) {
    let low_word = _mm512_setr_epi64(0, 0, 1, 2, 3, 4, 4, 5);
    let high_word = _mm512_setr_epi64(1, 1, 2, 3, 4, 5, 5, 6);
    let shift = _mm512_setr_epi64(0, 52, 40, 28, 16, 4, 56, 44);
    // SAFETY: the mask takes the six words of `x`; the others are 0.
    let words = unsafe { _mm512_maskz_loadu_epi64(0x3f, x.l.as_ptr().cast()) };
    let low = _mm512_srlv_epi64(_mm512_permutexvar_epi64(low_word, words), shift);
    let high =
        _mm512_sllv_epi64(_mm512_permutexvar_epi64(high_word, words), _mm512_sub_epi64(_mm512_set1_epi64(64), shift));
    let limbs = _mm512_and_si512(_mm512_or_si512(low, high), _mm512_set1_epi64((1 << 52) - 1));
    let limbs = if negative { _mm512_sub_epi64(_mm512_setzero_si512(), limbs) } else { limbs };
    // SAFETY: the caller's promise; a row is 64 bytes, aligned so.
    unsafe { _mm512_store_si512(row.cast(), limbs) };
}

#[inline]
#[target_feature(enable = "avx512f")]
fn marked_lanes(x: &Fp8, mark: u64) -> u8 {
    _mm512_cmpeq_epi64_mask(x.0[7], _mm512_set1_epi64(mark as i64))
}

// SAFETY: functions that need the processor's features are unsafe and say so in the trait.
unsafe impl Wide for Fp8 {
    type Element = blst_fp;
    const ROWS: usize = 1;

    fn to_stored(x: &blst_fp) -> blst_fp {
        to_stored(x)
    }
    fn from_stored(x: &blst_fp) -> blst_fp {
        from_stored(x)
    }
    fn to_rows(x: &blst_fp, rows: &mut [Row]) {
        rows[0] = Row(split(&x.l));
    }
    fn of_rows(rows: &[Row]) -> blst_fp {
        blst_fp { l: join(&rows[0].0) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn one() -> Self {
        Fp8::one()
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn unpack(x: &blst_fp, negative: bool, rows: *mut Row) {
        unpack(x, negative, rows);
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn load(rows: *const Row, at: [usize; 8]) -> Self {
        load(rows, at)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store(&self, rows: *mut Row, at: [usize; 8], lanes: u8) {
        store(self, rows, at, lanes);
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn marked_lanes(&self, mark: u64) -> u8 {
        marked_lanes(self, mark)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn add(&self, rhs: &Self) -> Self {
        Fp8::add(self, rhs)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn sub(&self, rhs: &Self) -> Self {
        Fp8::sub(self, rhs)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn sub2(&self, a: &Self, b: &Self) -> Self {
        Fp8::sub2(self, a, b)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn difference(&self, rhs: &Self) -> Self {
        Fp8::difference(self, rhs)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn lifted(&self) -> Self {
        Fp8::lifted(self)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn mul(&self, rhs: &Self) -> Self {
        Fp8::mul(self, rhs)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn square(&self) -> Self {
        Fp8::mul(self, self)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn zero_lanes(&self) -> u8 {
        Fp8::zero_lanes(self)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn blend(&self, lanes: u8, rhs: &Self) -> Self {
        Fp8::blend(self, lanes, rhs)
    }
}

/// Eight elements of Fp2 = Fp[i], i² = −1.
#[derive(Clone, Copy)]
pub(crate) struct Fp2x8([Fp8; 2]);

// SAFETY: as for Fp8.
unsafe impl Wide for Fp2x8 {
    type Element = blst_fp2;
    const ROWS: usize = 2;

    fn to_stored(x: &blst_fp2) -> blst_fp2 {
        blst_fp2 { fp: x.fp.map(|x| to_stored(&x)) }
    }
    fn from_stored(x: &blst_fp2) -> blst_fp2 {
        blst_fp2 { fp: x.fp.map(|x| from_stored(&x)) }
    }
    fn to_rows(x: &blst_fp2, rows: &mut [Row]) {
        rows[0] = Row(split(&x.fp[0].l));
        rows[1] = Row(split(&x.fp[1].l));
    }
    fn of_rows(rows: &[Row]) -> blst_fp2 {
        blst_fp2 { fp: [rows[0].0, rows[1].0].map(|limbs| blst_fp { l: join(&limbs) }) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn one() -> Self {
        Fp2x8([Fp8::one(), Fp8([_mm512_setzero_si512(); 8])])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn unpack(x: &blst_fp2, negative: bool, rows: *mut Row) {
        unpack(&x.fp[0], negative, rows);
        unpack(&x.fp[1], negative, rows.add(1));
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn load(rows: *const Row, at: [usize; 8]) -> Self {
        Fp2x8([load(rows, at), load(rows.add(1), at)])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store(&self, rows: *mut Row, at: [usize; 8], lanes: u8) {
        store(&self.0[0], rows, at, lanes);
        store(&self.0[1], rows.add(1), at, lanes);
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn marked_lanes(&self, mark: u64) -> u8 {
        marked_lanes(&self.0[0], mark)
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn add(&self, rhs: &Self) -> Self {
        Fp2x8([self.0[0].add(&rhs.0[0]), self.0[1].add(&rhs.0[1])])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn sub(&self, rhs: &Self) -> Self {
        Fp2x8([self.0[0].sub(&rhs.0[0]), self.0[1].sub(&rhs.0[1])])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn sub2(&self, a: &Self, b: &Self) -> Self {
        Fp2x8([self.0[0].sub2(&a.0[0], &b.0[0]), self.0[1].sub2(&a.0[1], &b.0[1])])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn difference(&self, rhs: &Self) -> Self {
        Fp2x8([self.0[0].difference(&rhs.0[0]), self.0[1].difference(&rhs.0[1])])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn lifted(&self) -> Self {
        Fp2x8([self.0[0].lifted(), self.0[1].lifted()])
    }
    /// (a₀ b₀ − a₁ b₁) + (a₀ b₁ + a₁ b₀) i, one reduction each.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn mul(&self, rhs: &Self) -> Self {
        let ([a0, a1], [b0, b1]) = (&self.0, &rhs.0);
        Fp2x8([Fp8::dot([a0, a1], [b0, &b1.opposite()]), Fp8::dot([a0, a1], [b1, b0])])
    }
    /// (a₀ + a₁)(a₀ − a₁) + 2 a₀ a₁ i.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn square(&self) -> Self {
        let [a0, a1] = &self.0;
        Fp2x8([a0.add(a1).mul(&a0.difference(a1)), a0.add(a0).mul(a1)])
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn zero_lanes(&self) -> u8 {
        self.0[0].zero_lanes() & self.0[1].zero_lanes()
    }
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn blend(&self, lanes: u8, rhs: &Self) -> Self {
        Fp2x8([self.0[0].blend(lanes, &rhs.0[0]), self.0[1].blend(lanes, &rhs.0[1])])
    }
}
