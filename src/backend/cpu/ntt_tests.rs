//! Transforms against evaluation and against bellperson, by both arithmetics.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};

use super::ntt::{Domain, Scratch, Shift};
use super::workers::InOrder;

fn random(size: usize, seed: u64) -> Vec<Fr> {
    println!("seed {seed}");
    let mut rng: rand_chacha::ChaCha8Rng = rand_core::SeedableRng::seed_from_u64(seed);
    (0..size).map(|_| Fr::random(&mut rng)).collect()
}

fn reversed(values: &[Fr]) -> Vec<Fr> {
    let bits = values.len().trailing_zeros();
    (0..values.len()).map(|i| values[i.reverse_bits().checked_shr(usize::BITS - bits).unwrap_or(0)]).collect()
}

/// Domain and coset, wide where the processor can and never wide.
const CASES: [(Shift, bool); 4] =
    [(Shift::None, false), (Shift::Half, false), (Shift::None, true), (Shift::Half, true)];

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
        for (shift, wide) in CASES {
            let mut data = reversed(&coefficients);
            Domain::with_arithmetic(lg_size, wide)
                .forward(&mut InOrder, &mut Scratch::default(), &mut data, shift)
                .unwrap();
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
        for (shift, wide) in CASES {
            let mut data = reversed(&coefficients);
            Domain::with_arithmetic(lg_size, wide)
                .forward(&mut InOrder, &mut Scratch::default(), &mut data, shift)
                .unwrap();
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
        let coefficients = random(n, 22);
        for (shift, wide) in CASES {
            let (domain, mut scratch) = (Domain::with_arithmetic(lg_size, wide), Scratch::default());
            let mut data = coefficients.clone();
            domain.forward(&mut InOrder, &mut scratch, &mut data, shift).unwrap();
            domain.inverse(&mut InOrder, &mut scratch, &mut data, shift).unwrap();
            let size = Fr::from(n as u64);
            assert!(data.iter().zip(&coefficients).all(|(d, c)| *d == size * c), "2^{lg_size}, {shift:?}, wide {wide}");
        }
    }
}

#[test]
fn to_coset_is_inverse_then_forward() {
    for lg_size in (0..=12).chain([15]) {
        let values = random(1 << lg_size, 23);
        let mut results = Vec::new();
        for wide in [false, true] {
            let (domain, mut scratch) = (Domain::with_arithmetic(lg_size, wide), Scratch::default());
            let mut expected = values.clone();
            domain.inverse(&mut InOrder, &mut scratch, &mut expected, Shift::None).unwrap();
            domain.forward(&mut InOrder, &mut scratch, &mut expected, Shift::Half).unwrap();
            let mut data = values.clone();
            domain.to_coset(&mut InOrder, &mut scratch, &mut data).unwrap();
            assert!(data == expected, "2^{lg_size}, wide {wide}");
            results.push(data);
        }
        assert!(results[0] == results[1], "2^{lg_size}");
    }
}

/// All coefficients r − 1, 0 or 1: sums grow and differences shrink as far as they can.
#[test]
fn extreme_values_are_transformed_alike_by_both_arithmetics() {
    for lg_size in [6, 9, 10, 13, 16] {
        let n = 1usize << lg_size;
        let patterns: [fn(usize) -> Fr; 5] = [
            |_| -Fr::ONE,
            |i| if i % 2 == 0 { -Fr::ONE } else { Fr::ZERO },
            |i| if i % 3 == 0 { -Fr::ONE } else { Fr::ONE },
            |i| if i == 0 { -Fr::ONE } else { Fr::ZERO },
            |_| Fr::ZERO,
        ];
        for (number, pattern) in patterns.iter().enumerate() {
            let values: Vec<_> = (0..n).map(pattern).collect();
            for shift in [Shift::None, Shift::Half] {
                let [plain, wide] = [false, true].map(|wide| {
                    let (domain, mut scratch) = (Domain::with_arithmetic(lg_size, wide), Scratch::default());
                    let [mut forward, mut inverse] = [values.clone(), values.clone()];
                    domain.forward(&mut InOrder, &mut scratch, &mut forward, shift).unwrap();
                    domain.inverse(&mut InOrder, &mut scratch, &mut inverse, shift).unwrap();
                    [forward, inverse]
                });
                assert!(plain == wide, "pattern {number} of 2^{lg_size}, {shift:?}");
            }
        }
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
