//! A hash, label or leaf: a scalar in canonical form.

use std::fmt;

use blstrs::Scalar as Fr;
use ff::PrimeField;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_hashers::sha256::Sha256Domain;
use filecoin_hashers::Domain;
use serde::{Deserialize, Serialize};

/// 32 bytes, little-endian, below the scalar field's order. The reference types take any 32 bytes and panic later.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "[u8; 32]", into = "[u8; 32]")]
pub struct Node([u8; 32]);

impl Node {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The scalar.
    pub fn to_fr(self) -> Fr {
        Fr::from_repr_vartime(self.0).expect("a node is canonical")
    }

    /// As the reference's Poseidon domain.
    pub fn to_poseidon(self) -> PoseidonDomain {
        PoseidonDomain::try_from_bytes(&self.0).expect("32 bytes")
    }

    /// As the reference's SHA-256 domain.
    pub fn to_sha256(self) -> Sha256Domain {
        Sha256Domain(self.0)
    }
}

impl TryFrom<[u8; 32]> for Node {
    type Error = &'static str;

    fn try_from(bytes: [u8; 32]) -> Result<Self, Self::Error> {
        match Fr::from_repr_vartime(bytes) {
            Some(_) => Ok(Node(bytes)),
            None => Err("32 bytes that aren't below the scalar field's order"),
        }
    }
}

impl From<Node> for [u8; 32] {
    fn from(node: Node) -> [u8; 32] {
        node.0
    }
}

impl From<Fr> for Node {
    fn from(value: Fr) -> Node {
        Node(value.to_repr())
    }
}

impl From<PoseidonDomain> for Node {
    fn from(value: PoseidonDomain) -> Node {
        Node::from(Fr::from(value))
    }
}

impl From<Sha256Domain> for Node {
    fn from(value: Sha256Domain) -> Node {
        Node::from(Fr::from(value))
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({})", hex::encode(self.0))
    }
}
