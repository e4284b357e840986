//! PoRep 2 KiB from C1 bytes to a verified proof, ours beside bellperson's CPU prover as filecoin-proofs runs it:
//! `cargo bench --bench c2 [-- RUNS]`.
//!
//! Each prover has a process of its own, so that peak memory is its own; the first run is dropped, the median of the
//! others (3) is shown, and loading the SRS is given apart. CPU time says what a busy host hides. The SRS is the demo's,
//! made if it isn't there.

#[path = "../tests/golden_support/mod.rs"]
mod golden_support;
mod measure;

use std::process::Command;
use std::sync::Arc;

use cuzk::assignment::{Builder, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Backend, Circuit, Uncontrolled};
use cuzk::circuit::{CircuitId, Kind};
use cuzk::groth16;
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::vanilla::{Input, PorepInput};
use filecoin_proofs_api::seal::{seal_commit_phase2, SealCommitPhase1Output};
use golden_support::{root, srs};
use measure::{peak_mib, timed};

/// Proves once more than `runs` times, and prints the row of a prover. One that loads when it proves first says `None`:
/// then that run's excess is its load.
fn measure(name: &str, runs: usize, load: Option<f64>, prove: impl Fn() -> Vec<u8>) {
    let mut times: Vec<(f64, f64)> = (0..=runs)
        .map(|_| {
            let (proof, elapsed, cpu) = timed(&prove);
            assert_eq!(proof.len(), 192);
            (elapsed, cpu)
        })
        .collect();
    let first = times.remove(0).0;
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (elapsed, cpu) = times[times.len() / 2];
    let load = load.unwrap_or(first - elapsed);
    println!("| {name} | {load:.1} | {elapsed:.1} | {cpu:.1} | {:.0} |", peak_mib());
}

fn input() -> PorepInput {
    let Input::Porep(input) = Input::read(&root("testdata/porep.json")).expect("testdata") else { panic!("a PoRep") };
    input
}

fn bellperson(runs: usize) {
    let PorepInput { miner, sector, c1 } = input();
    let prover = cuzk::circuit::registered::prover_id(miner);
    let phase1 = |c1: &[u8]| serde_json::from_slice::<SealCommitPhase1Output>(c1).expect("a C1 output");
    measure("bellperson", runs, None, || {
        seal_commit_phase2(phase1(&c1), prover, sector.into()).expect("a proof").proof
    });
}

fn ours(runs: usize) {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().expect("a pool"));
    let input = Input::Porep(input());
    let id = CircuitId::new(Kind::PoRep, 2 << 10).expect("a circuit");
    let r1cs = Arc::new(id.record().expect("an R1CS"));
    let layouts = Arc::new(Layouts::pinned(id.layout(&r1cs).expect("its layout")));
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let file = srs(id, &r1cs, &pool);
    let srs = Arc::new(SrsFile::open(&file, &options).expect("the SRS"));
    let circuit = Circuit::new(id.to_string(), Arc::clone(&r1cs), srs).expect("its SRS");
    let cpu = CpuBackend::new(Arc::clone(&pool));
    // As in a build without that feature: a proof doesn't need it.
    #[cfg(feature = "testing")]
    let cpu = cpu.without_b_g1();
    let ((), load, _) = timed(|| cpu.load(&circuit, &Uncontrolled).expect("its SRS"));
    measure("cuzk", runs, Some(load), || {
        let checked = pool.install(|| input.check()).expect("true proofs");
        let partition = checked.partitions().next().expect("a partition");
        let mut builder = Builder::new(&layouts, r1cs.input_count);
        partition.synthesize(&mut builder).expect("a witness");
        let assignment = Arc::new(builder.finish().expect("its layout"));
        groth16::prove(&cpu, &circuit, &assignment).expect("a proof").to_bytes().to_vec()
    });
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runs = arguments.first().and_then(|runs| runs.parse().ok()).unwrap_or(3);
    match arguments.get(1).map(String::as_str) {
        Some("bellperson") => return bellperson(runs),
        Some("cuzk") => return ours(runs),
        _ => {
            let id = CircuitId::new(Kind::PoRep, 2 << 10).expect("a circuit");
            let pool = rayon::ThreadPoolBuilder::new().build().expect("a pool");
            srs(id, &id.record().expect("an R1CS"), &pool);
        }
    }
    println!("| prover | SRS load s | C1 to verified s | CPU s | peak MiB |\n|---|---|---|---|---|");
    for prover in ["bellperson", "cuzk"] {
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.args([&runs.to_string(), prover]).env("FIL_PROOFS_PARAMETER_CACHE", root("target/demo/params"));
        assert!(child.status().expect("a child").success(), "{prover} failed");
    }
}
