//! From toxic waste to the file, section by section.

use std::ops::Range;
use std::path::Path;

use blstrs::Scalar as Fr;
use ff::Field;
use group::Curve;
use rayon::prelude::*;

use super::fixed_base::{Base, PIECE};
use super::multiplier::{Multiplier, Place};
use super::{columns, lagrange, ToxicWaste};
use crate::backend::cpu::curve::{G1, G2};
use crate::error::{Error, Result};
use crate::r1cs::{Density, R1cs};
use crate::srs::{refuse_existing, Section, SrsWriter, VerifyingKey};

/// The scalars of the sections, in file order.
struct Scalars {
    /// (β u + α v + w) / γ.
    ic: Vec<Fr>,
    /// (β u + α v + w) / δ.
    l: Vec<Fr>,
    /// u of A's variables.
    a: Vec<Fr>,
    /// v of B's variables.
    b: Vec<Fr>,
}

pub(super) fn write_params(r1cs: &R1cs, waste: &ToxicWaste, path: &Path, place: Place<'_>) -> Result<VerifyingKey> {
    refuse_existing(path)?;
    let (inverse_gamma, inverse_delta) = waste.inverses()?;
    let lg_size = r1cs.lg_domain_size();
    let scalars = Scalars::new(r1cs, waste, inverse_gamma, inverse_delta)?;
    let h_count = (1 << lg_size) - 1;
    let h_scale = lagrange::vanishing(lg_size, waste.tau) * inverse_delta;
    let h = |range: Range<usize>| powers(waste.tau, h_scale, range);

    let g1_count = h_count + scalars.ic.len() + scalars.l.len() + scalars.a.len() + scalars.b.len();
    let g1 = Multiplier::<G1>::new(place, &waste.g1, g1_count as u64);
    let vk = verifying_key(waste, g1.multiply(&scalars.ic)?);
    let mut writer = SrsWriter::create(path, &vk)?;
    write_section(&mut writer, Section::H, &g1, h_count, h)?;
    for (section, scalars) in [(Section::L, &scalars.l), (Section::A, &scalars.a), (Section::BG1, &scalars.b)] {
        write_section(&mut writer, section, &g1, scalars.len(), |range| scalars[range].to_vec())?;
    }
    drop(g1);
    let g2 = Multiplier::<G2>::new(place, &waste.g2, scalars.b.len() as u64);
    write_section(&mut writer, Section::BG2, &g2, scalars.b.len(), |range| scalars.b[range].to_vec())?;
    writer.finish()?;
    Ok(vk)
}

impl Scalars {
    fn new(r1cs: &R1cs, waste: &ToxicWaste, inverse_gamma: Fr, inverse_delta: Fr) -> Result<Self> {
        let lagrange = lagrange::coefficients(r1cs.lg_domain_size(), r1cs.row_count() as usize, waste.tau)?;
        let [mut a, mut b, mut combined] = columns::evaluate(r1cs, &lagrange);
        drop(lagrange);
        let input_count = r1cs.input_count as usize;
        combined.par_iter_mut().zip(&a).zip(&b).enumerate().for_each(|(k, ((w, u), v))| {
            let inverse = if k < input_count { inverse_gamma } else { inverse_delta };
            *w = (waste.beta * u + waste.alpha * v + *w) * inverse;
        });
        let l = combined.split_off(input_count);
        if let Some(j) = position_of_zero(&l) {
            return Err(Error::invalid("r1cs", format!("aux variable {j} is in no row")));
        }
        keep(&mut a, &r1cs.density_a());
        keep(&mut b, &r1cs.density_b());
        if [&combined, &a, &b].iter().any(|scalars| position_of_zero(scalars).is_some()) {
            return Err(Error::invalid("waste", "τ is a root of a variable's polynomial"));
        }
        Ok(Scalars { ic: combined, l, a, b })
    }
}

fn position_of_zero(scalars: &[Fr]) -> Option<usize> {
    scalars.iter().position(|scalar| bool::from(scalar.is_zero()))
}

/// Keeps the values of the variables in `density`.
fn keep(values: &mut Vec<Fr>, density: &Density) {
    let input_count = density.inputs.len();
    let kept = density.inputs.ones().chain(density.aux.ones().map(|j| input_count + j));
    let mut count = 0;
    for k in kept {
        values[count] = values[k];
        count += 1;
    }
    values.truncate(count);
    values.shrink_to_fit();
}

/// `scale · τ^i` for `i` in `range`.
fn powers(tau: Fr, scale: Fr, range: Range<usize>) -> Vec<Fr> {
    let mut powers = vec![Fr::ZERO; range.len()];
    powers.par_chunks_mut(PIECE).enumerate().for_each(|(piece, powers)| {
        let mut power = scale * tau.pow_vartime([(range.start + piece * PIECE) as u64]);
        for out in powers {
            *out = power;
            power *= tau;
        }
    });
    powers
}

fn write_section<G: Base>(
    writer: &mut SrsWriter,
    section: Section,
    base: &Multiplier<'_, G>,
    count: usize,
    scalars: impl Fn(Range<usize>) -> Vec<Fr>,
) -> Result<()> {
    writer.begin(section, count as u64)?;
    for first in (0..count).step_by(base.wave()) {
        base.write(writer, scalars(first..count.min(first + base.wave())))?;
    }
    Ok(())
}

fn verifying_key(waste: &ToxicWaste, ic: Vec<<G1 as Base>::Point>) -> VerifyingKey {
    let g1 = |scalar: Fr| (waste.g1 * scalar).to_affine();
    let g2 = |scalar: Fr| (waste.g2 * scalar).to_affine();
    VerifyingKey {
        alpha_g1: g1(waste.alpha),
        beta_g1: g1(waste.beta),
        beta_g2: g2(waste.beta),
        gamma_g2: g2(waste.gamma),
        delta_g1: g1(waste.delta),
        delta_g2: g2(waste.delta),
        ic,
    }
}
