//! Registered proof types and what follows from them: circuit, partitions, `.params` file.
//!
//! | proofs | numbers in Go | circuit | partitions |
//! |---|---|---|---|
//! | seal V1, V1_1, synthetic | 0–4, 5–9, 10–14 | PoRep of the size | 1; 10 from 32 GiB |
//! | seal, non-interactive | 15–19 | UNSUPPORTED | |
//! | WinningPoSt | 0–4 | WinningPoSt | 1 |
//! | WindowPoSt V1, V1_1 | 5–9, 10–14 | WindowPoSt | 1 per call |
//! | update | 0–4 | SnapDeals | 1, 4, 16, 16, 16 |
//!
//! Each row of numbers stands in the order 2 KiB, 8 MiB, 512 MiB, 32 GiB, 64 GiB. Go's WindowPoSt V1_1 is called V1_2 in
//! filecoin-proofs-api.

use filecoin_proofs_api::{ApiFeature, PoStType, RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};

use super::{CircuitId, Kind};
use crate::error::{Error, Result};

/// Seal proofs in the order of their numbers in Go.
const SEAL_PROOFS: [RegisteredSealProof; 20] = {
    use RegisteredSealProof::*;
    [
        StackedDrg2KiBV1,
        StackedDrg8MiBV1,
        StackedDrg512MiBV1,
        StackedDrg32GiBV1,
        StackedDrg64GiBV1,
        StackedDrg2KiBV1_1,
        StackedDrg8MiBV1_1,
        StackedDrg512MiBV1_1,
        StackedDrg32GiBV1_1,
        StackedDrg64GiBV1_1,
        StackedDrg2KiBV1_1_Feat_SyntheticPoRep,
        StackedDrg8MiBV1_1_Feat_SyntheticPoRep,
        StackedDrg512MiBV1_1_Feat_SyntheticPoRep,
        StackedDrg32GiBV1_1_Feat_SyntheticPoRep,
        StackedDrg64GiBV1_1_Feat_SyntheticPoRep,
        StackedDrg2KiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg8MiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg512MiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg32GiBV1_2_Feat_NonInteractivePoRep,
        StackedDrg64GiBV1_2_Feat_NonInteractivePoRep,
    ]
};

/// PoSt proofs in the order of their numbers in Go.
const POST_PROOFS: [RegisteredPoStProof; 15] = {
    use RegisteredPoStProof::*;
    [
        StackedDrgWinning2KiBV1,
        StackedDrgWinning8MiBV1,
        StackedDrgWinning512MiBV1,
        StackedDrgWinning32GiBV1,
        StackedDrgWinning64GiBV1,
        StackedDrgWindow2KiBV1,
        StackedDrgWindow8MiBV1,
        StackedDrgWindow512MiBV1,
        StackedDrgWindow32GiBV1,
        StackedDrgWindow64GiBV1,
        StackedDrgWindow2KiBV1_2,
        StackedDrgWindow8MiBV1_2,
        StackedDrgWindow512MiBV1_2,
        StackedDrgWindow32GiBV1_2,
        StackedDrgWindow64GiBV1_2,
    ]
};

/// Update proofs in the order of their numbers in Go.
const UPDATE_PROOFS: [RegisteredUpdateProof; 5] = {
    use RegisteredUpdateProof::*;
    [StackedDrg2KiBV1, StackedDrg8MiBV1, StackedDrg512MiBV1, StackedDrg32GiBV1, StackedDrg64GiBV1]
};

/// The seal proof with Go's number `number`. Errors: INVALID (no such number), UNSUPPORTED (non-interactive PoRep).
pub fn seal_proof(number: i64) -> Result<RegisteredSealProof> {
    let proof = numbered(&SEAL_PROOFS, number, "seal")?;
    check_seal_proof(proof)?;
    Ok(proof)
}

/// The PoSt proof with Go's number `number`. Errors: INVALID (no such number).
pub fn post_proof(number: i64) -> Result<RegisteredPoStProof> {
    numbered(&POST_PROOFS, number, "PoSt")
}

/// The update proof with Go's number `number`. Errors: INVALID (no such number).
pub fn update_proof(number: i64) -> Result<RegisteredUpdateProof> {
    numbered(&UPDATE_PROOFS, number, "update")
}

