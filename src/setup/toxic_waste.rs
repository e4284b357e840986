//! The secrets of a setup.

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use ff::Field;
use group::Group;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::error::{Error, Result};

/// What an SRS is made from. Whoever knows it can forge proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToxicWaste {
    /// Base of all G1 points.
    pub g1: G1Projective,
    /// Base of all G2 points.
    pub g2: G2Projective,
    /// α.
    pub alpha: Fr,
    /// β.
    pub beta: Fr,
    /// γ.
    pub gamma: Fr,
    /// δ.
    pub delta: Fr,
    /// τ.
    pub tau: Fr,
}

impl ToxicWaste {
    /// Drawn from ChaCha20 in the order of bellperson's `generate_random_parameters`.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let mut rng = ChaCha20Rng::from_seed(seed);
        ToxicWaste {
            g1: G1Projective::random(&mut rng),
            g2: G2Projective::random(&mut rng),
            alpha: Fr::random(&mut rng),
            beta: Fr::random(&mut rng),
            gamma: Fr::random(&mut rng),
            delta: Fr::random(&mut rng),
            tau: Fr::random(&mut rng),
        }
    }

    /// 1/γ and 1/δ. Errors: INVALID if any part of the waste is zero: an SRS never holds the point at infinity.
    pub(super) fn inverses(&self) -> Result<(Fr, Fr)> {
        let zero = |part: &Fr| bool::from(part.is_zero());
        let degenerate = bool::from(self.g1.is_identity() | self.g2.is_identity())
            || [self.alpha, self.beta, self.tau].iter().any(zero);
        let (gamma, delta) = (Option::from(self.gamma.invert()), Option::from(self.delta.invert()));
        match (degenerate, gamma, delta) {
            (false, Some(gamma), Some(delta)) => Ok((gamma, delta)),
            _ => Err(Error::invalid("waste", "a part of it is zero")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waste_with_a_zero_in_it_is_refused() {
        let waste = ToxicWaste::from_seed([5; 32]);
        let (inverse_gamma, inverse_delta) = waste.inverses().unwrap();
        assert_eq!((inverse_gamma * waste.gamma, inverse_delta * waste.delta), (Fr::ONE, Fr::ONE));
        for degenerate in [
            ToxicWaste { g1: G1Projective::identity(), ..waste },
            ToxicWaste { g2: G2Projective::identity(), ..waste },
            ToxicWaste { alpha: Fr::ZERO, ..waste },
            ToxicWaste { beta: Fr::ZERO, ..waste },
            ToxicWaste { gamma: Fr::ZERO, ..waste },
            ToxicWaste { delta: Fr::ZERO, ..waste },
            ToxicWaste { tau: Fr::ZERO, ..waste },
        ] {
            assert!(matches!(degenerate.inverses(), Err(Error::Invalid { field: "waste", .. })));
        }
    }
}
