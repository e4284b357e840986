//! An echo engine with what tests ask of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::engine::{
    echo_inputs, Completion, Config, EchoCall, EchoCallKind, EchoFault, EchoFaultKind, EchoOptions, Engine, Event,
    Health, Job, LogRecord, Progress, Request, Stats,
};
use cuzk::groth16::{verify, Proof, PROOF_BYTES};
use cuzk::srs::{SrsFile, SrsOptions, VerifyingKey};
use cuzk::{Error, Result};
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredUpdateProof};

/// Longest wait for anything: a test that waits so long has failed.
pub const WATCHDOG: Duration = Duration::from_secs(60);

/// An engine and the events that were taken from it.
pub struct Host {
    pub engine: Arc<Engine>,
    pub dir: tempfile::TempDir,
    completions: HashMap<u64, Completion>,
    /// Tags in the order of their completions.
    pub order: Vec<u64>,
    pub progress: Vec<Progress>,
    pub health: Vec<Health>,
    pub logs: Vec<LogRecord>,
}

pub fn config() -> Config {
    Config { threads: 2, host_memory_bytes: 64 << 20, ..Config::default() }
}

impl Host {
    pub fn open(options: EchoOptions) -> Self {
        Self::with(config(), options)
    }

    pub fn with(config: Config, options: EchoOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config { param_dirs: vec![dir.path().to_owned()], ..config };
        let engine = Engine::open_echo(config, options).unwrap();
        Host {
            engine,
            dir,
            completions: HashMap::new(),
            order: Vec::new(),
            progress: Vec::new(),
            health: Vec::new(),
            logs: Vec::new(),
        }
    }

    /// Devices that prove one partition at a time.
    pub fn one_by_one() -> Self {
        Self::open(EchoOptions { max_batch: 1, ..EchoOptions::default() })
    }

    pub fn submit(&self, job: Job) {
        self.try_submit(job).unwrap();
    }

    pub fn try_submit(&self, job: Job) -> Result<()> {
        self.engine.submit(vec![job]).remove(0)
    }

    /// Takes one event, if there is one soon.
    pub fn step(&mut self, timeout: Duration) -> bool {
        match self.engine.next(timeout) {
            Ok(Some(Event::Completion(completion))) => {
                self.order.push(completion.tag);
                self.completions.insert(completion.tag, completion);
            }
            Ok(Some(Event::Log(record))) => self.logs.push(record),
            Ok(Some(Event::Progress(progress))) => self.progress.push(progress),
            Ok(Some(Event::Health(health))) => self.health.push(health),
            Ok(None) | Err(_) => return false,
        }
        true
    }

    /// Takes what is there.
    pub fn drain(&mut self) {
        while self.step(Duration::ZERO) {}
    }

    /// The completion of `tag`.
    pub fn wait(&mut self, tag: u64) -> Completion {
        let until = Instant::now() + WATCHDOG;
        loop {
            if let Some(completion) = self.completions.remove(&tag) {
                return completion;
            }
            assert!(Instant::now() < until, "no completion of {tag}; {:#?}", self.engine.stats());
            self.step(Duration::from_millis(100));
        }
    }

    /// Whether `tag` has ended by now.
    pub fn has_ended(&mut self, tag: u64) -> bool {
        self.drain();
        self.completions.contains_key(&tag)
    }

    pub fn error(&mut self, tag: u64) -> Error {
        self.wait(tag).result.expect_err("this one fails")
    }

    /// Waits until the engine's statistics say so.
    pub fn until(&mut self, what: &str, done: impl Fn(&Stats) -> bool) -> Stats {
        let until = Instant::now() + WATCHDOG;
        loop {
            let stats = self.engine.stats().unwrap();
            if done(&stats) {
                return stats;
            }
            assert!(Instant::now() < until, "{what}: {stats:#?}");
            self.step(Duration::from_millis(2));
        }
    }

    /// Waits until partitions and loads have come to a hold, or to a hang, so many times since the engine was opened, and
    /// gives the statistics of that state. [`Stats::proving`] alone says so a little earlier.
    pub fn held(&mut self, times: usize) -> Stats {
        let engine = Arc::clone(&self.engine);
        let held = |call: &EchoCall| call.what == EchoCallKind::Held;
        self.until("held", |_| engine.echo_calls().unwrap().iter().filter(|call| held(call)).count() == times);
        self.engine.stats().unwrap()
    }

