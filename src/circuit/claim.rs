//! What a verifier knows of a proof, and the public inputs that follow from it, without any vanilla proof.

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};
use storage_proofs_porep::stacked::generate_replica_id;
use storage_proofs_update::{circuit::PublicInputs as UpdateInputs, constants::h_default};

use super::decode::Node;
use super::post::{self, PostRequest};
use super::registered::{partition_count, post_circuit, prover_id, seal_circuit, update_circuit};
use super::{porep, CircuitId};
use crate::error::{Error, Result};

/// What a proof claims.
#[derive(Clone, Debug)]
pub enum Claim {
    /// PoRep C2.
    Porep(PorepClaim),
    /// SnapDeals.
    Update(UpdateClaim),
    /// WindowPoSt or WinningPoSt.
    Post(PostClaim),
}

/// "The miner's sector is sealed."
#[derive(Clone, Copy, Debug)]
pub struct PorepClaim {
    /// Registered proof type.
    pub proof: RegisteredSealProof,
    /// Miner's actor id.
    pub miner: u64,
    /// Sector number.
    pub sector: u64,
    /// Replica commitment.
    pub comm_r: [u8; 32],
    /// Data commitment.
    pub comm_d: [u8; 32],
    /// Ticket that replica_id is made from.
    pub ticket: [u8; 32],
    /// Seed of the challenges.
    pub seed: [u8; 32],
}

/// "The replica holds new data."
#[derive(Clone, Copy, Debug)]
pub struct UpdateClaim {
    /// Registered proof type.
    pub proof: RegisteredUpdateProof,
    /// Replica commitment before the update.
    pub comm_r_old: [u8; 32],
    /// Replica commitment after it.
    pub comm_r_new: [u8; 32],
    /// Data commitment after it.
    pub comm_d_new: [u8; 32],
}

/// "The sectors are still stored."
#[derive(Clone, Debug)]
pub struct PostClaim {
    /// Registered proof type.
    pub proof: RegisteredPoStProof,
    /// Randomness; the two top bits of byte 31 are ignored.
    pub randomness: [u8; 32],
    /// Which partition of the deadline; only WindowPoSt V1 depends on it.
    pub partition: u32,
    /// Sector numbers and replica commitments, in the order of the vanilla proofs.
    pub sectors: Vec<(u64, [u8; 32])>,
}

impl Claim {
    /// The circuit of all partitions. Errors: UNSUPPORTED.
    pub fn circuit(&self) -> Result<CircuitId> {
        match self {
            Claim::Porep(claim) => seal_circuit(claim.proof),
            Claim::Update(claim) => update_circuit(claim.proof),
            Claim::Post(claim) => post_circuit(claim.proof),
        }
    }

    /// Public inputs of every partition, without ONE. Errors: INVALID naming the field, UNSUPPORTED.
    pub fn inputs(&self) -> Result<Vec<Vec<Fr>>> {
        match self {
            Claim::Porep(claim) => claim.inputs(),
            Claim::Update(claim) => claim.inputs(),
            Claim::Post(claim) => Ok(vec![claim.inputs()?]),
        }
    }
}

fn node(field: &'static str, bytes: [u8; 32]) -> Result<Node> {
    Node::try_from(bytes).map_err(|reason| Error::invalid(field, reason))
}

impl PorepClaim {
    fn inputs(&self) -> Result<Vec<Vec<Fr>>> {
        seal_circuit(self.proof)?;
        let (comm_d, comm_r) = (node("comm_d", self.comm_d)?, node("comm_r", self.comm_r)?);
        let (prover, porep_id) = (prover_id(self.miner), self.proof.as_v1_config().porep_id);
        let replica_id =
            generate_replica_id::<PoseidonHasher, _>(&prover, self.sector, &self.ticket, self.comm_d, &porep_id);
        let claim = porep::Claim { replica_id: replica_id.into(), comm_d, comm_r, seed: self.seed };
        let partitions = porep::positions(self.proof, &claim)?;
        Ok(partitions.iter().map(|positions| claim.inputs(positions)).collect())
    }
}

