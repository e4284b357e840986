//! The C1 output as JSON, in both of its envelopes.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use filecoin_proofs_api::RegisteredSealProof;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::Deserialize;

use crate::circuit::decode::{check_byte_limit, from_json, undecodable, List, MerklePath, Node};
use crate::circuit::registered::check_seal_proof;
use crate::error::{Error, Result};

/// Most bytes of a C1 output: 32 GiB has 51 MB at most, 64 GiB a twentieth more.
pub const MAX_C1_BYTES: usize = 64 << 20;
/// Most bytes with the envelope around it: base64, and room for names and white space.
pub const MAX_ENVELOPE_BYTES: usize = MAX_C1_BYTES / 3 * 4 + 4096;

/// Most partitions of an interactive PoRep.
pub const MAX_PARTITIONS: usize = 10;
/// Most challenges of a partition.
pub const MAX_CHALLENGES: usize = 18;
/// Most layers of labels.
pub const MAX_LAYERS: usize = 11;
/// Parents in the base graph.
pub const BASE_PARENTS: usize = 6;
/// Parents in the expander graph.
pub const EXPANDER_PARENTS: usize = 8;
/// Parents' labels that a label hashes: the parents, repeated in turn.
pub const LABEL_PARENTS: usize = 37;

/// The C1 output, decoded and within limits. Nothing is checked against anything yet.
#[derive(Debug)]
pub struct C1 {
    pub proof: RegisteredSealProof,
    pub partitions: Vec<Vec<Challenge>>,
    pub comm_r: Node,
    pub comm_d: Node,
    pub replica_id: Node,
    pub seed: [u8; 32],
    pub ticket: [u8; 32],
}

/// The vanilla proof of one challenge.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    pub comm_d_proofs: MerklePath,
    pub comm_r_last_proof: MerklePath,
    pub replica_column_proofs: Columns,
    pub labeling_proofs: List<Labeling, MAX_LAYERS>,
    pub encoding_proof: Labeling,
}

/// The columns of the challenged node and of its parents.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    pub c_x: ColumnProof,
    pub drg_parents: List<ColumnProof, BASE_PARENTS>,
    pub exp_parents: List<ColumnProof, EXPANDER_PARENTS>,
}

/// A column and its path in tree C.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnProof {
    pub column: Column,
    pub inclusion_proof: MerklePath,
}

/// The labels of one node, one per layer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    pub index: u32,
    pub rows: List<Node, MAX_LAYERS>,
    #[serde(rename = "_h")]
    _hasher: (),
}

/// What a label is hashed from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labeling {
    pub parents: List<Node, LABEL_PARENTS>,
    pub layer_index: u32,
    pub node: u64,
}

/// The envelope that some callers wrap the C1 output in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Envelope<'a> {
    sector_num: u64,
    #[serde(borrow)]
    phase1_out: Cow<'a, str>,
    sector_size: u64,
}

/// What the envelope says besides the C1 output.
struct Claimed {
    sector: u64,
    sector_bytes: u64,
}

impl C1 {
    /// Decodes a C1 output for sector `sector`, plain or in its envelope.
    /// Errors: INVALID (over a limit, not JSON of this form, an envelope for another sector or size), UNSUPPORTED
    /// (non-interactive PoRep).
    pub fn decode(bytes: &[u8], sector: u64) -> Result<Self> {
        if !is_envelope(bytes) {
            return Self::decode_plain(bytes);
        }
        let (claimed, inner) = open_envelope(bytes)?;
        if claimed.sector != sector {
            return Err(Error::invalid("c1.SectorNum", format!("{}, the request says {sector}", claimed.sector)));
        }
        let c1 = Self::decode_plain(&inner)?;
        let sector_bytes = u64::from(c1.proof.sector_size());
        if claimed.sector_bytes != sector_bytes {
            let reason = format!("{} bytes, the registered proof has {sector_bytes}", claimed.sector_bytes);
            return Err(Error::invalid("c1.SectorSize", reason));
        }
        Ok(c1)
    }

    fn decode_plain(bytes: &[u8]) -> Result<Self> {
        check_byte_limit("c1", bytes.len(), MAX_C1_BYTES)?;
        let proof = Cell::new(None);
        let mut deserializer = serde_json::Deserializer::from_slice(bytes);
        let decoded = C1Seed(&proof).deserialize(&mut deserializer).and_then(|c1| {
            deserializer.end()?;
            Ok(c1)
        });
        // Its partitions are over the limit, so that decoding stops before it has seen all of them.
        if let Some(proof) = proof.get() {
            check_seal_proof(proof)?;
        }
        decoded.map_err(|error| undecodable("c1", &error.to_string()))
    }
}

