//! The oracle on Filecoin's circuits at 2 KiB: for the same SRS, witness and blinding, our bytes are bellperson's. The
//! PoSts run bellperson; its proofs of the larger circuits are kept in testdata/golden and made again by `make golden`.
#![cfg(feature = "testing")]

mod golden_support;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{self, Backend, Sums, Uncontrolled};
use cuzk::circuit::{CheckedProofs, Kind};
use cuzk::groth16::{assemble, assemble_with_r_s, finish, Blinding, Verifier};
use cuzk::r1cs::R1cs;
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::Error;
use ff::Field;
use golden_support::{bellperson_proofs, checked, chosen, root, srs, Chosen};
use group::Group;
use rayon::ThreadPool;

/// Our proofs of the first partition, in the order of [`Chosen`].
fn our_proofs(checked: &CheckedProofs, r1cs: &Arc<R1cs>, file: &Path, pool: &Arc<ThreadPool>) -> Vec<Vec<u8>> {
    let id = checked.circuit();
    let layouts = Arc::new(Layouts::pinned(id.layout(r1cs).unwrap()));
    let mut builder = Builder::new(&layouts, r1cs.input_count);
    let partition = checked.partitions().next().unwrap();
    partition.synthesize(&mut builder).unwrap();
    let assignment = Arc::new(builder.finish().unwrap());
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = Arc::new(SrsFile::open(file, &options).unwrap());
    let circuit = backend::Circuit::new(id.to_string(), Arc::clone(r1cs), srs).unwrap();
    let sums = sums(&circuit, &assignment, pool);

    let vk = circuit.srs().vk();
    let Chosen { sigma, r, s } = chosen();
    let proofs = [
        assemble(vk, &sums, &Blinding::chosen(Fr::ONE, Fr::ZERO)),
        assemble(vk, &sums, &Blinding::chosen(Fr::ONE, sigma)),
        assemble_with_r_s(vk, &sums, &r, &s).expect("the CPU back end sums B_G1 in tests"),
    ];
    let verifier = Verifier::new(vk);
    assert!(proofs.iter().all(|proof| verifier.verify(&partition.inputs(), proof).unwrap()));
    wrong_sums_never_become_a_proof(&circuit, &verifier, &assignment, &sums);
    proofs.iter().map(|proof| proof.to_bytes().to_vec()).collect()
}

/// What a faulty device may give is caught for every kind, and told apart from a false witness.
fn wrong_sums_never_become_a_proof(
    circuit: &backend::Circuit,
    verifier: &Verifier,
    assignment: &Assignment,
    sums: &Sums,
) {
    finish(circuit, verifier, assignment, sums).expect("these are right");
    let spoils: [fn(&mut Sums); 4] = [
        |sums| sums.a += G1Projective::generator(),
        |sums| sums.b_g2 += G2Projective::generator(),
        |sums| sums.h_l += G1Projective::generator(),
        // Nothing was computed.
        |sums| {
            (sums.a, sums.h_l) = (G1Projective::identity(), G1Projective::identity());
            sums.b_g2 = G2Projective::identity();
        },
    ];
    for spoil in spoils {
        let mut wrong = sums.clone();
        spoil(&mut wrong);
        assert_eq!(finish(circuit, verifier, assignment, &wrong), Err(Error::SelfCheck(circuit.name().into())));
    }
}

fn sums(circuit: &Arc<backend::Circuit>, assignment: &Arc<Assignment>, pool: &Arc<ThreadPool>) -> Sums {
    let cpu = CpuBackend::new(Arc::clone(pool));
    cpu.load(circuit, &Uncontrolled).unwrap();
    let mut found = None;
    cpu.prove(circuit, std::slice::from_ref(assignment), &Uncontrolled, &mut |_, sums| found = Some(sums.unwrap()));
    found.expect("finished")
}

fn compare(name: &str, expected: impl FnOnce(&CheckedProofs, &Path) -> Vec<Vec<u8>>) {
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().unwrap());
    let checked = checked(name);
    let id = checked.circuit();
    let r1cs = Arc::new(id.record().unwrap());
    let file = srs(id, &r1cs, &pool);
    let expected = expected(&checked, &file);
    assert_eq!(expected.len(), 3);
    let ours = our_proofs(&checked, &r1cs, &file, &pool);
    for ((ours, theirs), blinding) in ours.iter().zip(&expected).zip(["r = s = 0", "(0, σ)", "(r, s)"]) {
        assert_eq!(hex::encode(ours), hex::encode(theirs), "{name}, {blinding}");
    }
}

fn golden(name: &str) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(root("testdata/golden").join(name).with_extension("hex")).unwrap();
    text.lines().map(|line| hex::decode(line).unwrap()).collect()
}

#[test]
fn winning_post() {
    assert_eq!(checked("winning").circuit().kind(), Kind::WinningPoSt);
    compare("winning", bellperson_proofs);
}

#[test]
fn window_post() {
    assert_eq!(checked("window").circuit().kind(), Kind::WindowPoSt);
    compare("window", bellperson_proofs);
}

#[test]
fn snap_deals() {
    compare("update", |_, _| golden("update"));
}

#[test]
fn porep() {
    compare("porep", |_, _| golden("porep"));
}
