//! Transforms eight lanes wide. Their levels are those of [`super::super::ntt`], on vectors of eight elements: of eight
//! columns side by side, or of eight neighbours in a row, where the three levels inside a vector work on transposed blocks
//! of eight vectors.
//!
//! Forward levels (DIT) never reduce: a level adds at most 2r, so that values stay below 34 r for 16 levels. Inverse ones
//! (DIF) keep values below 2r by one conditional subtraction a butterfly.

use blstrs::Scalar as Fr;

use super::fr::Fr8;

/// Elements in a vector.
pub(crate) const LANES: usize = 8;
/// Elements of the smallest row: a block of eight vectors.
pub(crate) const ROW_MIN: usize = LANES * LANES;

/// Twiddles of one direction and shift in R's form. Exists only where the processor has the instructions.
pub(crate) struct WidePlan {
    /// Twiddles 1 to 7 of a row, each in all lanes.
    small: [Fr8; 8],
    /// Twiddles of a row from 8 on, in vectors.
    large: Vec<Fr8>,
    shifts: Vec<Fr8>,
    column: Vec<Fr>,
}

/// A worker's vectors, kept from use to use.
#[derive(Default)]
pub(crate) struct WideScratch {
    data: Vec<Fr8>,
    twiddles: Vec<Fr8>,
}

/// 2^260 mod r in the words of blst's form, which has the factor 2^256: 1 in R's form.
fn one() -> Fr {
    Fr::from(16)
}

impl WidePlan {
    /// From the tables of a plan; None without the instructions, or for rows that are too short.
    pub(crate) fn new(row: &[Fr], shifts: &[Fr], column: &[Fr]) -> Option<Self> {
        if !super::available() || row.len() < ROW_MIN {
            return None;
        }
        let scaled = |table: &[Fr]| -> Vec<Fr> { table.iter().map(|twiddle| twiddle * one()).collect() };
        let (row, shifts) = (scaled(row), scaled(shifts));
        // SAFETY: the processor was asked; chunks have eight elements.
        let vectors =
            |table: &[Fr]| table.chunks_exact(LANES).map(|eight| unsafe { Fr8::load(eight.as_ptr()) }).collect();
        // SAFETY: the processor was asked.
        let small = std::array::from_fn(|i| unsafe { Fr8::broadcast(&row[i]) });
        Some(WidePlan { small, large: vectors(&row), shifts: vectors(&shifts), column: scaled(column) })
    }

    /// A row by DIT.
    pub(crate) fn forward_row(&self, row: &mut [Fr], scratch: &mut WideScratch) {
        // SAFETY: a plan exists only where the processor has the instructions.
        unsafe {
            read_row(row, scratch);
            in_blocks(&mut scratch.data, |block| dit(block, &self.small));
            dit(&mut scratch.data, &self.large);
            write_row(row, scratch, true);
        }
    }

    /// A row by DIF.
    pub(crate) fn inverse_row(&self, row: &mut [Fr], scratch: &mut WideScratch) {
        // SAFETY: as in `forward_row`.
        unsafe {
            read_row(row, scratch);
            dif(&mut scratch.data, &self.large);
            in_blocks(&mut scratch.data, |block| dif(block, &self.small));
            write_row(row, scratch, false);
        }
    }

    /// A row by DIF with this plan, then by DIT with `back`.
    pub(crate) fn there_and_back(&self, back: &Self, row: &mut [Fr], scratch: &mut WideScratch) {
        // SAFETY: as in `forward_row`.
        unsafe {
            read_row(row, scratch);
            dif(&mut scratch.data, &self.large);
            in_blocks(&mut scratch.data, |block| {
                dif(block, &self.small);
                dit(block, &back.small);
            });
            dit(&mut scratch.data, &back.large);
            write_row(row, scratch, true);
        }
    }

