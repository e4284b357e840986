//! Number-theoretic transforms over Fr, on the domain ⟨ω_n⟩ and on its coset ω_2n · ⟨ω_n⟩.
//!
//! Forward transforms go from bit-reversed coefficients to values in natural order (DIT, order RN), inverse ones from values
//! in natural order to bit-reversed coefficients (DIF, NR), so that nothing is ever reordered. A coset costs nothing: with
//! g its shift, p(x) = p_even(x²) + x · p_odd(x²) at x = g ω^j only changes the twiddles. Inverse transforms leave out the
//! factor 1/n.
//!
//! A large domain is an array of R rows and C columns. Levels with a span below C are transforms of each row, all on the
//! same coset g^R; the others are transforms of each column j, on its own coset g ω^j. Rows and groups of columns are
//! small enough to stay in a core's cache, so each level of memory sees an element twice per transform.

use std::ops::Range;

use blst::blst_fr;
use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};

use super::shared::Shared;
use super::workers::{Stop, Tiles};

/// Columns that are transformed side by side: 128 bytes of each row.
const LANES: usize = 4;
/// Elements of one tile: about 10 ms at 2^27.
const TILE: usize = 1 << 16;
/// Largest domain that is one row.
const LG_ONE_ROW: u32 = 10;

/// Domain or coset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    /// g = 1.
    None = 0,
    /// g = ω_2n.
    Half = 1,
}

/// Twiddles of one direction and shift.
struct Plan {
    /// Of a row: level s, with half-span 2^s, has its 2^s twiddles at [2^s, 2^(s+1)).
    row: Vec<Fr>,
    /// Shift of each column.
    shifts: Vec<Fr>,
    /// ω_R^i, the shift of a column not included; R/2 of them.
    column: Vec<Fr>,
}

/// A domain of 2^k points.
pub(crate) struct Domain {
    lg_size: u32,
    lg_columns: u32,
    forward: [Plan; 2],
    inverse: [Plan; 2],
}

/// The largest k: ω_2n must exist.
pub(crate) const MAX_LG_SIZE: u32 = Fr::S - 1;

impl Plan {
    /// `root` is ω_n or its inverse, `shift` is g or its inverse.
    fn new(lg_size: u32, lg_columns: u32, root: Fr, shift: Fr) -> Self {
        let rows = 1u64 << (lg_size - lg_columns);
        let columns = 1usize << lg_columns;
        let mut row = vec![Fr::ONE; columns];
        if lg_columns > 0 {
            let top = columns / 2;
            fill_powers(&mut row[top..], shift.pow_vartime([rows]), root.pow_vartime([rows]));
            square_downwards(&mut row, 1);
        }
        let mut shifts = vec![Fr::ZERO; if rows > 1 { columns } else { 0 }];
        fill_powers(&mut shifts, shift, root);
        let mut column = vec![Fr::ZERO; rows as usize / 2];
        fill_powers(&mut column, Fr::ONE, root.pow_vartime([columns as u64]));
        Plan { row, shifts, column }
    }

    /// Twiddles of [`LANES`] columns from `first`, level by level as in `row`, lane by lane.
    fn column_twiddles(&self, first: usize, out: &mut [Fr]) {
        let top = out.len() / 2;
        for (out, power) in out[top..].chunks_exact_mut(LANES).zip(&self.column) {
            for (out, shift) in out.iter_mut().zip(&self.shifts[first..]) {
                *out = *shift * power;
            }
        }
        square_downwards(out, LANES);
    }
}

/// out_i = start · step^i.
fn fill_powers(out: &mut [Fr], start: Fr, step: Fr) {
    let mut power = start;
    for out in out {
        *out = power;
        power *= step;
    }
}

/// Twiddles of every level from those of the last: half as many a level, each the square of its successor's.
fn square_downwards(twiddles: &mut [Fr], lanes: usize) {
    let mut half = twiddles.len() / 4;
    while half >= lanes {
        let (low, high) = twiddles.split_at_mut(2 * half);
        for (out, source) in low[half..].iter_mut().zip(high) {
            *out = source.square();
        }
        half /= 2;
    }
}

