//! A small circuit and its SRS, made by bellperson.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16::{generate_random_parameters, Parameters};
use blstrs::{Bls12, Scalar as Fr};
use cuzk::srs::{Section, SrsFile, SrsOptions};
use cuzk::Result;
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha20Rng;

/// `x^(2^squarings)`, of which every power is an input too.
#[derive(Clone)]
pub struct Powers {
    pub squarings: usize,
}

impl Circuit<Fr> for Powers {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut x = AllocatedNum::alloc(cs.namespace(|| "x"), || Ok(Fr::from(3)))?;
        for i in 0..self.squarings {
            x = x.square(cs.namespace(|| format!("square {i}")))?;
            x.inputize(cs.namespace(|| format!("input {i}")))?;
        }
        Ok(())
    }
}

pub const CIRCUIT: Powers = Powers { squarings: 9 };
pub const SEED: [u8; 32] = [7; 32];

/// bellperson's SRS for [`CIRCUIT`] and [`SEED`].
pub fn parameters() -> &'static Parameters<Bls12> {
    static PARAMETERS: OnceLock<Parameters<Bls12>> = OnceLock::new();
    PARAMETERS.get_or_init(|| {
        generate_random_parameters(CIRCUIT, &mut ChaCha20Rng::from_seed(SEED)).expect("a valid circuit")
    })
}

/// The bytes of its file.
pub fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut bytes = Vec::new();
        parameters().write(&mut bytes).expect("memory can be written");
        bytes
    })
}

/// Where the points of `section` stand in [`bytes`], by bellperson's counts.
pub fn points_of(section: Section) -> Range<usize> {
    let p = parameters();
    let counts = [p.vk.ic.len(), p.h.len(), p.l.len(), p.a.len(), p.b_g1.len(), p.b_g2.len()];
    let mut end = 864;
    let mut range = 0..0;
    for (at, count) in counts.into_iter().enumerate().take(section as usize + 1) {
        range = end + 4..end + 4 + count * if at == 5 { 192 } else { 96 };
        end = range.end;
    }
    range
}

/// The bytes of bellperson's SRS for one squaring.
pub fn smallest() -> Vec<u8> {
    let circuit = Powers { squarings: 1 };
    let parameters: Parameters<Bls12> =
        generate_random_parameters(circuit, &mut ChaCha20Rng::from_seed(SEED)).expect("a valid circuit");
    let mut bytes = Vec::new();
    parameters.write(&mut bytes).expect("memory can be written");
    bytes
}

/// Accepts any vk.
pub fn foreign() -> SrsOptions {
    SrsOptions { allow_unknown_params: true, ..SrsOptions::default() }
}

/// Writes `bytes` to `name` in `dir`.
pub fn file(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).expect("the test's directory can be written");
    path
}

/// Opens bytes in memory.
pub fn open_bytes(bytes: &[u8]) -> Result<SrsFile> {
    SrsFile::from_source(Path::new("in memory"), Box::new(bytes.to_vec()), &foreign())
}

/// Reads all points of all sections, each checked to be on its curve.
pub fn load(srs: &SrsFile) -> Result<()> {
    use blstrs::{G1Affine, G2Affine};
    for section in [Section::H, Section::L, Section::A, Section::BG1] {
        srs.read_points(section, 0, &mut vec![G1Affine::default(); srs.count(section) as usize])?;
    }
    srs.read_points(Section::BG2, 0, &mut vec![G2Affine::default(); srs.count(Section::BG2) as usize])
}

#[test]
fn the_fixture_has_points_in_every_section_and_fills_its_file() {
    for section in Section::ALL {
        assert!(points_of(section).len() >= 9 * 96, "{section:?}");
    }
    assert_eq!(points_of(Section::BG2).end, bytes().len());
}
