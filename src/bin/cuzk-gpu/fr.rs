//! Fr on the device: conversion both ways against blstrs, and rates of its arithmetic.

use crate::harness::{Failure, Harness};
use blstrs::Scalar as Fr;
use cuzk::backend::cuda::sys::{fr_bench, fr_from_canonical, fr_to_canonical, DeviceBuffer, Stream};
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// 32 bytes: canonical little-endian words, or an element in device form.
pub type Words = [u64; 4];

/// Values in canonical words, for [`upload`].
pub fn words(value: &Fr) -> Words {
    let bytes = value.to_repr();
    std::array::from_fn(|k| u64::from_le_bytes(bytes[8 * k..8 * k + 8].try_into().expect("8 bytes")))
}

fn scalar(words: &Words) -> Fr {
    let mut repr = [0; 32];
    for (bytes, word) in repr.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Option::from(Fr::from_repr(repr)).expect("below r")
}

/// `values` on the device, in device form.
pub fn upload(values: &[Fr], stream: &Stream) -> Result<DeviceBuffer<Words>, Failure> {
    let words: Vec<Words> = values.par_iter().map(words).collect();
    let buffer = DeviceBuffer::from_slice(&words, stream)?;
    // SAFETY: in place on the buffer's elements.
    unsafe { fr_from_canonical(buffer.as_ptr(), buffer.as_ptr(), values.len() as u64, stream)? };
    Ok(buffer)
}

/// The values of a buffer in device form, which is left in canonical form.
pub fn download(buffer: &DeviceBuffer<Words>, stream: &Stream) -> Result<Vec<Fr>, Failure> {
    // SAFETY: in place on the buffer's elements.
    unsafe { fr_to_canonical(buffer.as_ptr(), buffer.as_ptr(), buffer.len() as u64, stream)? };
    Ok(buffer.to_vec(stream)?.par_iter().map(scalar).collect())
}

/// Random values with seed `seed`, every eighth an edge: 0, 1, r − 1, X, powers of two.
pub fn values(count: usize, seed: u64) -> Vec<Fr> {
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(0xd201_0000_0001_0000), Fr::from(2), Fr::from(u64::MAX)];
    let chunk = 1 << 12;
    let mut out = vec![Fr::ZERO; count];
    out.par_chunks_mut(chunk).enumerate().for_each(|(n, out)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9) ^ n as u64);
        for value in out {
            *value = match rng.next_u32() {
                pick if pick % 8 == 0 => edges[pick as usize / 8 % edges.len()],
                _ => Fr::random(&mut rng),
            };
        }
    });
    out
}

/// Conversion of edges and random values.
pub fn test(harness: &mut Harness) {
    harness.check("conversion", conversion);
}

/// The same as test: nothing here is large.
pub fn sanitize(harness: &mut Harness) {
    test(harness);
}

fn conversion(harness: &Harness) -> Result<(), Failure> {
    for count in [0, 1, 127, 128, 129, 100_000] {
        let expected = values(count, 1);
        assert_eq!(download(&upload(&expected, &harness.stream)?, &harness.stream)?, expected);
    }
    // Integers above r are taken modulo r.
    let top = DeviceBuffer::from_slice(&[[u64::MAX; 4]], &harness.stream)?;
    // SAFETY: in place on one element.
    unsafe { fr_from_canonical(top.as_ptr(), top.as_ptr(), 1, &harness.stream)? };
    let two_256 = Fr::from(2).pow_vartime([256]);
    assert_eq!(download(&top, &harness.stream)?, [two_256 - Fr::ONE]);
    Ok(())
}

/// Rates of arithmetic in registers.
pub fn bench(harness: &mut Harness) {
    for (kind, name) in
        ["mul_montgomery", "mul_twiddle", "mul_rows", "mul_general", "add", "butterfly_8"].iter().enumerate()
    {
        harness.check(name, |harness| rate(harness, kind as i32, name));
    }
}

fn rate(harness: &Harness, kind: i32, name: &str) -> Result<(), Failure> {
    let (blocks, rounds) = (harness.device.multiprocessors * 32, 500);
    let data = upload(&values(blocks as usize * 256, 2), &harness.stream)?;
    let ms = harness.median_ms(|stream| {
        // SAFETY: 256 elements per block.
        unsafe { fr_bench(kind, data.as_ptr(), blocks, rounds, stream) }
    })?;
    println!("fr {name}: {:.2} G/s", f64::from(blocks) * 256.0 * f64::from(rounds) / ms / 1e6);
    Ok(())
}
