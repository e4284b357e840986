//! Filecoin's circuits on the CPU back end: real proofs at 2 KiB.
//!
//! One test, since a process has one such engine at a time.

use std::path::Path;
use std::time::Duration;

use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::engine::{BackendChoice, Completion, Config, Engine, Event, Job, Request};
use cuzk::groth16::{verify, Proof};
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::vanilla::{samples_2kib, PostInput};
use cuzk::{Error, Status};

use crate::support::{circuit, job, WATCHDOG};

fn request(input: &PostInput) -> Request {
    let PostInput { proof, miner, randomness, partition, vanilla_proofs, .. } = input.clone();
    Request::PoSt { proof, miner, randomness, partition, vanilla_proofs }
}

fn wait(engine: &Engine, tag: u64) -> Completion {
    loop {
        match engine.next(WATCHDOG).unwrap() {
            Some(Event::Completion(completion)) => {
                assert_eq!(completion.tag, tag);
                return completion;
            }
            Some(_) => {}
            None => panic!("no completion of {tag}"),
        }
    }
}

fn ended(engine: &Engine, job: Job) -> Completion {
    let tag = job.tag;
    engine.submit(vec![job]).remove(0).unwrap();
    wait(engine, tag)
}

fn write_params(dir: &Path, circuit: CircuitId) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let r1cs = circuit.record_pinned().unwrap();
    cuzk::setup::write_params(&r1cs, [9; 32], &dir.join(params_file_name(circuit)), &pool).unwrap();
}

/// Whether the proof holds for the inputs that the network's verifier computes.
fn holds(dir: &Path, request: &Request, completion: &Completion) -> bool {
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = SrsFile::open(&dir.join(params_file_name(request.circuit().unwrap())), &options).unwrap();
    let proof = Proof::from_bytes(completion.result.as_ref().unwrap()).unwrap();
    verify(srs.vk(), &request.decode().unwrap().inputs(0), &proof).unwrap()
}

/// With memory for no circuit, a preload and a proof say so; the next engine is as good as ever.
fn expect_no_room(config: &Config, winning: &Request) {
    let engine = Engine::open(Config { host_memory_bytes: 40 << 20, ..config.clone() }).unwrap();
    engine.preload(circuit(Kind::WinningPoSt), 10).unwrap();
    assert_eq!(wait(&engine, 10).result.unwrap_err().status(), Status::OutOfMemory);
    assert_eq!(ended(&engine, job(11, winning.clone())).result.unwrap_err().status(), Status::OutOfMemory);
    engine.close().unwrap();
}

#[test]
fn posts_on_the_cpu() {
    let dir = tempfile::tempdir().unwrap();
    let samples = samples_2kib().unwrap();
    let (winning, window) = (request(&samples.winning), request(&samples.window));
    write_params(dir.path(), circuit(Kind::WinningPoSt));
    write_params(dir.path(), circuit(Kind::WindowPoSt));
    let config = Config {
        param_dirs: vec![dir.path().into()],
        cache_dir: Some(dir.path().join("cache")),
        backend: BackendChoice::Cpu,
        threads: 2,
        ..Config::default()
    };

    // Parameters that aren't the network's are refused unless they are asked for.
    let engine = Engine::open(config.clone()).unwrap();
    assert!(matches!(Engine::open(config.clone()), Err(Error::AlreadyOpen)));
    assert_eq!(ended(&engine, job(1, winning.clone())).result.unwrap_err().status(), Status::ParamsUnknown);
    engine.close().unwrap();

    let engine = Engine::open(Config { allow_unknown_params: true, ..config.clone() }).unwrap();
    engine.preload(circuit(Kind::WinningPoSt), 2).unwrap();
    wait(&engine, 2).result.unwrap();
    let opens = engine.stats().unwrap().counters.opens;
    let (first, second) = (ended(&engine, job(3, winning.clone())), ended(&engine, job(4, winning.clone())));
    assert!(holds(dir.path(), &winning, &first) && holds(dir.path(), &winning, &second));
    assert_ne!(first.result, second.result, "blinded anew each time");
    assert_eq!(engine.stats().unwrap().counters.opens, opens, "nothing is read for a preloaded circuit");
    assert_eq!((first.timings.partitions, first.timings.constraints), (1, 90_750));

    let proof = ended(&engine, job(5, window.clone()));
    assert!(holds(dir.path(), &window, &proof));
    assert!(!holds(dir.path(), &request(&samples.window_short), &proof), "of other sectors");

    // What is wrong with the content arrives as a completion, and what is missing is named.
    let mut wrong = samples.winning.clone();
    wrong.vanilla_proofs[0][100] ^= 1;
    assert_eq!(ended(&engine, job(6, request(&wrong))).result.unwrap_err().status(), Status::Invalid);
    let porep = Request::PoRep { miner: 1000, sector: samples.porep.sector, c1: samples.porep.c1.clone() };
    let missing = ended(&engine, job(7, porep)).result.unwrap_err();
    assert_eq!(missing.status(), Status::ParamsMissing);
    assert!(missing.to_string().contains(&dir.path().display().to_string()), "{missing}");

    let stats = engine.stats().unwrap();
    assert_eq!(stats.kinds.map(|kind| (kind.proved, kind.failed)), [(0, 1), (0, 0), (1, 0), (2, 1)]);
    assert!(stats.pools[0].used_bytes > 0 && stats.pools[0].used_bytes < stats.pools[0].total_bytes);
    engine.trim(8).unwrap();
    wait(&engine, 8).result.unwrap();
    assert_eq!(engine.stats().unwrap().resident, [circuit(Kind::WinningPoSt)]);
    engine.close().unwrap();
    let waiting = (0..1000).take_while(|_| engine.next(Duration::ZERO).is_ok()).count();
    assert!(waiting < 1000, "events that waited, then CLOSED");

    drop(engine);
    expect_no_room(&Config { allow_unknown_params: true, ..config.clone() }, &winning);

    // A file under another circuit's name names the counts that differ.
    let winning_file = dir.path().join(params_file_name(circuit(Kind::WinningPoSt)));
    std::fs::rename(dir.path().join(params_file_name(circuit(Kind::WindowPoSt))), winning_file).unwrap();
    let engine = Engine::open(Config { allow_unknown_params: true, ..config }).unwrap();
    let error = ended(&engine, job(9, winning)).result.unwrap_err();
    assert_eq!(error.status(), Status::ParamsCorrupt, "not the request's fault");
    let error = error.to_string();
    assert!(error.contains("of another circuit") && error.contains("expected"), "{error}");
}
