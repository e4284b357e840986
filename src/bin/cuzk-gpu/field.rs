//! Fp and Fp2 on the device against blst, and the field benches.

use crate::fp_oracle::{self, holds, samples, Words, OPS};
use crate::harness::{Failure, Harness};
use blst::*;
use cuzk::backend::cuda::sys::testing::{bench_field, test_fp, test_fp2};
use cuzk::backend::cuda::sys::DeviceBuffer;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Every operation on extremes and random digits.
pub fn test(harness: &mut Harness) {
    operations(harness, 20_000);
    harness.check("fp2", |harness| fp2(harness, 4_000));
}

/// The same on few.
pub fn sanitize(harness: &mut Harness) {
    operations(harness, 300);
    harness.check("fp2", |harness| fp2(harness, 100));
}

fn operations(harness: &mut Harness, count: usize) {
    for op in OPS {
        harness.check(&format!("fp/{op:?}"), |harness| {
            let mut rng = ChaCha8Rng::seed_from_u64(op as u64);
            let a = samples(&mut rng, count);
            let mut shuffled = || -> Vec<Words> { a.iter().map(|_| a[rng.next_u32() as usize % a.len()]).collect() };
            let (b, c) = (shuffled(), shuffled());
            let r = test_fp(op as i32, [&a, &b, &c], &harness.stream)?;
            let wrong = (0..a.len()).into_par_iter().find_first(|&i| !holds(op, [&a[i], &b[i], &c[i]], &r[i]));
            match wrong {
                None => Ok(()),
                Some(i) => Err(format!("{:x?} {:x?} {:x?}: {:x?}", a[i], b[i], c[i], r[i]).into()),
            }
        });
    }
}

fn fp2(harness: &Harness, count: usize) -> Result<(), Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(0xf2);
    // Montgomery words of the samples' values
    let halves: Vec<Words> =
        samples(&mut rng, count).iter().map(|w| fp_oracle::words(&fp_oracle::decode(w).l)).collect();
    let mut random = || -> Vec<[u32; 24]> {
        let mut pick = || halves[rng.next_u32() as usize % halves.len()];
        (0..count).map(|_| [pick(), pick()].concat().try_into().unwrap()).collect()
    };
    let (a, b) = (random(), random());
    for op in 0..9 {
        let r = test_fp2(op, [&a, &b], &harness.stream)?;
        for i in 0..count {
            let want = fp2_by_blst(op, &as_fp2(&a[i]), &as_fp2(&b[i]));
            if as_fp2(&r[i]) != want {
                return Err(format!("operation {op} of {:x?} {:x?}: {:x?}", a[i], b[i], r[i]).into());
            }
        }
    }
    Ok(())
}

fn as_fp2(w: &[u32; 24]) -> blst_fp2 {
    let half = |w: &[u32]| blst_fp { l: fp_oracle::digits(w.try_into().unwrap()) };
    blst_fp2 { fp: [half(&w[..12]), half(&w[12..])] }
}

/// `fp2_op` of cuda/testing/fp_ops.cuh.
fn fp2_by_blst(op: i32, a: &blst_fp2, b: &blst_fp2) -> blst_fp2 {
    let (mut r, mut t) = (blst_fp2::default(), blst_fp2::default());
    // SAFETY: plain values.
    unsafe {
        match op {
            0 => blst_fp2_mul(&mut r, a, b),
            1 => blst_fp2_sqr(&mut r, a),
            2 => blst_fp2_add(&mut r, a, b),
            3 => blst_fp2_sub(&mut r, a, b),
            4 => blst_fp2_cneg(&mut r, a, true),
            5 => blst_fp2_add(&mut r, a, a),
            6 => blst_fp2_inverse(&mut r, a),
            7 => {
                blst_fp2_mul(&mut t, a, b);
                blst_fp2_sub(&mut r, &t, a);
            }
            _ => {
                blst_fp2_sqr(&mut r, a);
                blst_fp2_sub(&mut t, &r, b);
                blst_fp2_sub(&mut r, &t, b);
            }
        }
    }
    r
}

/// `bench_t` of cuda/testing/fp_bench.cu and min_blocks, name, iterations, and the target in 10^9 a second, if any.
const BENCHES: [(i32, i32, &str, i32, Option<f64>); 22] = [
    (0, 1, "Fp mul, Montgomery 12 x 32 bits (yardstick)", 4000, None),
    (1, 1, "the same, inlined", 4000, None),
    (2, 1, "Fp mul, base X", 4000, Some(35.0)),
    (2, 6, "Fp mul, base X, at most 80 registers", 4000, None),
    (2, 8, "Fp mul, base X, at most 64 registers", 4000, None),
    (3, 1, "Fp mul, base X, inlined", 4000, None),
    (3, 6, "Fp mul, base X, inlined, at most 80 registers", 4000, None),
    (3, 8, "Fp mul, base X, inlined, at most 64 registers", 4000, None),
    (4, 1, "Fp sqr, base X", 4000, Some(45.0)),
    (5, 1, "Fp sqr, base X, inlined", 4000, None),
    (6, 1, "affine addition step, with tests", 1000, None),
    (6, 3, "the same, at most 168 registers", 1000, None),
    (6, 4, "the same, at most 128 registers", 1000, None),
    (7, 1, "affine addition step, 5 mul 1 sqr 6 sub", 1000, Some(5.3)),
    (7, 3, "the same, at most 168 registers", 1000, None),
    (7, 4, "the same, at most 128 registers", 1000, None),
    (8, 1, "XYZZ mixed addition, G1", 1000, None),
    (9, 1, "Fp2 mul", 1000, None),
    (10, 1, "Fp2 sqr", 1000, None),
    (11, 1, "affine addition step in Fp2, with tests", 300, None),
    (12, 1, "Fp sub", 20000, None),
    (13, 1, "Fp inv", 50, None),
];

/// Rates of arithmetic in registers on a full device.
pub fn bench(harness: &mut Harness) {
    for (which, min_blocks, name, iterations, target) in BENCHES {
        harness.check(&format!("{which}/{min_blocks}"), |harness| {
            let mut rng = ChaCha8Rng::seed_from_u64(0x62);
            let threads_at_most = u64::from(harness.device.multiprocessors) * 2048;
            let words: Vec<u32> = (0..threads_at_most * 48).map(|_| rng.next_u32()).collect();
            let words = DeviceBuffer::from_slice(&words, &harness.stream)?;
            let mut shape = (0, 0);
            let ms = harness.median_ms(|stream| {
                shape = bench_field(which, min_blocks, iterations, &words, stream)?;
                Ok(())
            })?;
            let rate = shape.0 as f64 * f64::from(iterations) / ms / 1e6;
            let target = target.map_or(String::new(), |target| format!("  (target {target})"));
            let warps = shape.0 / 32 / u64::from(harness.device.multiprocessors);
            println!("{name:<48} {rate:>8.2} G/s  {:>3} registers, {warps:>2} warps{target}", shape.1);
            Ok(())
        });
    }
}