impl Domain {
    /// 2^`lg_size` points; `lg_size` at most [`MAX_LG_SIZE`].
    pub(crate) fn new(lg_size: u32) -> Self {
        assert!(lg_size <= MAX_LG_SIZE, "no domain of 2^{lg_size} points");
        let lg_columns = if lg_size <= LG_ONE_ROW { lg_size } else { lg_size.div_ceil(2) };
        // ω_2n, whose square is ω_n.
        let half = (lg_size + 1..Fr::S).fold(Fr::ROOT_OF_UNITY, |root, _| root.square());
        let (root, half_inverse) = (half.square(), half.invert().expect("a root of unity isn't zero"));
        let plan = |root, shift| Plan::new(lg_size, lg_columns, root, shift);
        Domain {
            lg_size,
            lg_columns,
            forward: [plan(root, Fr::ONE), plan(root, half)],
            inverse: [plan(half_inverse.square(), Fr::ONE), plan(half_inverse.square(), half_inverse)],
        }
    }

    /// Number of points.
    pub(crate) fn size(&self) -> usize {
        1 << self.lg_size
    }

    /// Bytes of the twiddles.
    pub(crate) fn bytes(&self) -> usize {
        let plans = self.forward.iter().chain(&self.inverse);
        plans.map(|plan| plan.row.len() + plan.shifts.len() + plan.column.len()).sum::<usize>() * size_of::<Fr>()
    }

    /// Bit-reversed coefficients to values.
    pub(crate) fn forward(
        &self,
        tiles: &mut dyn Tiles,
        scratch: &mut Scratch,
        data: &mut [Fr],
        shift: Shift,
    ) -> Result<(), Stop> {
        let plan = &self.forward[shift as usize];
        self.rows(tiles, data, &|row| dit(row, &plan.row, 1))?;
        self.columns(tiles, scratch, data, plan, dit)
    }

    /// Values to n times the bit-reversed coefficients.
    pub(crate) fn inverse(
        &self,
        tiles: &mut dyn Tiles,
        scratch: &mut Scratch,
        data: &mut [Fr],
        shift: Shift,
    ) -> Result<(), Stop> {
        let plan = &self.inverse[shift as usize];
        self.columns(tiles, scratch, data, plan, dif)?;
        self.rows(tiles, data, &|row| dif(row, &plan.row, 1))
    }

    /// Values on the domain to n times the values on the coset.
    pub(crate) fn to_coset(&self, tiles: &mut dyn Tiles, scratch: &mut Scratch, data: &mut [Fr]) -> Result<(), Stop> {
        let (there, back) = (&self.inverse[Shift::None as usize], &self.forward[Shift::Half as usize]);
        self.columns(tiles, scratch, data, there, dif)?;
        self.rows(tiles, data, &|row| {
            dif(row, &there.row, 1);
            dit(row, &back.row, 1);
        })?;
        self.columns(tiles, scratch, data, back, dit)
    }

    fn rows(&self, tiles: &mut dyn Tiles, data: &mut [Fr], transform: &(dyn Fn(&mut [Fr]) + Sync)) -> Result<(), Stop> {
        assert_eq!(data.len(), self.size());
        let columns = 1 << self.lg_columns;
        let tile_size = columns.max(TILE).min(data.len());
        let count = data.len() / tile_size;
        let data = Shared::new(data);
        tiles.run(count, &|tile, _| {
            // SAFETY: each tile has its own part.
            unsafe { data.tile(tile, tile_size) }.chunks_exact_mut(columns).for_each(transform);
        })
    }

