//! SnapDeals: from partition proofs to checked vanilla proofs.
//!
//! # Binding
//!
//! comm_r_old and comm_r_new are hashes of comm_c and of the roots that the paths in the old and new replica lead to;
//! comm_d_new is the root of the new data's paths, and decides with comm_r_old how the replica is encoded. comm_r_new
//! decides the challenges. Apex leaves must be the nodes of the new data's tree that the paths pass.

use blstrs::Scalar as Fr;
use filecoin_proofs::with_shape;
use filecoin_proofs_api::RegisteredUpdateProof;
use rayon::prelude::*;
use serde::Deserialize;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_update::constants::h_default;
use storage_proofs_update::{
    circuit::PublicInputs as CircuitInputs, phi, rho, ChallengeProof, Challenges, EmptySectorUpdateCompound,
    PartitionProof, PublicInputs, PublicParams,
};

use super::decode::{
    ensure, ensure_count, from_bincode, poseidon, sha256, Check, List, MerklePath, Node, Place, TreeShape,
};
use super::reference::{data_path, replica_path, Guarded, ReferenceCircuit, ReferenceTree};
use super::registered::{partition_count, update_circuit};
use super::request::{still, GoOn};
use super::CircuitId;
use crate::error::{Error, Result};

/// Most bytes of one partition proof: 64 GiB has 580 kB.
pub const MAX_PARTITION_BYTES: usize = 1 << 20;
/// Most challenges of a partition.
const MAX_CHALLENGES: usize = 86;
/// Most apex leaves of a partition.
const MAX_APEX_LEAVES: usize = 128;

const FIELD: &str = "vanilla_proofs";

/// A request for a SnapDeals update.
#[derive(Clone, Copy, Debug)]
pub struct UpdateRequest<'a> {
    /// Registered proof type.
    pub proof: RegisteredUpdateProof,
    /// Replica commitment before the update.
    pub comm_r_old: [u8; 32],
    /// Replica commitment after it.
    pub comm_r_new: [u8; 32],
    /// Data commitment after it.
    pub comm_d_new: [u8; 32],
    /// Partition proofs in bincode, in order.
    pub vanilla_proofs: &'a [&'a [u8]],
}

/// Decoded partition proofs whose counts, positions, commitments and repeated values are right. Hashes may be unchecked.
#[derive(Debug)]
pub struct Update {
    circuit: CircuitId,
    params: PublicParams,
    claim: Claim,
    partitions: Vec<Partition>,
}

/// The three commitments.
#[derive(Clone, Copy, Debug)]
struct Claim {
    comm_r_old: Node,
    comm_r_new: Node,
    comm_d_new: Node,
}

/// A partition proof in the reference's serialised form.
#[derive(Debug, Deserialize)]
struct Partition {
    comm_c: Node,
    apex_leafs: List<Node, MAX_APEX_LEAVES>,
    challenge_proofs: List<Challenge, MAX_CHALLENGES>,
}

#[derive(Debug, Deserialize)]
struct Challenge {
    proof_r_old: MerklePath,
    proof_d_new: MerklePath,
    proof_r_new: MerklePath,
}

impl Update {
    /// Decodes a request and checks everything but the hashes on paths. Blocks: 30 ms of one core at 32 GiB. Memory: at
    /// most the input's size again. Errors: INVALID naming the field.
    pub fn decode(request: &UpdateRequest<'_>) -> Result<Self> {
        let circuit = update_circuit(request.proof)?;
        let commitment = |field, bytes| Node::try_from(bytes).map_err(|reason| Error::invalid(field, reason));
        let claim = Claim {
            comm_r_old: commitment("comm_r_old", request.comm_r_old)?,
            comm_r_new: commitment("comm_r_new", request.comm_r_new)?,
            comm_d_new: commitment("comm_d_new", request.comm_d_new)?,
        };
        let count = partition_count(circuit);
        if request.vanilla_proofs.len() != count {
            let reason = format!("{} partition proofs instead of {count}", request.vanilla_proofs.len());
            return Err(Error::invalid(FIELD, reason));
        }
        let params = PublicParams::from_sector_size(circuit.sector_size());
        let mut partitions = Vec::with_capacity(count);
        for (k, bytes) in request.vanilla_proofs.iter().enumerate() {
            let partition: Partition = from_bincode(FIELD, k, bytes, MAX_PARTITION_BYTES)?;
            partition.check_structure(k, &claim, &params)?;
            partitions.push(partition);
        }
        Ok(Update { circuit, params, claim, partitions })
    }

