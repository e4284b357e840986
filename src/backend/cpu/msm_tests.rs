//! Sums by buckets against sums one by one.

use ff::Field as _;
use group::Group as _;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::curve::{Affine, Group, G1, G2};
use super::digits::{canonical, Limbs};
use super::msm::{best_window_bits, msm, MsmScratch};
use super::workers::{InOrder, Stop, Tiles};
use blstrs::Scalar as Fr;

fn rng(seed: u64) -> ChaCha8Rng {
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

fn limbs(scalars: &[Fr]) -> Vec<Limbs> {
    scalars.iter().map(|s| canonical(&(*s).into())).collect()
}

/// Random multiples of the generator, by repeated addition.
fn points<G: Group>(count: usize, rng: &mut ChaCha8Rng) -> Vec<Affine<G::Field>> {
    let step = G::Projective::generator() * Fr::random(&mut *rng);
    let mut next = G::Projective::generator() * Fr::random(&mut *rng);
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        out.push(G::store(&G::to_affine(&next)));
        next += step;
    }
    out
}

/// Of points in the stored form.
fn opposite(point: &Affine<blst::blst_fp>) -> Affine<blst::blst_fp> {
    G1::store(&G1::restore(point).neg_if(true))
}

fn naive<G: Group>(points: &[Affine<G::Field>], scalars: &[Fr]) -> G::Projective {
    points.iter().zip(scalars).map(|(p, s)| G::to_projective(&G::restore(p)) * *s).sum()
}

fn check<G: Group>(what: &str, points: &[Affine<G::Field>], scalars: &[Fr]) {
    let mut scratch = MsmScratch::<G>::new();
    let expected = naive::<G>(points, scalars);
    for lent in [0, 1 << 18] {
        let mut lent = vec![u32::MAX; lent];
        let sum = msm(&mut InOrder, points, None, &mut limbs(scalars), &mut lent, &mut scratch).unwrap();
        assert_eq!(sum, expected, "{what}, {} points, {} words lent", points.len(), lent.len());
    }
}

fn check_sizes<G: Group>(sizes: &[usize]) {
    let mut rng = rng(10);
    for &size in sizes {
        let points = points::<G>(size, &mut rng);
        let scalars: Vec<_> = (0..size).map(|_| Fr::random(&mut rng)).collect();
        check::<G>("random", &points, &scalars);
    }
}

#[test]
fn msm_of_every_small_size_is_right() {
    check_sizes::<G1>(&[0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025]);
    check_sizes::<G2>(&[0, 1, 2, 3, 15, 16, 17, 127, 128, 129]);
}

#[test]
fn msm_with_special_scalars_and_points_is_right() {
    let mut rng = rng(11);
    let size = 300;
    let some = points::<G1>(size, &mut rng);
    let random: Vec<_> = (0..size).map(|_| Fr::random(&mut rng)).collect();
    check::<G1>("zero scalars", &some, &vec![Fr::ZERO; size]);
    check::<G1>("r - 1", &some, &vec![-Fr::ONE; size]);
    check::<G1>("ones", &some, &vec![Fr::ONE; size]);
    check::<G1>("equal scalars", &some, &vec![random[0]; size]);
    check::<G1>("equal points", &vec![some[0]; size], &random);
    check::<G1>("equal points and scalars", &vec![some[0]; size], &vec![random[0]; size]);
    let alternating: Vec<_> = (0..size).map(|i| if i % 2 == 1 { opposite(&some[0]) } else { some[0] }).collect();
    check::<G1>("opposite points", &alternating, &random);
    check::<G1>("opposite points, equal scalars", &alternating, &vec![random[0]; size]);
    let repeated: Vec<_> = (0..size).map(|i| some[i / 7]).collect();
    check::<G1>("repeated points", &repeated, &random);
    let with_infinity: Vec<_> = (0..size).map(|i| if i % 3 == 0 { Affine::INFINITY } else { some[i] }).collect();
    check::<G1>("infinity", &with_infinity, &random);
    check::<G1>("infinity alone", &vec![Affine::INFINITY; size], &random);
    let skewed: Vec<_> = (0..size as u64).map(|i| Fr::from(if i % 50 == 0 { u64::MAX } else { i % 2 })).collect();
    check::<G1>("skewed", &some, &skewed);
    let small_negative: Vec<_> = (0..size as u64).map(|i| -Fr::from(i % 5)).collect();
    check::<G1>("small and negative", &some, &small_negative);
}

