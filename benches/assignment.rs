//! Building compact assignments and deriving layouts: `cargo bench --bench assignment [-- CIRCUIT …]`.
//!
//! Prints CPU time of the one thread that works, the best of several runs. For the 2 KiB circuits and those that are
//! named (`porep-32gib`, `windowpost-8mib` …) records the R1CS, derives the layout, and builds the witness of one
//! partition, all once: for a PoRep of 32 GiB in minutes. "0 or 1" counts the full-size variables that this witness has
//! as bits.

use std::hint::black_box;
use std::sync::Arc;

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::gadgets::sha256::sha256;
use bellperson::util_cs::witness_cs::WitnessCS;
use blstrs::Scalar as Fr;
use cuzk::assignment::{Assignment, Builder, Layout, Layouts};
use cuzk::circuit::porep::PorepRequest;
use cuzk::circuit::post::PostRequest;
use cuzk::circuit::update::UpdateRequest;
use cuzk::circuit::{CheckedProofs, CircuitId, Kind, ReferenceCircuit, Request};
use cuzk::r1cs::{Flat, R1cs};
use cuzk::vanilla::{sectorless, PorepInput, PostInput, UpdateInput};
use ff::Field;
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};

/// Registered proofs in the order of [`CircuitId::SECTOR_SIZES`].
const SEAL: [RegisteredSealProof; 5] = [
    RegisteredSealProof::StackedDrg2KiBV1_1,
    RegisteredSealProof::StackedDrg8MiBV1_1,
    RegisteredSealProof::StackedDrg512MiBV1_1,
    RegisteredSealProof::StackedDrg32GiBV1_1,
    RegisteredSealProof::StackedDrg64GiBV1_1,
];
const UPDATE: [RegisteredUpdateProof; 5] = [
    RegisteredUpdateProof::StackedDrg2KiBV1,
    RegisteredUpdateProof::StackedDrg8MiBV1,
    RegisteredUpdateProof::StackedDrg512MiBV1,
    RegisteredUpdateProof::StackedDrg32GiBV1,
    RegisteredUpdateProof::StackedDrg64GiBV1,
];
const WINDOW: [RegisteredPoStProof; 5] = [
    RegisteredPoStProof::StackedDrgWindow2KiBV1_2,
    RegisteredPoStProof::StackedDrgWindow8MiBV1_2,
    RegisteredPoStProof::StackedDrgWindow512MiBV1_2,
    RegisteredPoStProof::StackedDrgWindow32GiBV1_2,
    RegisteredPoStProof::StackedDrgWindow64GiBV1_2,
];
const WINNING: [RegisteredPoStProof; 5] = [
    RegisteredPoStProof::StackedDrgWinning2KiBV1,
    RegisteredPoStProof::StackedDrgWinning8MiBV1,
    RegisteredPoStProof::StackedDrgWinning512MiBV1,
    RegisteredPoStProof::StackedDrgWinning32GiBV1,
    RegisteredPoStProof::StackedDrgWinning64GiBV1,
];

/// SHA-256 of so many bytes.
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

/// The reference's circuit with a witness: partition 0 of proofs that are made without a sector.
fn witnessed(id: CircuitId) -> ReferenceCircuit {
    let size = CircuitId::SECTOR_SIZES.iter().position(|size| *size == id.sector_size()).expect("a registered size");
    let post = |proof, sectors| sectorless::post(proof, 1000, sectors, 1).expect("vanilla proofs");
    let checked = match id.kind() {
        Kind::PoRep => {
            let PorepInput { miner, sector, c1 } = sectorless::porep(SEAL[size], 1000, 1, 1).expect("vanilla proofs");
            Request::Porep(PorepRequest { miner, sector, c1: &c1 }).check()
        }
        Kind::SnapDeals => {
            let input = sectorless::update(UPDATE[size], 1).expect("vanilla proofs");
            let vanilla_proofs: Vec<&[u8]> = input.vanilla_proofs.iter().map(Vec::as_slice).collect();
            let UpdateInput { proof, comm_r_old, comm_r_new, comm_d_new, .. } = input;
            let vanilla_proofs = &vanilla_proofs;
            Request::Update(UpdateRequest { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs }).check()
        }
        Kind::WindowPoSt => check_post(&post(WINDOW[size], WINDOW[size].sector_count())),
        Kind::WinningPoSt => check_post(&post(WINNING[size], 1)),
    };
    let checked = checked.expect("true proofs");
    let first = checked.partitions().next().expect("a partition");
    first.circuit().expect("a circuit")
}

fn check_post(input: &PostInput) -> cuzk::Result<CheckedProofs> {
    let vanilla_proofs: Vec<&[u8]> = input.vanilla_proofs.iter().map(Vec::as_slice).collect();
    let PostInput { proof, miner, randomness, partition, .. } = *input;
    let vanilla_proofs = &vanilla_proofs;
    Request::Post(PostRequest { proof, miner, randomness, partition, vanilla_proofs }).check()
}

/// Derives the layout of a circuit and builds a witness into it.
fn filecoin(id: CircuitId) {
    let start = cpu_seconds();
    let r1cs = id.record().expect("a circuit of the network");
    let recorded = cpu_seconds() - start;
    let start = cpu_seconds();
    let layout = Layout::derive(&r1cs);
    let derived = cpu_seconds() - start;
    let hash: String = layout.hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let layouts = Arc::new(Layouts::pinned(layout));
    let circuit = witnessed(id);
    let start = cpu_seconds();
    let assignment = Builder::new(&layouts, r1cs.input_count).synthesize(circuit).expect("a witness that fits");
    let built = cpu_seconds() - start;
    let bits = assignment.full().iter().filter(|value| **value == Fr::ZERO || **value == Fr::ONE).count();
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "| {id} | {} | {} | {bits} | {:.1} | {:.1} | {recorded:.1} | {derived:.3} | {built:.2} | {hash} |",
        assignment.aux_count(),
        assignment.layout().full_count(),
        mib(assignment.layout().bytes_used()),
        mib(assignment.bytes_used()),
    );
}

fn main() {
    println!("| what | variables | ns each |\n|---|---|---|");
    builders();
    println!(
        "\n| circuit | aux | full-size | 0 or 1 | layout MiB | MiB | record s | derive s | build s | layout's hash |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    for kind in Kind::ALL {
        for sector_size in CircuitId::SECTOR_SIZES {
            let id = CircuitId::new(kind, sector_size).expect("a registered size");
            if sector_size == 2 << 10 || names.contains(&id.to_string()) {
                filecoin(id);
            }
        }
    }
}
