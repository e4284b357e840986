//! Σ s_i P_i by Pippenger's buckets, filled with batched affine additions.
//!
//! For each window of c bits: every point falls into the bucket of its digit's magnitude (a counting sort of the points'
//! numbers), buckets are summed by [`Adder`], and Σ k · bucket_k follows by running sums. Small sums take all windows
//! through each phase at once, large ones one window at a time.

use group::Group as _;

use super::add::Adder;
use super::curve::{Affine, Group};
use super::digits::{key, offset, recode, window_count, Limbs, MAX_POINTS, NO_BUCKET, WINDOW_BITS};
use super::shared::Shared;
use super::workers::{grow, Stop, Tiles};

/// Sorted entries of one tile of additions: about 7 ms in G1, 20 ms in G2.
const TILE: usize = 1 << 15;
/// Entries of the windows that go through the phases together.
const TOGETHER: usize = 1 << 21;
/// Entry counts, of all chunks, of one tile that turns them into places: some 20 µs.
const PLACE_TILE: usize = 1 << 13;
/// Scalars of one tile of recoding.
const RECODE_TILE: usize = 1 << 17;
/// A bucket costs two affine additions and a little more, an entry one.
const BUCKET_COST: f64 = 2.5;

/// The sum of a bucket's entries in a tile that it doesn't begin in.
type Edge<G> = Option<(u32, Affine<<G as Group>::Field>)>;

/// Memory of a sum, kept from use to use.
pub(crate) struct MsmScratch<G: Group> {
    /// Keys and sorted entries of sums that no memory is lent to.
    entries: Vec<u32>,
    tables: Tables<G>,
}

/// All but keys and entries.
struct Tables<G: Group> {
    /// Per window, chunk and bucket: entries, then the first one's place.
    places: Vec<u32>,
    /// Per window: the first entry of each bucket, and the end of the last.
    starts: Vec<u32>,
    /// Per window and part of its buckets: entries, then the first one's place.
    part_starts: Vec<u32>,
    buckets: Vec<Affine<G::Field>>,
    /// Per tile of additions: the sum of a bucket that begins before the tile.
    edges: Vec<Edge<G>>,
    /// Per window: the sums of the rows, then of the columns, of its buckets.
    lines: Vec<Affine<G::Field>>,
    /// Per window: Σ (k + 1) · bucket_k.
    totals: Vec<G::Projective>,
    adders: Vec<Adder<G>>,
}

/// Sizes of one sum.
#[derive(Clone, Copy)]
struct Shape {
    count: usize,
    window_bits: u32,
    buckets: usize,
    /// Windows that go together.
    together: usize,
    chunk: usize,
    chunks: usize,
    tiles: usize,
    /// Buckets whose places one tile computes.
    part: usize,
}

/// Number of bits that makes `count` points cheapest.
pub(crate) fn best_window_bits(count: usize) -> u32 {
    let cost = |bits: u32| f64::from(window_count(bits)) * (count as f64 + BUCKET_COST * f64::from(1u32 << (bits - 1)));
    WINDOW_BITS.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).expect("the range isn't empty")
}

impl Shape {
    fn new(count: usize) -> Self {
        let window_bits = best_window_bits(count);
        let buckets = 1 << (window_bits - 1);
        let together = (TOGETHER / count.max(1)).clamp(1, window_count(window_bits) as usize);
        let chunk = (4 * buckets).max(1 << 17);
        let chunks = count.div_ceil(chunk);
        let part = (PLACE_TILE / chunks).next_power_of_two().min(buckets);
        Shape { count, window_bits, buckets, together, chunk, chunks, tiles: count.div_ceil(TILE), part }
    }

    /// Tiles of a window that compute places.
    fn parts(&self) -> usize {
        self.buckets / self.part
    }

    /// Buckets as a rectangle: bucket k is in row k / columns, column k % columns.
    fn columns(&self) -> usize {
        1 << (self.window_bits / 2)
    }