    fn columns(
        &self,
        tiles: &mut dyn Tiles,
        scratch: &mut Scratch,
        data: &mut [Fr],
        plan: &Plan,
        transform: fn(&mut [Fr], &[Fr], usize),
    ) -> Result<(), Stop> {
        assert_eq!(data.len(), self.size());
        let columns = 1usize << self.lg_columns;
        let rows = data.len() / columns;
        if rows == 1 {
            return Ok(());
        }
        scratch.resize(rows * LANES, tiles.workers());
        let groups = columns / LANES;
        let per_tile = (TILE / (rows * LANES)).clamp(1, groups);
        let data = Shared::new(data);
        let workers = Shared::new(&mut scratch.workers);
        tiles.run(groups.div_ceil(per_tile), &|tile, worker| {
            // SAFETY: a worker owns its scratch.
            let (gathered, twiddles) = unsafe { workers.at(worker) }.parts(rows * LANES);
            for group in tile * per_tile..((tile + 1) * per_tile).min(groups) {
                let lanes =
                    |row: usize| -> Range<usize> { row * columns + group * LANES..row * columns + (group + 1) * LANES };
                for (row, out) in gathered.chunks_exact_mut(LANES).enumerate() {
                    // SAFETY: each group has its own columns.
                    out.copy_from_slice(unsafe { data.range(lanes(row)) });
                }
                plan.column_twiddles(group * LANES, twiddles);
                transform(gathered, twiddles, LANES);
                for (row, values) in gathered.chunks_exact(LANES).enumerate() {
                    // SAFETY: as above.
                    unsafe { data.range(lanes(row)) }.copy_from_slice(values);
                }
            }
        })
    }
}

/// Memory for the columns that a worker has in hand, kept from use to use.
#[derive(Default)]
pub(crate) struct Scratch {
    workers: Vec<Columns>,
}

#[derive(Default)]
struct Columns {
    gathered: Vec<Fr>,
    twiddles: Vec<Fr>,
}

impl Scratch {
    fn resize(&mut self, len: usize, workers: usize) {
        while self.workers.len() < workers {
            self.workers.push(Columns::default());
        }
        for worker in &mut self.workers {
            for buffer in [&mut worker.gathered, &mut worker.twiddles] {
                if buffer.len() < len {
                    *buffer = vec![Fr::ZERO; len];
                }
            }
        }
    }
}

impl Columns {
    fn parts(&mut self, len: usize) -> (&mut [Fr], &mut [Fr]) {
        (&mut self.gathered[..len], &mut self.twiddles[..len])
    }
}

/// Levels from half-span `first` up: (u, v) becomes (u + w v, u − w v). `twiddles[half + i]` belongs to place i of the
/// level with that half-span.
fn dit(data: &mut [Fr], twiddles: &[Fr], first: usize) {
    let mut half = first;
    while half < data.len() {
        for pair in data.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((u, v), w) in low.iter_mut().zip(high).zip(&twiddles[half..2 * half]) {
                // SAFETY: three distinct elements; Scalar is blst_fr, transparently.
                unsafe { blst::blst_fr_ct_bfly(raw(u), raw(v), std::ptr::from_ref(w).cast()) };
            }
        }
        half *= 2;
    }
}

/// Levels down to half-span `first`: (u, v) becomes (u + v, (u − v) w).
fn dif(data: &mut [Fr], twiddles: &[Fr], first: usize) {
    let mut half = data.len() / 2;
    while half >= first && half > 0 {
        for pair in data.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for ((u, v), w) in low.iter_mut().zip(high).zip(&twiddles[half..2 * half]) {
                // SAFETY: as in `dit`.
                unsafe { blst::blst_fr_gs_bfly(raw(u), raw(v), std::ptr::from_ref(w).cast()) };
            }
        }
        half /= 2;
    }
}

fn raw(value: &mut Fr) -> *mut blst_fr {
    std::ptr::from_mut(value).cast()
}

#[cfg(test)]
mod tests {
    use super::super::workers::InOrder;
    use super::*;

    fn random(size: usize, seed: u64) -> Vec<Fr> {
        println!("seed {seed}");
        let mut rng: rand_chacha::ChaCha8Rng = rand_core::SeedableRng::seed_from_u64(seed);
        (0..size).map(|_| Fr::random(&mut rng)).collect()
    }

    fn reversed(values: &[Fr]) -> Vec<Fr> {
        let bits = values.len().trailing_zeros();
        (0..values.len()).map(|i| values[i.reverse_bits().checked_shr(usize::BITS - bits).unwrap_or(0)]).collect()
    }

