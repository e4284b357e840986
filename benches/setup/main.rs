//! Cost of an insecure SRS from the blank 2 KiB circuits: `cargo bench --bench setup [-- kind… [compare]]`. With
//! `compare`, each file is then compared with bellperson's for the same toxic waste.
//!
//! Time is that of all cores together, as the kernel counts it.

mod exponents;

use std::time::Instant;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::r1cs::R1cs;
use cuzk::setup::{write_params, ToxicWaste};
use cuzk::srs::{SrsFile, SrsOptions};
use rayon::ThreadPoolBuilder;

/// Core-seconds of bellperson 0.27's generator, blank synthesis included, on two cores of the project's test machine.
fn bellperson_core_s(kind: Kind) -> f64 {
    match kind {
        Kind::PoRep => 1848.0,
        Kind::SnapDeals => 1094.0,
        Kind::WinningPoSt => 41.0,
        Kind::WindowPoSt => 10.0,
    }
}

/// Core-seconds and seconds that `work` takes.
fn measure<R>(work: impl FnOnce() -> R) -> (R, f64, f64) {
    let (before, start) = (core_s(), Instant::now());
    let result = work();
    (result, core_s() - before, start.elapsed().as_secs_f64())
}

fn core_s() -> f64 {
    // SAFETY: plain integers, for which all bits 0 are a value; getrusage fills them.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    [usage.ru_utime, usage.ru_stime].iter().map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6).sum()
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") >> 10
}

/// A circuit as bellperson's generator takes it.
struct Blank(CircuitId);

impl Circuit<Fr> for Blank {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.0.synthesize_blank(cs)
    }
}

const SEED: [u8; 32] = [1; 32];

fn main() {
    // cargo adds `--bench`.
    let (flags, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).partition(|arg| arg == "compare");
    let pool = ThreadPoolBuilder::new().build().expect("threads");
    println!("{} threads; peak is the process's so far", pool.current_num_threads());
    println!("circuit          | record | setup  | elapsed |  G1 points | G2 points |    file |   ours | peak");
    println!("                 | core-s | core-s |       s |            |           |      MB | theirs |  MiB");
    for kind in [Kind::WindowPoSt, Kind::WinningPoSt, Kind::SnapDeals, Kind::PoRep] {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == kind.name()) {
            continue;
        }
        let circuit = CircuitId::new(kind, 2048).expect("2 KiB circuits exist");
        let (r1cs, record_core_s, _): (R1cs, _, _) = measure(|| circuit.record().expect("a blank circuit"));
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("bench.params");
        let (_, setup_core_s, seconds) = measure(|| write_params(&r1cs, SEED, &path, &pool).expect("a file"));
        let counts = r1cs.query_counts();
        println!(
            "{:16} | {record_core_s:6.1} | {setup_core_s:6.1} | {seconds:7.1} | {:10} | {:9} | {:7.1} | {:6.4} | {:4}",
            circuit.to_string(),
            counts.ic + counts.h + counts.l + counts.a + counts.b,
            counts.b,
            path.metadata().expect("the file").len() as f64 / 1e6,
            (record_core_s + setup_core_s) / bellperson_core_s(kind),
            peak_mib(),
        );
        if !flags.is_empty() {
            let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
            let srs = SrsFile::open(&path, &options).expect("the file is whole");
            let waste = ToxicWaste::from_seed(SEED);
            let (equal, core_s, _) = measure(|| exponents::compare(Blank(circuit), &waste, &srs));
            equal.expect("every section has bellperson's points");
            println!("{:16}   every section equals bellperson's ({core_s:.1} core-s)", circuit.to_string());
        }
    }
}
