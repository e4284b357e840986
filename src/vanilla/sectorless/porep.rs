//! A C1 output around real challenges and labels.

use std::collections::{BTreeMap, BTreeSet};

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::with_shape;
use filecoin_proofs_api::{ApiFeature, RegisteredSealProof};
use serde::Serialize;
use sha2::{Digest, Sha256};
use storage_proofs_porep::stacked::{
    generate_replica_id, Column, ColumnProof, EncodingProof, LabelingProof, Proof, ReplicaColumnProof,
};

use super::tree::{random_node, ConstantTree, SparseTree, Tree};
use crate::circuit::decode::{poseidon, Node, TreeShape};
use crate::circuit::porep::{positions, Claim, Position, BASE_PARENTS, LABEL_PARENTS};
use crate::circuit::registered::{prover_id, seal_circuit};
use crate::circuit::ReferenceTree;
use crate::error::{Error, Result};
use crate::vanilla::{derived_bytes, PorepInput};

/// A C1 output of any size for `miner` and `sector`; `seed` decides the rest. Interactive proof types only.
/// Blocks: 5 core-seconds at 32 GiB, in the caller's rayon pool. Errors: UNSUPPORTED (synthetic, non-interactive).
pub fn porep(proof: RegisteredSealProof, miner: u64, sector: u64, seed: u64) -> Result<PorepInput> {
    if proof.feature_enabled(ApiFeature::SyntheticPoRep) {
        return Err(Error::Unsupported("synthetic PoRep without a sector: its challenges depend on comm_r".into()));
    }
    let circuit = seal_circuit(proof)?;
    let lg_nodes = (circuit.sector_size() / 32).trailing_zeros();
    let shape = TreeShape::replica(lg_nodes).expect("a circuit has a size that exists");
    let data = ConstantTree::data(&TreeShape::data(lg_nodes), random_node(seed, "data leaf", 0, 0));

    let ticket = derived_bytes(seed, b"ticket");
    let porep_id = proof.as_v1_config().porep_id;
    let comm_d = data.root();
    let replica_id: Node =
        generate_replica_id::<PoseidonHasher, _>(&prover_id(miner), sector, &ticket, comm_d.as_bytes(), &porep_id)
            .into();
    // An interactive PoRep's challenges don't depend on comm_r, which isn't known yet.
    let claim = Claim { replica_id, comm_d, comm_r: comm_d, seed: derived_bytes(seed, b"interactive seed") };
    let partitions = positions(proof, &claim)?;

    let labels = Labels::new(&partitions, &replica_id, if lg_nodes < 30 { 2 } else { 11 }, seed);
    let columns = labels.nodes().map(|node| (node, labels.column(node).hash().into())).collect();
    let tree_c = SparseTree::new(&shape, columns, seed, "tree C");
    let data_leaf: Fr = data.node(0, 0).to_fr();
    let challenged = partitions.iter().flatten().map(|position| position.node);
    let encoded = challenged.map(|node| (node, Node::from(labels.last(node).to_fr() + data_leaf))).collect();
    let tree_r = SparseTree::new(&shape, encoded, seed, "tree R");

    let made = Made { proof, claim, ticket, partitions, data, labels, tree_c, tree_r };
    let c1 = with_shape!(circuit.sector_size(), to_json, &made)?;
    Ok(PorepInput { miner, sector, c1 })
}

/// Everything that a C1 output is put together from.
struct Made {
    proof: RegisteredSealProof,
    claim: Claim,
    ticket: [u8; 32],
    partitions: Vec<Vec<Position>>,
    data: ConstantTree,
    labels: Labels,
    tree_c: SparseTree,
    tree_r: SparseTree,
}

/// The labels of all nodes that are opened, by node, then layer.
struct Labels(BTreeMap<u64, Vec<Node>>);

impl Labels {
    /// Parents that aren't challenged themselves get pseudo-random labels; those of challenged nodes are computed, layer
    /// by layer and in the order of the nodes: a base parent comes before its child, an expander parent is needed one
    /// layer below.
    fn new(partitions: &[Vec<Position>], replica_id: &Node, layers: usize, seed: u64) -> Self {
        let challenged: BTreeMap<u64, Position> = partitions.iter().flatten().map(|p| (p.node, *p)).collect();
        let parents: BTreeSet<u64> = partitions.iter().flatten().flat_map(|p| p.parents.map(u64::from)).collect();
        let mut labels = BTreeMap::new();
        for node in parents.into_iter().filter(|node| !challenged.contains_key(node)) {
            let random = (0..layers).map(|layer| random_node(seed, "label", layer, node)).collect();
            labels.insert(node, random);
        }
        labels.extend(challenged.keys().map(|&node| (node, Vec::with_capacity(layers))));
        let mut labels = Labels(labels);
        for layer in 0..layers {
            for position in challenged.values() {
                let label = label(replica_id, layer, position.node, &labels.parents(position, layer));
                labels.0.get_mut(&position.node).expect("every challenged node has an entry").push(label);
            }
        }
        labels
    }

