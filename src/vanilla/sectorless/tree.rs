//! Trees that are never built in full.

use std::collections::BTreeMap;

use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use generic_array::typenum::U2;
use rayon::prelude::*;
use storage_proofs_core::merkle::MerkleProof;

use crate::circuit::decode::{poseidon, sha256, Node, TreeShape};
use crate::circuit::ReferenceTree;
use crate::vanilla::derived_bytes;

/// A pseudo-random node that depends on its arguments alone.
pub fn random_node(seed: u64, purpose: &str, level: usize, index: u64) -> Node {
    let purpose = format!("{purpose} {level} {index}");
    // blake2b takes keys up to 64 bytes; the longest purpose here has 40.
    Node::try_from(derived_bytes(seed, purpose.as_bytes())).expect("254 bits are below the order")
}

/// What a tree must tell about itself.
pub trait Tree {
    /// Arity of each level, from the leaves up.
    fn arities(&self) -> &[usize];

    /// The node at `index` of `level`, leaves being level 0.
    fn node(&self, level: usize, index: u64) -> Node;

    /// The root.
    fn root(&self) -> Node {
        self.node(self.arities().len(), 0)
    }

    /// Siblings and index on each level of the path from leaf `position`.
    fn steps(&self, position: u64) -> Vec<(Vec<Node>, usize)> {
        let mut node = position;
        let mut steps = Vec::new();
        for (level, &arity) in self.arities().iter().enumerate() {
            let arity = arity as u64;
            let first = node / arity * arity;
            let siblings = (first..first + arity).filter(|&index| index != node);
            steps.push((siblings.map(|index| self.node(level, index)).collect(), (node - first) as usize));
            node /= arity;
        }
        steps
    }

    /// The path from leaf `position` as the reference has it, in a tree of a replica or of columns.
    fn replica_path<Shape: ReferenceTree>(
        &self,
        position: u64,
    ) -> MerkleProof<PoseidonHasher, Shape::Arity, Shape::SubTreeArity, Shape::TopTreeArity> {
        let steps = self.steps(position).into_iter().map(|(siblings, index)| {
            let siblings = siblings.into_iter().map(Node::to_poseidon).collect();
            (siblings, index)
        });
        let (leaf, root) = (self.node(0, position), self.root());
        MerkleProof::from_parts(leaf.to_poseidon(), root.to_poseidon(), steps.collect())
    }

    /// The same in a tree of data.
    fn data_path(&self, position: u64) -> MerkleProof<Sha256Hasher, U2> {
        let steps = self.steps(position).into_iter().map(|(siblings, index)| {
            let siblings = siblings.into_iter().map(Node::to_sha256).collect();
            (siblings, index)
        });
        let (leaf, root) = (self.node(0, position), self.root());
        MerkleProof::from_parts(leaf.to_sha256(), root.to_sha256(), steps.collect())
    }
}

/// A Poseidon tree around some leaves; every node that isn't above one of them is pseudo-random.
pub struct SparseTree {
    arities: Vec<usize>,
    levels: Vec<BTreeMap<u64, Node>>,
    seed: u64,
    purpose: String,
}

impl SparseTree {
    /// The tree around `leaves`, by position. Blocks: a Poseidon hash per node above a leaf, in the caller's rayon pool.
    pub fn new(shape: &TreeShape, leaves: BTreeMap<u64, Node>, seed: u64, purpose: &str) -> Self {
        let arities = shape.arities().to_vec();
        let mut tree = SparseTree { arities, levels: vec![leaves], seed, purpose: purpose.to_owned() };
        for level in 0..tree.arities.len() {
            let arity = tree.arities[level] as u64;
            let mut parents: Vec<u64> = tree.levels[level].keys().map(|index| index / arity).collect();
            parents.dedup();
            let hash = |&parent: &u64| {
                let children: Vec<Node> = (parent * arity..(parent + 1) * arity).map(|i| tree.node(level, i)).collect();
                (parent, poseidon(&children))
            };
            let row = parents.par_iter().map(hash).collect::<Vec<_>>().into_iter().collect();
            tree.levels.push(row);
        }
        tree
    }
}

