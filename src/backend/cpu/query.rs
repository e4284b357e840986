//! The sections of an SRS in memory: points ready for addition, and which variables they belong to.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::curve::{Affine, Group};
use super::shared::Shared;
use super::workers::{Stop, Tiles};
use crate::error::{Error, FileFault, Result};
use crate::r1cs::{Bitmap, Density};
use crate::srs::{Point, PointFault, Section, SrsFile};

/// Points that are read and decoded at a time: some milliseconds, 384 KiB of G1.
const TILE: usize = 1 << 12;
/// Tiles between two reports of how far a load is: a second of one core.
const REPORT_TILES: usize = 256;

/// Points of a query and the variables that have one.
pub(crate) struct Query<G: Group> {
    /// Of the inputs with a point, then of such aux variables, in order.
    pub points: Vec<Affine<G::Field>>,
    /// Inputs that have a point.
    pub inputs: Vec<u32>,
    /// None: every aux variable has one.
    pub aux: Option<Ranked>,
}

/// A bitmap with the number of ones before each word.
pub(crate) struct Ranked {
    words: Vec<u64>,
    rank: Vec<u32>,
}

impl Ranked {
    pub(crate) fn new(bitmap: &Bitmap) -> Self {
        let words = bitmap.words().to_vec();
        let before = words.iter().scan(0, |total, word| {
            let before = *total;
            *total += word.count_ones();
            Some(before)
        });
        let rank = before.collect();
        Ranked { words, rank }
    }
}

impl<G: Group> Query<G> {
    /// `points` are those of the variables in `density`.
    pub(crate) fn new(points: Vec<Affine<G::Field>>, density: &Density) -> Self {
        let inputs = density.inputs.ones().map(|input| input as u32).collect();
        let every = density.aux.count_ones() == density.aux.len();
        let aux = if every { None } else { Some(Ranked::new(&density.aux)) };
        Query { points, inputs, aux }
    }

    /// One point per aux variable.
    pub(crate) fn of_all_aux(points: Vec<Affine<G::Field>>) -> Self {
        Query { points, inputs: Vec::new(), aux: None }
    }

    /// Aux variables of word `word` that have a point.
    #[inline]
    pub(crate) fn dense(&self, word: usize) -> u64 {
        self.aux.as_ref().map_or(!0, |aux| aux.words[word])
    }

    /// Number of the point of the first aux variable in word `word`, if that has one.
    #[inline]
    pub(crate) fn first_point(&self, word: usize) -> u32 {
        self.inputs.len() as u32 + self.aux.as_ref().map_or(64 * word as u32, |aux| aux.rank[word])
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let bitmap = self.aux.as_ref().map_or(0, |aux| 8 * aux.words.len() + 4 * aux.rank.len());
        size_of_val(&self.points[..]) + 4 * self.inputs.len() + bitmap
    }
}

/// A decoded point in blst's form.
pub(crate) trait Load: Point {
    type Group: Group;
    fn affine(&self) -> Affine<<Self::Group as Group>::Field>;
}

impl Load for blstrs::G1Affine {
    type Group = super::curve::G1;
    fn affine(&self) -> Affine<blst::blst_fp> {
        Affine { x: self.as_ref().x, y: self.as_ref().y }
    }
}

impl Load for blstrs::G2Affine {
    type Group = super::curve::G2;
    fn affine(&self) -> Affine<blst::blst_fp2> {
        Affine { x: self.as_ref().x, y: self.as_ref().y }
    }
}

/// Points of a section, as they're kept in memory.
pub(crate) type Points<P> = Vec<Affine<<<P as Load>::Group as Group>::Field>>;

/// Memory for `count` elements, or OUT_OF_MEMORY.
pub(crate) fn reserve<T>(count: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    let bytes = count.saturating_mul(size_of::<T>()) as u64;
    out.try_reserve_exact(count).map_err(|_| stopped(Stop::OutOfMemory(bytes)))?;
    Ok(out)
}