fn numbered<T: Copy>(table: &[T], number: i64, kind: &str) -> Result<T> {
    let index = usize::try_from(number).ok();
    index
        .and_then(|index| table.get(index))
        .copied()
        .ok_or_else(|| Error::invalid("proof_type", format!("no registered {kind} proof has the number {number}")))
}

/// Refuses what isn't proved here. Errors: UNSUPPORTED (non-interactive PoRep).
pub fn check_seal_proof(proof: RegisteredSealProof) -> Result<()> {
    match proof.feature_enabled(ApiFeature::NonInteractivePoRep) {
        true => Err(Error::Unsupported(format!("non-interactive PoRep ({proof:?}): its proofs are aggregates"))),
        false => Ok(()),
    }
}

/// The circuit of a seal proof. Errors: UNSUPPORTED (non-interactive PoRep).
pub fn seal_circuit(proof: RegisteredSealProof) -> Result<CircuitId> {
    check_seal_proof(proof)?;
    CircuitId::new(Kind::PoRep, u64::from(proof.sector_size()))
}

/// The circuit of a PoSt proof.
pub fn post_circuit(proof: RegisteredPoStProof) -> Result<CircuitId> {
    let kind = match proof.typ() {
        PoStType::Winning => Kind::WinningPoSt,
        PoStType::Window => Kind::WindowPoSt,
    };
    CircuitId::new(kind, u64::from(proof.sector_size()))
}

/// The circuit of an update proof.
pub fn update_circuit(proof: RegisteredUpdateProof) -> Result<CircuitId> {
    CircuitId::new(Kind::SnapDeals, u64::from(proof.sector_size()))
}

/// Partitions of one proof of a circuit: the count of Groth16 proofs, 192 bytes each, that a request yields.
pub fn partition_count(circuit: CircuitId) -> usize {
    let size = circuit.sector_size();
    match circuit.kind() {
        Kind::PoRep if size >= 32 << 30 => 10,
        Kind::SnapDeals if size >= 512 << 20 => 16,
        Kind::SnapDeals if size >= 8 << 20 => 4,
        _ => 1,
    }
}

/// The `.params` file of a circuit, as the network distributes it. The `.vk` file has the same stem.
pub fn params_file_name(circuit: CircuitId) -> String {
    format!("v28-{}.params", params_stem(circuit))
}

/// The part of the file name that names the circuit.
fn params_stem(circuit: CircuitId) -> String {
    let size = CircuitId::SECTOR_SIZES.iter().position(|&size| size == circuit.sector_size());
    let size = size.expect("a circuit has one of these sizes");
    let tree = ["8-0-0", "8-0-0", "8-0-0", "8-8-0", "8-8-2"][size];
    let (prefix, suffix, hashes) = match circuit.kind() {
        Kind::PoRep => ("stacked-proof-of-replication", "-sha256_hasher", &POREP_HASHES),
        Kind::SnapDeals => ("empty-sector-update", "", &UPDATE_HASHES),
        Kind::WindowPoSt => ("proof-of-spacetime-fallback", "", &WINDOW_HASHES),
        Kind::WinningPoSt => ("proof-of-spacetime-fallback", "", &WINNING_HASHES),
    };
    format!("{prefix}-merkletree-poseidon_hasher-{tree}{suffix}-{}", hashes[size])
}

/// Hash of the public parameters in a PoRep's file name, by size.
const POREP_HASHES: [&str; 5] = [
    "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
    "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
    "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472",
    "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820",
    "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2",
];

/// The same for SnapDeals.
const UPDATE_HASHES: [&str; 5] = [
    "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
    "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63",
    "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c",
    "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18",
    "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7",
];

/// The same for WinningPoSt.
const WINNING_HASHES: [&str; 5] = [
    "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
    "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331",
    "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781",
    "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e",
    "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c",
];

/// The same for WindowPoSt.
const WINDOW_HASHES: [&str; 5] = [
    "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
    "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9",
    "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9",
    "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc",
    "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def",
];

