//! A proof and its 192 bytes.

use blstrs::{G1Affine, G2Affine};
use group::prime::PrimeCurveAffine;

use crate::error::{Error, Result};

/// Bytes of one proof.
pub const PROOF_BYTES: usize = 192;

/// One Groth16 proof, in affine form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// A, in G1.
    pub a: G1Affine,
    /// B, in G2.
    pub b: G2Affine,
    /// C, in G1.
    pub c: G1Affine,
}

impl Proof {
    /// A (48) ‖ B (96) ‖ C (48), compressed, big-endian (Zcash encoding), as bellperson writes it.
    pub fn to_bytes(&self) -> [u8; PROOF_BYTES] {
        let mut out = [0; PROOF_BYTES];
        out[..48].copy_from_slice(&self.a.to_compressed());
        out[48..144].copy_from_slice(&self.b.to_compressed());
        out[144..].copy_from_slice(&self.c.to_compressed());
        out
    }

    /// The inverse of [`Self::to_bytes`].
    /// Errors: INVALID if the length is wrong, or a point isn't on its curve, isn't in the prime-order subgroup, or is
    /// infinity (no honest proof has one); names the point.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bytes: &[u8; PROOF_BYTES] = bytes
            .try_into()
            .map_err(|_| Error::invalid("proof", format!("{} bytes, expected {PROOF_BYTES}", bytes.len())))?;
        let wrong = |point| Error::invalid("proof", format!("{point} is no point of the prime-order subgroup"));
        let g1 = |range: std::ops::Range<usize>, name| {
            let array = bytes[range].try_into().expect("48 bytes");
            Option::from(G1Affine::from_compressed(array))
                .filter(|point: &G1Affine| !bool::from(point.is_identity()))
                .ok_or_else(|| wrong(name))
        };
        let b = Option::from(G2Affine::from_compressed(bytes[48..144].try_into().expect("96 bytes")))
            .filter(|point: &G2Affine| !bool::from(point.is_identity()))
            .ok_or_else(|| wrong("B"))?;
        Ok(Proof { a: g1(0..48, "A")?, b, c: g1(144..192, "C")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::{G1Projective, G2Projective, Scalar};
    use group::Curve;

    fn sample() -> Proof {
        Proof {
            a: (G1Projective::generator() * Scalar::from(5)).to_affine(),
            b: (G2Projective::generator() * Scalar::from(7)).to_affine(),
            c: (G1Projective::generator() * Scalar::from(11)).to_affine(),
        }
    }

    use group::Group;

    #[test]
    fn bytes_round_trip_and_equal_bellperson() {
        let proof = sample();
        let theirs = bellperson::groth16::Proof::<blstrs::Bls12> { a: proof.a, b: proof.b, c: proof.c };
        let mut expected = Vec::new();
        theirs.write(&mut expected).unwrap();
        assert_eq!(proof.to_bytes().to_vec(), expected);
        assert_eq!(Proof::from_bytes(&expected).unwrap(), proof);
    }

    #[test]
    fn malformed_bytes_are_named() {
        let good = sample().to_bytes();
        for len in [0, 191, 193] {
            let error = Proof::from_bytes(&vec![0; len]).unwrap_err().to_string();
            assert_eq!(error, format!("proof: {len} bytes, expected 192"));
        }
        for (at, name) in [(0, "A"), (48, "B"), (144, "C")] {
            let mut infinity = good;
            let len = if name == "B" { 96 } else { 48 };
            infinity[at..at + len].fill(0);
            infinity[at] = 0xc0;
            assert!(Proof::from_bytes(&infinity).unwrap_err().to_string().contains(name));
            let mut unreduced = good;
            unreduced[at..at + len].fill(0xff);
            assert!(Proof::from_bytes(&unreduced).unwrap_err().to_string().contains(name));
        }
    }
}
