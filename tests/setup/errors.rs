//! What a setup refuses.

use std::fs;
use std::path::Path;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk::r1cs::{Flat, R1cs};
use cuzk::setup::write_params;
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::Status;
use ff::Field;

use crate::circuits::Powers;
use crate::pool::pool;

struct Loose;

impl Circuit<Fr> for Loose {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let x = cs.alloc(|| "x", || Ok(Fr::ONE))?;
        cs.alloc(|| "loose", || Ok(Fr::ONE))?;
        cs.enforce(|| "x", |lc| lc + x, |lc| lc + x, |lc| lc + x);
        Ok(())
    }
}

fn refused(r1cs: &R1cs, path: &Path) -> String {
    let error = write_params(r1cs, [1; 32], path, &pool(2)).unwrap_err();
    assert_eq!(error.status(), Status::Invalid);
    error.to_string()
}

#[test]
fn an_aux_variable_in_no_row_is_refused_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let r1cs = R1cs::record(Loose, Flat).unwrap();
    assert!(refused(&r1cs, &dir.path().join("loose.params")).contains("aux variable 1"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn nothing_is_overwritten_and_no_directory_made() {
    let dir = tempfile::tempdir().unwrap();
    let r1cs = R1cs::record(Powers(3), Flat).unwrap();
    let path = dir.path().join("taken.params");
    fs::write(&path, b"precious").unwrap();
    assert!(refused(&r1cs, &path).contains("taken.params"));
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    refused(&r1cs, dir.path());
    refused(&r1cs, &dir.path().join("absent").join("own.params"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_of_a_seed_is_never_one_of_the_networks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.params");
    let r1cs = R1cs::record(Powers(3), Flat).unwrap();
    write_params(&r1cs, [1; 32], &path, &pool(2)).unwrap();
    assert_eq!(SrsFile::open(&path, &SrsOptions::default()).unwrap_err().status(), Status::ParamsUnknown);
}

#[test]
fn a_large_file_cut_at_one_mebibyte_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.params");
    let r1cs = R1cs::record(Powers(3000), Flat).unwrap();
    write_params(&r1cs, [1; 32], &path, &pool(2)).unwrap();
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    SrsFile::open(&path, &options).unwrap();
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() > 1 << 20);
    fs::write(&path, &whole[..1 << 20]).unwrap();
    let error = SrsFile::open(&path, &options).unwrap_err();
    assert_eq!(error.status(), Status::ParamsCorrupt);
    assert!(error.to_string().contains("found 1048576 bytes"), "{error}");
}
