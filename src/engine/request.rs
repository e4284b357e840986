//! What a caller submits.

use std::time::Instant;

use filecoin_proofs_api::{PoStType, RegisteredPoStProof, RegisteredUpdateProof};

use crate::circuit::decode::check_byte_limit;
use crate::circuit::porep::{PorepRequest, MAX_C1_BYTES, MAX_ENVELOPE_BYTES};
use crate::circuit::post::{PostRequest, MAX_SECTOR_BYTES};
use crate::circuit::registered::{partition_count, post_circuit, update_circuit};
use crate::circuit::update::{UpdateRequest, MAX_PARTITION_BYTES};
use crate::circuit::{self, CircuitId, Kind, VanillaProofs};
use crate::error::{Error, Result};

/// A request for one proof, with its bytes. The fields mean what they mean in [`circuit::Request`].
#[derive(Clone, Debug)]
pub enum Request {
    /// PoRep C2.
    PoRep {
        /// Miner's actor id.
        miner: u64,
        /// Sector number.
        sector: u64,
        /// The C1 output as JSON, plain or in its envelope.
        c1: Vec<u8>,
    },
    /// SnapDeals.
    Update {
        /// Registered proof type.
        proof: RegisteredUpdateProof,
        /// Replica commitment before the update.
        comm_r_old: [u8; 32],
        /// Replica commitment after it.
        comm_r_new: [u8; 32],
        /// Data commitment after it.
        comm_d_new: [u8; 32],
        /// Partition proofs in bincode, in order.
        vanilla_proofs: Vec<Vec<u8>>,
    },
    /// WindowPoSt or WinningPoSt, as the proof type says.
    PoSt {
        /// Registered proof type.
        proof: RegisteredPoStProof,
        /// Miner's actor id.
        miner: u64,
        /// Randomness; the two top bits of byte 31 are ignored.
        randomness: [u8; 32],
        /// Which partition of the deadline.
        partition: u32,
        /// Sector proofs in bincode.
        vanilla_proofs: Vec<Vec<u8>>,
    },
}

/// A request on its way into an engine.
#[derive(Clone, Debug)]
pub struct Job {
    /// Chosen by the caller; routes the completion. Unique among the caller's unfinished requests.
    pub tag: u64,
    /// For logs alone; cut at 120 bytes.
    pub label: String,
    /// What to prove.
    pub request: Request,
    /// When the proof is of no more use: the job then ends with DEADLINE. Also decides the order within a class.
    pub deadline: Option<Instant>,
}

/// Longest label that is kept.
pub(super) const MAX_LABEL_BYTES: usize = 120;

impl Request {
    /// What it proves.
    pub fn kind(&self) -> Kind {
        match self {
            Request::PoRep { .. } => Kind::PoRep,
            Request::Update { .. } => Kind::SnapDeals,
            Request::PoSt { proof, .. } => match proof.typ() {
                PoStType::Window => Kind::WindowPoSt,
                PoStType::Winning => Kind::WinningPoSt,
            },
        }
    }

    /// Its circuit; None for a PoRep, whose size its bytes tell.
    pub fn circuit(&self) -> Option<CircuitId> {
        match self {
            Request::PoRep { .. } => None,
            Request::Update { proof, .. } => update_circuit(*proof).ok(),
            Request::PoSt { proof, .. } => post_circuit(*proof).ok(),
        }
    }

    /// Bytes of the vanilla proofs.
    pub fn bytes(&self) -> u64 {
        match self {
            Request::PoRep { c1, .. } => c1.len() as u64,
            Request::Update { vanilla_proofs, .. } | Request::PoSt { vanilla_proofs, .. } => {
                vanilla_proofs.iter().map(|proof| proof.len() as u64).sum()
            }
        }
    }

    /// Checks counts and sizes, without a look at the bytes. Errors: INVALID naming the field.
    pub fn check_structure(&self) -> Result<()> {
        match self {
            Request::PoRep { c1, .. } => at_most("c1", c1.len(), MAX_C1_BYTES.max(MAX_ENVELOPE_BYTES)),
            Request::Update { proof, vanilla_proofs, .. } => {
                let partitions = partition_count(update_circuit(*proof)?);
                match vanilla_proofs.len() == partitions {
                    true => each_at_most(vanilla_proofs, MAX_PARTITION_BYTES),
                    false => Err(count_error(vanilla_proofs.len(), format!("{partitions} partition proofs"))),
                }
            }
            Request::PoSt { proof, vanilla_proofs, .. } => {
                let most = proof.sector_count();
                if vanilla_proofs.is_empty() || vanilla_proofs.len() > most {
                    return Err(count_error(vanilla_proofs.len(), format!("1 to {most} sector proofs")));
                }
                each_at_most(vanilla_proofs, MAX_SECTOR_BYTES)
            }
        }
    }

    /// Decodes the bytes; [`circuit::Request::decode`] says what is checked. Errors: INVALID, UNSUPPORTED.
    pub fn decode(&self) -> Result<VanillaProofs> {
        match self {
            Request::PoRep { miner, sector, c1 } => {
                circuit::Request::Porep(PorepRequest { miner: *miner, sector: *sector, c1 }).decode()
            }
            Request::Update { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs } => {
                circuit::Request::Update(UpdateRequest {
                    proof: *proof,
                    comm_r_old: *comm_r_old,
                    comm_r_new: *comm_r_new,
                    comm_d_new: *comm_d_new,
                    vanilla_proofs: &slices(vanilla_proofs),
                })
                .decode()
            }
            Request::PoSt { proof, miner, randomness, partition, vanilla_proofs } => {
                circuit::Request::Post(PostRequest {
                    proof: *proof,
                    miner: *miner,
                    randomness: *randomness,
                    partition: *partition,
                    vanilla_proofs: &slices(vanilla_proofs),
                })
                .decode()
            }
        }
    }
}

fn slices(proofs: &[Vec<u8>]) -> Vec<&[u8]> {
    proofs.iter().map(Vec::as_slice).collect()
}

/// Every vanilla proof has bytes, and no more than `most`.
fn each_at_most(proofs: &[Vec<u8>], most: usize) -> Result<()> {
    let check =
        |(i, proof): (usize, &Vec<u8>)| at_most("vanilla_proofs", proof.len(), most).map_err(|error| error.in_entry(i));
    proofs.iter().enumerate().try_for_each(check)
}

fn at_most(field: &'static str, bytes: usize, most: usize) -> Result<()> {
    match bytes {
        0 => Err(Error::invalid(field, "empty")),
        bytes => check_byte_limit(field, bytes, most),
    }
}

fn count_error(found: usize, expected: String) -> Error {
    Error::invalid("vanilla_proofs", format!("{found} given, {expected} are proved"))
}