/// Reads a section, checking each point to be on its curve; point i goes to `place(i)`, below `len`, and each place is
/// taken once or stays at infinity.
/// Errors: PARAMS_CORRUPT names the first point that is refused; OUT_OF_MEMORY; CANCELLED if the control drops it.
pub(crate) fn read_section<P: Load>(
    tiles: &mut dyn Tiles,
    srs: &SrsFile,
    section: Section,
    len: usize,
    place: &(dyn Fn(usize) -> usize + Sync),
) -> Result<Points<P>> {
    let count = srs.count(section) as usize;
    let mut points: Points<P> = reserve(len)?;
    let spare = Shared::new(&mut points.spare_capacity_mut()[..len]);
    let infinity = Affine::INFINITY;
    let fill = tiles.run(len.div_ceil(TILE), &|tile, _| {
        // SAFETY: each tile has its own part.
        unsafe { spare.tile(tile, TILE) }.fill(MaybeUninit::new(infinity));
    });
    fill.map_err(stopped)?;
    let mut bytes: Vec<Vec<u8>> = vec![Vec::new(); tiles.workers()];
    let buffers = Shared::new(&mut bytes);
    let faults = Faults::default();
    let read = |tile: usize, worker: usize| {
        if faults.before(tile) {
            return;
        }
        // SAFETY: a worker owns its buffer; a place belongs to one point, and so to one tile.
        let (bytes, spare) = unsafe { (buffers.at(worker), |i: usize| spare.at(place(i))) };
        let range = tile * TILE..((tile + 1) * TILE).min(count);
        bytes.resize(range.len() * P::BYTES, 0);
        let decoded = srs.read(section, range.start as u64, bytes).and_then(|()| {
            for (index, bytes) in range.zip(bytes.chunks_exact(P::BYTES)) {
                let point = P::decode(bytes).map_err(|why| refused(srs, section, index, why))?;
                spare(index).write(P::Group::store(&point.affine()));
            }
            Ok(())
        });
        if let Err(error) = decoded {
            faults.add(tile, error);
        }
    };
    let tile_count = count.div_ceil(TILE);
    for first in (0..tile_count).step_by(REPORT_TILES) {
        let last = (first + REPORT_TILES).min(tile_count);
        tiles.run(last - first, &|tile, worker| read(first + tile, worker)).map_err(stopped)?;
        if faults.before(usize::MAX) {
            break;
        }
        tiles.advance(((last * TILE).min(count) - first * TILE) as u64 * section.point_bytes());
    }
    faults.first()?;
    // SAFETY: `fill` has written all `len` elements.
    unsafe { points.set_len(len) };
    Ok(points)
}

fn refused(srs: &SrsFile, section: Section, index: usize, why: PointFault) -> Error {
    Error::ParamsCorrupt(FileFault {
        file: srs.path().to_path_buf(),
        section: section.name(),
        index: Some(index as u64),
        expected: why.expected().into(),
        found: why.found().into(),
    })
}

/// What ended a load or the proof of an assignment.
pub(crate) fn stopped(stop: Stop) -> Error {
    match stop {
        Stop::Dropped => Error::Cancelled,
        Stop::Panicked(message) => Error::Internal(message),
        Stop::OutOfMemory(needed) => Error::OutOfMemory { budget: "host".into(), needed, free: 0 },
    }
}

/// The fault of the lowest tile, whichever thread met it first.
struct Faults {
    lowest: AtomicUsize,
    fault: Mutex<Option<Error>>,
}

impl Default for Faults {
    fn default() -> Self {
        Faults { lowest: AtomicUsize::new(usize::MAX), fault: Mutex::new(None) }
    }
}

impl Faults {
    /// Whether a tile before `tile` had a fault, so that it needn't be read.
    fn before(&self, tile: usize) -> bool {
        self.lowest.load(Ordering::Relaxed) < tile
    }

    fn add(&self, tile: usize, error: Error) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.before(tile) {
            self.lowest.store(tile, Ordering::Relaxed);
            *fault = Some(error);
        }
    }

    fn first(self) -> Result<()> {
        self.fault.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
