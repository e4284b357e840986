//! The passes of the CUDA transforms (cuda/ntt/pass.cuh) and rows times z (cuda/r1cs/rows.cuh), run on the CPU by a loop
//! over the threads of every block, against the definitions.
#![cfg(cuda_host_twin)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use blstrs::Scalar as Fr;
use cuzk as _; // links the host twin
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// The twin's blocks have one shared memory and one set of tables, as a device's kernel has: one test at a time.
fn twin() -> MutexGuard<'static, ()> {
    static TWIN: Mutex<()> = Mutex::new(());
    TWIN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An element in device form, aligned as the device's.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Element([u64; 4]);

extern "C" {
    fn czk_host_fr_from_canonical(out: *mut u64, canonical: *const u64);
    fn czk_host_fr_to_canonical(out: *mut u64, a: *const u64);
    fn czk_host_ntt(data: *mut Element, out: *mut Element, lg_size: u32, inverse: u32, coset: u32);
    fn czk_host_ntt_to_coset(data: *mut Element, lg_size: u32);
    fn czk_host_ntt_derivative(data: *mut Element, lg_size: u32);
    fn czk_host_quotient(a: *mut Element, b: *mut Element, work: *mut Element, lg_size: u32) -> *mut Element;
}

fn to_device(values: &[Fr]) -> Vec<Element> {
    let convert = |value: &Fr| {
        let (bytes, mut out) = (value.to_repr(), [0; 4]);
        let words: [u64; 4] = std::array::from_fn(|k| u64::from_le_bytes(bytes[8 * k..8 * k + 8].try_into().unwrap()));
        // SAFETY: four words in, four out.
        unsafe { czk_host_fr_from_canonical(out.as_mut_ptr(), words.as_ptr()) };
        Element(out)
    };
    values.iter().map(convert).collect()
}

fn from_device(values: &[Element]) -> Vec<Fr> {
    let convert = |value: &Element| {
        let (mut words, mut bytes) = ([0u64; 4], [0; 32]);
        // SAFETY: four words in, four out.
        unsafe { czk_host_fr_to_canonical(words.as_mut_ptr(), value.0.as_ptr()) };
        bytes.chunks_exact_mut(8).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
        Fr::from_repr(bytes).unwrap()
    };
    values.iter().map(convert).collect()
}

fn root(lg: u32) -> Fr {
    Fr::ROOT_OF_UNITY.pow_vartime([1u64 << (32 - lg)])
}

fn scaled(values: &[Fr], step: Fr) -> Vec<Fr> {
    let mut power = Fr::ONE;
    let next = |value: &Fr| {
        let out = *value * power;
        power *= step;
        out
    };
    values.iter().map(next).collect()
}

fn ntt(values: &[Fr], w: Fr) -> Vec<Fr> {
    if values.len() == 1 {
        return values.to_vec();
    }
    let half = |odd: usize| -> Vec<Fr> { values.iter().skip(odd).step_by(2).copied().collect() };
    let (even, odd) = (ntt(&half(0), w.square()), scaled(&ntt(&half(1), w.square()), w));
    let plus = even.iter().zip(&odd).map(|(e, o)| e + o);
    plus.chain(even.iter().zip(&odd).map(|(e, o)| e - o)).collect()
}

fn intt(values: &[Fr], w: Fr) -> Vec<Fr> {
    let inverse = Fr::from(values.len() as u64).invert().unwrap();
    ntt(values, w.invert().unwrap()).into_iter().map(|v| v * inverse).collect()
}

fn random(n: usize, seed: u64) -> Vec<Fr> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE];
    (0..n)
        .map(|_| if rng.next_u32() % 4 == 0 { edges[rng.next_u32() as usize % 3] } else { Fr::random(&mut rng) })
        .collect()
}

fn transform(values: &[Fr], lg: u32, inverse: bool, coset: bool) -> Vec<Fr> {
    let mut data = to_device(values);
    let mut out = vec![Element([0x5a5a_5a5a; 4]); values.len()];
    // SAFETY: two vectors of 2^lg elements.
    unsafe { czk_host_ntt(data.as_mut_ptr(), out.as_mut_ptr(), lg, inverse.into(), coset.into()) };
    from_device(&out)
}

