//! The pairing check.

use blst::{blst_p1_affine, blst_p1s_mult_pippenger, blst_p1s_mult_pippenger_scratch_sizeof, limb_t};
use blstrs::{Bls12, G1Affine, G1Projective, G2Prepared, Gt, Scalar as Fr};
use ff::PrimeField;
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};

use super::Proof;
use crate::error::{Error, Result};
use crate::srs::VerifyingKey;

/// A verifying key with everything that doesn't depend on a proof computed once.
#[derive(Clone, Debug)]
pub struct Verifier {
    alpha_beta: Gt,
    minus_gamma: G2Prepared,
    minus_delta: G2Prepared,
    ic: Vec<G1Affine>,
}

impl Verifier {
    /// Prepares `vk`: one pairing and two lists of line coefficients.
    pub fn new(vk: &VerifyingKey) -> Self {
        Verifier {
            alpha_beta: blstrs::pairing(&vk.alpha_g1, &vk.beta_g2),
            minus_gamma: G2Prepared::from(-vk.gamma_g2),
            minus_delta: G2Prepared::from(-vk.delta_g2),
            ic: vk.ic.clone(),
        }
    }

    /// Errors: INVALID if the number of inputs doesn't fit the key.
    pub(crate) fn check_count(&self, inputs: &[Fr]) -> Result<()> {
        if inputs.len() + 1 == self.ic.len() {
            return Ok(());
        }
        let reason = format!("{} inputs, the verifying key has {}", inputs.len(), self.ic.len() - 1);
        Err(Error::invalid("inputs", reason))
    }

    /// Whether `e(A, B) = e(α, β)·e(Σ x_i IC_i, γ)·e(C, δ)`.
    ///
    /// Shapes: `inputs` are the public inputs without ONE, one per IC point but the first.
    /// Threads: runs on the caller's thread; about 2 ms, and 5 µs for each input.
    /// Errors: INVALID if the number of inputs doesn't fit the key.
    pub fn verify(&self, inputs: &[Fr], proof: &Proof) -> Result<bool> {
        self.check_count(inputs)?;
        let public = (self.ic[0] + linear_combination(&self.ic[1..], inputs)).to_affine();
        let terms =
            [(&proof.a, &G2Prepared::from(proof.b)), (&public, &self.minus_gamma), (&proof.c, &self.minus_delta)];
        Ok(Bls12::multi_miller_loop(&terms).final_exponentiation() == self.alpha_beta)
    }
}

/// [`Verifier::verify`] for a key that is used once.
pub fn verify(vk: &VerifyingKey, inputs: &[Fr], proof: &Proof) -> Result<bool> {
    Verifier::new(vk).verify(inputs, proof)
}

/// `Σ x_i P_i`, on the caller's thread. A WindowPoSt has 25,839 inputs: one by one they would take seconds.
fn linear_combination(points: &[G1Affine], scalars: &[Fr]) -> G1Projective {
    // blst's sum doesn't take points at infinity, which an IC of a foreign circuit may hold.
    let finite = points.iter().zip(scalars).filter(|(point, _)| !bool::from(point.is_identity()));
    let (points, bytes): (Vec<&blst_p1_affine>, Vec<[u8; 32]>) =
        finite.map(|(point, scalar)| (point.as_ref(), scalar.to_repr())).unzip();
    if points.is_empty() {
        return G1Projective::identity();
    }
    let point_pointers: Vec<*const blst_p1_affine> = points.iter().map(|point| *point as *const _).collect();
    let scalar_pointers: Vec<*const u8> = bytes.iter().map(|scalar| scalar.as_ptr()).collect();
    let mut sum = G1Projective::identity();
    // SAFETY: both arrays hold `points.len()` pointers to live values (a scalar has 32 bytes for its 255 bits), and the
    // scratch is as large as blst asks for that number of points.
    unsafe {
        let scratch_bytes = blst_p1s_mult_pippenger_scratch_sizeof(points.len());
        let mut scratch = vec![0 as limb_t; scratch_bytes.div_ceil(std::mem::size_of::<limb_t>())];
        blst_p1s_mult_pippenger(
            sum.as_mut(),
            point_pointers.as_ptr(),
            points.len(),
            scalar_pointers.as_ptr(),
            255,
            scratch.as_mut_ptr(),
        );
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff::Field;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng;

    #[test]
    fn linear_combination_is_the_sum() {
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        for count in [0, 1, 2, 3, 31, 32, 33, 300] {
            let mut points: Vec<G1Affine> = (0..count).map(|_| G1Projective::random(&mut rng).to_affine()).collect();
            let mut scalars: Vec<Fr> = (0..count).map(|_| Fr::random(&mut rng)).collect();
            for (at, value) in [(0, Fr::ZERO), (1, Fr::ONE), (2, -Fr::ONE)] {
                if let Some(slot) = scalars.get_mut(at) {
                    *slot = value;
                }
            }
            if count > 30 {
                points[4] = points[3];
                scalars[4] = -scalars[3];
                points[5] = -points[6];
                scalars[5] = scalars[6];
                points[7] = G1Affine::identity();
            }
            let expected: G1Projective = points.iter().zip(&scalars).map(|(p, x)| p * x).sum();
            assert_eq!(linear_combination(&points, &scalars), expected, "{count}");
        }
    }
}
