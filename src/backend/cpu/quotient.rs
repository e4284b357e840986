//! The quotient h = (a · b − c) / (xⁿ − 1) of a satisfied assignment, by six transforms.
//!
//! With c = a ∘ b on the domain, and a', b' the values of a, b on the coset ω_2n · ⟨ω_n⟩, where xⁿ = −1:
//!
//! ```text
//! h = (iNTT(a ∘ b) − coset-iNTT(a' ∘ b')) / 2.
//! ```
//!
//! For a·b has degree at most 2n − 2, say lo + xⁿ hi: on the domain it is lo + hi = c, on the coset lo − hi, and
//! a·b − c = hi · (xⁿ − 1). (hi has n − 1 coefficients, so the last coefficient of h is 0.)
//!
//! The coset's part comes first. It leaves nothing of a and b, so that their rows are evaluated once more for a ∘ b, and two
//! vectors of the domain are enough: rows cost 1.5 % of a PoRep (benches/cpu.rs), a third vector would be 4 GiB at 2^27.

use blst::blst_fr;
use blstrs::Scalar as Fr;
use ff::Field;

use super::digits::{canonical, Limbs};
use super::ntt::{Domain, Scratch, Shift};
use super::shared::Shared;
use super::workers::{Stop, Tiles};

/// Elements of one tile of products: a few milliseconds.
const TILE: usize = 1 << 16;

/// From `a`, `b` on the domain to n³ times the coefficients of coset-iNTT(a' ∘ b'), bit-reversed, left in `a`.
pub(crate) fn coset_part(
    tiles: &mut dyn Tiles,
    domain: &Domain,
    scratch: &mut Scratch,
    [a, b]: [&mut [Fr]; 2],
) -> Result<(), Stop> {
    domain.to_coset(tiles, scratch, a)?;
    domain.to_coset(tiles, scratch, b)?;
    multiply_into(tiles, a, b)?;
    domain.inverse(tiles, scratch, a, Shift::Half)
}

/// From [`coset_part`] and a ∘ b on the domain to h: canonical coefficients in bit-reversed order, left in `coset`'s memory.
pub(crate) fn quotient<'a>(
    tiles: &mut dyn Tiles,
    domain: &Domain,
    scratch: &mut Scratch,
    coset: &'a mut [Fr],
    product: &mut [Fr],
) -> Result<&'a mut [Limbs], Stop> {
    domain.inverse(tiles, scratch, product, Shift::None)?;
    combine(tiles, coset, product)
}

fn multiply_into(tiles: &mut dyn Tiles, a: &mut [Fr], b: &[Fr]) -> Result<(), Stop> {
    let count = a.len().div_ceil(TILE);
    let a = Shared::new(a);
    tiles.run(count, &|tile, _| {
        // SAFETY: each tile has its own part.
        let a = unsafe { a.tile(tile, TILE) };
        a.iter_mut().zip(&b[tile * TILE..]).for_each(|(a, b)| *a *= b);
    })
}

/// (product / n − coset / n³) / 2: the transforms' missing factors, of which `to_coset` leaves out one for each of a, b.
/// The factors in canonical form take the values out of Montgomery form by the same product.
fn combine<'a>(tiles: &mut dyn Tiles, coset: &'a mut [Fr], product: &[Fr]) -> Result<&'a mut [Limbs], Stop> {
    let n = Fr::from(coset.len() as u64);
    let of_product = (n + n).invert().expect("2n isn't zero");
    let of_coset = of_product * n.square().invert().expect("n isn't zero");
    let [of_product, of_coset] =
        [of_product, of_coset].map(|factor| Fr::from(blst_fr { l: canonical(&factor.into()) }));
    let count = coset.len().div_ceil(TILE);
    let parts = Shared::new(&mut *coset);
    tiles.run(count, &|tile, _| {
        // SAFETY: each tile has its own part.
        let coset = unsafe { parts.tile(tile, TILE) };
        coset.iter_mut().zip(&product[tile * TILE..]).for_each(|(c, p)| *c = *p * of_product - *c * of_coset);
    })?;
    // SAFETY: Scalar is blst_fr transparently, which is four words without padding; every bit pattern is a Limbs.
    Ok(unsafe { std::slice::from_raw_parts_mut(coset.as_mut_ptr().cast(), coset.len()) })
}

#[cfg(test)]
mod tests {
    use super::super::workers::InOrder;
    use super::*;
    use bellperson::domain::EvaluationDomain;

    fn random(size: usize, rng: &mut rand_chacha::ChaCha8Rng) -> Vec<Fr> {
        (0..size).map(|_| Fr::random(&mut *rng)).collect()
    }

    /// As bellperson's prover computes it: seven transforms on the coset of the multiplicative generator.
    fn bellpersons(a: &[Fr], b: &[Fr]) -> Vec<Fr> {
        let worker = ec_gpu_gen::threadpool::Worker::new();
        let c: Vec<Fr> = a.iter().zip(b).map(|(a, b)| a * b).collect();
        let [mut a, b, c] = [a.to_vec(), b.to_vec(), c].map(|values| {
            let mut domain = EvaluationDomain::from_coeffs(values).unwrap();
            domain.ifft(&worker, &mut None).unwrap();
            domain.coset_fft(&worker, &mut None).unwrap();
            domain
        });
        a.mul_assign(&worker, &b);
        a.sub_assign(&worker, &c);
        a.divide_by_z_on_coset(&worker);
        a.icoset_fft(&worker, &mut None).unwrap();
        let mut h = a.into_coeffs();
        assert!(h.pop().is_none_or(|last| last.is_zero_vartime()));
        h
    }

    #[test]
    fn equals_bellpersons_seven_transforms() {
        let mut rng: rand_chacha::ChaCha8Rng = rand_core::SeedableRng::seed_from_u64(30);
        for lg_size in (1..=10).chain([11, 14]) {
            let n = 1usize << lg_size;
            for rows in [n, n / 2 + 1] {
                let [mut a, mut b] = [random(rows, &mut rng), random(rows, &mut rng)];
                a.resize(n, Fr::ZERO);
                b.resize(n, Fr::ZERO);
                let expected = bellpersons(&a, &b);
                let (domain, mut scratch) = (Domain::new(lg_size), Scratch::default());
                let mut product: Vec<_> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
                coset_part(&mut InOrder, &domain, &mut scratch, [&mut a, &mut b]).unwrap();
                let h = quotient(&mut InOrder, &domain, &mut scratch, &mut a, &mut product).unwrap();
                for (i, expected) in expected.iter().enumerate() {
                    let reversed = i.reverse_bits() >> (usize::BITS - lg_size);
                    assert_eq!(h[reversed], canonical(&(*expected).into()), "coefficient {i} of 2^{lg_size}");
                }
                assert_eq!(h[n - 1], [0; 4], "the last coefficient of 2^{lg_size}");
            }
        }
    }

    #[test]
    fn a_domain_of_one_point_has_no_quotient() {
        let [mut a, mut b, mut product] = [3, 5, 15].map(|value| [Fr::from(value)]);
        let (domain, mut scratch) = (Domain::new(0), Scratch::default());
        coset_part(&mut InOrder, &domain, &mut scratch, [&mut a, &mut b]).unwrap();
        assert_eq!(quotient(&mut InOrder, &domain, &mut scratch, &mut a, &mut product).unwrap(), [[0; 4]]);
    }
}
