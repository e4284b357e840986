//! Sets up, proves and verifies "I know 64 bytes whose SHA-256 digest is this", from circuit to checked proof.

mod circuit;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bellpepper::gadgets::multipack::{bytes_to_bits, compute_multipacking};
use blstrs::Scalar as Fr;
use circuit::Preimage;
use cuzk::backend::cpu::CpuBackend;
use cuzk::groth16::Prover;
use cuzk::r1cs::{Flat, R1cs};
use cuzk::setup;
use cuzk::srs::{SrsFile, SrsOptions};
use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    run(&dir.path().join("preimage.params"))
}

fn run(params: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let r1cs = Arc::new(R1cs::record(Preimage(vec![0; 64]), Flat)?);
    println!(
        "recorded   {} constraints, {} inputs, {} aux variables",
        r1cs.constraint_count, r1cs.input_count, r1cs.aux_count
    );

    let pool = Arc::new(rayon::ThreadPoolBuilder::new().build()?);
    setup::write_params(&r1cs, [7; 32], params, &pool)?;
    println!("set up     an insecure SRS from a seed, {} bytes", std::fs::metadata(params)?.len());

    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = Arc::new(SrsFile::open(params, &options)?);
    let circuit = cuzk::backend::Circuit::new("preimage", r1cs, srs)?;
    let prover = Prover::new(circuit, Arc::new(CpuBackend::new(pool)))?;

    let mut secret = vec![0; 64];
    secret[..28].copy_from_slice(b"nobody needs to know this...");
    let digest = Sha256::digest(&secret);
    let inputs: Vec<Fr> = compute_multipacking(&bytes_to_bits(&digest));

    let proof = prover.prove(Preimage(secret))?;
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("proved     the preimage of {hex}");
    assert!(prover.verify(&inputs, &proof)?, "the proof must hold for its own digest");
    println!("verified   {} bytes of proof", proof.to_bytes().len());

    let other: Vec<Fr> = compute_multipacking(&bytes_to_bits(&Sha256::digest(b"another digest")));
    assert!(!prover.verify(&other, &proof)?, "the proof must not hold for another digest");
    println!("refused    the same proof for another digest");
    println!("in all     {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}
