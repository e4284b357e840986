//! SRS files (`.params`, bellperson's format): layout, checks, identity, writing. Files are read with `pread`, never
//! mapped: a file truncated under a map is a signal, a short read is an error.
//!
//! # Format
//!
//! The verifying key (864 bytes: alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2), then six sections, each a
//! 4-byte big-endian count and that many points: ic, h, l, a, b_g1 (G1, 96 bytes a point), b_g2 (G2, 192). Points are
//! affine, uncompressed, big-endian (Zcash encoding), never at infinity.
//!
//! - ic: one per input, ONE included;
//! - h: `domain_size − 1` points `τ^i Z(τ) / δ`;
//! - l: one per aux variable;
//! - a: inputs with non-zero coefficients in A (all, by the input rows), then aux variables likewise, in order;
//! - b_g1, b_g2: the same for B.
//!
//! # What is checked when
//!
//! | when | what |
//! |---|---|
//! | [`SrsFile::open`] | the six counts against the file's size; every point of the vk and of ic; identity of the vk |
//! | [`SrsFile::read_points`], back ends | each point on its curve and not at infinity |
//! | [`SrsFile::verify`] | every point in its subgroup, or the file's digest; remembered per file |
//! | [`SrsFile::check_counts`] | the counts against those that an R1CS asks for |

use std::path::Path;

use crate::error::{Error, FileFault};

mod check;
mod file;
pub mod known;
mod layout;
mod locate;
mod points;
mod source;
mod vk;
mod write;

pub use check::SrsCheck;
pub use file::{SrsFile, SrsOptions};
pub use layout::{G1_BYTES, G2_BYTES, VK_POINTS_BYTES};
pub use locate::{ParamDirs, DEFAULT_PARAM_DIR, PARAM_DIR_ENV};
pub use points::{check_subgroup, decode_points, encode_points, Point, PointFault};
pub use source::{FileStat, ReadAt};
pub use vk::VerifyingKey;
pub(crate) use write::refuse_existing;
pub use write::SrsWriter;

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

impl Section {
    /// All of them, in file order.
    pub const ALL: [Section; 6] = [Section::Ic, Section::H, Section::L, Section::A, Section::BG1, Section::BG2];

    /// Name in errors.
    pub const fn name(self) -> &'static str {
        match self {
            Section::Ic => "ic",
            Section::H => "h",
            Section::L => "l",
            Section::A => "a",
            Section::BG1 => "b_g1",
            Section::BG2 => "b_g2",
        }
    }

    /// Bytes of one point.
    pub const fn point_bytes(self) -> u64 {
        match self {
            Section::BG2 => G2_BYTES,
            _ => G1_BYTES,
        }
    }
}

/// A [`Error::ParamsCorrupt`].
pub(crate) fn fault(
    file: &Path,
    section: &'static str,
    index: Option<u64>,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Error {
    let (expected, found) = (expected.into(), found.into());
    Error::ParamsCorrupt(FileFault { file: file.to_owned(), section, index, expected, found })
}

/// A failed read of a file whose size was checked before.
pub(crate) fn read_error(file: &Path, section: &'static str, index: Option<u64>, error: &std::io::Error) -> Error {
    fault(file, section, index, "readable bytes", error.to_string())
}