    fn rows(&self) -> usize {
        self.buckets / self.columns()
    }
}

impl<G: Group> MsmScratch<G> {
    pub(crate) fn new() -> Self {
        MsmScratch { entries: Vec::new(), tables: Tables::new() }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let Tables { places, starts, buckets, .. } = &self.tables;
        let words = self.entries.capacity() + places.capacity() + starts.capacity();
        4 * words + buckets.capacity() * size_of::<Affine<G::Field>>()
    }
}

impl<G: Group> Tables<G> {
    fn new() -> Self {
        Tables {
            places: Vec::new(),
            starts: Vec::new(),
            part_starts: Vec::new(),
            buckets: Vec::new(),
            edges: Vec::new(),
            lines: Vec::new(),
            totals: Vec::new(),
            adders: Vec::new(),
        }
    }

    fn resize(&mut self, shape: &Shape, workers: usize) -> Result<(), Stop> {
        let windows = shape.together;
        grow(&mut self.places, windows * shape.chunks * shape.buckets, 0)?;
        grow(&mut self.starts, windows * (shape.buckets + 1), 0)?;
        grow(&mut self.part_starts, windows * shape.parts(), 0)?;
        grow(&mut self.buckets, windows * shape.buckets, Affine::INFINITY)?;
        grow(&mut self.edges, windows * shape.tiles, None)?;
        grow(&mut self.lines, windows * (shape.rows() + shape.columns()), Affine::INFINITY)?;
        grow(&mut self.totals, windows, G::Projective::identity())?;
        while self.adders.len() < workers {
            self.adders.push(Adder::new());
        }
        // A section that was left half-way may have left entries.
        self.adders.iter_mut().for_each(Adder::clear);
        Ok(())
    }
}

/// Σ scalars_i · points_j with j = numbers_i, or i where there are no numbers. Scalars are canonical; they are recoded in
/// place. Points beyond the scalars aren't used; fewer than 2^31.
/// `lent` is memory that the caller doesn't need for now. With room for keys and entries, 8 bytes a scalar or 16 MiB if that
/// is more, it saves memory of this sum's own.
pub(crate) fn msm<G: Group>(
    tiles: &mut dyn Tiles,
    points: &[Affine<G::Field>],
    numbers: Option<&[u32]>,
    scalars: &mut [Limbs],
    lent: &mut [u32],
    scratch: &mut MsmScratch<G>,
) -> Result<G::Projective, Stop> {
    assert!(
        (points.len() as u64) < MAX_POINTS
            && numbers.map_or(scalars.len() <= points.len(), |n| n.len() == scalars.len())
    );
    if scalars.is_empty() {
        return Ok(G::Projective::identity());
    }
    let shape = Shape::new(scalars.len());
    let MsmScratch { entries: own, tables } = scratch;
    tables.resize(&shape, tiles.workers())?;
    let entry_count = shape.together * shape.count;
    let entries = if lent.len() >= 2 * entry_count {
        lent
    } else {
        grow(own, 2 * entry_count, 0)?;
        &mut own[..]
    };
    let (keys, sorted) = entries.split_at_mut(entry_count);
    recode_all(tiles, scalars, shape.window_bits)?;
    let mut sum = G::Projective::identity();
    let mut end = window_count(shape.window_bits) as usize;
    while end > 0 {
        let first = end.saturating_sub(shape.together);
        let shape = Shape { together: end - first, ..shape };
        let mut pass =
            Pass { shape, first: first as u32, keys: &mut *keys, sorted: &mut *sorted, tables: &mut *tables };
        pass.sort(tiles, numbers, scalars)?;
        pass.fill(tiles, points)?;
        pass.sum_buckets(tiles)?;
        for window in (0..end - first).rev() {
            for _ in 0..shape.window_bits {
                sum = sum.double();
            }
            sum += pass.tables.totals[window];
        }
        end = first;
    }
    Ok(sum)
}

