//! Checks of a partition's vanilla proof.
//!
//! Stronger than the reference's verification, which hashes neither the path in tree D nor that in tree R, compares
//! neither column indices nor a label's parents with the parents' columns, and passes with parents missing.

use filecoin_hashers::poseidon::PoseidonHasher;
use rayon::prelude::*;
use storage_proofs_porep::stacked::{Column as ReferenceColumn, LabelingProof};

use super::c1::{Challenge, ColumnProof, Labeling, BASE_PARENTS, EXPANDER_PARENTS, LABEL_PARENTS};
use super::positions::Position;
use super::{Partition, Shapes};
use crate::circuit::decode::{ensure, ensure_count, Check, MerklePath, Node, Place};
use crate::circuit::request::{still, GoOn};
use crate::error::Result;

const FIELD: &str = "c1.vanilla_proofs";

/// Checks counts, positions, roots and repeated values of partition `k`; hashes nothing.
pub fn structure(partition: &Partition, k: usize, comm_d: &Node, shapes: &Shapes) -> Result<()> {
    for (i, (position, challenge)) in partition.challenges.iter().enumerate() {
        let place = Place { field: FIELD, partition: k, challenge: i };
        let Position { node, .. } = *position;
        place.require("comm_d_proofs", path(&challenge.comm_d_proofs, &shapes.data, node, comm_d, "comm_d"))?;
        let root = &partition.comm_r_last;
        let r_path = path(&challenge.comm_r_last_proof, &shapes.replica, node, root, "that of the other challenges");
        place.require("comm_r_last_proof", r_path)?;
        columns(place, challenge, position, partition, shapes)?;
        labels(place, challenge, node, shapes.layers)?;
        let encoded = challenge.encoding_key().to_fr() + challenge.comm_d_proofs.leaf.to_fr();
        let leaf = challenge.comm_r_last_proof.leaf.to_fr();
        place.require("comm_r_last_proof.leaf", ensure(encoded == leaf, || "isn't the data with its key".into()))?;
    }
    Ok(())
}

/// Hashes all paths, columns and labels of partition `k`.
pub fn hashes(partition: &Partition, k: usize, replica_id: &Node, go_on: GoOn<'_>) -> Result<()> {
    partition.challenges.par_iter().enumerate().try_for_each(|(i, (_, challenge))| {
        still(go_on)?;
        let place = Place { field: FIELD, partition: k, challenge: i };
        place.require("comm_d_proofs", challenge.comm_d_proofs.check_sha256())?;
        place.require("comm_r_last_proof", challenge.comm_r_last_proof.check_poseidon())?;
        let columns = &challenge.replica_column_proofs;
        place.require("c_x", column_hashes(&columns.c_x))?;
        columns.drg_parents.iter().try_for_each(|column| place.require("drg_parents", column_hashes(column)))?;
        columns.exp_parents.iter().try_for_each(|column| place.require("exp_parents", column_hashes(column)))?;
        let rows = &columns.c_x.column.rows;
        let mut labels = challenge.labeling_proofs.iter().zip(rows.iter());
        labels
            .try_for_each(|(labeling, label)| place.require("labeling_proofs", label_hash(labeling, replica_id, label)))
    })
}

fn path(
    path: &MerklePath,
    shape: &crate::circuit::decode::TreeShape,
    position: u64,
    root: &Node,
    of: &'static str,
) -> Check {
    path.check_shape(shape, position)?;
    path.check_root(root, of)
}

