//! PoRep C2: from a C1 output to checked vanilla proofs per partition.
//!
//! # Binding
//!
//! replica_id is recomputed from the caller's miner and sector and from the C1 output's ticket and comm_d, and must equal
//! the C1 output's. The seed binds through the challenges that it gives with replica_id, comm_d and comm_r through the
//! roots that all paths lead to. Every other value is either hashed on a path or compared with what it must be.

mod c1;
mod check;
mod positions;
mod reference;

pub(crate) use c1::{BASE_PARENTS, LABEL_PARENTS};
pub use c1::{MAX_C1_BYTES, MAX_ENVELOPE_BYTES};
pub(crate) use positions::{positions, Position};

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_porep::stacked::generate_replica_id;

use self::c1::{Challenge, C1};
use super::decode::{ensure, poseidon, Node, TreeShape};
use super::reference::ReferenceCircuit;
use super::registered::{partition_count, prover_id, seal_circuit};
use super::{CircuitId, GoOn};
use crate::error::{Error, Result};

/// A request for a PoRep C2.
#[derive(Clone, Copy, Debug)]
pub struct PorepRequest<'a> {
    /// Miner's actor id.
    pub miner: u64,
    /// Sector number.
    pub sector: u64,
    /// The C1 output as JSON, plain or in the envelope `{"SectorNum", "Phase1Out", "SectorSize"}`.
    pub c1: &'a [u8],
}

/// A decoded C1 output whose counts, positions, commitments and repeated values are right. Hashes may be unchecked.
#[derive(Debug)]
pub struct Porep {
    proof: RegisteredSealProof,
    circuit: CircuitId,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: [u8; 32],
    partitions: Vec<Partition>,
}

/// One partition's share.
#[derive(Debug)]
struct Partition {
    comm_c: Node,
    comm_r_last: Node,
    challenges: Vec<(Position, Challenge)>,
}

/// The shapes that paths of one sector size must have.
struct Shapes {
    data: TreeShape,
    replica: TreeShape,
    layers: usize,
}

impl Porep {
    /// Decodes a request and checks everything but the hashes on paths and of labels and columns.
    /// Blocks: 0.4 s of one core at 32 GiB. Memory: at most the input's size again, and half of it for an envelope.
    /// Errors: INVALID naming the field, UNSUPPORTED (non-interactive PoRep).
    pub fn decode(request: &PorepRequest<'_>) -> Result<Self> {
        let c1 = C1::decode(request.c1, request.sector)?;
        let circuit = seal_circuit(c1.proof)?;
        check_header(&c1, request)?;
        let count = partition_count(circuit);
        if c1.partitions.len() != count {
            let reason = format!("{} partitions instead of {count}", c1.partitions.len());
            return Err(Error::invalid("c1.vanilla_proofs", reason));
        }

        let positions = positions(c1.proof, &c1.claim())?;
        let shapes = Shapes::of(circuit);
        let mut partitions = Vec::with_capacity(count);
        for (k, (challenges, positions)) in c1.partitions.into_iter().zip(positions).enumerate() {
            if challenges.len() != positions.len() {
                let reason = format!("[{k}]: {} challenges instead of {}", challenges.len(), positions.len());
                return Err(Error::invalid("c1.vanilla_proofs", reason));
            }
            let partition = Partition {
                comm_c: challenges[0].replica_column_proofs.c_x.inclusion_proof.root,
                comm_r_last: challenges[0].comm_r_last_proof.root,
                challenges: positions.into_iter().zip(challenges).collect(),
            };
            if poseidon(&[partition.comm_c, partition.comm_r_last]) != c1.comm_r {
                let reason = format!("isn't the hash of the roots of trees C and R in partition {k}");
                return Err(Error::invalid("c1.comm_r", reason));
            }
            check::structure(&partition, k, &c1.comm_d, &shapes)?;
            partitions.push(partition);
        }
        Ok(Porep {
            proof: c1.proof,
            circuit,
            comm_r: c1.comm_r,
            comm_d: c1.comm_d,
            replica_id: c1.replica_id,
            seed: c1.seed,
            partitions,
        })
    }