fn recode_all(tiles: &mut dyn Tiles, scalars: &mut [Limbs], window_bits: u32) -> Result<(), Stop> {
    let offset = offset(window_bits);
    let count = scalars.len().div_ceil(RECODE_TILE);
    let shared = Shared::new(scalars);
    tiles.run(count, &|tile, _| {
        // SAFETY: each tile has its own part.
        for scalar in unsafe { shared.tile(tile, RECODE_TILE) } {
            *scalar = recode(scalar, &offset);
        }
    })
}

/// The windows `[first, first + shape.together)` on their way.
struct Pass<'s, G: Group> {
    shape: Shape,
    first: u32,
    /// Per window and scalar.
    keys: &'s mut [u32],
    /// Per window: numbers of points in the order of their buckets, with the sign in bit 0.
    sorted: &'s mut [u32],
    tables: &'s mut Tables<G>,
}

impl<G: Group> Pass<'_, G> {
    /// From scalars to sorted entries.
    fn sort(&mut self, tiles: &mut dyn Tiles, numbers: Option<&[u32]>, scalars: &[Limbs]) -> Result<(), Stop> {
        let Shape { count, window_bits, buckets, together, chunk, chunks, .. } = self.shape;
        let first = self.first;
        let keys = Shared::new(&mut *self.keys);
        let places = Shared::new(&mut self.tables.places);
        let part = |tile: usize| (tile / chunks, (tile % chunks) * chunk..((tile % chunks + 1) * chunk).min(count));

        tiles.run(together * chunks, &|tile, _| {
            let (window, range) = part(tile);
            // SAFETY: a tile owns its window's and chunk's keys and places.
            let keys = unsafe { keys.range(window * count + range.start..window * count + range.end) };
            // SAFETY: as above.
            let places = unsafe { places.tile(tile, buckets) };
            places.fill(0);
            for (out, scalar) in keys.iter_mut().zip(&scalars[range]) {
                *out = key(scalar, first + window as u32, window_bits);
                if *out != NO_BUCKET {
                    places[*out as usize >> 1] += 1;
                }
            }
        })?;
        self.place(tiles)?;
        let keys = Shared::new(&mut *self.keys);
        let places = Shared::new(&mut self.tables.places);
        let sorted = Shared::new(&mut *self.sorted);
        tiles.run(together * chunks, &|tile, _| {
            let (window, range) = part(tile);
            // SAFETY: keys are only read here; a tile owns its places, and these name entries that no other tile writes.
            let keys = unsafe { &*keys.range(window * count + range.start..window * count + range.end) };
            // SAFETY: as above.
            let places = unsafe { places.tile(tile, buckets) };
            for (key, index) in keys.iter().zip(range) {
                if *key != NO_BUCKET {
                    let place = &mut places[*key as usize >> 1];
                    let number = numbers.map_or(index as u32, |numbers| numbers[index]);
                    // SAFETY: as above.
                    unsafe { *sorted.at(window * count + *place as usize) = number << 1 | key & 1 };
                    *place += 1;
                }
            }
        })
    }

    /// Turns entry counts by chunk and bucket into the place of the first entry of each, bucket by bucket.
    fn place(&mut self, tiles: &mut dyn Tiles) -> Result<(), Stop> {
        let Shape { buckets, together, chunks, part, .. } = self.shape;
        let parts = self.shape.parts();
        let counts = &self.tables.places;
        let sums = Shared::new(&mut self.tables.buckets);
        let part_starts = Shared::new(&mut self.tables.part_starts);
        tiles.run(together * parts, &|tile, _| {
            let (window, first) = (tile / parts, (tile % parts) * part);
            // SAFETY: a tile owns its part's sums and its own entry.
            let (sums, entries) = unsafe {
                (sums.range(window * buckets + first..window * buckets + first + part), part_starts.at(tile))
            };
            sums.fill(Affine::INFINITY);
            let of_chunk = |chunk: usize| &counts[(window * chunks + chunk) * buckets + first..][..part];
            *entries = (0..chunks).flat_map(of_chunk).sum();
        })?;
        for (window, part_starts) in self.tables.part_starts.chunks_exact_mut(parts).take(together).enumerate() {
            let mut next = 0;
            part_starts.iter_mut().for_each(|start| next += std::mem::replace(start, next));
            self.tables.starts[window * (buckets + 1) + buckets] = next;
        }
        let part_starts = &self.tables.part_starts;
        let starts = Shared::new(&mut self.tables.starts);
        let places = Shared::new(&mut self.tables.places);
        tiles.run(together * parts, &|tile, _| {
            let (window, first) = (tile / parts, (tile % parts) * part);
            let mut next = part_starts[tile];
            for bucket in first..first + part {
                // SAFETY: a tile owns its part's starts and, in every chunk, its places.
                unsafe { *starts.at(window * (buckets + 1) + bucket) = next };
                for chunk in 0..chunks {
                    // SAFETY: as above.
                    let place = unsafe { places.at((window * chunks + chunk) * buckets + bucket) };
                    next += std::mem::replace(place, next);
                }
            }
        })
    }

    /// The sum of every bucket.
    fn fill(&mut self, tiles: &mut dyn Tiles, points: &[Affine<G::Field>]) -> Result<(), Stop> {
        let Shape { count, buckets, together, tiles: tile_count, .. } = self.shape;
        let sorted = &*self.sorted;
        let starts = &self.tables.starts;
        let sums = Shared::new(&mut self.tables.buckets);
        let edges = Shared::new(&mut self.tables.edges);
        let adders = Shared::new(&mut self.tables.adders);
        tiles.run(together * tile_count, &|tile, worker| {
            let window = tile / tile_count;
            let starts = &starts[window * (buckets + 1)..][..buckets + 1];
            let from = (tile % tile_count) * TILE;
            let entries = from..(from + TILE).min(starts[buckets] as usize);
            // SAFETY: one tile writes an edge; a worker owns its adder; a bucket is written by the tile that it begins in.
            let (edge, adder) = unsafe { (edges.at(tile), adders.at(worker)) };
            *edge = None;
            let mut emit = |bucket: u32, sum| {
                if (starts[bucket as usize] as usize) < entries.start {
                    *edge = Some((bucket, sum));
                } else {
                    // SAFETY: as above.
                    unsafe { *sums.at(window * buckets + bucket as usize) = sum };
                }
            };
            fill_tile(&sorted[window * count..][..count], starts, entries.clone(), points, adder, &mut emit);
        })?;
        let edges = &self.tables.edges;
        let sums = Shared::new(&mut self.tables.buckets);
        let adders = Shared::new(&mut self.tables.adders);
        tiles.run(together, &|window, worker| {
            // SAFETY: a tile owns its window's buckets, a worker its adder.
            let (sums, adder) = unsafe { (sums.tile(window, buckets), adders.at(worker)) };
            add_edges(&edges[window * tile_count..][..tile_count], sums, adder);
        })
    }

    /// Per window Σ (k + 1) · bucket_k = columns · Σ i · row_i + Σ (j + 1) · column_j.
    fn sum_buckets(&mut self, tiles: &mut dyn Tiles) -> Result<(), Stop> {
        let Shape { buckets, together, .. } = self.shape;
        let (rows, columns) = (self.shape.rows(), self.shape.columns());
        let (row_step, column_step) = ((TILE / columns).clamp(1, rows), (TILE / rows).clamp(1, columns));
        let (row_tiles, column_tiles) = (rows.div_ceil(row_step), columns.div_ceil(column_step));
        let Tables { buckets: all, lines, totals, adders, .. } = &mut *self.tables;
        let (shared, adders) = (Shared::new(lines), Shared::new(adders));
        tiles.run(together * (row_tiles + column_tiles), &|tile, worker| {
            let (window, part) = (tile / (row_tiles + column_tiles), tile % (row_tiles + column_tiles));
            let buckets = &all[window * buckets..][..buckets];
            // SAFETY: a worker owns its adder; a line belongs to one tile.
            let adder = unsafe { adders.at(worker) };
            // SAFETY: as above.
            let mut emit = |line: u32, sum| unsafe { *shared.at(window * (rows + columns) + line as usize) = sum };
            adder.clear();
            if part < row_tiles {
                for row in part * row_step..((part + 1) * row_step).min(rows) {
                    let row_buckets = &buckets[row * columns..][..columns];
                    row_buckets.iter().for_each(|bucket| adder.push(row as u32, bucket, false, &mut emit));
                }
            } else {
                let part = part - row_tiles;
                for column in part * column_step..((part + 1) * column_step).min(columns) {
                    let column_buckets = buckets[column..].iter().step_by(columns);
                    column_buckets.for_each(|bucket| adder.push((rows + column) as u32, bucket, false, &mut emit));
                }
            }
            adder.finish(&mut emit);
        })?;
        let totals = Shared::new(totals);
        tiles.run(together, &|window, _| {
            let (of_rows, of_columns) = lines[window * (rows + columns)..][..rows + columns].split_at(rows);
            let mut total = weighted_sum::<G>(&of_rows[1..]);
            for _ in 0..columns.trailing_zeros() {
                total = total.double();
            }
            // SAFETY: each tile has its own element.
            unsafe { *totals.at(window) = total + weighted_sum::<G>(of_columns) };
        })
    }
}

