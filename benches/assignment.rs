//! Building compact assignments and deriving layouts: `cargo bench --bench assignment [-- CIRCUIT …]`.
//!
//! Prints CPU time of the one thread that works, the best of several runs. Names of circuits (`porep-32gib`,
//! `snapdeals-32gib`, `winningpost-32gib` …) record these as well and derive their layouts: a PoRep of 32 GiB takes
//! minutes.

use std::hint::black_box;
use std::sync::Arc;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::gadgets::sha256::sha256;
use bellperson::util_cs::witness_cs::WitnessCS;
use blstrs::Scalar as Fr;
use cuzk::assignment::{Assignment, Builder, Layout, Layouts};
use cuzk::circuit::{CircuitId, Kind};
use cuzk::r1cs::{Flat, R1cs};

/// SHA-256 of so many zero bytes.
#[derive(Clone, Copy)]
struct Sha256(usize);

impl Circuit<Fr> for Sha256 {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = (0..8 * self.0)
            .map(|i| Ok(AllocatedBit::alloc(cs.namespace(|| format!("{i}")), Some(i % 3 == 0))?.into()))
            .collect::<Result<Vec<Boolean>, SynthesisError>>()?;
        sha256(cs.namespace(|| "sha256"), &bits).map(drop)
    }
}

/// CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call fills in.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "this system has a clock per thread");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Best of a few runs, in seconds.
fn best(mut run: impl FnMut()) -> f64 {
    (0..5).fold(f64::INFINITY, |best, _| {
        let start = cpu_seconds();
        run();
        best.min(cpu_seconds() - start)
    })
}

fn row(what: &str, count: usize, seconds: f64) {
    println!("| {what} | {count} | {:.1} |", seconds * 1e9 / count as f64);
}

fn builders() {
    let circuit = Sha256(4096);
    let r1cs = R1cs::record(circuit, Flat).expect("a circuit");
    let count = r1cs.aux_count as usize;
    let layouts = Arc::new(Layouts::pinned(Layout::derive(&r1cs)));
    let build = |buffers| Builder::with_buffers(&layouts, r1cs.input_count, buffers).synthesize(circuit);
    let mut last: Option<Assignment> = None;
    let ours =
        best(|| last = Some(build(last.take().map(Assignment::into_buffers).unwrap_or_default()).expect("bits")));
    row("SHA-256, builder", count, ours);
    let reference = best(|| {
        let mut witness = WitnessCS::<Fr>::new();
        circuit.synthesize(&mut witness).expect("a witness");
        black_box(witness.aux_slice().len());
    });
    row("SHA-256, bellperson's WitnessCS", count, reference);

    let values: Vec<Fr> = last.expect("built").aux_values().collect();
    let taken = best(|| {
        let mut builder = Builder::new(&layouts, r1cs.input_count);
        builder.extend_aux(&values);
        black_box(builder.finish().expect("the same values"));
    });
    row("the same values alone, builder", count, taken);
    let derived = best(|| drop(black_box(Layout::derive(&r1cs))));
    row("its layout, per row", r1cs.constraint_count as usize, derived);
}

fn layout(id: CircuitId) {
    let start = cpu_seconds();
    let r1cs = id.record().expect("a circuit of the network");
    let recorded = cpu_seconds() - start;
    let stored: u64 = r1cs.segments.iter().map(|segment| u64::from(segment.row_count)).sum();
    let start = cpu_seconds();
    let layout = Layout::derive(&r1cs);
    let derived = cpu_seconds() - start;
    let start = cpu_seconds();
    let hash: String = layout.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let hashed = cpu_seconds() - start;
    println!(
        "| {id} | {} | {} | {:.2} | {:.1} | {recorded:.1} | {derived:.3} | {stored} | {hashed:.3} | {hash} |",
        layout.aux_count(),
        layout.full_count(),
        100.0 * f64::from(layout.full_count()) / f64::from(layout.aux_count()),
        layout.bytes_used() as f64 / f64::from(1 << 20),
    );
}

fn main() {
    println!("| what | variables | ns each |\n|---|---|---|");
    builders();
    println!("\n| circuit | aux | full-size | % | MiB | record s | derive s | rows stored | hash s | hash |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    for kind in Kind::ALL {
        for sector_size in CircuitId::SECTOR_SIZES {
            let id = CircuitId::new(kind, sector_size).expect("a registered size");
            if sector_size == 2 << 10 || names.contains(&id.to_string()) {
                layout(id);
            }
        }
    }
}