    /// The circuit of all partitions.
    pub fn circuit(&self) -> CircuitId {
        self.circuit
    }

    /// Partitions, at least 1.
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// Checks the hashes of partition `k`: with [`Porep::decode`], all of its vanilla proof is then known to be true.
    /// A builder that computes these hashes while it synthesises need not call it. Parallel over challenges, in the
    /// caller's rayon pool. Blocks: 0.28 core-seconds at 32 GiB. Errors: INVALID naming the place.
    pub fn check_hashes(&self, k: usize, go_on: GoOn<'_>) -> Result<()> {
        check::hashes(&self.partitions[k], k, &self.replica_id, go_on)
    }

    /// Public inputs of partition `k`, without ONE.
    pub fn inputs(&self, k: usize) -> Vec<Fr> {
        let positions = self.partitions[k].challenges.iter().map(|(position, _)| position);
        self.claim().inputs(positions)
    }

    fn claim(&self) -> Claim {
        Claim { replica_id: self.replica_id, comm_d: self.comm_d, comm_r: self.comm_r, seed: self.seed }
    }

    /// The reference's circuit for partition `k`, with its witness. Errors: INTERNAL.
    pub fn reference(&self, k: usize) -> Result<ReferenceCircuit> {
        reference::circuit(self, k)
    }
}

impl Shapes {
    fn of(circuit: CircuitId) -> Self {
        let lg_nodes = (circuit.sector_size() / 32).trailing_zeros();
        Shapes {
            data: TreeShape::data(lg_nodes),
            replica: TreeShape::replica(lg_nodes).expect("a circuit has a size that exists"),
            layers: if lg_nodes < 30 { 2 } else { 11 },
        }
    }
}

/// What the reference calls a seal's public inputs.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub replica_id: Node,
    pub comm_d: Node,
    pub comm_r: Node,
    pub seed: [u8; 32],
}

impl C1 {
    fn claim(&self) -> Claim {
        Claim { replica_id: self.replica_id, comm_d: self.comm_d, comm_r: self.comm_r, seed: self.seed }
    }
}

impl Claim {
    /// Public inputs of a partition that challenges these positions, without ONE.
    pub fn inputs<'a>(&self, positions: impl IntoIterator<Item = &'a Position>) -> Vec<Fr> {
        let mut inputs = vec![self.replica_id.to_fr(), self.comm_d.to_fr(), self.comm_r.to_fr()];
        for Position { node, parents } in positions {
            let parents = parents.iter().map(|&parent| u64::from(parent));
            // The path in tree D; those of the parents in tree C; the node itself; its paths in trees R and C.
            inputs.extend([*node].into_iter().chain(parents).chain([*node; 3]).map(Fr::from));
        }
        inputs
    }
}

/// Checks the fields beside the vanilla proofs.
fn check_header(c1: &C1, request: &PorepRequest<'_>) -> Result<()> {
    let zero = |field, bytes: &[u8; 32]| {
        ensure(*bytes != [0; 32], || "all bytes are zero".into()).map_err(|reason| Error::invalid(field, reason))
    };
    zero("c1.comm_r", c1.comm_r.as_bytes())?;
    zero("c1.comm_d", c1.comm_d.as_bytes())?;
    zero("c1.seed", &c1.seed)?;

    let porep_id = c1.proof.as_v1_config().porep_id;
    let prover = prover_id(request.miner);
    let comm_d = c1.comm_d.as_bytes();
    let expected = generate_replica_id::<PoseidonHasher, _>(&prover, request.sector, &c1.ticket, comm_d, &porep_id);
    if Node::from(expected) != c1.replica_id {
        let reason = "isn't that of the request's miner and sector with this ticket, comm_d and registered proof";
        return Err(Error::invalid("c1.replica_id", reason));
    }
    Ok(())
}
