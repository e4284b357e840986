//! A partition in the reference's types.

use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::parameters::public_params;
use filecoin_proofs::with_shape;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::{MerkleProof, MerkleTreeTrait};
use storage_proofs_porep::stacked::{
    ColumnProof as ReferenceColumnProof, EncodingProof, LabelingProof, Proof, ReplicaColumnProof, StackedCompound,
};

use super::c1::{Challenge, ColumnProof};
use super::Porep;
use crate::circuit::reference::{data_path, replica_path, Guarded, ReferenceCircuit, ReferenceTree};
use crate::error::Result;

/// The reference's circuit for partition `k`.
pub fn circuit(porep: &Porep, k: usize) -> Result<ReferenceCircuit> {
    with_shape!(porep.circuit.sector_size(), circuit_of, porep, k)
}

fn circuit_of<Tree: ReferenceTree>(porep: &Porep, k: usize) -> Result<ReferenceCircuit> {
    let proofs: Vec<_> = porep.partitions[k].challenges.iter().map(|(_, proof)| challenge::<Tree>(proof)).collect();
    let circuit = Guarded::run("the PoRep circuit", || {
        let params = public_params::<Tree>(&porep.proof.as_v1_config())?;
        let inputs = porep.claim().public_inputs();
        StackedCompound::<Tree, Sha256Hasher>::circuit(&inputs, (), &proofs, &params, Some(k))
    })?;
    Ok(Tree::porep(circuit))
}

/// One challenge's vanilla proof.
pub fn challenge<Tree: ReferenceTree>(challenge: &Challenge) -> Proof<Tree, Sha256Hasher> {
    let columns = &challenge.replica_column_proofs;
    let labeling = challenge.labeling_proofs.iter().map(|labeling| {
        let parents = labeling.parents.iter().map(|parent| parent.to_poseidon()).collect();
        LabelingProof::<PoseidonHasher>::new(labeling.layer_index, labeling.node, parents)
    });
    let encoding = &challenge.encoding_proof;
    let key_parents = encoding.parents.iter().map(|parent| parent.to_poseidon()).collect();
    Proof {
        comm_d_proofs: data_path(&challenge.comm_d_proofs),
        comm_r_last_proof: replica_path::<Tree>(&challenge.comm_r_last_proof),
        replica_column_proofs: ReplicaColumnProof {
            c_x: column::<Tree>(&columns.c_x),
            drg_parents: columns.drg_parents.iter().map(column::<Tree>).collect(),
            exp_parents: columns.exp_parents.iter().map(column::<Tree>).collect(),
        },
        labeling_proofs: labeling.collect(),
        encoding_proof: EncodingProof::new(encoding.layer_index, encoding.node, key_parents),
    }
}

type TreePath<Tree> = MerkleProof<
    <Tree as MerkleTreeTrait>::Hasher,
    <Tree as MerkleTreeTrait>::Arity,
    <Tree as MerkleTreeTrait>::SubTreeArity,
    <Tree as MerkleTreeTrait>::TopTreeArity,
>;

fn column<Tree: ReferenceTree>(proof: &ColumnProof) -> ReferenceColumnProof<TreePath<Tree>> {
    let rows = proof.column.rows.iter().map(|row| row.to_poseidon()).collect();
    ReferenceColumnProof::new(proof.column.index, rows, replica_path::<Tree>(&proof.inclusion_proof))
}
