//! Σ z_k P_k over a query: the bits by plain additions, the inputs and full-size values by buckets.

use group::Group as _;

use super::add::Adder;
use super::curve::{Affine, Group};
use super::digits::{canonical, Limbs};
use super::msm::{msm, prefetch, MsmScratch, PREFETCH};
use super::query::Query;
use super::shared::Shared;
use super::workers::{grow, Stop, Tiles};
use crate::assignment::Assignment;

/// Words of one tile: 2^15 variables, at most 7 ms of additions in G1 and 20 ms in G2.
const TILE: usize = 1 << 9;

/// Memory of the sums over one group, kept from use to use.
pub(crate) struct QueryScratch<G: Group> {
    pub msm: MsmScratch<G>,
    workers: Vec<Worker<G>>,
    /// Per tile: the sum of its ones.
    sums: Vec<Affine<G::Field>>,
}

struct Worker<G: Group> {
    numbers: Vec<u32>,
    adder: Adder<G>,
}

impl<G: Group> QueryScratch<G> {
    pub(crate) fn new() -> Self {
        QueryScratch { msm: MsmScratch::new(), workers: Vec::new(), sums: Vec::new() }
    }
}

/// Memory for the full-size values of a query, kept from use to use.
#[derive(Default)]
pub(crate) struct Tail {
    numbers: Vec<u32>,
    scalars: Vec<Limbs>,
    /// Per tile: values of the query before it.
    before: Vec<u32>,
}

/// Σ z_k P_k over `query`. `lent` as for [`msm`].
pub(crate) fn query_sum<G: Group>(
    tiles: &mut dyn Tiles,
    query: &Query<G>,
    assignment: &Assignment,
    tail: &mut Tail,
    lent: &mut [u32],
    scratch: &mut QueryScratch<G>,
) -> Result<G::Projective, Stop> {
    let ones = sum_of_ones(tiles, query, assignment, scratch)?;
    let count = tail.collect(tiles, query, assignment)?;
    let (numbers, scalars) = (&tail.numbers[..count], &mut tail.scalars[..count]);
    Ok(ones + msm(tiles, &query.points, Some(numbers), scalars, lent, &mut scratch.msm)?)
}

/// Σ P_j over the aux variables whose bit is 1.
fn sum_of_ones<G: Group>(
    tiles: &mut dyn Tiles,
    query: &Query<G>,
    assignment: &Assignment,
    scratch: &mut QueryScratch<G>,
) -> Result<G::Projective, Stop> {
    let bits = assignment.bits();
    let count = bits.len().div_ceil(TILE);
    scratch.workers.resize_with(tiles.workers(), || Worker { numbers: Vec::new(), adder: Adder::new() });
    scratch.sums.clear();
    scratch.sums.resize(count, Affine::INFINITY);
    let (workers, sums) = (Shared::new(&mut scratch.workers), Shared::new(&mut scratch.sums));
    tiles.run(count, &|tile, worker| {
        // SAFETY: a worker owns its element, a tile its sum.
        let (Worker { numbers, adder }, sum) = unsafe { (workers.at(worker), sums.at(tile)) };
        numbers.clear();
        let words = &bits[tile * TILE..((tile + 1) * TILE).min(bits.len())];
        for (word, bits) in (tile * TILE..).zip(words) {
            let (dense, first) = (query.dense(word), query.first_point(word));
            each_bit(bits & dense, |bit| numbers.push(first + rank(dense, bit)));
        }
        *sum = sum_points(&query.points, numbers, adder);
    })?;
    let identity = G::Projective::identity();
    Ok(scratch.sums.iter().fold(identity, |total, sum| G::add_stored(&total, sum)))
}