/// Miner's actor id as the 32-byte prover id: unsigned LEB128, left-aligned, the rest 0.
pub fn prover_id(miner: u64) -> [u8; 32] {
    let mut id = [0; 32];
    let mut rest = miner;
    for byte in id.iter_mut() {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use filecoin_proofs::{get_porep_non_interactive_partitions, with_shape};
    use storage_proofs_core::merkle::MerkleTreeTrait;
    use storage_proofs_core::parameter_cache::{get_parameter_data_from_id, parameter_id, CacheableParameters};
    use storage_proofs_update::constants::TreeRHasher;
    use storage_proofs_update::{EmptySectorUpdateCircuit, EmptySectorUpdateCompound, PublicParams};

    use crate::error::Status;

    /// The file name as storage-proofs computes it for a circuit identifier; the network must have published it.
    fn published(identifier: &str) -> String {
        let name = parameter_id(identifier);
        assert!(get_parameter_data_from_id(&name).is_some(), "{name} isn't in parameters.json");
        name
    }

    fn update_identifier<Tree: 'static + MerkleTreeTrait<Hasher = TreeRHasher>>(sector_bytes: u64) -> String {
        <EmptySectorUpdateCompound<Tree> as CacheableParameters<EmptySectorUpdateCircuit<Tree>, PublicParams>>::
            cache_identifier(&PublicParams::from_sector_size(sector_bytes))
    }

    #[test]
    fn seal_proofs_as_the_reference_has_them() {
        for (number, &proof) in SEAL_PROOFS.iter().enumerate() {
            let config = proof.as_v1_config();
            assert_eq!(config.porep_id[..8], (number as u64).to_le_bytes(), "{proof:?}: Go's number");
            let name = published(&proof.circuit_identifier().unwrap());
            if number >= 15 {
                assert_eq!(seal_proof(number as i64).unwrap_err().status(), Status::Unsupported, "{proof:?}");
                assert_eq!(seal_circuit(proof).unwrap_err().status(), Status::Unsupported, "{proof:?}");
                assert_eq!(proof.partitions(), get_porep_non_interactive_partitions(proof.sector_size().into()));
                continue;
            }
            assert_eq!(seal_proof(number as i64).unwrap(), proof);
            let circuit = seal_circuit(proof).unwrap();
            assert_eq!((circuit.kind(), circuit.sector_size()), (Kind::PoRep, u64::from(proof.sector_size())));
            assert_eq!(partition_count(circuit), usize::from(proof.partitions()), "{proof:?}");
            assert_eq!(params_file_name(circuit), name, "{proof:?}");
        }
    }

    #[test]
    fn post_proofs_as_the_reference_has_them() {
        for (number, &proof) in POST_PROOFS.iter().enumerate() {
            assert_eq!(post_proof(number as i64).unwrap(), proof);
            let kind = if number < 5 { Kind::WinningPoSt } else { Kind::WindowPoSt };
            let circuit = post_circuit(proof).unwrap();
            assert_eq!((circuit.kind(), circuit.sector_size()), (kind, u64::from(proof.sector_size())), "{proof:?}");
            assert_eq!(partition_count(circuit), 1);
            assert_eq!(params_file_name(circuit), published(&proof.circuit_identifier().unwrap()), "{proof:?}");
        }
    }

    #[test]
    fn update_proofs_as_the_reference_has_them() {
        for (number, &proof) in UPDATE_PROOFS.iter().enumerate() {
            assert_eq!(update_proof(number as i64).unwrap(), proof);
            let size = u64::from(proof.sector_size());
            let circuit = update_circuit(proof).unwrap();
            assert_eq!((circuit.kind(), circuit.sector_size()), (Kind::SnapDeals, size));
            assert_eq!(partition_count(circuit), PublicParams::from_sector_size(size).partition_count, "{proof:?}");
            assert_eq!(params_file_name(circuit), published(&with_shape!(size, update_identifier, size)), "{proof:?}");
        }
    }

    #[test]
    fn unknown_numbers_are_invalid() {
        for number in [-1, 20, i64::MAX, i64::MIN] {
            assert_eq!(seal_proof(number).unwrap_err().status(), Status::Invalid);
            assert_eq!(post_proof(number).unwrap_err().status(), Status::Invalid);
            assert_eq!(update_proof(number).unwrap_err().status(), Status::Invalid);
        }
        assert_eq!(post_proof(15).unwrap_err().status(), Status::Invalid);
        assert_eq!(update_proof(5).unwrap_err().status(), Status::Invalid);
    }

    #[test]
    fn prover_id_is_leb128() {
        let head = |miner| prover_id(miner)[..12].to_vec();
        assert_eq!(head(0), [0; 12]);
        assert_eq!(head(127), [127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(head(128), [0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(head(1000), [0xe8, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(head(u64::MAX), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0]);
    }
}