    /// The circuit of all partitions.
    pub fn circuit(&self) -> CircuitId {
        self.circuit
    }

    /// Partitions, at least 1.
    pub fn partition_count(&self) -> usize {
        self.partitions.len()
    }

    /// Checks the hashes of partition `k`: with [`Update::decode`], all of its vanilla proof is then known to be true.
    /// A builder that computes these hashes while it synthesises need not call it. Parallel over challenges, in the
    /// caller's rayon pool. Errors: INVALID naming the place.
    pub fn check_hashes(&self, k: usize, go_on: GoOn<'_>) -> Result<()> {
        let partition = &self.partitions[k];
        let apex = Apex::of(&self.params);
        partition.challenge_proofs.par_iter().enumerate().try_for_each(|(i, challenge)| {
            still(go_on)?;
            let place = Place { field: FIELD, partition: k, challenge: i };
            place.require("proof_r_old", challenge.proof_r_old.check_poseidon())?;
            place.require("proof_r_new", challenge.proof_r_new.check_poseidon())?;
            place.require("proof_d_new", challenge.proof_d_new.check_sha256())?;
            place.require("proof_d_new", apex.check_leaf(&challenge.proof_d_new, &partition.apex_leafs))
        })
    }

    /// Public inputs of partition `k`, without ONE.
    pub fn inputs(&self, k: usize) -> Vec<Fr> {
        let Claim { comm_r_old, comm_r_new, comm_d_new } = self.claim;
        let nodes = self.params.sector_nodes;
        let (old, data, new) = (comm_r_old.to_poseidon(), comm_d_new.to_sha256(), comm_r_new.to_poseidon());
        CircuitInputs::new(nodes, k, h_default(nodes), old, data, new).to_vec()
    }

    /// The reference's circuit for partition `k`, with its witness. Errors: INTERNAL.
    pub fn reference(&self, k: usize) -> Result<ReferenceCircuit> {
        with_shape!(self.circuit.sector_size(), reference_of, self, k)
    }

    fn public_inputs(&self, k: usize) -> PublicInputs {
        PublicInputs {
            k,
            comm_r_old: self.claim.comm_r_old.to_poseidon(),
            comm_d_new: self.claim.comm_d_new.to_sha256(),
            comm_r_new: self.claim.comm_r_new.to_poseidon(),
            h: h_default(self.params.sector_nodes),
        }
    }
}

impl Partition {
    /// Checks counts, positions, roots, the encoding and the apex nodes of partition `k`. Hashes the commitments and the
    /// apex tree, but no path.
    fn check_structure(&self, k: usize, claim: &Claim, params: &PublicParams) -> Result<()> {
        let counts = ensure_count(self.apex_leafs.len(), params.apex_leaf_count)
            .and_then(|()| ensure_count(self.challenge_proofs.len(), params.challenge_count));
        counts.map_err(|reason| Error::invalid(FIELD, format!("[{k}]: {reason}")))?;

        let (root_old, root_new) =
            (self.challenge_proofs[0].proof_r_old.root, self.challenge_proofs[0].proof_r_new.root);
        for (field, root, comm_r) in
            [("comm_r_old", root_old, claim.comm_r_old), ("comm_r_new", root_new, claim.comm_r_new)]
        {
            if poseidon(&[self.comm_c, root]) != comm_r {
                let reason = format!("isn't the hash of comm_c and of the replica's root in partition proof {k}");
                return Err(Error::invalid(field, reason));
            }
        }

        let lg_nodes = params.challenge_bit_len as u32;
        let replica = TreeShape::replica(lg_nodes).expect("a circuit has a size that exists");
        let data = TreeShape::data(lg_nodes);
        let apex = Apex::of(params);
        let apex_rows = apex.rows(&self.apex_leafs);
        let phi = phi(&claim.comm_d_new.to_sha256(), &claim.comm_r_old.to_poseidon());
        let high_shift = params.challenge_bit_len - h_default(params.sector_nodes);
        let nodes = Challenges::new(params.sector_nodes, claim.comm_r_new.to_poseidon(), k);
        for (i, (challenge, node)) in self.challenge_proofs.iter().zip(nodes).enumerate() {
            let place = Place { field: FIELD, partition: k, challenge: i };
            let of = "that of the other challenges";
            place.require("proof_r_old", check_path(&challenge.proof_r_old, &replica, node, &root_old, of))?;
            place.require("proof_r_new", check_path(&challenge.proof_r_new, &replica, node, &root_new, of))?;
            let data_root = &claim.comm_d_new;
            place.require("proof_d_new", check_path(&challenge.proof_d_new, &data, node, data_root, "comm_d_new"))?;
            place.require("proof_d_new", apex.check_siblings(&challenge.proof_d_new, &apex_rows))?;
            place.require("proof_r_new.leaf", challenge.check_encoding(rho(&phi, node >> high_shift)))?;
        }
        Ok(())
    }
}