    /// ω_2n of a domain with n points.
    fn half_root(n: usize) -> Fr {
        Fr::ROOT_OF_UNITY.pow_vartime([1u64 << (Fr::S - 1 - n.trailing_zeros())])
    }

    fn evaluate(coefficients: &[Fr], at: Fr) -> Fr {
        coefficients.iter().rev().fold(Fr::ZERO, |sum, c| sum * at + c)
    }

    fn shift_of(shift: Shift, n: usize) -> Fr {
        if shift == Shift::Half {
            half_root(n)
        } else {
            Fr::ONE
        }
    }

    #[test]
    fn forward_is_evaluation_on_domain_and_coset() {
        for lg_size in 0..=9 {
            let n = 1usize << lg_size;
            let coefficients = random(n, 20);
            for shift in [Shift::None, Shift::Half] {
                let mut data = reversed(&coefficients);
                Domain::new(lg_size).forward(&mut InOrder, &mut Scratch::default(), &mut data, shift).unwrap();
                for (j, value) in data.iter().enumerate() {
                    let at = shift_of(shift, n) * half_root(n).square().pow_vartime([j as u64]);
                    assert_eq!(*value, evaluate(&coefficients, at), "point {j} of 2^{lg_size}, {shift:?}");
                }
            }
        }
    }

    #[test]
    fn large_domains_agree_with_evaluation_at_some_points() {
        for lg_size in [10, 11, 12, 13, 16] {
            let n = 1usize << lg_size;
            let coefficients = random(n, 21);
            for shift in [Shift::None, Shift::Half] {
                let mut data = reversed(&coefficients);
                Domain::new(lg_size).forward(&mut InOrder, &mut Scratch::default(), &mut data, shift).unwrap();
                for j in [0, 1, 2, n / 2 - 1, n / 2, n / 3, n - 2, n - 1] {
                    let at = shift_of(shift, n) * half_root(n).square().pow_vartime([j as u64]);
                    assert_eq!(data[j], evaluate(&coefficients, at), "point {j} of 2^{lg_size}, {shift:?}");
                }
            }
        }
    }

    #[test]
    fn inverse_undoes_forward_up_to_the_size() {
        for lg_size in (0..=14).chain([17]) {
            let n = 1usize << lg_size;
            let (domain, mut scratch) = (Domain::new(lg_size), Scratch::default());
            let coefficients = random(n, 22);
            for shift in [Shift::None, Shift::Half] {
                let mut data = coefficients.clone();
                domain.forward(&mut InOrder, &mut scratch, &mut data, shift).unwrap();
                domain.inverse(&mut InOrder, &mut scratch, &mut data, shift).unwrap();
                let size = Fr::from(n as u64);
                assert!(data.iter().zip(&coefficients).all(|(d, c)| *d == size * c), "2^{lg_size}, {shift:?}");
            }
        }
    }

    #[test]
    fn to_coset_is_inverse_then_forward() {
        for lg_size in (0..=12).chain([15]) {
            let (domain, mut scratch) = (Domain::new(lg_size), Scratch::default());
            let values = random(1 << lg_size, 23);
            let mut expected = values.clone();
            domain.inverse(&mut InOrder, &mut scratch, &mut expected, Shift::None).unwrap();
            domain.forward(&mut InOrder, &mut scratch, &mut expected, Shift::Half).unwrap();
            let mut data = values;
            domain.to_coset(&mut InOrder, &mut scratch, &mut data).unwrap();
            assert!(data == expected, "2^{lg_size}");
        }
    }

    #[test]
    fn agrees_with_bellpersons_domain() {
        let lg_size = 13;
        let values = random(1 << lg_size, 24);
        let mut theirs = bellperson::domain::EvaluationDomain::from_coeffs(values.clone()).unwrap();
        let worker = ec_gpu_gen::threadpool::Worker::new();
        theirs.ifft(&worker, &mut None).unwrap();
        let mut ours = values;
        Domain::new(lg_size).inverse(&mut InOrder, &mut Scratch::default(), &mut ours, Shift::None).unwrap();
        let size = Fr::from(1 << lg_size);
        assert!(reversed(&ours).iter().zip(theirs.as_ref()).all(|(o, t)| *o == size * t));
    }
}
