//! A WinningPoSt of the 32 GiB shape on the CPU, as an engine proves it when no card is left:
//! `cargo bench --bench winning [-- RUNS]`.
//!
//! The input is made without a sector, the SRS once, below target/. A process without anything in its cache proves first,
//! then one that finds the recorded circuit there and proves RUNS (5) times more, warm; peaks are a process's own. CPU time
//! says what a busy host hides. Open: SRS and R1CS; wait: loading the SRS, mostly.

mod measure;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cuzk::circuit::registered::{params_file_name, post_proof};
use cuzk::circuit::{CircuitId, Kind};
use cuzk::engine::{BackendChoice, Completion, Config, Engine, Event, Job, Phase, Request};
use cuzk::vanilla::{sectorless, Input, PostInput};
use measure::{peak_mib, timed};

/// Longest that an event is waited for.
const PATIENCE: Duration = Duration::from_secs(600);
/// Phases that are shown.
const PHASES: [Phase; 6] = [Phase::Open, Phase::Check, Phase::Synthesis, Phase::Wait, Phase::Prove, Phase::Finish];

fn circuit() -> CircuitId {
    CircuitId::new(Kind::WinningPoSt, 32 << 30).expect("a circuit")
}

/// Input, SRS and cache.
fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/winning")
}

/// The SRS, unless it is there, and a new input.
fn prepare(dir: &Path) {
    let params = dir.join(params_file_name(circuit()));
    if !params.exists() {
        let pool = rayon::ThreadPoolBuilder::new().build().expect("a pool");
        let r1cs = circuit().record().expect("an R1CS");
        cuzk::setup::write_params(&r1cs, [0; 32], &params, &pool).expect("room for the SRS");
    }
    let proof = CircuitId::SECTOR_SIZES.iter().position(|size| *size == 32 << 30).expect("a sector size");
    let proof = post_proof(proof as i64).expect("a WinningPoSt");
    let input = sectorless::post(proof, 1000, 1, 1).expect("an input of every size");
    Input::Post(input).write(&dir.join("input.json")).expect("room for the input");
}

/// Submits the input and waits for its proof, which the engine has checked.
fn prove(engine: &Engine, input: &PostInput, tag: u64) -> Completion {
    let PostInput { proof, miner, randomness, partition, vanilla_proofs, .. } = input.clone();
    let request = Request::PoSt { proof, miner, randomness, partition, vanilla_proofs };
    let job = Job { tag, label: "winning".into(), request, deadline: None };
    engine.submit(vec![job]).remove(0).expect("a request that fits");
    loop {
        match engine.next(PATIENCE).expect("an open engine").expect("an event in time") {
            Event::Completion(completion) => {
                assert_eq!(completion.result.as_ref().expect("a proof").len(), 192);
                return completion;
            }
            Event::Log(record) if record.level <= log::Level::Warn => eprintln!("{}", record.message),
            _ => {}
        }
    }
}

fn row(name: &str, (completion, elapsed, cpu): &(Completion, f64, f64)) {
    let phases = PHASES.map(|phase| {
        let at = Phase::ALL.iter().position(|other| *other == phase).expect("all are there");
        format!("{:.2}", completion.timings.phases[at].as_secs_f64())
    });
    println!("| {name} | {elapsed:.2} | {cpu:.2} | {} | {:.0} |", phases.join(" | "), peak_mib());
}

/// One process: its first proof, then `runs` more.
fn measure_process(name: &str, runs: usize) {
    let dir = dir();
    let Input::Post(input) = Input::read(&dir.join("input.json")).expect("the input") else { panic!("a PoSt") };
    let config = Config {
        param_dirs: vec![dir.clone()],
        cache_dir: Some(dir.join("cache")),
        backend: BackendChoice::Cpu,
        allow_unknown_params: true,
        ..Config::default()
    };
    let engine = Engine::open(config).expect("an engine on the CPU");
    row(name, &timed(|| prove(&engine, &input, 0)));
    let mut warm: Vec<_> = (1..=runs).map(|run| timed(|| prove(&engine, &input, run as u64))).collect();
    warm.sort_by(|a, b| a.1.total_cmp(&b.1));
    if !warm.is_empty() {
        row("warm, median", &warm[warm.len() / 2]);
    }
    engine.close().expect("threads that end");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runs = arguments.first().and_then(|runs| runs.parse().ok()).unwrap_or(5);
    if let Some(name) = arguments.get(1) {
        return measure_process(name, runs);
    }
    let dir = dir();
    std::fs::create_dir_all(&dir).expect("target can be written");
    prepare(&dir);
    // Nothing there: fine.
    let _ = std::fs::remove_dir_all(dir.join("cache"));
    println!("| proof | s | CPU s | {} | peak MiB |", PHASES.map(Phase::name).join(" | "));
    println!("|{}", "---|".repeat(PHASES.len() + 4));
    for (name, runs) in [("first, nothing cached", 0), ("first, circuit cached", runs)] {
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        assert!(child.args([&runs.to_string(), name]).status().expect("a child").success(), "{name} failed");
    }
}