fn check_path(path: &MerklePath, shape: &TreeShape, node: u32, root: &Node, of: &'static str) -> Check {
    path.check_shape(shape, node.into())?;
    path.check_root(root, of)
}

impl Challenge {
    /// The new replica's node is the old one's plus the data times rho.
    fn check_encoding(&self, rho: Fr) -> Check {
        let encoded = self.proof_r_old.leaf.to_fr() + self.proof_d_new.leaf.to_fr() * rho;
        ensure(encoded == self.proof_r_new.leaf.to_fr(), || "isn't the old node with the new data encoded".into())
    }
}

/// Where a partition's apex tree lies on the paths of the new data.
struct Apex {
    /// Level of the apex leaves.
    height: usize,
    /// Levels from there to the apex root.
    levels: usize,
}

impl Apex {
    fn of(params: &PublicParams) -> Self {
        let levels = params.apex_leaf_bit_len;
        Apex { height: params.challenge_bit_len - params.partition_bit_len - levels, levels }
    }

    /// The apex tree's rows, leaves first, without the root.
    fn rows(&self, leaves: &[Node]) -> Vec<Vec<Node>> {
        let mut rows = vec![leaves.to_vec()];
        for level in 1..self.levels {
            let row = rows[level - 1].chunks_exact(2).map(sha256).collect();
            rows.push(row);
        }
        rows
    }

    /// Which leaf the path passes: its index digits above the apex leaves' level, up to the apex root.
    fn leaf_index(&self, path: &MerklePath) -> usize {
        let steps = &path.steps[self.height..self.height + self.levels];
        steps.iter().rev().fold(0, |index, step| 2 * index + step.index as usize)
    }

    /// Each sibling on the path inside the apex tree must be that tree's node. (The reference looks for it anywhere in
    /// its row.)
    fn check_siblings(&self, path: &MerklePath, rows: &[Vec<Node>]) -> Check {
        let leaf = self.leaf_index(path);
        for (level, row) in rows.iter().enumerate() {
            let sibling = path.steps[self.height + level].siblings[0];
            let says = || format!("a sibling isn't the apex tree's, {level} levels above its leaves");
            ensure(sibling == row[(leaf >> level) ^ 1], says)?;
        }
        Ok(())
    }

    /// The node that the path passes must be the apex leaf. (The reference doesn't compare it.)
    fn check_leaf(&self, path: &MerklePath, leaves: &[Node]) -> Check {
        let node = path.nodes_sha256()[self.height];
        ensure(node == leaves[self.leaf_index(path)], || "doesn't pass its apex leaf".into())
    }
}

fn reference_of<Tree: ReferenceTree>(update: &Update, k: usize) -> Result<ReferenceCircuit> {
    let proof = partition_proof::<Tree>(&update.partitions[k]);
    let circuit = Guarded::run("the SnapDeals circuit", || {
        EmptySectorUpdateCompound::<Tree>::circuit(&update.public_inputs(k), (), &proof, &update.params, Some(k))
    })?;
    Ok(Tree::update(circuit))
}

fn partition_proof<Tree: ReferenceTree>(partition: &Partition) -> PartitionProof<Tree> {
    let challenges = partition.challenge_proofs.iter().map(|challenge| ChallengeProof {
        proof_r_old: replica_path::<Tree>(&challenge.proof_r_old),
        proof_d_new: data_path(&challenge.proof_d_new),
        proof_r_new: replica_path::<Tree>(&challenge.proof_r_new),
    });
    PartitionProof {
        comm_c: partition.comm_c.to_poseidon(),
        apex_leafs: partition.apex_leafs.iter().map(|leaf| leaf.to_sha256()).collect(),
        challenge_proofs: challenges.collect(),
    }
}
