//! The verifying key: the head of a `.params` file, and the whole of a `.vk` file.

use std::io::Write;
use std::path::Path;

use blake2b_simd::{blake2b, State};
use blstrs::{G1Affine, G2Affine};

use super::layout::{G1_BYTES, VK_POINTS_BYTES};
use super::points::{check_subgroup, decode_points, encode_points, Point, PointFault};
use super::source::{open_regular, ReadAt};
use super::{fault, read_error, Section};
use crate::error::{Error, Result};
use crate::files::{self, NewFile};

/// Where the ic points start: behind the six points and the count.
const IC_START: usize = VK_POINTS_BYTES as usize + 4;
/// Characters of a digest: 16 bytes in hex.
const DIGEST_CHARS: usize = 32;
/// Points of ic that are read at once.
const STEP_POINTS: usize = 4096;

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

/// Walks over the points in front of the sections, in file order.
struct Head<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    index: u64,
}

impl VerifyingKey {
    /// Decodes the bytes of a `.vk` file: 864 bytes, a 4-byte big-endian count and that many G1 points. Every point is
    /// checked to be on the curve, in the prime-order subgroup and not at infinity; ic holds at least one.
    /// `file` is what errors name. Spreads over the rayon pool it is called from.
    pub fn from_bytes(bytes: &[u8], file: &Path) -> Result<Self> {
        Self::from_source(&bytes, bytes.len() as u64, file)
    }

    /// Opens, reads and decodes a `.vk` file. Errors: as [`super::SrsFile::open`].
    pub fn read(path: &Path) -> Result<Self> {
        let file = open_regular(path)?;
        let size = file.metadata().map_err(|error| read_error(path, "", None, &error))?.len();
        Self::from_source(&file, size, path)
    }

    /// Compares the size with the count before it reads on.
    fn from_source(source: &dyn ReadAt, size: u64, file: &Path) -> Result<Self> {
        let refuse = |expected: String| Err(fault(file, "vk", None, expected, format!("{size} bytes")));
        if size < IC_START as u64 {
            return refuse(format!("at least {IC_START} bytes"));
        }
        let mut count = [0; 4];
        source.read_exact_at(&mut count, VK_POINTS_BYTES).map_err(|error| read_error(file, "vk", None, &error))?;
        let count = u64::from(u32::from_be_bytes(count));
        if size != IC_START as u64 + count * G1_BYTES {
            return refuse(format!("{} bytes", IC_START as u64 + count * G1_BYTES));
        }
        if count == 0 {
            return Err(fault(file, "ic", None, "at least 1 point", "0 points"));
        }
        Ok(read_vk(source, count, file)?.0)
    }

    /// The bytes of the `.vk` file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; IC_START + self.ic.len() * G1Affine::BYTES];
        bytes[0..96].copy_from_slice(&self.alpha_g1.to_uncompressed());
        bytes[96..192].copy_from_slice(&self.beta_g1.to_uncompressed());
        bytes[192..384].copy_from_slice(&self.beta_g2.to_uncompressed());
        bytes[384..576].copy_from_slice(&self.gamma_g2.to_uncompressed());
        bytes[576..672].copy_from_slice(&self.delta_g1.to_uncompressed());
        bytes[672..864].copy_from_slice(&self.delta_g2.to_uncompressed());
        let count = u32::try_from(self.ic.len()).expect("inputs are counted in 32 bits");
        bytes[864..IC_START].copy_from_slice(&count.to_be_bytes());
        encode_points(&self.ic, &mut bytes[IC_START..]);
        bytes
    }

    /// First 16 bytes of blake2b-512 over [`Self::to_bytes`], in hex: what parameters.json lists for the `.vk` file.
    pub fn digest(&self) -> String {
        blake2b(&self.to_bytes()).to_hex()[..DIGEST_CHARS].to_owned()
    }

    /// Writes the `.vk` file. Errors: INVALID if something stands at `path` already.
    pub fn write(&self, path: &Path) -> Result<()> {
        let write = |(new, mut file): (NewFile, std::fs::File)| {
            file.write_all(&self.to_bytes())?;
            file.sync_all()?;
            new.publish()
        };
        NewFile::create(path).and_then(write).map_err(|error| files::error("path", path, &error))
    }
}

impl Head<'_> {
    fn next<P: Point>(&mut self, name: &str) -> Result<P> {
        let (bytes, rest) = self.bytes.split_at(P::BYTES);
        self.bytes = rest;
        let index = self.index;
        self.index += 1;
        let checked = P::decode(bytes).and_then(|point| match point.in_subgroup() {
            true => Ok(point),
            false => Err(PointFault::NotInSubgroup),
        });
        checked.map_err(|why| fault(self.file, "vk", Some(index), format!("{} as {name}", why.expected()), why.found()))
    }
}

/// Reads and checks the vk at the start of `source`, whose ic has `count` points, and its digest. Memory grows with the
/// points that have been found valid, so that a large count alone costs nothing.
pub(super) fn read_vk(source: &dyn ReadAt, count: u64, file: &Path) -> Result<(VerifyingKey, String)> {
    let mut bytes = vec![0; IC_START];
    let read = |bytes: &mut [u8], section, index, offset| {
        source.read_exact_at(bytes, offset).map_err(|error| read_error(file, section, index, &error))
    };
    read(&mut bytes, "vk", None, 0)?;
    let mut hasher = State::new();
    hasher.update(&bytes);
    let mut head = Head { file, bytes: &bytes, index: 0 };
    let mut vk = VerifyingKey {
        alpha_g1: head.next("alpha_g1")?,
        beta_g1: head.next("beta_g1")?,
        beta_g2: head.next("beta_g2")?,
        gamma_g2: head.next("gamma_g2")?,
        delta_g1: head.next("delta_g1")?,
        delta_g2: head.next("delta_g2")?,
        ic: Vec::new(),
    };
    for first in (0..count).step_by(STEP_POINTS) {
        let step = (count - first).min(STEP_POINTS as u64) as usize;
        bytes.resize(step * G1Affine::BYTES, 0);
        read(&mut bytes, "ic", Some(first), IC_START as u64 + first * G1_BYTES)?;
        hasher.update(&bytes);
        vk.ic.resize(first as usize + step, G1Affine::default());
        let points = &mut vk.ic[first as usize..];
        decode_points(&bytes, points)
            .and_then(|()| check_subgroup(points))
            .map_err(|(i, why)| point_error(file, Section::Ic, first + i, why))?;
    }
    Ok((vk, hasher.finalize().to_hex()[..DIGEST_CHARS].to_owned()))
}

/// A refused point as an error.
pub(crate) fn point_error(file: &Path, section: Section, index: u64, why: PointFault) -> Error {
    fault(file, section.name(), Some(index), why.expected(), why.found())
}
