//! The CPU back end's arithmetic: `cargo bench --bench cpu [-- FILTER [MAX_LG_SIZE]]`.
//!
//! Prints nanoseconds of CPU time per element, all threads added up, the best of several runs: what else runs on the host
//! matters little. Pools have as many threads as the host (or RAYON_NUM_THREADS). blst's own sums run beside ours.
//!
//! `porep` proves a real 2 KiB PoRep. Its SRS, 1.1 GB, is made once, which takes two core-minutes, and kept below target/.

mod measure;

use std::sync::Arc;
use std::time::Instant;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use cuzk::assignment::{Builder, Layout, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Backend, Circuit, Uncontrolled};
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::vanilla::Input;
use ff::Field;
use group::{Curve, Group};
use measure::cpu_seconds;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Best of a few runs, in ns of CPU time per element.
fn best(elements: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let started = Instant::now();
    for round in 0.. {
        let at = cpu_seconds();
        run();
        best = best.min(cpu_seconds() - at);
        if round >= 2 && started.elapsed().as_secs_f64() > 2.0 {
            break;
        }
    }
    best * 1e9 / elements as f64
}

fn row(what: &str, lg_size: usize, ns: f64, note: &str) {
    println!("| {what} | 2^{lg_size} | {ns:.1} | {note} |");
}

/// A pool of `threads`, 0 for as many as the host has.
fn backend(threads: usize) -> CpuBackend {
    CpuBackend::new(Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool")))
}

struct Inputs {
    scalars: Vec<Fr>,
    g1: Vec<G1Affine>,
    g2: Vec<G2Affine>,
}

impl Inputs {
    fn new(count: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let scalars = (0..count).map(|_| Fr::random(&mut rng)).collect();
        Inputs {
            scalars,
            g1: points::<G1Projective>(count, &mut rng),
            g2: points::<G2Projective>(count.min(1 << 18), &mut rng),
        }
    }
}

/// Distinct points, each the sum of the last and a random one of 64: no structure that an addition could profit from.
fn points<P: Curve + Group<Scalar = Fr>>(count: usize, rng: &mut ChaCha8Rng) -> Vec<P::AffineRepr> {
    let steps: Vec<_> = (0..64).map(|_| P::generator() * Fr::random(&mut *rng)).collect();
    let mut next = steps[0];
    let sums: Vec<P> = (0..count)
        .map(|_| {
            next += steps[rng.next_u32() as usize % steps.len()];
            next
        })
        .collect();
    let mut out: Vec<P::AffineRepr> = (0..count).map(|_| P::identity().to_affine()).collect();
    P::batch_normalize(&sums, &mut out);
    out
}

fn transforms(cpu: &CpuBackend, max_lg: usize) {
    for lg in (16..=22).filter(|lg| *lg <= max_lg) {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut data: Vec<_> = (0..1 << lg).map(|_| Fr::random(&mut rng)).collect();
        let butterflies = lg as f64 / 2.0;
        let ns = best(1 << lg, || cpu.ntt(&mut data));
        row("NTT", lg, ns, &format!("{:.1} a butterfly", ns / butterflies));
        let ns = best(1 << lg, || cpu.inverse_ntt(&mut data));
        row("inverse NTT", lg, ns, &format!("{:.1} a butterfly", ns / butterflies));
    }
}

/// blst's Pippenger on one thread.
fn blst_g1(points: &[G1Affine], scalars: &[blst::blst_scalar]) -> G1Projective {
    let points: Vec<_> = points.iter().map(|p| std::ptr::from_ref(p.as_ref())).collect();
    let scalars: Vec<_> = scalars.iter().map(|s| s.b.as_ptr()).collect();
    let mut out = G1Projective::identity();
    // SAFETY: as many points as scalars of 255 bits; the scratch has the size that blst names.
    unsafe {
        let mut scratch = vec![0u64; blst::blst_p1s_mult_pippenger_scratch_sizeof(points.len()) / 8];
        let (p, s, buffer) = (points.as_ptr(), scalars.as_ptr(), scratch.as_mut_ptr());
        blst::blst_p1s_mult_pippenger(out.as_mut(), p, points.len(), s, 255, buffer);
    }
    out
}

/// As [`blst_g1`].
fn blst_g2(points: &[G2Affine], scalars: &[blst::blst_scalar]) -> G2Projective {
    let points: Vec<_> = points.iter().map(|p| std::ptr::from_ref(p.as_ref())).collect();
    let scalars: Vec<_> = scalars.iter().map(|s| s.b.as_ptr()).collect();
    let mut out = G2Projective::identity();
    // SAFETY: as in `blst_g1`.
    unsafe {
        let mut scratch = vec![0u64; blst::blst_p2s_mult_pippenger_scratch_sizeof(points.len()) / 8];
        let (p, s, buffer) = (points.as_ptr(), scalars.as_ptr(), scratch.as_mut_ptr());
        blst::blst_p2s_mult_pippenger(out.as_mut(), p, points.len(), s, 255, buffer);
    }
    out
}

fn sums(cpu: &CpuBackend, inputs: &Inputs, max_lg: usize) {
    let raw: Vec<blst::blst_scalar> = inputs.scalars.iter().map(|s| (*s).into()).collect();
    for lg in (10..=20).step_by(2).filter(|lg| *lg <= max_lg) {
        let (points, scalars) = (&inputs.g1[..1 << lg], &inputs.scalars[..1 << lg]);
        let expected = blst_g1(points, &raw[..1 << lg]);
        assert_eq!(cpu.msm_g1(points, scalars), expected);
        let blst = best(1 << lg, || assert_eq!(blst_g1(points, &raw[..1 << lg]), expected));
        let ours = best(1 << lg, || assert_eq!(cpu.msm_g1(points, scalars), expected));
        row("MSM G1", lg, ours, &format!("blst {blst:.0}, {:.2} ×", blst / ours));
        row("sum of points G1", lg, best(1 << lg, || _ = std::hint::black_box(cpu.sum_g1(points))), "");
    }
    for lg in (10..=18).step_by(2).filter(|lg| *lg <= max_lg) {
        let (points, scalars) = (&inputs.g2[..1 << lg], &inputs.scalars[..1 << lg]);
        let expected = blst_g2(points, &raw[..1 << lg]);
        let blst = best(1 << lg, || assert_eq!(blst_g2(points, &raw[..1 << lg]), expected));
        let ours = best(1 << lg, || assert_eq!(cpu.msm_g2(points, scalars), expected));
        row("MSM G2", lg, ours, &format!("blst {blst:.0}, {:.2} ×", blst / ours));
        row("sum of points G2", lg, best(1 << lg, || _ = std::hint::black_box(cpu.sum_g2(points))), "");
    }
}

/// Seconds of CPU and wall-clock time.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let out = work();
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    println!("| PoRep 2 KiB | {what} | {cpu:.2} core-s | {wall:.2} s |");
    out
}