/// Σ (i + 1) · points_i.
fn weighted_sum<G: Group>(points: &[Affine<G::Field>]) -> G::Projective {
    let (mut sum, mut weighted) = (G::Projective::identity(), G::Projective::identity());
    for point in points.iter().rev() {
        sum = G::add_stored(&sum, point);
        weighted += sum;
    }
    weighted
}

/// Sums of the buckets that `entries` (places in the sorted order) belong to.
fn fill_tile<G: Group>(
    sorted: &[u32],
    starts: &[u32],
    entries: std::ops::Range<usize>,
    points: &[Affine<G::Field>],
    adder: &mut Adder<G>,
    emit: &mut impl FnMut(u32, Affine<G::Field>),
) {
    if entries.is_empty() {
        return;
    }
    let mut bucket = starts.partition_point(|start| *start as usize <= entries.start) - 1;
    for at in entries.clone() {
        while starts[bucket + 1] as usize <= at {
            bucket += 1;
        }
        if let Some(ahead) = sorted[..entries.end].get(at + PREFETCH) {
            prefetch(&points[*ahead as usize >> 1]);
        }
        let entry = sorted[at];
        adder.push(bucket as u32, &points[entry as usize >> 1], entry & 1 == 1, emit);
    }
    adder.finish(emit);
}

