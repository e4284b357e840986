//! SRS files (`.params`, bellperson's format): layout, checks and identity. Files are read with `pread`, never mapped.
//!
//! # Format
//!
//! The verifying key (864 bytes: alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2), then six sections, each a
//! 4-byte big-endian count and that many points: ic, h, l, a, b_g1 (G1, 96 bytes a point), b_g2 (G2, 192). Points are
//! affine, uncompressed, big-endian (Zcash encoding).
//!
//! - ic: one per input, ONE included;
//! - h: `domain_size − 1` points `τ^i Z(τ) / δ`;
//! - l: one per aux variable;
//! - a: inputs with non-zero coefficients in A (all, by the input rows), then aux variables likewise, in order;
//! - b_g1, b_g2: the same for B.

use std::path::Path;

use blstrs::{G1Affine, G2Affine};

use crate::error::Result;
use crate::r1cs::R1cs;

/// The sections of an SRS file behind the verifying key, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// Input points of the verifying key.
    Ic,
    /// Powers of τ times Z(τ)/δ.
    H,
    /// Aux points.
    L,
    /// Query A, in G1.
    A,
    /// Query B, in G1: nothing loads it but tests.
    BG1,
    /// Query B, in G2.
    BG2,
}

/// The verifying key of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// α·G1.
    pub alpha_g1: G1Affine,
    /// β·G1.
    pub beta_g1: G1Affine,
    /// β·G2.
    pub beta_g2: G2Affine,
    /// γ·G2.
    pub gamma_g2: G2Affine,
    /// δ·G1.
    pub delta_g1: G1Affine,
    /// δ·G2.
    pub delta_g2: G2Affine,
    /// One point per input, ONE included.
    pub ic: Vec<G1Affine>,
}

/// How far an SRS file is checked when it is opened. Sizes and the vk are always checked, and back ends check every point
/// that they load to be on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SrsCheck {
    /// Nothing more.
    #[default]
    OnCurve,
    /// Every point of every section, b_g1 included, is in the prime-order subgroup.
    Subgroup,
    /// The file's digest is the one in the built-in table.
    Digest,
}

/// Options of [`SrsFile::open`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SrsOptions {
    /// Accept a verifying key that isn't in the built-in table. Default: no.
    pub allow_unknown_params: bool,
    /// See [`SrsCheck`]. Default: [`SrsCheck::OnCurve`].
    pub check: SrsCheck,
}

/// An open SRS file whose sizes and verifying key have been checked. Holds the file open, none of its points.
#[derive(Debug)]
pub struct SrsFile {}

impl SrsFile {
    /// Opens and checks the file at `path`.
    pub fn open(_path: &Path, _options: &SrsOptions) -> Result<Self> {
        unimplemented!()
    }

    /// The verifying key.
    pub fn vk(&self) -> &VerifyingKey {
        unimplemented!()
    }

    /// Points in `section`.
    pub fn count(&self, _section: Section) -> u64 {
        unimplemented!()
    }

    /// Reads the points `[first, first + out.len() / point_bytes)` of `section` as they stand in the file. Thread-safe.
    pub fn read(&self, _section: Section, _first: u64, _out: &mut [u8]) -> Result<()> {
        unimplemented!()
    }

    /// Compares the sections' counts with those that `r1cs` asks for.
    pub fn check_counts(&self, _r1cs: &R1cs) -> Result<()> {
        unimplemented!()
    }
}
