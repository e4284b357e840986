//! Sums by key against additions one by one, for both arithmetics.

use blstrs::{G1Projective, Scalar as Fr};
use ff::Field as _;
use group::Group as _;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::add::{Adder, PlainAdder};
use super::curve::{Affine, Group, G1, G2};

/// In blst's form.
type Entries<G> = Vec<(u32, Affine<<G as Group>::Field>)>;

/// By the processor's best arithmetic; every second entry is handed in as the opposite of its opposite.
fn sums<G: Group>(entries: &Entries<G>) -> Entries<G> {
    let mut adder = Adder::<G>::new();
    let mut out = Vec::new();
    // Twice, the first time abandoned: nothing may be left of it.
    for round in 0..2 {
        adder.clear();
        out.clear();
        for (at, (key, point)) in entries.iter().enumerate() {
            let negative = at % 2 == 1;
            adder.push(*key, &G::store(&point.neg_if(negative)), negative, &mut |key, sum| out.push((key, sum)));
        }
        if round == 1 {
            adder.finish(&mut |key, sum| out.push((key, sum)));
        }
    }
    out.iter().map(|(key, sum)| (*key, if sum.is_infinity() { *sum } else { G::restore(sum) })).collect()
}

fn plain_sums<G: Group>(entries: &Entries<G>) -> Entries<G> {
    let mut adder = PlainAdder::new();
    let mut out = Vec::new();
    for (key, point) in entries {
        adder.push(*key, *point, &mut |key, sum| out.push((key, sum)));
    }
    adder.finish(&mut |key, sum| out.push((key, sum)));
    out
}

fn naive<G: Group>(entries: &Entries<G>) -> Entries<G> {
    let mut out: Vec<(u32, G::Projective)> = Vec::new();
    for (key, point) in entries {
        if out.last().is_none_or(|last| last.0 != *key) {
            out.push((*key, G::Projective::identity()));
        }
        let last = out.last_mut().unwrap();
        last.1 = G::add_affine(&last.1, point);
    }
    out.iter().map(|(key, sum)| (*key, G::to_affine(sum))).collect()
}

fn check<G: Group>(what: &str, entries: &Entries<G>) {
    let expected = naive::<G>(entries);
    assert!(plain_sums::<G>(entries) == expected, "plain: {what}, {} entries", entries.len());
    assert!(sums::<G>(entries) == expected, "wide where there is one: {what}, {} entries", entries.len());
}

/// Few multiples of the generator: repeats, opposites and infinity are frequent.
fn small_multiples<G: Group>() -> Vec<Affine<G::Field>> {
    let g = G::Projective::generator();
    let ups: Vec<_> = (0..6u64).map(|k| G::to_affine(&(g * Fr::from(k)))).collect();
    ups.iter().flat_map(|p| [*p, p.neg_if(true)]).collect()
}

/// Multiples that don't meet.
fn distinct<G: Group>(count: usize, rng: &mut ChaCha8Rng) -> Vec<Affine<G::Field>> {
    let step = G::Projective::generator() * Fr::random(&mut *rng);
    let mut next = step;
    (0..count).map(|_| (G::to_affine(&next), next += step).0).collect()
}

fn random_batches<G: Group>(seed: u64) {
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let few = small_multiples::<G>();
    let many = distinct::<G>(500, &mut rng);
    let sizes = [(0, 1), (1, 1), (2, 2), (3, 3), (15, 15), (16, 2), (17, 3), (31, 2), (33, 2), (100, 7), (1000, 1)];
    let large = [(4096, 4096), (4097, 9), (8192, 8192), (8193, 8193), (8193, 31), (20_000, 9_999)];
    for (count, run) in sizes.into_iter().chain(large) {
        // One in so many is of the few.
        for few_in in [1, 2, 40, 100_000] {
            let mut pick = |i: usize| match rng.next_u32() {
                word if word % few_in == 0 => few[(word / few_in) as usize % few.len()],
                _ => many[i % many.len()],
            };
            let entries: Entries<G> = (0..count).map(|i| ((i / run) as u32, pick(i))).collect();
            check::<G>(&format!("runs of {run}, one in {few_in} special"), &entries);
        }
    }
}

#[test]
fn sums_in_g1_with_repeated_opposite_and_infinite_points_are_right() {
    random_batches::<G1>(1);
}

#[test]
fn sums_in_g2_with_repeated_opposite_and_infinite_points_are_right() {
    random_batches::<G2>(2);
}

#[test]
fn runs_of_changing_length_are_right() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let points = distinct::<G1>(1000, &mut rng);
    for longest in [2, 3, 5, 17, 300] {
        let mut entries: Entries<G1> = Vec::new();
        for key in 0..3000 {
            let length = 1 + rng.next_u32() % longest;
            entries.extend((0..length).map(|i| (key, points[(key * 7 + i) as usize % 1000])));
            if entries.len() > 20_000 {
                break;
            }
        }
        check::<G1>(&format!("runs up to {longest}"), &entries);
    }
}

#[test]
fn one_special_pair_does_not_spoil_the_shared_inversion() {
    let g = G1Projective::generator();
    let point = |k: u64| G1::to_affine(&(g * Fr::from(k)));
    let minus = |k: u64| point(k).neg_if(true);
    let infinity = Affine::INFINITY;
    let specials =
        [[point(5), point(5)], [point(5), minus(5)], [infinity, point(5)], [point(5), infinity], [infinity; 2]];
    for special in specials {
        for place in [0, 7, 8, 15, 16, 17, 39] {
            let mut entries: Entries<G1> = Vec::new();
            for key in 0..40 {
                let pair = if key == place { special } else { [point(3 + 2 * key), point(4 + 2 * key)] };
                entries.extend(pair.map(|p| (key as u32, p)));
            }
            check::<G1>("one special pair", &entries);
        }
    }
}

#[test]
fn alternating_opposites_cancel_and_equal_points_double() {
    let p = G1::to_affine(&G1Projective::generator());
    for count in [4096 + 7, 8192, 8192 + 7] {
        let alternating: Entries<G1> = (0..count).map(|i| (0, p.neg_if(i % 2 == 1))).collect();
        check::<G1>("alternating", &alternating);
        let equal: Entries<G1> = (0..count).map(|_| (9, p)).collect();
        check::<G1>("equal", &equal);
    }
}

/// x = 0 is on the curve, though outside the subgroup: it must not be taken for infinity.
#[test]
fn points_with_x_zero_are_points() {
    use super::curve::Field as _;
    let zero = blst::blst_fp::ZERO;
    let two = blst::blst_fp::ONE.add(&blst::blst_fp::ONE);
    let p = Affine { x: zero, y: two };
    let g = G1::to_affine(&G1Projective::generator());
    for pair in [[p, g], [g, p], [p, p], [p, p.neg_if(true)]] {
        check::<G1>("x = 0", &pair.iter().map(|p| (0, *p)).collect());
    }
}
