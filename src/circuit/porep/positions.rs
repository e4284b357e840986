//! Which nodes a PoRep opens.

use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_proofs::parameters::public_params;
use filecoin_proofs::with_shape;
use filecoin_proofs_api::RegisteredSealProof;
use storage_proofs_core::drgraph::Graph;
use storage_proofs_porep::stacked::{PublicInputs, Tau};

use super::c1::{BASE_PARENTS, EXPANDER_PARENTS};
use super::Claim;
use crate::circuit::reference::{Guarded, ReferenceTree};
use crate::circuit::registered::{partition_count, seal_circuit};
use crate::error::Result;

/// A challenged node and its parents: those in the base graph, then those in the expander graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub node: u64,
    pub parents: [u32; BASE_PARENTS + EXPANDER_PARENTS],
}

impl Claim {
    /// In the reference's form.
    pub fn public_inputs(&self) -> PublicInputs<PoseidonDomain, Sha256Domain> {
        let tau = Tau { comm_d: self.comm_d.to_sha256(), comm_r: self.comm_r.to_poseidon() };
        PublicInputs { replica_id: self.replica_id.to_poseidon(), seed: Some(self.seed), tau: Some(tau), k: None }
    }
}

/// The positions that a claim challenges, per partition.
pub fn positions(proof: RegisteredSealProof, claim: &Claim) -> Result<Vec<Vec<Position>>> {
    Guarded::run("the graph's parents", || with_shape!(u64::from(proof.sector_size()), positions_of, proof, claim))
}

fn positions_of<Tree: ReferenceTree>(proof: RegisteredSealProof, claim: &Claim) -> anyhow::Result<Vec<Vec<Position>>> {
    let params = public_params::<Tree>(&proof.as_v1_config())?;
    let inputs = claim.public_inputs();
    let mut partitions = Vec::new();
    for k in 0..partition_count(seal_circuit(proof)?) {
        let mut positions = Vec::new();
        for node in inputs.challenges(&params.challenges, params.graph.size(), Some(k)) {
            let mut parents = [0; BASE_PARENTS + EXPANDER_PARENTS];
            params.graph.parents(node, &mut parents)?;
            positions.push(Position { node: node as u64, parents });
        }
        partitions.push(positions);
    }
    Ok(partitions)
}