/// Σ points_i.
pub(crate) fn sum_all<G: Group>(tiles: &mut dyn Tiles, points: &[Affine<G::Field>]) -> Result<G::Projective, Stop> {
    const TILE: usize = 1 << 15;
    let mut adders: Vec<_> = (0..tiles.workers()).map(|_| Adder::<G>::new()).collect();
    let mut sums = vec![Affine::INFINITY; points.len().div_ceil(TILE)];
    let (shared_sums, adders) = (Shared::new(&mut sums), Shared::new(&mut adders));
    tiles.run(points.len().div_ceil(TILE), &|tile, worker| {
        // SAFETY: a worker owns its adder, a tile its sum.
        let (sum, adder) = unsafe { (shared_sums.at(tile), adders.at(worker)) };
        let mut emit = |_, total| *sum = total;
        let points = &points[tile * TILE..((tile + 1) * TILE).min(points.len())];
        points.iter().for_each(|point| adder.push(0, point, false, &mut emit));
        adder.finish(&mut emit);
    })?;
    Ok(sums.iter().fold(G::Projective::identity(), |total, sum| G::add_stored(&total, sum)))
}

/// Σ points_i over i in `numbers`.
fn sum_points<G: Group>(points: &[Affine<G::Field>], numbers: &[u32], adder: &mut Adder<G>) -> Affine<G::Field> {
    let mut sum = Affine::INFINITY;
    let mut emit = |_, total| sum = total;
    adder.clear();
    for (at, number) in numbers.iter().enumerate() {
        if let Some(ahead) = numbers.get(at + PREFETCH) {
            prefetch(&points[*ahead as usize]);
        }
        adder.push(0, &points[*number as usize], false, &mut emit);
    }
    adder.finish(&mut emit);
    sum
}

impl Tail {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.numbers.capacity() + size_of::<Limbs>() * self.scalars.capacity()
    }

    /// The inputs and full-size values of a query, with their points' numbers; how many.
    fn collect<G: Group>(
        &mut self,
        tiles: &mut dyn Tiles,
        query: &Query<G>,
        assignment: &Assignment,
    ) -> Result<usize, Stop> {
        let full = assignment.layout().full_words();
        let dense_count = |word: usize| (full[word] & query.dense(word)).count_ones();
        let words = |tile: usize| tile * TILE..((tile + 1) * TILE).min(full.len());
        let inputs = query.inputs.len();
        self.before.clear();
        let mut total = inputs as u32;
        for tile in 0..full.len().div_ceil(TILE) {
            self.before.push(total);
            total += words(tile).map(dense_count).sum::<u32>();
        }
        let total = total as usize;
        grow(&mut self.numbers, total, 0)?;
        grow(&mut self.scalars, total, [0; 4])?;
        for (number, input) in query.inputs.iter().enumerate() {
            self.numbers[number] = number as u32;
            self.scalars[number] = canonical(&assignment.inputs()[*input as usize].into());
        }
        let (numbers, scalars) = (Shared::new(&mut self.numbers), Shared::new(&mut self.scalars));
        let before = &self.before;
        tiles.run(before.len(), &|tile, _| {
            let range = before[tile] as usize..before.get(tile + 1).map_or(total, |next| *next as usize);
            // SAFETY: each tile has its own part.
            let (numbers, scalars) = unsafe { (numbers.range(range.clone()), scalars.range(range)) };
            let mut out = numbers.iter_mut().zip(scalars);
            for word in words(tile) {
                let (dense, first) = (query.dense(word), query.first_point(word));
                let slot = assignment.layout().rank_directory()[word];
                each_bit(full[word] & dense, |bit| {
                    let (number, scalar) = out.next().expect("as many as were counted");
                    *number = first + rank(dense, bit);
                    *scalar = canonical(&assignment.full()[(slot + rank(full[word], bit)) as usize].into());
                });
            }
        })?;
        Ok(total)
    }
}

/// Ones of `word` below `bit`.
#[inline]
fn rank(word: u64, bit: u32) -> u32 {
    (word & ((1 << bit) - 1)).count_ones()
}