fn porep(cpu: &CpuBackend) {
    let samples = cuzk::vanilla::samples_2kib().expect("a sealed sector");
    let checked = Input::Porep(samples.porep.clone()).check().expect("its own proofs");
    let r1cs = Arc::new(timed("record R1CS", || checked.circuit().record().expect("a circuit")));
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/target/bench");
    let path = std::path::Path::new(dir).join("porep-2kib.params");
    if !path.exists() {
        std::fs::create_dir_all(dir).expect("target can be written");
        let pool = rayon::ThreadPoolBuilder::new().build().expect("a pool");
        timed("setup", || cuzk::setup::write_params(&r1cs, [1; 32], &path, &pool).expect("room for the SRS"));
    }
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = Arc::new(SrsFile::open(&path, &options).expect("its own SRS"));
    let layouts = Arc::new(Layouts::pinned(timed("derive layout", || Layout::derive(&r1cs))));
    let circuit = Circuit::new("porep-2kib", Arc::clone(&r1cs), srs).expect("its own SRS");
    let partition = checked.partitions().next().expect("a partition");
    let assignment = timed("synthesis", || {
        let mut builder = Builder::new(&layouts, r1cs.input_count);
        partition.synthesize(&mut builder).expect("a witness");
        Arc::new(builder.finish().expect("its own layout"))
    });
    timed("load", || cpu.load(&circuit, &Uncontrolled).expect("its own SRS"));
    for _ in 0..3 {
        timed("rows × z", || drop(cpu.evaluate_rows(&r1cs, &assignment)));
        timed("all sums", || {
            cpu.prove(&circuit, &[Arc::clone(&assignment)], &Uncontrolled, &mut |_, sums| _ = sums.expect("sums"));
        });
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let filter = arguments.next().unwrap_or_default();
    let max_lg = arguments.next().map_or(22, |lg| lg.parse().expect("MAX_LG_SIZE is a number"));
    let cpu = backend(0);
    println!("| what | elements | ns an element | |\n|---|---|---|---|");
    if "ntt".contains(&filter) {
        transforms(&cpu, max_lg);
    }
    if "porep".contains(&filter) {
        porep(&cpu);
    }
    if "msm".contains(&filter) {
        sums(&cpu, &Inputs::new(1 << max_lg.min(20)), max_lg);
    }
}
