//! Verification through the C ABI, with a verifying key made here.

use std::path::Path;
use std::sync::Arc;

use cuzk::assignment::Builder;
use cuzk::backend::{cpu::CpuBackend, Backend, Circuit as Loaded, Uncontrolled};
use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CircuitId, Kind};
use cuzk::ffi::testing;
use cuzk::ffi::*;
use cuzk::groth16;
use cuzk::r1cs::cache::Cache;
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::vanilla::{Input, PostInput};
use cuzk::Status;

use super::{accepted, alone, bytes, refused, resident_kib, zeroed};

/// The WindowPoSt's proof, with its SRS below `dir`.
fn proved(input: &Input, dir: &Path) -> Vec<u8> {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().unwrap());
    let id = CircuitId::new(Kind::WindowPoSt, 2048).unwrap();
    let r1cs = Arc::new(id.r1cs(&Cache::new(dir)).unwrap());
    let file = dir.join(params_file_name(id));
    cuzk::setup::write_params(&r1cs, [1; 32], &file, &pool).unwrap();
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = Arc::new(SrsFile::open(&file, &options).unwrap());
    let circuit = Loaded::new(id.to_string(), r1cs.clone(), srs).unwrap();
    let backend = CpuBackend::new(pool);
    backend.load(&circuit, &Uncontrolled).unwrap();
    let checked = input.check().unwrap();
    let partition = checked.partitions().next().unwrap();
    let layouts = Arc::new(cuzk::assignment::Layouts::pinned(cuzk::assignment::Layout::derive(&r1cs)));
    let builder = Builder::new(&layouts, r1cs.input_count);
    let assignment = builder.synthesize(partition.circuit().unwrap()).unwrap();
    groth16::prove(&backend, &circuit, &Arc::new(assignment)).unwrap().to_bytes().to_vec()
}

fn sectors(input: &PostInput) -> Vec<Sector> {
    input.sectors.iter().map(|sector| Sector { sector: sector.sector, comm_r: bytes(&sector.comm_r) }).collect()
}

/// 10,000 calls take no memory.
fn leaves_nothing_behind(call: impl Fn(usize)) {
    (0..100).for_each(&call);
    let before = resident_kib();
    (0..10_000).for_each(&call);
    let after = resident_kib();
    assert!(after < before + 4096, "{before} KiB before, {after} KiB after");
}

#[test]
fn a_proof_is_verified_against_its_claim() {
    let _alone = alone();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/window.json");
    let input = Input::read(Path::new(path)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let proof = proved(&input, dir.path());
    let Input::Post(post) = &input else { unreachable!("window.json holds a PoSt") };

    let sectors = sectors(post);
    let size = size_of::<PostClaim>() as u64;
    let good = PostClaim {
        struct_size: size,
        proof_type: 10,
        randomness: bytes(&post.randomness),
        sectors: sectors.as_ptr(),
        sector_count: sectors.len() as u64,
        ..zeroed()
    };
    let claim =
        |window_post: *const PostClaim| Claim { struct_size: size_of::<Claim>() as u64, window_post, ..zeroed() };
    let dirs = bytes(dir.path().to_str().unwrap().as_bytes());
    let source = VkSource {
        struct_size: size_of::<VkSource>() as u64,
        param_dirs: &dirs,
        param_dir_count: 1,
        allow_unknown_params: 1,
    };
    let verify =
        |claim: &Claim, proof: &[u8], source: &VkSource, error| cuzk_verify(claim, &bytes(proof), source, error);
    accepted(|error| verify(&claim(&good), &proof, &source, error));

    // Another claim, another proof.
    let mut randomness = post.randomness;
    randomness[0] ^= 1;
    let other = PostClaim { randomness: bytes(&randomness), ..good };
    refused(Status::Invalid, "proof", |error| verify(&claim(&other), &proof, &source, error));
    let fewer = PostClaim { sector_count: 1, ..good };
    refused(Status::Invalid, "proof", |error| verify(&claim(&fewer), &proof, &source, error));
    for bad in [&[][..], &proof[1..], &[0; 192]] {
        refused(Status::Invalid, "proof", |error| verify(&claim(&good), bad, &source, error));
    }

    leaves_nothing_behind(|i| match i % 20 {
        0 => accepted(|error| verify(&claim(&good), &proof, &source, error)),
        _ => refused(Status::Invalid, "proof", |error| verify(&claim(&good), &[0; 192], &source, error)),
    });

    // Malformed claims and sources.
    let none = PostClaim { sector_count: 0, ..good };
    refused(Status::Invalid, "sectors", |error| verify(&claim(&none), &proof, &source, error));
    let winning = PostClaim { proof_type: 0, ..good };
    refused(Status::Invalid, "proof_type", |error| verify(&claim(&winning), &proof, &source, error));
    let both = Claim { winning_post: &good, ..claim(&good) };
    refused(Status::Invalid, "claim", |error| verify(&both, &proof, &source, error));
    let strict = VkSource { allow_unknown_params: 0, ..source };
    refused(Status::ParamsUnknown, "verifying key", |error| verify(&claim(&good), &proof, &strict, error));
    let elsewhere = tempfile::tempdir().unwrap();
    let empty = bytes(elsewhere.path().to_str().unwrap().as_bytes());
    let missing = VkSource { param_dirs: &empty, ..source };
    refused(Status::ParamsMissing, "searched", |error| verify(&claim(&good), &proof, &missing, error));

    // A key that is known is told from a file that has changed under its name.
    std::fs::write(dir.path().join(params_file_name(CircuitId::new(Kind::WindowPoSt, 2048).unwrap())), b"x").unwrap();
    refused(Status::ParamsCorrupt, "params", |error| verify(&claim(&good), &proof, &source, error));
    assert_eq!(testing::cuzk_testing_live_buffers(), 0);
}