/// Whether the first key of the object is one of the envelope's.
fn is_envelope(bytes: &[u8]) -> bool {
    let skip = |bytes: &[u8], what: u8| bytes.trim_ascii_start().strip_prefix(&[what]).map(<[u8]>::to_owned);
    let head = &bytes[..bytes.len().min(4096)];
    let Some(key) = skip(head, b'{').and_then(|rest| skip(&rest, b'"')) else { return false };
    ["SectorNum\"", "Phase1Out\"", "SectorSize\""].iter().any(|name| key.starts_with(name.as_bytes()))
}

/// Takes the envelope apart.
fn open_envelope(bytes: &[u8]) -> Result<(Claimed, Vec<u8>)> {
    check_byte_limit("c1", bytes.len(), MAX_ENVELOPE_BYTES)?;
    let envelope: Envelope<'_> = from_json("c1", bytes)?;
    let claimed = Claimed { sector: envelope.sector_num, sector_bytes: envelope.sector_size };
    let inner = STANDARD
        .decode(envelope.phase1_out.as_bytes())
        .map_err(|error| Error::invalid("c1.Phase1Out", error.to_string()))?;
    Ok((claimed, inner))
}

/// Decodes the C1 object and leaves the registered proof in the cell as soon as it is known.
struct C1Seed<'a>(&'a Cell<Option<RegisteredSealProof>>);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Field {
    RegisteredProof,
    VanillaProofs,
    CommR,
    CommD,
    ReplicaId,
    Seed,
    Ticket,
}

/// The variants name sizes, never versions. All have the same content.
#[derive(Deserialize)]
enum Partitions {
    StackedDrg2KiBV1(PartitionList),
    StackedDrg8MiBV1(PartitionList),
    StackedDrg512MiBV1(PartitionList),
    StackedDrg32GiBV1(PartitionList),
    StackedDrg64GiBV1(PartitionList),
}

type PartitionList = List<List<Challenge, MAX_CHALLENGES>, MAX_PARTITIONS>;

impl Partitions {
    /// Bytes of the sectors that the variant is for, and the partitions.
    fn into_parts(self) -> (u64, PartitionList) {
        match self {
            Partitions::StackedDrg2KiBV1(list) => (2 << 10, list),
            Partitions::StackedDrg8MiBV1(list) => (8 << 20, list),
            Partitions::StackedDrg512MiBV1(list) => (512 << 20, list),
            Partitions::StackedDrg32GiBV1(list) => (32 << 30, list),
            Partitions::StackedDrg64GiBV1(list) => (64 << 30, list),
        }
    }
}

impl<'de> DeserializeSeed<'de> for C1Seed<'_> {
    type Value = C1;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<C1, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for C1Seed<'_> {
    type Value = C1;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a C1 output")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<C1, A::Error> {
        let (mut partitions, mut comm_r, mut comm_d) = (None::<Partitions>, None, None);
        let (mut replica_id, mut seed, mut ticket) = (None, None, None);
        let mut proof = None;
        while let Some(field) = map.next_key()? {
            match field {
                Field::RegisteredProof => {
                    once(&mut proof, &mut map, "registered_proof")?;
                    self.0.set(proof);
                }
                Field::VanillaProofs => once(&mut partitions, &mut map, "vanilla_proofs")?,
                Field::CommR => once(&mut comm_r, &mut map, "comm_r")?,
                Field::CommD => once(&mut comm_d, &mut map, "comm_d")?,
                Field::ReplicaId => once(&mut replica_id, &mut map, "replica_id")?,
                Field::Seed => once(&mut seed, &mut map, "seed")?,
                Field::Ticket => once(&mut ticket, &mut map, "ticket")?,
            }
        }
        let proof = present(proof, "registered_proof")?;
        let (sector_bytes, partitions) = present(partitions, "vanilla_proofs")?.into_parts();
        if sector_bytes != u64::from(proof.sector_size()) {
            return Err(A::Error::custom("vanilla_proofs: of another sector size than registered_proof"));
        }
        Ok(C1 {
            proof,
            partitions: partitions.into_vec().into_iter().map(List::into_vec).collect(),
            comm_r: present(comm_r, "comm_r")?,
            comm_d: present(comm_d, "comm_d")?,
            replica_id: present(replica_id, "replica_id")?,
            seed: present(seed, "seed")?,
            ticket: present(ticket, "ticket")?,
        })
    }
}

/// Decodes a field's value, which may stand once.
fn once<'de, T, A>(slot: &mut Option<T>, map: &mut A, name: &'static str) -> Result<(), A::Error>
where
    T: Deserialize<'de>,
    A: MapAccess<'de>,
{
    if slot.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

/// The value of a field that must be there.
fn present<T, E: serde::de::Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}
