use blstrs::{G1Projective, G2Projective};
use ff::{Field as _, PrimeField};
use group::Curve;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;

/// Scalars at the edges of windows and of the field, then random ones.
fn scalars(count: usize) -> Vec<Fr> {
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(2), -Fr::from(2), Fr::TWO_INV, -Fr::TWO_INV];
    let powers = (0..255).map(|i| Fr::from(2).pow_vartime([i]));
    let below_powers = (0..255).map(|i| Fr::from(2).pow_vartime([i]) - Fr::ONE);
    let rng = ChaCha8Rng::seed_from_u64(11);
    let random = std::iter::repeat_with({
        let mut rng = rng;
        move || Fr::random(&mut rng)
    });
    edges.into_iter().chain(powers).chain(below_powers).chain(random).take(count).collect()
}

fn multiples_are_right<G: Base>(base: G::Projective, count: usize, announced: u64)
where
    G::Projective: Curve,
    G::Point: PartialEq + std::fmt::Debug + for<'a> From<&'a G::Projective>,
{
    let scalars = scalars(count);
    let points = FixedBase::<G>::new(&base, announced).multiply(&scalars);
    assert_eq!(points.len(), count);
    for (i, (point, scalar)) in points.iter().zip(&scalars).enumerate() {
        assert_eq!(*point, G::Point::from(&(base * *scalar)), "scalar {i}, {announced} announced");
    }
}

#[test]
fn multiples_equal_those_of_blst_at_every_width() {
    let g1 = G1Projective::random(ChaCha8Rng::seed_from_u64(1));
    let g2 = G2Projective::random(ChaCha8Rng::seed_from_u64(2));
    let mut widths = Vec::new();
    for lg_announced in 0..=25 {
        let bits = best_window_bits(1 << lg_announced, size_of::<Affine<blst_fp>>());
        if widths.last() != Some(&bits) {
            widths.push(bits);
            multiples_are_right::<G1>(g1, 600, 1 << lg_announced);
        }
    }
    assert_eq!(widths.first(), WINDOW_BITS.start().into());
    assert_eq!(widths.last(), WINDOW_BITS.end().into());
    for announced in [1, 1000, 100_000] {
        multiples_are_right::<G2>(g2, 600, announced);
    }
}

#[test]
fn pieces_of_every_size_are_right() {
    let g1 = G1Projective::generator();
    for count in [0, 1, 2, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 1] {
        multiples_are_right::<G1>(g1, count, 1000);
    }
}

#[test]
fn the_largest_tables_stay_within_their_bound() {
    let bytes = |bits: u32, point: usize| (window_count(bits) as usize * point) << (bits - 1);
    let (g1, g2) = (best_window_bits(u64::MAX >> 8, 96), best_window_bits(u64::MAX >> 8, 192));
    assert_eq!((g1, g2), (17, 16));
    assert!(bytes(g1, 96) <= TABLE_BYTES && bytes(g2, 192) <= TABLE_BYTES);
}

#[test]
fn doubling_cancelling_and_infinity_in_one_batch_do_not_disturb_the_others() {
    let multiple = |k: u64| G1::normalize(&(G1Projective::generator() * Fr::from(k)));
    let minus = |k: u64| multiple(k).neg_if(true);
    let before = [multiple(3), multiple(5), multiple(5), Affine::INFINITY, multiple(7)];
    let mut sums = before;
    let mut adder = Adder::new();
    for (at, point) in [multiple(4), multiple(5), minus(5), multiple(9), minus(2)].into_iter().enumerate() {
        adder.push(&mut sums, at, &point, false);
    }
    adder.finish(&mut sums);
    assert_eq!(sums, [multiple(7), multiple(10), Affine::INFINITY, multiple(9), multiple(5)]);
    adder.push(&mut sums, 0, &multiple(1), false);
    adder.finish(&mut sums);
    assert_eq!(sums[0], multiple(8), "nothing of the last batch is left");
}