impl Tree for SparseTree {
    fn arities(&self) -> &[usize] {
        &self.arities
    }

    fn node(&self, level: usize, index: u64) -> Node {
        let known = self.levels[level].get(&index).copied();
        known.unwrap_or_else(|| random_node(self.seed, &self.purpose, level, index))
    }
}

/// A tree whose leaves are all equal, so that each level has one value.
pub struct ConstantTree {
    arities: Vec<usize>,
    levels: Vec<Node>,
}

impl ConstantTree {
    /// A tree of data.
    pub fn data(shape: &TreeShape, leaf: Node) -> Self {
        Self::new(shape, leaf, sha256)
    }

    /// A tree of a replica.
    pub fn replica(shape: &TreeShape, leaf: Node) -> Self {
        Self::new(shape, leaf, poseidon)
    }

    fn new(shape: &TreeShape, leaf: Node, hash: fn(&[Node]) -> Node) -> Self {
        let arities = shape.arities().to_vec();
        let mut levels = vec![leaf];
        for &arity in &arities {
            levels.push(hash(&vec![levels[levels.len() - 1]; arity]));
        }
        ConstantTree { arities, levels }
    }
}

impl Tree for ConstantTree {
    fn arities(&self) -> &[usize] {
        &self.arities
    }

    fn node(&self, level: usize, _index: u64) -> Node {
        self.levels[level]
    }
}

/// A Poseidon tree whose leaves are equal in each of `2^h` ranges of equal length.
pub struct RangedTree {
    arities: Vec<usize>,
    /// log2 of a range's leaves.
    range_bits: u32,
    /// Per range, the value of its nodes on each level below `dense_from`, and on it.
    ranges: Vec<Vec<Node>>,
    /// First level at which all nodes are kept: the last whose nodes lie inside one range.
    dense_from: usize,
    /// Levels from `dense_from` up, the root last.
    dense: Vec<Vec<Node>>,
}

impl RangedTree {
    /// The tree with `leaves[i]` everywhere in range `i`. The base tree's levels are 8-ary, and `leaves` is a power of two.
    /// Blocks: a Poseidon hash per range and level and per node above, in the caller's rayon pool.
    pub fn new(shape: &TreeShape, lg_nodes: u32, leaves: &[Node]) -> Self {
        let arities = shape.arities().to_vec();
        let range_bits = lg_nodes - leaves.len().trailing_zeros();
        let dense_from = (range_bits / 3) as usize;
        let ranges: Vec<Vec<Node>> = leaves
            .par_iter()
            .map(|&leaf| {
                let mut levels = vec![leaf];
                for _ in 0..dense_from {
                    levels.push(poseidon(&[levels[levels.len() - 1]; 8]));
                }
                levels
            })
            .collect();

        let nodes_per_range = 1 << (range_bits - 3 * dense_from as u32);
        let first = ranges.iter().flat_map(|levels| vec![levels[dense_from]; nodes_per_range]).collect();
        let mut dense: Vec<Vec<Node>> = vec![first];
        for &arity in &arities[dense_from..] {
            let row = dense[dense.len() - 1].par_chunks_exact(arity).map(poseidon).collect();
            dense.push(row);
        }
        RangedTree { arities, range_bits, ranges, dense_from, dense }
    }
}

impl Tree for RangedTree {
    fn arities(&self) -> &[usize] {
        &self.arities
    }

    fn node(&self, level: usize, index: u64) -> Node {
        if level >= self.dense_from {
            return self.dense[level - self.dense_from][index as usize];
        }
        let first_leaf = index << (3 * level);
        self.ranges[(first_leaf >> self.range_bits) as usize][level]
    }
}