    fn nodes(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.keys().copied()
    }

    fn last(&self, node: u64) -> Node {
        self.0[&node][self.0[&node].len() - 1]
    }

    fn rows(&self, node: u64) -> Vec<<PoseidonHasher as filecoin_hashers::Hasher>::Domain> {
        self.0[&node].iter().map(|label| label.to_poseidon()).collect()
    }

    fn column(&self, node: u64) -> Column<PoseidonHasher> {
        Column::new(node as u32, self.rows(node)).expect("making a column can't fail")
    }

    /// What the label of `layer` (from 0) hashes: base parents in the layer, expander parents one below, in turn.
    fn parents(&self, position: &Position, layer: usize) -> Vec<Node> {
        let (base, expander) = position.parents.split_at(BASE_PARENTS);
        let of = |parents: &[u32], row: usize| -> Vec<Node> {
            parents.iter().map(|&parent| self.0[&u64::from(parent)][row]).collect()
        };
        let mut labels = of(base, layer);
        if layer > 0 {
            labels.extend(of(expander, layer - 1));
        }
        labels.iter().copied().cycle().take(LABEL_PARENTS).collect()
    }
}

/// SHA-256 of replica_id, layer (from 1) and node, big-endian in 32 bytes, and the parents; cut to 254 bits.
fn label(replica_id: &Node, layer: usize, node: u64, parents: &[Node]) -> Node {
    let mut hasher = Sha256::new().chain_update(replica_id.as_bytes());
    hasher.update((layer as u32 + 1).to_be_bytes());
    hasher.update(node.to_be_bytes());
    hasher.update([0; 20]);
    parents.iter().for_each(|parent| hasher.update(parent.as_bytes()));
    let mut hash: [u8; 32] = hasher.finalize().into();
    hash[31] &= 0x3f;
    Node::try_from(hash).expect("254 bits are below the order")
}

/// The C1 output's JSON form.
#[derive(Serialize)]
struct C1<P> {
    registered_proof: RegisteredSealProof,
    vanilla_proofs: BTreeMap<String, Vec<Vec<P>>>,
    comm_r: Node,
    comm_d: Node,
    replica_id: Node,
    seed: [u8; 32],
    ticket: [u8; 32],
}

fn to_json<Shape: ReferenceTree>(made: &Made) -> Result<Vec<u8>> {
    let proofs: Vec<Vec<Proof<Shape, Sha256Hasher>>> =
        made.partitions.iter().map(|list| list.iter().map(|position| made.challenge(position)).collect()).collect();
    // The variant names the size and always V1.
    let name = format!("{:?}", made.proof);
    let variant = name.split("V1").next().unwrap_or_default().to_owned() + "V1";
    let c1 = C1 {
        registered_proof: made.proof,
        vanilla_proofs: BTreeMap::from([(variant, proofs)]),
        comm_r: poseidon(&[made.tree_c.root(), made.tree_r.root()]),
        comm_d: made.claim.comm_d,
        replica_id: made.claim.replica_id,
        seed: made.claim.seed,
        ticket: made.ticket,
    };
    serde_json::to_vec(&c1).map_err(|error| Error::Internal(format!("C1 output: {error}")))
}

impl Made {
    /// One challenge's vanilla proof.
    fn challenge<Shape: ReferenceTree>(&self, position: &Position) -> Proof<Shape, Sha256Hasher> {
        let node = position.node;
        let column =
            |node: u64| ColumnProof::new(node as u32, self.labels.rows(node), self.tree_c.replica_path::<Shape>(node));
        let (base, expander) = position.parents.split_at(BASE_PARENTS);
        let layers = self.labels.0[&node].len();
        let parents = |layer| self.labels.parents(position, layer).into_iter().map(Node::to_poseidon).collect();
        let labeling = (0..layers).map(|layer| LabelingProof::new(layer as u32 + 1, node, parents(layer)));
        Proof {
            comm_d_proofs: self.data.data_path(node),
            comm_r_last_proof: self.tree_r.replica_path::<Shape>(node),
            replica_column_proofs: ReplicaColumnProof {
                c_x: column(node),
                drg_parents: base.iter().map(|&parent| column(parent.into())).collect(),
                exp_parents: expander.iter().map(|&parent| column(parent.into())).collect(),
            },
            labeling_proofs: labeling.collect(),
            encoding_proof: EncodingProof::new(layers as u32, node, parents(layers - 1)),
        }
    }
}
