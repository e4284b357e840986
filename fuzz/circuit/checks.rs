//! What has to hold for any bytes of a request. Run by the fuzz targets and, on their corpora, by `tests/circuit_corpus.rs`.

use cuzk::circuit::porep::PorepRequest;
use cuzk::circuit::post::PostRequest;
use cuzk::circuit::update::UpdateRequest;
use cuzk::circuit::{CircuitId, Request};
use cuzk::{Error, Status};
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredUpdateProof};

/// Reads `bytes` as a C1 output, plain or in its envelope.
#[allow(dead_code)]
pub fn c1_json(bytes: &[u8]) {
    check(Request::Porep(PorepRequest { miner: 1000, sector: 18, c1: bytes }));
}

/// Reads `bytes` as a partition proof of a SnapDeals update, or as a sector proof of a PoSt; the first byte says as which,
/// and for which sector size.
#[allow(dead_code)]
pub fn vanilla_bincode(bytes: &[u8]) {
    use RegisteredPoStProof::{StackedDrgWindow2KiBV1_2, StackedDrgWindow64GiBV1_2, StackedDrgWinning2KiBV1};
    let Some((selector, bytes)) = bytes.split_first() else { return };
    match selector % 4 {
        0 => update(bytes),
        1 => post(StackedDrgWindow2KiBV1_2, bytes),
        2 => post(StackedDrgWinning2KiBV1, bytes),
        _ => post(StackedDrgWindow64GiBV1_2, bytes),
    }
}

/// The proof stands behind the three commitments.
fn update(bytes: &[u8]) {
    let Some((head, bytes)) = bytes.split_at_checked(96) else { return };
    let commitment = |i: usize| head[32 * i..32 * (i + 1)].try_into().expect("32 bytes");
    let [comm_r_old, comm_r_new, comm_d_new] = [0, 1, 2].map(commitment);
    let proof = RegisteredUpdateProof::StackedDrg2KiBV1;
    let vanilla_proofs = &[bytes][..];
    check(Request::Update(UpdateRequest { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs }));
}

/// The proof stands behind the randomness.
fn post(proof: RegisteredPoStProof, bytes: &[u8]) {
    let Some((randomness, bytes)) = bytes.split_first_chunk::<32>() else { return };
    let (randomness, vanilla_proofs) = (*randomness, &[bytes][..]);
    check(Request::Post(PostRequest { proof, miner: 1000, randomness, partition: 0, vanilla_proofs }));
}

/// Never panics. What is refused is INVALID or UNSUPPORTED, in few words; what is accepted can be made a circuit.
fn check(request: Request<'_>) {
    match request.check() {
        Ok(checked) => {
            assert!(CircuitId::SECTOR_SIZES.contains(&checked.circuit().sector_size()));
            for partition in checked.partitions() {
                assert!(!partition.inputs().is_empty());
                partition.circuit().expect("checked proofs make a circuit");
            }
        }
        Err(error) => refused(&error),
    }
}

fn refused(error: &Error) {
    assert!(matches!(error.status(), Status::Invalid | Status::Unsupported), "{error}");
    assert!(error.to_string().len() < 400, "{error}");
}