#[inline]
fn each_bit(mut word: u64, mut f: impl FnMut(u32)) {
    while word != 0 {
        f(word.trailing_zeros());
        word &= word - 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use blstrs::Scalar as Fr;
    use ff::Field as _;
    use rand_core::{RngCore, SeedableRng};

    use super::super::curve::{G1, G2};
    use super::super::workers::InOrder;
    use super::*;
    use crate::assignment::Layout;
    use crate::r1cs::{Bitmap, Density};

    type Rng = rand_chacha::ChaCha8Rng;

    fn bitmap(len: usize, one_in: u32, rng: &mut Rng) -> Bitmap {
        let mut out = Bitmap::new(len);
        (0..len).filter(|_| rng.next_u32() % one_in == 0).for_each(|i| out.set(i));
        out
    }

    /// `full_in`: one of so many aux variables is full-size.
    fn assignment(inputs: usize, aux: usize, full_in: u32, rng: &mut Rng) -> Assignment {
        let full = bitmap(aux, full_in, rng);
        let layout = Arc::new(Layout::from_words(aux as u32, full.words().to_vec()).unwrap());
        let bits = bitmap(aux, 2, rng).words().iter().zip(full.words()).map(|(bits, full)| bits & !full).collect();
        let values = (0..full.count_ones()).map(|i| if i % 5 == 0 { Fr::ONE } else { Fr::random(&mut *rng) }).collect();
        let inputs = std::iter::once(Fr::ONE).chain((1..inputs).map(|_| Fr::random(&mut *rng))).collect();
        Assignment::new(layout, inputs, bits, values).unwrap()
    }

    /// Factors of small multiples of the generator, so that repeats and opposites are frequent, as in a PoRep's A query.
    fn factors(count: usize, rng: &mut Rng) -> Vec<i64> {
        (0..count).map(|_| i64::from(rng.next_u32() % 64) - 32).collect()
    }

    fn scalar(factor: i64) -> Fr {
        let magnitude = Fr::from(factor.unsigned_abs());
        if factor < 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    fn check<G: Group>(query: Option<Density>, assignment: &Assignment, rng: &mut Rng) {
        let (input_count, aux_count) = (assignment.input_count() as usize, assignment.aux_count() as usize);
        let count = query.as_ref().map_or(aux_count, Density::count);
        let factors = factors(count, rng);
        let table: Vec<_> =
            (-32..32).map(|k| G::store(&G::to_affine(&(G::Projective::generator() * scalar(k))))).collect();
        let points = factors.iter().map(|k| table[(k + 32) as usize]).collect();
        let mut expected = Fr::ZERO;
        let mut next = factors.iter();
        let has_input = |i| query.as_ref().is_some_and(|density| density.inputs.get(i));
        let has_aux = |j| query.as_ref().is_none_or(|density| density.aux.get(j));
        for input in (0..input_count).filter(|i| has_input(*i)) {
            expected += scalar(*next.next().unwrap()) * assignment.inputs()[input];
        }
        for aux in (0..aux_count).filter(|j| has_aux(*j)) {
            expected += scalar(*next.next().unwrap()) * assignment.aux(aux as u32);
        }
        let query =
            query.map_or_else(|| Query::<G>::of_all_aux(Vec::new()), |density| Query::new(Vec::new(), &density));
        let query = Query { points, ..query };
        let (mut tail, mut scratch) = (Tail::default(), QueryScratch::new());
        for lent in [0, 1 << 20] {
            let mut lent = vec![u32::MAX; lent];
            let sum = query_sum(&mut InOrder, &query, assignment, &mut tail, &mut lent, &mut scratch).unwrap();
            assert_eq!(sum, G::Projective::generator() * expected);
        }
    }

    #[test]
    fn sums_over_queries_of_every_density_are_right() {
        let mut rng = Rng::seed_from_u64(50);
        for (inputs, aux, full_in) in
            [(1, 0, 1), (1, 1, 2), (3, 63, 10), (3, 64, 10), (40, 65, 1), (5, 3000, 60), (2, 70_000, 70)]
        {
            let assignment = assignment(inputs, aux, full_in, &mut rng);
            check::<G1>(None, &assignment, &mut rng);
            for (input_in, aux_in) in [(1, 1), (1, 4), (2, 2)] {
                let density =
                    Density { inputs: bitmap(inputs, input_in, &mut rng), aux: bitmap(aux, aux_in, &mut rng) };
                check::<G1>(Some(density), &assignment, &mut rng);
            }
            if aux < 5000 {
                let density = Density { inputs: bitmap(inputs, 2, &mut rng), aux: bitmap(aux, 4, &mut rng) };
                check::<G2>(Some(density), &assignment, &mut rng);
            }
        }
    }
}