impl UpdateClaim {
    fn inputs(&self) -> Result<Vec<Vec<Fr>>> {
        let circuit = update_circuit(self.proof)?;
        let old = node("comm_r_old", self.comm_r_old)?.to_poseidon();
        let new = node("comm_r_new", self.comm_r_new)?.to_poseidon();
        let data = node("comm_d_new", self.comm_d_new)?.to_sha256();
        let nodes = circuit.sector_size() as usize / 32;
        let partition = |k| UpdateInputs::new(nodes, k, h_default(nodes), old, data, new).to_vec();
        Ok((0..partition_count(circuit)).map(partition).collect())
    }
}

impl PostClaim {
    fn inputs(&self) -> Result<Vec<Fr>> {
        let max = self.proof.sector_count();
        if self.sectors.is_empty() || self.sectors.len() > max {
            let reason = format!("{} sectors where 1 to {max} are proved", self.sectors.len());
            return Err(Error::invalid("sectors", reason));
        }
        let PostClaim { proof, randomness, partition, .. } = *self;
        let request = PostRequest { proof, miner: 0, randomness, partition, vanilla_proofs: &[] };
        let mut sectors = Vec::with_capacity(self.sectors.len());
        for (i, &(sector, comm_r)) in self.sectors.iter().enumerate() {
            let comm_r = node("sectors.comm_r", comm_r).map_err(|error| error.in_entry(i))?;
            sectors.push((comm_r.to_fr(), post::challenged_nodes(&request, sector, i)));
        }
        let sectors = sectors.iter().map(|(comm_r, nodes)| (*comm_r, nodes.iter().copied()));
        Ok(post::inputs(proof, sectors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vanilla::{samples_2kib, Input};
    use filecoin_proofs_api::seal::SealCommitPhase1Output;

    fn assert_same(claim: Claim, input: Input) {
        let checked = input.check().unwrap();
        let expected: Vec<Vec<Fr>> = checked.partitions().map(|partition| partition.inputs()).collect();
        assert_eq!(claim.inputs().unwrap(), expected);
        assert_eq!(claim.circuit().unwrap(), checked.circuit());
    }

    #[test]
    fn a_claim_gives_the_inputs_of_its_vanilla_proofs() {
        let samples = samples_2kib().unwrap();
        let porep = samples.porep.clone();
        let c1: SealCommitPhase1Output = serde_json::from_slice(&porep.c1).unwrap();
        let (comm_r, comm_d, ticket, seed) = (c1.comm_r, c1.comm_d, c1.ticket, c1.seed);
        let (miner, sector, proof) = (porep.miner, porep.sector, c1.registered_proof);
        let claim = PorepClaim { proof, miner, sector, comm_r, comm_d, ticket, seed };
        assert_same(Claim::Porep(claim), Input::Porep(porep));

        let update = samples.update.clone();
        let (comm_r_old, comm_r_new, comm_d_new) = (update.comm_r_old, update.comm_r_new, update.comm_d_new);
        let claim = UpdateClaim { proof: update.proof, comm_r_old, comm_r_new, comm_d_new };
        assert_same(Claim::Update(claim), Input::Update(update));

        for post in [samples.window.clone(), samples.winning.clone()] {
            let sectors = post.sectors.iter().map(|sector| (sector.sector, sector.comm_r)).collect();
            let (proof, randomness, partition) = (post.proof, post.randomness, post.partition);
            assert_same(Claim::Post(PostClaim { proof, randomness, partition, sectors }), Input::Post(post));
        }
    }

    #[test]
    fn false_claims_are_refused() {
        let proof = RegisteredPoStProof::StackedDrgWinning2KiBV1;
        let claim = |sectors| Claim::Post(PostClaim { proof, randomness: [0; 32], partition: 0, sectors });
        for sectors in [vec![], vec![(1, [0; 32]); 2], vec![(1, [0xff; 32])]] {
            assert!(matches!(claim(sectors).inputs(), Err(Error::Invalid { .. })));
        }
        assert!(claim(vec![(1, [1; 32])]).inputs().is_ok());
    }
}
