//! `cuzk verify`: nothing of ours, but the network's own verifier, in this process alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use cuzk::circuit::registered::{params_file_name, post_circuit, prover_id, seal_circuit, update_circuit};
use cuzk::circuit::CircuitId;
use cuzk::error::FileFault;
use cuzk::files;
use cuzk::srs::{ParamDirs, VerifyingKey, PARAM_DIR_ENV};
use cuzk::vanilla::{Input, PorepInput, PostInput, UpdateInput};
use cuzk::{Error, Result};
use filecoin_proofs_api::post::{verify_window_post, verify_winning_post};
use filecoin_proofs_api::seal::{verify_seal, SealCommitPhase1Output};
use filecoin_proofs_api::update::verify_empty_sector_update_proof;
use filecoin_proofs_api::{PoStType, PublicReplicaInfo};

use crate::output::say;
use crate::progress::Step;
use crate::prove::read_input;

/// Most bytes of a proof: the largest has 16 partitions.
const MAX_PROOF_BYTES: u64 = 1 << 20;

/// Verifies a proof against the public inputs of an input file.
#[derive(Args)]
pub struct Verify {
    /// File that gen-vanilla wrote; its vanilla proofs aren't looked at.
    #[arg(long)]
    input: PathBuf,
    /// The proof.
    #[arg(long)]
    proof: PathBuf,
    /// Directory of verifying keys; FIL_PROOFS_PARAMETER_CACHE or filecoin-proofs' default if it isn't named.
    #[arg(long)]
    params: Option<PathBuf>,
}

impl Verify {
    pub fn run(&self) -> Result<()> {
        if let Some(params) = &self.params {
            // filecoin-proofs reads it once, on first use. No thread of this process runs yet.
            std::env::set_var(PARAM_DIR_ENV, params);
        }
        let input = read_input(&self.input)?;
        let proof = files::read("proof", &self.proof, MAX_PROOF_BYTES)?;
        let step = Step::new("verifying");
        let vk = check_vk(circuit(&input)?)?;
        let valid = match &input {
            Input::Porep(input) => porep(input, &proof),
            Input::Update(input) => update(input, &proof),
            Input::Post(input) => post(input, &proof),
        };
        let valid = valid.map_err(|error| match format!("{error:#}") {
            // Its words for a key with another count of points.
            text if text.contains("malformed verifying key") => Error::ParamsCorrupt(FileFault {
                file: vk,
                section: "ic",
                index: None,
                expected: "the circuit's count of points".into(),
                found: "another circuit's".into(),
            }),
            text => Error::invalid("proof", text),
        })?;
        if !valid {
            return Err(Error::invalid("proof", "filecoin-proofs doesn't accept it"));
        }
        say!("{}: accepted by filecoin-proofs ({:.1} s)", self.proof.display(), step.end().as_secs_f64())?;
        Ok(())
    }
}

/// The verifying key must be there and sound: what filecoin-proofs says of one that isn't sounds like a false proof.
fn check_vk(id: CircuitId) -> Result<PathBuf> {
    let name = Path::new(&params_file_name(id)).with_extension("vk");
    let path = ParamDirs::new(Vec::new()).find(&name.to_string_lossy())?;
    VerifyingKey::read(&path).map(|_| path)
}

fn circuit(input: &Input) -> Result<CircuitId> {
    match input {
        Input::Porep(input) => seal_circuit(c1(input)?.registered_proof),
        Input::Update(input) => update_circuit(input.proof),
        Input::Post(input) => post_circuit(input.proof),
    }
}

fn c1(input: &PorepInput) -> Result<SealCommitPhase1Output> {
    serde_json::from_slice(&input.c1).map_err(|error| Error::invalid("input", format!("C1 output: {error}")))
}

fn porep(input: &PorepInput, proof: &[u8]) -> anyhow::Result<bool> {
    let c1 = c1(input)?;
    let (prover, sector) = (prover_id(input.miner), input.sector.into());
    verify_seal(c1.registered_proof, c1.comm_r, c1.comm_d, prover, sector, c1.ticket, c1.seed, proof)
}

fn update(input: &UpdateInput, proof: &[u8]) -> anyhow::Result<bool> {
    verify_empty_sector_update_proof(input.proof, proof, input.comm_r_old, input.comm_r_new, input.comm_d_new)
}

fn post(input: &PostInput, proof: &[u8]) -> anyhow::Result<bool> {
    let replica = |comm_r| PublicReplicaInfo::new(input.proof, comm_r);
    let sectors = input.sectors.iter().map(|sector| (sector.sector.into(), replica(sector.comm_r)));
    let replicas: BTreeMap<_, _> = sectors.collect();
    let prover = prover_id(input.miner);
    match input.proof.typ() {
        PoStType::Winning => verify_winning_post(&input.randomness, proof, &replicas, prover),
        PoStType::Window => verify_window_post(&input.randomness, &[(input.proof, proof)], &replicas, prover),
    }
}
