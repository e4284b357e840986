//! Lagrange coefficients at τ, in closed form.

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Coefficients that share one inversion and one power of ω.
const TASK: usize = 1 << 12;

/// An element that generates the domain of `2^lg_size` points, as bellperson chooses it.
fn generator(lg_size: u32) -> Result<Fr> {
    let Some(squarings) = Fr::S.checked_sub(lg_size) else {
        return Err(Error::Unsupported(format!("a domain of 2^{lg_size} points; Fr has 2^{} roots of unity", Fr::S)));
    };
    Ok((0..squarings).fold(Fr::ROOT_OF_UNITY, |root, _| root.square()))
}

/// `Z(τ) = τ^(2^lg_size) − 1`.
pub(super) fn vanishing(lg_size: u32, tau: Fr) -> Fr {
    (0..lg_size).fold(tau, |power, _| power.square()) - Fr::ONE
}

/// `L_i(τ) = Z(τ)/n · ω^i / (τ − ω^i)` for `i` in `[0, count)`, on the domain of `n = 2^lg_size ≥ count` points.
/// Errors: INVALID if τ is one of these points.
pub(super) fn coefficients(lg_size: u32, count: usize, tau: Fr) -> Result<Vec<Fr>> {
    let omega = generator(lg_size)?;
    let scale = vanishing(lg_size, tau) * Fr::TWO_INV.pow_vartime([u64::from(lg_size)]);
    if bool::from(scale.is_zero()) {
        return Err(Error::invalid("waste", "τ is a point of the domain"));
    }
    let mut coefficients = vec![Fr::ZERO; count];
    coefficients.par_chunks_mut(TASK).enumerate().for_each_init(
        || (Vec::with_capacity(TASK), Vec::with_capacity(TASK)),
        |(numerators, prefixes), (task, out)| {
            numerators.clear();
            prefixes.clear();
            // out holds the denominators until they are inverted.
            let mut numerator = omega.pow_vartime([(task * TASK) as u64]);
            let mut product = scale;
            for denominator in out.iter_mut() {
                *denominator = tau - numerator;
                numerators.push(numerator);
                prefixes.push(product);
                product *= *denominator;
                numerator *= omega;
            }
            // scale times the inverse of the product of all denominators, then of all but the last, and so on.
            let mut inverse = scale * product.invert().expect("τ is no point of the domain");
            for ((out, numerator), prefix) in out.iter_mut().zip(numerators.iter()).zip(prefixes.iter()).rev() {
                let denominator = *out;
                *out = inverse * prefix * numerator;
                inverse *= denominator;
            }
        },
    );
    Ok(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_interpolate_every_power_below_the_domain_size() {
        let tau = Fr::from(0x1234_5678_9abc);
        for lg_size in [0, 1, 2, 5, 13] {
            let size = 1usize << lg_size;
            let lagrange = coefficients(lg_size, size, tau).unwrap();
            let omega = generator(lg_size).unwrap();
            for power in [0, 1, size / 2, size - 1].into_iter().filter(|power| *power < size) {
                let step = omega.pow_vartime([power as u64]);
                let mut value = Fr::ONE;
                let mut sum = Fr::ZERO;
                for coefficient in &lagrange {
                    sum += value * coefficient;
                    value *= step;
                }
                assert_eq!(sum, tau.pow_vartime([power as u64]), "x^{power} on 2^{lg_size} points");
            }
        }
    }

    #[test]
    fn fewer_coefficients_are_the_first_ones() {
        let tau = Fr::from(77);
        let all = coefficients(13, 1 << 13, tau).unwrap();
        for count in [0, 1, TASK - 1, TASK, TASK + 1, (1 << 13) - 1] {
            assert_eq!(coefficients(13, count, tau).unwrap(), all[..count]);
        }
    }

    #[test]
    fn a_point_of_the_domain_is_refused() {
        for tau in [Fr::ONE, generator(3).unwrap()] {
            assert!(matches!(coefficients(3, 5, tau), Err(Error::Invalid { field: "waste", .. })));
        }
        assert!(coefficients(2, 3, generator(3).unwrap()).is_ok());
        assert!(matches!(coefficients(33, 1, Fr::from(5)), Err(Error::Unsupported(_))));
    }
}
