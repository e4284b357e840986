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
#[cfg(target_arch = "x86_64")]
use super::wide::{self, WidePlan, WideScratch};
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
    /// The same, eight lanes wide.
    #[cfg(target_arch = "x86_64")]
    wide: Option<WidePlan>,
}

/// What is done with each row.
#[derive(Clone, Copy)]
enum Rows<'a> {
    Forward(&'a Plan),
    Inverse(&'a Plan),
    /// Inverse with the one, then forward with the other.
    ThereAndBack(&'a Plan, &'a Plan),
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
    fn new(lg_size: u32, lg_columns: u32, root: Fr, shift: Fr, wide: bool) -> Self {
        #[cfg(not(target_arch = "x86_64"))]
        let _ = wide;
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
        Plan {
            #[cfg(target_arch = "x86_64")]
            wide: if wide { WidePlan::new(&row, &shifts, &column) } else { None },
            row,
            shifts,
            column,
        }
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
        Self::with_arithmetic(lg_size, true)
    }

    /// `wide`: use the wide arithmetic where there is one.
    pub(crate) fn with_arithmetic(lg_size: u32, wide: bool) -> Self {
        assert!(lg_size <= MAX_LG_SIZE, "no domain of 2^{lg_size} points");
        let lg_columns = if lg_size <= LG_ONE_ROW { lg_size } else { lg_size.div_ceil(2) };
        // ω_2n, whose square is ω_n.
        let half = (lg_size + 1..Fr::S).fold(Fr::ROOT_OF_UNITY, |root, _| root.square());
        let (root, half_inverse) = (half.square(), half.invert().expect("a root of unity isn't zero"));
        let plan = |root, shift| Plan::new(lg_size, lg_columns, root, shift, wide);
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
        self.rows(tiles, scratch, data, Rows::Forward(plan))?;
        self.columns(tiles, scratch, data, plan, true)
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
        self.columns(tiles, scratch, data, plan, false)?;
        self.rows(tiles, scratch, data, Rows::Inverse(plan))
    }

    /// Values on the domain to n times the values on the coset.
    pub(crate) fn to_coset(&self, tiles: &mut dyn Tiles, scratch: &mut Scratch, data: &mut [Fr]) -> Result<(), Stop> {
        let (there, back) = (&self.inverse[Shift::None as usize], &self.forward[Shift::Half as usize]);
        self.columns(tiles, scratch, data, there, false)?;
        self.rows(tiles, scratch, data, Rows::ThereAndBack(there, back))?;
        self.columns(tiles, scratch, data, back, true)
    }

    fn rows(&self, tiles: &mut dyn Tiles, scratch: &mut Scratch, data: &mut [Fr], work: Rows<'_>) -> Result<(), Stop> {
        assert_eq!(data.len(), self.size());
        let columns = 1 << self.lg_columns;
        let tile_size = columns.max(TILE).min(data.len());
        let count = data.len() / tile_size;
        scratch.resize(0, tiles.workers());
        let data = Shared::new(data);
        let workers = Shared::new(&mut scratch.workers);
        tiles.run(count, &|tile, worker| {
            // SAFETY: each tile has its own part, a worker its scratch.
            let (data, scratch) = unsafe { (data.tile(tile, tile_size), workers.at(worker)) };
            data.chunks_exact_mut(columns).for_each(|row| work.apply(row, scratch));
        })
    }

    fn columns(
        &self,
        tiles: &mut dyn Tiles,
        scratch: &mut Scratch,
        data: &mut [Fr],
        plan: &Plan,
        forward: bool,
    ) -> Result<(), Stop> {
        assert_eq!(data.len(), self.size());
        let columns = 1usize << self.lg_columns;
        let rows = data.len() / columns;
        if rows == 1 {
            return Ok(());
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = &plan.wide {
            return wide_columns(tiles, scratch, data, wide, rows, forward);
        }
        scratch.resize(rows * LANES, tiles.workers());
        let transform = if forward { dit } else { dif };
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

impl Rows<'_> {
    fn apply(self, row: &mut [Fr], scratch: &mut Columns) {
        #[cfg(target_arch = "x86_64")]
        match self {
            Rows::Forward(Plan { wide: Some(plan), .. }) => return plan.forward_row(row, &mut scratch.wide),
            Rows::Inverse(Plan { wide: Some(plan), .. }) => return plan.inverse_row(row, &mut scratch.wide),
            Rows::ThereAndBack(Plan { wide: Some(there), .. }, Plan { wide: Some(back), .. }) => {
                return there.there_and_back(back, row, &mut scratch.wide);
            }
            _ => {}
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = scratch;
        match self {
            Rows::Forward(plan) => dit(row, &plan.row, 1),
            Rows::Inverse(plan) => dif(row, &plan.row, 1),
            Rows::ThereAndBack(there, back) => {
                dif(row, &there.row, 1);
                dit(row, &back.row, 1);
            }
        }
    }
}

/// All columns, eight at a time.
#[cfg(target_arch = "x86_64")]
fn wide_columns(
    tiles: &mut dyn Tiles,
    scratch: &mut Scratch,
    data: &mut [Fr],
    plan: &WidePlan,
    rows: usize,
    forward: bool,
) -> Result<(), Stop> {
    scratch.resize(0, tiles.workers());
    let columns = data.len() / rows;
    let groups = columns / wide::LANES;
    let per_tile = (TILE / (rows * wide::LANES)).clamp(1, groups);
    let data = Shared::new(data);
    let workers = Shared::new(&mut scratch.workers);
    tiles.run(groups.div_ceil(per_tile), &|tile, worker| {
        // SAFETY: a worker owns its scratch.
        let scratch = unsafe { &mut workers.at(worker).wide };
        for group in tile * per_tile..((tile + 1) * per_tile).min(groups) {
            let first = group * wide::LANES;
            // SAFETY: `range` checks that the eight elements are there; each group has its own columns.
            let at = |row: usize| unsafe {
                data.range(row * columns + first..row * columns + first + wide::LANES).as_mut_ptr()
            };
            // SAFETY: as above.
            unsafe { plan.columns(forward, first, rows, at, scratch) };
        }
    })
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
    #[cfg(target_arch = "x86_64")]
    wide: WideScratch,
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