    /// Waits until nothing is under way, and checks that every gauge and budget is back.
    pub fn settled(&mut self) -> Stats {
        let idle = |stats: &Stats| {
            let jobs: u64 = stats.kinds.iter().map(|kind| kind.queued + kind.running).sum();
            jobs + stats.synthesising + stats.waiting_for_device + stats.proving + stats.pools[0].used_bytes == 0
                && stats.devices.iter().all(|device| !device.busy)
        };
        self.until("idle again", idle)
    }

    pub fn inject(&self, what: EchoFaultKind, kind: Option<Kind>, count: u32) {
        self.engine.inject(EchoFault { what, device: None, kind, skip: 0, count }).unwrap();
    }

    /// Releases what is held.
    pub fn release(&self, what: EchoFaultKind) {
        self.inject(what, None, 0);
    }

    /// Proves once, so that the circuit is resident.
    pub fn warm(&mut self, mut job: Job) {
        job.tag = u64::MAX;
        self.submit(job);
        self.wait(u64::MAX).result.unwrap();
        self.until("the device is idle", |stats| stats.devices.iter().all(|device| !device.busy));
    }

    /// Circuits and batch sizes in the order in which they were handed to the back ends.
    pub fn batches(&self) -> Vec<(String, usize)> {
        let calls = self.engine.echo_calls().unwrap();
        let batches = calls.into_iter().filter_map(|call| match call.what {
            EchoCallKind::Prove(count) => Some((call.circuit, count)),
            _ => None,
        });
        batches.collect()
    }

    pub fn calls(&self, what: EchoCallKind) -> Vec<String> {
        let calls = self.engine.echo_calls().unwrap();
        calls.into_iter().filter(|call| call.what == what).map(|call| call.circuit).collect()
    }

    fn vk(&self, circuit: CircuitId) -> VerifyingKey {
        let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
        SrsFile::open(&self.dir.path().join(params_file_name(circuit)), &options).unwrap().vk().clone()
    }

    /// Whether `bytes` prove all partitions of `request`.
    pub fn proves(&self, bytes: &[u8], circuit: CircuitId, request: &Request) -> bool {
        let vk = self.vk(circuit);
        let mut proofs = bytes.chunks(PROOF_BYTES).enumerate();
        proofs.all(|(k, proof)| {
            let proof = Proof::from_bytes(proof).unwrap();
            verify(&vk, &echo_inputs(request, k), &proof).unwrap()
        })
    }

    /// Waits for the proof of `job`'s request and checks it.
    pub fn proved(&mut self, job: &Job) -> Completion {
        let completion = self.wait(job.tag);
        let bytes = completion.result.as_ref().unwrap_or_else(|error| panic!("{}: {error}", job.tag));
        let circuit = completion.circuit.unwrap();
        assert_eq!(bytes.len(), completion.timings.partitions as usize * PROOF_BYTES);
        assert!(self.proves(bytes, circuit, &job.request), "the proof of {}", job.tag);
        completion
    }
}

pub fn job(tag: u64, request: Request) -> Job {
    Job { tag, label: format!("job {tag}"), request, deadline: None }
}

/// Ten partitions.
pub fn porep(tag: u64) -> Job {
    job(tag, Request::PoRep { miner: 1000, sector: tag, c1: vec![7; 64] })
}

fn update_of(tag: u64, proof: RegisteredUpdateProof, partitions: usize) -> Job {
    let comm = [0; 32];
    let vanilla_proofs = vec![tag.to_le_bytes().to_vec(); partitions];
    job(tag, Request::Update { proof, comm_r_old: comm, comm_r_new: comm, comm_d_new: comm, vanilla_proofs })
}

/// One partition of bulk.
pub fn update(tag: u64) -> Job {
    update_of(tag, RegisteredUpdateProof::StackedDrg2KiBV1, 1)
}

/// Sixteen partitions of bulk.
pub fn large_update(tag: u64) -> Job {
    update_of(tag, RegisteredUpdateProof::StackedDrg32GiBV1, 16)
}

fn post(tag: u64, proof: RegisteredPoStProof) -> Job {
    let vanilla_proofs = vec![tag.to_le_bytes().to_vec()];
    job(tag, Request::PoSt { proof, miner: 1000, randomness: [1; 32], partition: 0, vanilla_proofs })
}

pub fn window(tag: u64) -> Job {
    post(tag, RegisteredPoStProof::StackedDrgWindow2KiBV1_2)
}

pub fn winning(tag: u64) -> Job {
    post(tag, RegisteredPoStProof::StackedDrgWinning2KiBV1)
}

pub fn circuit(kind: Kind) -> CircuitId {
    CircuitId::new(kind, 2 << 10).unwrap()
}
