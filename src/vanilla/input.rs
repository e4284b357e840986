//! Inputs as plain structs, and as files.
//!
//! A file is one JSON object: `kind` (`"porep"`, `"update"`, `"post"`), numbers as they are, commitments and randomness
//! in hex, C1 output and vanilla proofs in base64. Registered proof types carry filecoin-proofs-api's names.

use std::io::Write;
use std::path::Path;

use filecoin_proofs_api::{RegisteredPoStProof, RegisteredUpdateProof};
use serde::{Deserialize, Serialize};

use crate::circuit::claim::{Claim, PostClaim};
use crate::circuit::porep::PorepRequest;
use crate::circuit::post::PostRequest;
use crate::circuit::update::UpdateRequest;
use crate::circuit::{CheckedProofs, Request};
use crate::error::{Error, Result};
use crate::files::{self, NewFile};

/// Most bytes of an input file: a WindowPoSt of 2,349 sectors at their limit has 820 MB in base64.
pub const MAX_INPUT_BYTES: u64 = 1 << 30;

/// What a PoRep C2 is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PorepInput {
    /// Miner's actor id.
    pub miner: u64,
    /// Sector number.
    pub sector: u64,
    /// The C1 output, as JSON text.
    #[serde(with = "base64_bytes")]
    pub c1: Vec<u8>,
}

/// What a SnapDeals update is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateInput {
    /// Registered proof type.
    pub proof: RegisteredUpdateProof,
    /// Replica commitment before the update.
    #[serde(with = "hex_bytes")]
    pub comm_r_old: [u8; 32],
    /// Replica commitment after it.
    #[serde(with = "hex_bytes")]
    pub comm_r_new: [u8; 32],
    /// Data commitment after it.
    #[serde(with = "hex_bytes")]
    pub comm_d_new: [u8; 32],
    /// Partition proofs, bincode, one per partition.
    #[serde(with = "base64_list")]
    pub vanilla_proofs: Vec<Vec<u8>>,
}

/// What a WindowPoSt partition or a WinningPoSt is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostInput {
    /// Registered proof type.
    pub proof: RegisteredPoStProof,
    /// Miner's actor id. No PoSt circuit depends on it.
    pub miner: u64,
    /// Randomness; the two top bits of byte 31 are ignored.
    #[serde(with = "hex_bytes")]
    pub randomness: [u8; 32],
    /// Which partition of the deadline; only the challenges of WindowPoSt V1 depend on it.
    pub partition: u32,
    /// Public sector list, in the order of the vanilla proofs; verifiers need it.
    pub sectors: Vec<PostSector>,
    /// Sector proofs, bincode, one per sector.
    #[serde(with = "base64_list")]
    pub vanilla_proofs: Vec<Vec<u8>>,
}

/// A sector as PoSt verifiers know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostSector {
    /// Sector number.
    pub sector: u64,
    /// Replica commitment.
    #[serde(with = "hex_bytes")]
    pub comm_r: [u8; 32],
}

/// An input of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Input {
    /// PoRep C2.
    Porep(PorepInput),
    /// SnapDeals.
    Update(UpdateInput),
    /// WindowPoSt or WinningPoSt.
    Post(PostInput),
}

impl Input {
    /// Writes the input as a file; an existing one is replaced once the new one is whole.
    /// Errors: INVALID (the file can't be made), INTERNAL (disk).
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(|error| Error::Internal(error.to_string()))?;
        let write = |(new, mut file): (NewFile, std::fs::File)| {
            file.write_all(&text)?;
            new.replace()
        };
        NewFile::create(path).and_then(write).map_err(|error| files::error("path", path, &error))
    }

    /// Checks the vanilla proofs against the public inputs beside them. Errors: those of [`Request::check`]; INVALID naming
    /// `sectors` if a PoSt's aren't those of its vanilla proofs.
    pub fn check(&self) -> Result<CheckedProofs> {
        match self {
            Input::Porep(PorepInput { miner, sector, c1 }) => {
                Request::Porep(PorepRequest { miner: *miner, sector: *sector, c1 }).check()
            }
            Input::Update(input) => {
                let UpdateInput { proof, comm_r_old, comm_r_new, comm_d_new, .. } = *input;
                let vanilla_proofs = &slices(&input.vanilla_proofs)[..];
                Request::Update(UpdateRequest { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs }).check()
            }
            Input::Post(input) => {
                let PostInput { proof, miner, randomness, partition, .. } = *input;
                let vanilla_proofs = &slices(&input.vanilla_proofs)[..];
                let checked =
                    Request::Post(PostRequest { proof, miner, randomness, partition, vanilla_proofs }).check()?;
                let sectors = input.sectors.iter().map(|sector| (sector.sector, sector.comm_r)).collect();
                let claim = Claim::Post(PostClaim { proof, randomness, partition, sectors });
                match claim.inputs()?.into_iter().eq(checked.partitions().map(|partition| partition.inputs())) {
                    true => Ok(checked),
                    false => Err(Error::invalid("sectors", "not those of the vanilla proofs")),
                }
            }
        }
    }

    /// Reads a file that [`Input::write`] made, or a pipe that carries one, of at most [`MAX_INPUT_BYTES`].
    /// Errors: INVALID (no such file, or another kind of file), INTERNAL (disk).
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read("input", path, MAX_INPUT_BYTES)?;
        serde_json::from_slice(&text).map_err(|error| {
            // The decoder quotes values that it doesn't expect; a C1 output in the place of a name would fill the screen.
            let mut says: String = error.to_string().chars().take(200).collect();
            if says.len() < error.to_string().len() {
                says.push('…');
            }
            Error::invalid("input", format!("{}: no file of gen-vanilla: {says}", path.display()))
        })
    }
}

fn slices(proofs: &[Vec<u8>]) -> Vec<&[u8]> {
    proofs.iter().map(Vec::as_slice).collect()
}

/// 32 bytes as hex.
mod hex_bytes {
    use serde::{de::Error, Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(&text, &mut bytes).map_err(D::Error::custom)?;
        Ok(bytes)
    }
}

/// Bytes as base64.
mod base64_bytes {
    use base64::{engine::general_purpose::STANDARD, Engine};
    use serde::{de::Error, Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A list of byte strings as base64.
mod base64_list {
    use base64::{engine::general_purpose::STANDARD, Engine};
    use serde::{de::Error, Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(list: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|bytes| STANDARD.encode(bytes)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let list = Vec::<String>::deserialize(deserializer)?;
        list.iter().map(|text| STANDARD.decode(text).map_err(D::Error::custom)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vanilla::samples_2kib;

    #[test]
    fn files_read_back() {
        let samples = samples_2kib().unwrap();
        let dir = tempfile::tempdir().unwrap();
        for input in [
            Input::Porep(samples.porep.clone()),
            Input::Update(samples.update.clone()),
            Input::Post(samples.window.clone()),
        ] {
            let path = dir.path().join("input.json");
            input.write(&path).unwrap();
            assert_eq!(Input::read(&path).unwrap(), input);
            input.check().unwrap();
        }
    }
}