/// Large enough for several tiles, chunks and passes, with a bucket that spans tiles: compared by linearity, since all
/// points are multiples of one.
fn check_large<G: Group>(size: usize, scalar: impl Fn(usize, &mut ChaCha8Rng) -> Fr) {
    let mut rng = rng(12);
    let multiples: Vec<u64> = (0..size).map(|_| rng.next_u64() % 256).collect();
    let table: Vec<_> =
        (0..256).map(|k| G::store(&G::to_affine(&(G::Projective::generator() * Fr::from(k))))).collect();
    let points: Vec<_> = multiples.iter().map(|k| table[*k as usize]).collect();
    let scalars: Vec<_> = (0..size).map(|i| scalar(i, &mut rng)).collect();
    let exponent: Fr = multiples.iter().zip(&scalars).map(|(k, s)| Fr::from(*k) * s).sum();
    let mut scratch = MsmScratch::<G>::new();
    // The second time with memory for all windows that go together.
    for lent in [0, 1 << 22] {
        let mut lent = vec![u32::MAX; lent];
        let sum = msm(&mut InOrder, &points, None, &mut limbs(&scalars), &mut lent, &mut scratch).unwrap();
        assert_eq!(sum, G::Projective::generator() * exponent, "{size} points");
    }
}

#[test]
fn msm_over_many_tiles_is_right() {
    check_large::<G1>((1 << 17) + 1, |_, rng| Fr::random(rng));
    check_large::<G1>(100_000, |i, rng| if i % 10 == 0 { Fr::random(rng) } else { -Fr::from(3) });
    check_large::<G2>((1 << 15) + 1, |_, rng| Fr::random(rng));
}

#[test]
fn msm_takes_points_by_number() {
    let mut rng = rng(13);
    let points = points::<G1>(50, &mut rng);
    let numbers = [49, 0, 7, 7, 21];
    let scalars: Vec<_> = numbers.iter().map(|_| Fr::random(&mut rng)).collect();
    let chosen: Vec<_> = numbers.iter().map(|n| points[*n as usize]).collect();
    let sum = msm(&mut InOrder, &points, Some(&numbers), &mut limbs(&scalars), &mut [], &mut MsmScratch::<G1>::new())
        .unwrap();
    assert_eq!(sum, naive::<G1>(&chosen, &scalars));
}

/// Fails at the n-th tile.
struct FailAt(usize);

impl Tiles for FailAt {
    fn run(&mut self, count: usize, work: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Stop> {
        for tile in 0..count {
            if self.0 == 0 {
                return Err(Stop::Dropped);
            }
            self.0 -= 1;
            work(tile, 0);
        }
        Ok(())
    }

    fn workers(&self) -> usize {
        1
    }
}

#[test]
fn scratch_of_a_stopped_msm_can_be_used_again() {
    let mut rng = rng(14);
    let points = points::<G1>(400, &mut rng);
    let scalars: Vec<_> = points.iter().map(|_| Fr::random(&mut rng)).collect();
    let expected = naive::<G1>(&points, &scalars);
    let mut scratch = MsmScratch::<G1>::new();
    let mut stopped = 0;
    for at in 0.. {
        match msm(&mut FailAt(at), &points, None, &mut limbs(&scalars), &mut [], &mut scratch) {
            Err(stop) => assert_eq!(stop, Stop::Dropped),
            Ok(sum) => {
                assert_eq!(sum, expected);
                break;
            }
        }
        stopped += 1;
        assert_eq!(msm(&mut InOrder, &points, None, &mut limbs(&scalars), &mut [], &mut scratch).unwrap(), expected);
    }
    assert!(stopped > 50, "{stopped} places to stop");
}

#[test]
fn windows_grow_with_the_number_of_points() {
    let bits: Vec<_> = (0..28).map(|lg| best_window_bits(1 << lg)).collect();
    assert!(bits.windows(2).all(|pair| pair[0] <= pair[1]), "{bits:?}");
    assert!(bits[10] >= 6 && bits[22] >= 15, "{bits:?}");
}
