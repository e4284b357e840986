//! The random ρ and σ of one attempt.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};
use rand_core::{CryptoRng, OsRng, RngCore};
use zeroize::Zeroize;

/// ρ ≠ 0 and σ of one attempt at one proof. Never reused, never logged; overwritten with zeros when dropped.
pub struct Blinding {
    rho: Secret,
    rho_inverse: Secret,
    sigma: Secret,
}

/// A scalar that is overwritten when it is dropped.
struct Secret(Fr);

impl Drop for Secret {
    fn drop(&mut self) {
        // SAFETY: a Scalar is four u64 without padding or drop glue, and all zeros is a valid one (checked below).
        let limbs = unsafe { &mut *(&mut self.0 as *mut Fr).cast::<[u64; 4]>() };
        limbs.zeroize();
    }
}

const _: () = assert!(std::mem::size_of::<Fr>() == 32 && std::mem::align_of::<Fr>() >= 8);

impl Blinding {
    /// Draws ρ and σ from the operating system.
    pub fn fresh() -> Self {
        Self::draw(&mut OsRng)
    }

    fn draw(rng: &mut (impl RngCore + CryptoRng)) -> Self {
        let rho = loop {
            let candidate = Secret(Fr::random(&mut *rng));
            if !candidate.0.is_zero_vartime() {
                break candidate;
            }
        };
        let sigma = Secret(Fr::random(&mut *rng));
        Self::from_secrets(rho, sigma)
    }

    fn from_secrets(rho: Secret, sigma: Secret) -> Self {
        // Fermat's inverse: the exponent is public and every multiplication takes the same time, whatever ρ is. (The
        // library's own inversion is Euclid's and varies with its argument.)
        let rho_inverse = Secret(rho.0.pow_vartime(r_minus_2()));
        Blinding { rho, rho_inverse, sigma }
    }

    /// Chosen values, for comparing with provers that draw r and s.
    /// Panics if `rho` is zero.
    #[cfg(feature = "testing")]
    pub fn chosen(rho: Fr, sigma: Fr) -> Self {
        assert!(!rho.is_zero_vartime(), "ρ must not be zero");
        Self::from_secrets(Secret(rho), Secret(sigma))
    }

    pub(super) fn rho(&self) -> &Fr {
        &self.rho.0
    }

    pub(super) fn rho_inverse(&self) -> &Fr {
        &self.rho_inverse.0
    }

    pub(super) fn sigma(&self) -> &Fr {
        &self.sigma.0
    }
}

/// r − 2, as little-endian limbs.
fn r_minus_2() -> [u64; 4] {
    let minus_one = (-Fr::ONE).to_repr();
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(minus_one.chunks_exact(8)) {
        *limb = u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    }
    limbs[0] -= 1; // r − 1 ends in 32 zero bits, but not in 64: no borrow leaves the lowest limb
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_the_inverse() {
        for _ in 0..20 {
            let blinding = Blinding::fresh();
            assert_eq!(*blinding.rho() * blinding.rho_inverse(), Fr::ONE);
        }
    }

    #[test]
    fn every_draw_is_new() {
        let draws: Vec<_> = (0..50).map(|_| Blinding::fresh()).collect();
        for (i, x) in draws.iter().enumerate() {
            for y in &draws[..i] {
                assert_ne!(x.rho(), y.rho());
                assert_ne!(x.sigma(), y.sigma());
            }
        }
    }

    #[test]
    fn a_dropped_secret_is_zero() {
        let mut slot = std::mem::ManuallyDrop::new(Secret(Fr::from(42)));
        // SAFETY: dropped once, here; what is left is plain memory and is only read.
        unsafe { std::mem::ManuallyDrop::drop(&mut slot) };
        assert_eq!(slot.0, Fr::ZERO);
    }
}