/// The columns of the node and its parents: count, index, rows, path.
fn columns(
    place: Place,
    challenge: &Challenge,
    position: &Position,
    partition: &Partition,
    shapes: &Shapes,
) -> Result<()> {
    let column = |proof: &ColumnProof, node: u64| -> Check {
        ensure(u64::from(proof.column.index) == node, || format!("column {} instead of {node}", proof.column.index))?;
        ensure_count(proof.column.rows.len(), shapes.layers)?;
        let of = "that of the other columns";
        path(&proof.inclusion_proof, &shapes.replica, node, &partition.comm_c, of)
    };
    let columns = &challenge.replica_column_proofs;
    place.require("c_x", column(&columns.c_x, position.node))?;
    place.require("drg_parents", ensure_count(columns.drg_parents.len(), BASE_PARENTS))?;
    place.require("exp_parents", ensure_count(columns.exp_parents.len(), EXPANDER_PARENTS))?;
    let (base, expander) = position.parents.split_at(BASE_PARENTS);
    for (proof, &parent) in columns.drg_parents.iter().zip(base) {
        place.require("drg_parents", column(proof, parent.into()))?;
    }
    for (proof, &parent) in columns.exp_parents.iter().zip(expander) {
        place.require("exp_parents", column(proof, parent.into()))?;
    }
    Ok(())
}

/// What the labels are hashed from must be the columns' own values, and the encoding's key is the last label.
fn labels(place: Place, challenge: &Challenge, node: u64, layers: usize) -> Result<()> {
    place.require("labeling_proofs", ensure_count(challenge.labeling_proofs.len(), layers))?;
    for (index, labeling) in challenge.labeling_proofs.iter().enumerate() {
        let layer = index as u32 + 1;
        let says = || format!("layer {}, node {} instead of {layer}, {node}", labeling.layer_index, labeling.node);
        place.require("labeling_proofs", ensure(labeling.layer_index == layer && labeling.node == node, says))?;
        let same = labeling.parents[..] == parents_labels(challenge, index);
        let other = || format!("the parents of layer {layer} aren't those of the columns");
        place.require("labeling_proofs", ensure(same, other))?;
    }
    let same = challenge.labeling_proofs.last() == Some(&challenge.encoding_proof);
    place.require("encoding_proof", ensure(same, || "isn't the last labeling proof".into()))
}

/// Labels that layer `index` (from 0) hashes: base parents in this layer, expander parents in the one below, in turn.
fn parents_labels(challenge: &Challenge, index: usize) -> [Node; LABEL_PARENTS] {
    let columns = &challenge.replica_column_proofs;
    let base = columns.drg_parents.iter().map(|proof| proof.column.rows[index]);
    let below = index.checked_sub(1);
    let expander = below.into_iter().flat_map(|row| columns.exp_parents.iter().map(move |p| p.column.rows[row]));
    let mut labels = [base.clone().next().expect("there are base parents"); LABEL_PARENTS];
    for (slot, label) in labels.iter_mut().zip(base.chain(expander).collect::<Vec<_>>().iter().cycle()) {
        *slot = *label;
    }
    labels
}

/// A column's hash must be the leaf of its path.
fn column_hashes(proof: &ColumnProof) -> Check {
    let rows = proof.column.rows.iter().map(|row| row.to_poseidon()).collect();
    let column = ReferenceColumn::<PoseidonHasher>::new(proof.column.index, rows).map_err(|error| error.to_string())?;
    let leaf = Node::from(column.hash());
    ensure(leaf == proof.inclusion_proof.leaf, || "the path's leaf isn't the column's hash".into())?;
    proof.inclusion_proof.check_poseidon()
}

fn label_hash(labeling: &Labeling, replica_id: &Node, label: &Node) -> Check {
    let parents = labeling.parents.iter().map(|parent| parent.to_poseidon()).collect();
    let proof = LabelingProof::<PoseidonHasher>::new(labeling.layer_index, labeling.node, parents);
    let holds = proof.verify(&replica_id.to_poseidon(), &label.to_poseidon());
    ensure(holds, || format!("the label of layer {} isn't the hash of its parents", labeling.layer_index))
}

impl Challenge {
    /// The label that the data is encoded with: the node's last. Needs the column to have rows.
    fn encoding_key(&self) -> Node {
        *self.replica_column_proofs.c_x.column.rows.last().expect("columns() has counted the rows")
    }
}