    /// Eight columns from `first`, whose elements in each row stand at `at(row)`.
    ///
    /// # Safety
    /// `at(row)` points to eight elements that nobody else touches, for each row below `rows`.
    pub(crate) unsafe fn columns(
        &self,
        forward: bool,
        first: usize,
        rows: usize,
        at: impl Fn(usize) -> *mut Fr,
        scratch: &mut WideScratch,
    ) {
        // SAFETY: a plan exists only where the processor has the instructions; the caller's promise.
        unsafe {
            scratch.data.clear();
            scratch.data.extend((0..rows).map(|row| Fr8::load(at(row))));
            self.column_twiddles(first, rows, &mut scratch.twiddles);
            match forward {
                true => dit(&mut scratch.data, &scratch.twiddles),
                false => dif(&mut scratch.data, &scratch.twiddles),
            }
            finish(&mut scratch.data, forward, |row, value| value.store(at(row)));
        }
    }

    /// As in `Plan::column_twiddles`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn column_twiddles(&self, first: usize, rows: usize, out: &mut Vec<Fr8>) {
        let shift = self.shifts[first / LANES];
        out.clear();
        out.resize(rows, Fr8::zero());
        for (out, power) in out[rows / 2..].iter_mut().zip(&self.column) {
            *out = shift.mul(&Fr8::broadcast(power));
        }
        let mut half = rows / 4;
        while half > 0 {
            let (low, high) = out.split_at_mut(2 * half);
            for (out, source) in low[half..].iter_mut().zip(high) {
                *out = source.mul(source);
            }
            half /= 2;
        }
    }
}

#[target_feature(enable = "avx512f")]
unsafe fn read_row(row: &[Fr], scratch: &mut WideScratch) {
    scratch.data.clear();
    for eight in row.chunks_exact(LANES) {
        // SAFETY: a chunk has eight elements.
        scratch.data.push(unsafe { Fr8::load(eight.as_ptr()) });
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn write_row(row: &mut [Fr], scratch: &mut WideScratch, forward: bool) {
    let to = row.as_mut_ptr();
    assert_eq!(row.len(), LANES * scratch.data.len());
    // SAFETY: as many vectors as the row has, as asserted.
    unsafe { finish(&mut scratch.data, forward, |vector, value| value.store(to.add(LANES * vector))) };
}

/// Hands out the values below r.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn finish(data: &mut [Fr8], forward: bool, store: impl Fn(usize, Fr8)) {
    let one = Fr8::broadcast(&one());
    for (at, value) in data.iter().enumerate() {
        let below_2r = if forward { value.mul(&one) } else { *value };
        store(at, below_2r.reduced_once(1));
    }
}

/// Transposes each block of eight vectors, works on it and transposes it back.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn in_blocks(data: &mut [Fr8], work: impl Fn(&mut [Fr8])) {
    for block in data.chunks_exact_mut(LANES) {
        let block: &mut [Fr8; 8] = block.try_into().expect("eight vectors");
        Fr8::transposed(block);
        work(block);
        Fr8::transposed(block);
    }
}

/// Levels from half-span 1 up, in vectors: (u, v) becomes (u + w v, u − w v), 2r larger at most.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn dit(data: &mut [Fr8], twiddles: &[Fr8]) {
    let mut half = 1;
    while half < data.len() {
        for pair in data.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((u, v), w) in low.iter_mut().zip(high).zip(&twiddles[half..2 * half]) {
                let product = v.mul(w);
                *v = u.sub(&product);
                *u = u.add(&product);
            }
        }
        half *= 2;
    }
}

/// Levels down to half-span 1, in vectors: (u, v) becomes (u + v, (u − v) w), all below 2r.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn dif(data: &mut [Fr8], twiddles: &[Fr8]) {
    let mut half = data.len() / 2;
    while half > 0 {
        for pair in data.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((u, v), w) in low.iter_mut().zip(high).zip(&twiddles[half..2 * half]) {
                let difference = u.sub(v);
                *u = u.add(v).reduced_once(2);
                *v = difference.mul(w);
            }
        }
        half /= 2;
    }
}