/// Adds the sums of buckets that span tiles. Edges are in the order of their buckets.
fn add_edges<G: Group>(edges: &[Edge<G>], sums: &mut [Affine<G::Field>], adder: &mut Adder<G>) {
    let mut last = None;
    let sums = Shared::new(sums);
    // SAFETY: one thread; no reference outlives its statement, and a bucket is read before its sum is emitted.
    let mut emit = |bucket: u32, sum| unsafe { *sums.at(bucket as usize) = sum };
    for &(bucket, sum) in edges.iter().flatten() {
        if last != Some(bucket) {
            // SAFETY: as above.
            adder.push(bucket, unsafe { sums.at(bucket as usize) }, false, &mut emit);
            last = Some(bucket);
        }
        adder.push(bucket, &sum, false, &mut emit);
    }
    adder.finish(&mut emit);
}

/// Entries between a point's prefetch and its use.
pub(crate) const PREFETCH: usize = 16;

/// Asks for a point's cache lines ahead of use: points are gathered from all over the query.
#[inline]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let start = std::ptr::from_ref(item).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(64).chain([size_of::<T>() - 1]) {
            // SAFETY: a prefetch of an address inside `item` touches no memory.
            unsafe { _mm_prefetch(start.add(line), _MM_HINT_T0) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
