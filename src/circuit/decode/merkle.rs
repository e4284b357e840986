//! Merkle paths, and the shapes that they must have.

use filecoin_hashers::poseidon::PoseidonFunction;
use filecoin_hashers::sha256::Sha256Function;
use filecoin_hashers::HashFunction;
use serde::Deserialize;

use super::{ensure, ensure_count, Check, List, Node};

/// Longest path: the 31 binary levels over the 2^31 nodes of 64 GiB.
pub const MAX_STEPS: usize = 31;
/// Most siblings in a step: trees are 8-ary at most.
pub const MAX_SIBLINGS: usize = 7;

/// A path from a leaf to a root, in the reference's serialised form.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawProof")]
pub struct MerklePath {
    /// The opened leaf.
    pub leaf: Node,
    /// The root that the path claims to reach.
    pub root: Node,
    /// From the leaf's level up to the root.
    pub steps: Vec<PathStep>,
    /// Steps of the base, sub and top tree; which of them are present is part of the serialised form.
    layers: Layers,
}

/// One level of a path.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathStep {
    /// The other children, in order.
    #[serde(rename = "hashes")]
    pub siblings: List<Node, MAX_SIBLINGS>,
    /// Where among its siblings the path's child stands.
    pub index: u64,
}

/// Steps in each layer of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layers {
    base: usize,
    sub: Option<usize>,
    top: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProof {
    data: RawData,
}

#[derive(Deserialize)]
enum RawData {
    Single(RawSingle),
    Sub(RawSub),
    Top(RawTop),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSingle {
    root: Node,
    leaf: Node,
    path: RawPath,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSub {
    base_proof: RawPath,
    sub_proof: RawPath,
    root: Node,
    leaf: Node,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTop {
    base_proof: RawPath,
    sub_proof: RawPath,
    top_proof: RawPath,
    root: Node,
    leaf: Node,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPath {
    path: List<PathStep, MAX_STEPS>,
}

impl RawPath {
    fn into_vec(self) -> Vec<PathStep> {
        self.path.into_vec()
    }
}

impl TryFrom<RawProof> for MerklePath {
    type Error = String;

    fn try_from(raw: RawProof) -> Result<Self, String> {
        let (leaf, root, base, sub, top) = match raw.data {
            RawData::Single(RawSingle { root, leaf, path }) => (leaf, root, path, None, None),
            RawData::Sub(RawSub { base_proof, sub_proof, root, leaf }) => {
                (leaf, root, base_proof, Some(sub_proof), None)
            }
            RawData::Top(RawTop { base_proof, sub_proof, top_proof, root, leaf }) => {
                (leaf, root, base_proof, Some(sub_proof), Some(top_proof))
            }
        };
        let mut steps = base.into_vec();
        let mut layers = Layers { base: steps.len(), sub: None, top: None };
        for (raw, count) in [(sub, &mut layers.sub), (top, &mut layers.top)] {
            let Some(raw) = raw else { continue };
            let more = raw.into_vec();
            *count = Some(more.len());
            steps.extend(more);
        }
        Ok(MerklePath { leaf, root, steps, layers })
    }
}

/// The shape of a Merkle tree over the nodes of a sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeShape {
    layers: Layers,
    arities: Vec<usize>,
}

impl TreeShape {
    /// The SHA-256 tree over `2^lg_nodes` nodes of data.
    pub fn data(lg_nodes: u32) -> Self {
        let steps = lg_nodes as usize;
        TreeShape { layers: Layers { base: steps, sub: None, top: None }, arities: vec![2; steps] }
    }

    /// The Poseidon tree over the `2^lg_nodes` nodes of a replica or of its columns: 8-ary, in one tree, in 8 trees
    /// (32 GiB), or in 2 × 8 trees (64 GiB). `None` for a size that doesn't exist.
    pub fn replica(lg_nodes: u32) -> Option<Self> {
        let (sub, top) = match lg_nodes {
            6 | 18 | 24 => (None, None),
            30 => (Some(1), None),
            31 => (Some(1), Some(1)),
            _ => return None,
        };
        let upper_bits = sub.map_or(0, |_| 3) + top.map_or(0, |_| 1);
        let base = (lg_nodes as usize - upper_bits) / 3;
        let mut arities = vec![8; base + sub.unwrap_or(0)];
        arities.extend(top.map(|_| 2));
        Some(TreeShape { layers: Layers { base, sub, top }, arities })
    }

    /// Arity of each level, from the leaves up.
    pub fn arities(&self) -> &[usize] {
        &self.arities
    }
}

impl MerklePath {
    /// Checks number and width of the steps, and that they lead up from leaf `position`. Hashes nothing.
    pub fn check_shape(&self, shape: &TreeShape, position: u64) -> Check {
        ensure(self.layers == shape.layers, || format!("{} steps in the wrong layers", self.steps.len()))?;
        let mut rest = position;
        for (step, &arity) in self.steps.iter().zip(&shape.arities) {
            ensure_count(step.siblings.len(), arity - 1)?;
            ensure(step.index == rest % arity as u64, || format!("opens another position than {position}"))?;
            rest /= arity as u64;
        }
        ensure(rest == 0, || format!("position {position} lies outside the tree"))
    }

    /// Checks the claimed root against the caller's. Hashes nothing.
    pub fn check_root(&self, root: &Node, of: &'static str) -> Check {
        ensure(self.root == *root, || format!("its root isn't {of}"))
    }

    /// Hashes from the leaf up with SHA-256; the claimed root must come out. Needs [`Self::check_shape`] to have passed.
    pub fn check_sha256(&self) -> Check {
        self.check_hashes(sha256)
    }

    /// The same with Poseidon.
    pub fn check_poseidon(&self) -> Check {
        self.check_hashes(poseidon)
    }

    /// The path's node on each level of a SHA-256 tree, the leaf first and the computed root last.
    pub fn nodes_sha256(&self) -> Vec<Node> {
        let mut nodes = vec![self.leaf];
        for step in &self.steps {
            nodes.push(parent(step, nodes[nodes.len() - 1], sha256));
        }
        nodes
    }

    fn check_hashes(&self, hash: impl Fn(&[Node]) -> Node) -> Check {
        let root = self.steps.iter().fold(self.leaf, |node, step| parent(step, node, &hash));
        ensure(root == self.root, || "the path doesn't lead from its leaf to its root".into())
    }
}

/// The node above `node`.
fn parent(step: &PathStep, node: Node, hash: impl Fn(&[Node]) -> Node) -> Node {
    let mut children = [node; MAX_SIBLINGS + 1];
    let count = step.siblings.len() + 1;
    let index = step.index as usize;
    children[..index].copy_from_slice(&step.siblings[..index]);
    children[index + 1..count].copy_from_slice(&step.siblings[index..]);
    hash(&children[..count])
}

/// SHA-256 over two children, cut to 254 bits.
pub fn sha256(children: &[Node]) -> Node {
    Sha256Function::hash2(&children[0].to_sha256(), &children[1].to_sha256()).into()
}

/// Poseidon over 2 or 8 children.
pub fn poseidon(children: &[Node]) -> Node {
    let mut bytes = [0; 32 * (MAX_SIBLINGS + 1)];
    for (slot, child) in bytes.chunks_exact_mut(32).zip(children) {
        slot.copy_from_slice(child.as_bytes());
    }
    PoseidonFunction::hash(&bytes[..32 * children.len()]).into()
}
