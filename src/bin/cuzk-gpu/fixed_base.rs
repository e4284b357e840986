//! Checks of fixed-base multiplication against blst, point by point.

use crate::harness::{Failure, Harness};
use crate::points::{bases_of, host_points, random_scalars, scalar_of, words_of, TestGroup, Words, G1, G2, ORDER};
use blstrs::Scalar;
use cuzk::backend::cuda::sys::Stream;
use ff::Field;
use group::Group;
use rayon::prelude::*;

/// Counts around chunk and block sizes, and scalars at the edges of windows.
pub fn test(harness: &mut Harness) {
    harness.check("g1", |h| multiples::<G1>(&h.stream, 4_097));
    harness.check("g2", |h| multiples::<G2>(&h.stream, 1_025));
    harness.check("counts", |h| counts(&h.stream));
}

/// Points a second.
pub fn bench(harness: &mut Harness) {
    harness.check("rate", |h| {
        rate::<G1>(h, 22)?;
        rate::<G2>(h, 20)
    });
}

/// A small count: the table is the same at any size.
pub fn sanitize(harness: &mut Harness) {
    harness.check("g1", |h| multiples::<G1>(&h.stream, 100));
}

/// 0, 1, digits of all ones, one digit alone, sums of two equal halves, and the largest scalars.
fn edges() -> Vec<Words> {
    let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, -Scalar::from(2u64)];
    for bit in [1u32, 15, 16, 17, 31, 32, 63, 64, 127, 128, 240, 254] {
        let power = (0..bit).fold(Scalar::ONE, |p, _| p.double());
        scalars.extend([power, power - Scalar::ONE, -power]);
    }
    let mut words: Vec<Words> = scalars.iter().map(words_of).collect();
    words.push([u64::MAX, u64::MAX, u64::MAX, ORDER[3] - 1]);
    words
}

fn multiples<T: TestGroup>(stream: &Stream, count: usize) -> Result<(), Failure> {
    let mut scalars = edges();
    scalars.extend(random_scalars(11, count.saturating_sub(scalars.len())));
    same_multiples::<T>(&scalars, stream)
}

fn same_multiples<T: TestGroup>(scalars: &[Words], stream: &Stream) -> Result<(), Failure> {
    let found = host_points::<T>(&bases_of::<T>(scalars, stream)?, stream)?;
    assert_eq!(found.len(), scalars.len());
    let pairs = scalars.par_iter().zip(&found);
    let wrong = pairs.position_any(|(scalar, found)| *found != T::Point::generator() * scalar_of(scalar));
    wrong.map_or(Ok(()), |i| Err(format!("multiple {i} of {} by {:x?}", scalars.len(), scalars[i]).into()))
}

fn counts(stream: &Stream) -> Result<(), Failure> {
    for count in [0usize, 1, 2, 127, 128, 129] {
        same_multiples::<G1>(&random_scalars(count as u64, count), stream)?;
    }
    Ok(())
}

fn rate<T: TestGroup>(harness: &Harness, lg: u32) -> Result<(), Failure> {
    let scalars = random_scalars(5, 1 << lg);
    let start = std::time::Instant::now();
    let bases = bases_of::<T>(&scalars, &harness.stream)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("fixed base {:?} 2^{lg}: {seconds:.3} s with tables, uploads and allocations", T::CURVE);
    assert_eq!(bases.len(), scalars.len() * T::CURVE.affine_bytes());
    Ok(())
}