/// Every transform of 2^lg points.
fn check(lg: u32, values: &[Fr], others: &[Fr]) {
    let (w, g) = (root(lg), root(lg + 1));
    let on_coset = |coefficients: &[Fr]| ntt(&scaled(coefficients, g), w);
    let (on_domain, coset) = (ntt(values, w), on_coset(values));
    assert_eq!(transform(values, lg, false, false), on_domain, "forward, 2^{lg}");
    assert_eq!(transform(&on_domain, lg, true, false), values, "inverse, 2^{lg}");
    assert_eq!(transform(values, lg, false, true), coset, "to the coset, 2^{lg}");
    assert_eq!(transform(&coset, lg, true, true), values, "from the coset, 2^{lg}");

    let mut data = to_device(&on_domain);
    // SAFETY: 2^lg elements.
    unsafe { czk_host_ntt_to_coset(data.as_mut_ptr(), lg) };
    assert_eq!(from_device(&data), coset, "from domain to coset, 2^{lg}");

    let mut data = to_device(&on_domain);
    // SAFETY: 2^lg elements.
    unsafe { czk_host_ntt_derivative(data.as_mut_ptr(), lg) };
    let times_index: Vec<Fr> = values.iter().enumerate().map(|(k, v)| Fr::from(k as u64) * v).collect();
    assert_eq!(from_device(&data), ntt(&times_index, w), "derivative, 2^{lg}");

    let c: Vec<Fr> = values.iter().zip(others).map(|(a, b)| a * b).collect();
    let [a_g, b_g, c_g] = [values, others, &c].map(|on_domain| on_coset(&intt(on_domain, w)));
    let divisor = (-Fr::from(2)).invert().unwrap();
    let quotient: Vec<Fr> = a_g.iter().zip(&b_g).zip(&c_g).map(|((a, b), c)| (a * b - c) * divisor).collect();
    let h = scaled(&intt(&quotient, w), g.invert().unwrap());
    let mut vectors = [to_device(values), to_device(others), vec![Element([7; 4]); values.len()]];
    let [a, b, work] = vectors.each_mut().map(|v| v.as_mut_ptr());
    // SAFETY: three vectors of 2^lg elements.
    let found = unsafe { czk_host_quotient(a, b, work, lg) };
    let place = vectors.iter().find(|v| v.as_ptr() == found.cast_const()).expect("h is in one of the three");
    assert_eq!(from_device(place), h, "quotient, 2^{lg}");
}

#[test]
fn sizes_of_one_digit() {
    let _twin = twin();
    for lg in 1..=9 {
        let n = 1 << lg;
        let mut single = vec![Fr::ZERO; n];
        single[n / 2] = -Fr::ONE;
        check(lg, &vec![Fr::ZERO; n], &random(n, 1));
        check(lg, &vec![-Fr::ONE; n], &vec![-Fr::ONE; n]);
        check(lg, &single, &random(n, 2));
        check(lg, &random(n, 3), &random(n, 4));
    }
}

#[test]
fn sizes_of_two_digits() {
    let _twin = twin();
    for lg in 10..=13 {
        check(lg, &random(1 << lg, 5), &random(1 << lg, 6));
    }
}

/// From and to values on domain and coset, without the quotient, whose reference takes long.
fn check_both_ways(lg: u32) {
    let values = random(1 << lg, 7);
    let (w, g) = (root(lg), root(lg + 1));
    let (on_domain, coset) = (ntt(&values, w), ntt(&scaled(&values, g), w));
    assert!(transform(&values, lg, false, true) == coset, "to the coset, 2^{lg}");
    assert!(transform(&on_domain, lg, true, false) == values, "inverse, 2^{lg}");
    assert!(transform(&coset, lg, true, true) == values, "from the coset, 2^{lg}");
    let mut data = to_device(&on_domain);
    // SAFETY: 2^lg elements.
    unsafe { czk_host_ntt_to_coset(data.as_mut_ptr(), lg) };
    assert!(from_device(&data) == coset, "from domain to coset, 2^{lg}");
}

/// 2^17 has a digit of 9 bits and a constant in its gap: the column's part of the factor is folded into twiddles.
#[test]
fn a_folding_pass() {
    let _twin = twin();
    check_both_ways(17);
}

/// 2^19 has three digits: a pass in the middle, and gaps of which only the last takes two factors.
#[test]
fn a_size_of_three_digits() {
    let _twin = twin();
    check_both_ways(19);
}
