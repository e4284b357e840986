//! bellperson's generator run in the exponent: with a group of which an element *is* its logarithm, it gives the scalar
//! of every point of an SRS in a minute where the points themselves take half an hour of core time. A section of ours is
//! right if a random linear combination of its points is that of the scalars times the base: a single wrong point passes
//! with a probability of 2^−254. Since a point has one encoding, equal points are equal bytes.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bellpepper_core::Circuit;
use bellperson::groth16::generate_parameters;
use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use cuzk::setup::ToxicWaste;
use cuzk::srs::{Point, Section, SrsFile};
use ff::Field;
use group::prime::{PrimeCurve, PrimeCurveAffine, PrimeGroup};
use group::{Curve, Group, GroupEncoding, UncompressedEncoding, WnafGroup};
use pairing::{Engine, MillerLoopResult, MultiMillerLoop, PairingCurveAffine};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;
use subtle::{Choice, CtOption};

/// Points whose linear combination is computed at once.
const STEP: usize = 1 << 16;

/// Compares `srs` with what bellperson's generator makes of `circuit` and `waste`. Errors: names the first section that
/// differs.
pub fn compare<C: Circuit<Fr>>(circuit: C, waste: &ToxicWaste, srs: &SrsFile) -> Result<(), String> {
    let one = Exponent(Fr::ONE);
    let ToxicWaste { g1, g2, alpha, beta, gamma, delta, tau } = *waste;
    let theirs = generate_parameters::<Exponents, _>(circuit, one, one, alpha, beta, gamma, delta, tau)
        .map_err(|error| error.to_string())?;
    let vk = srs.vk();
    let vk_is_equal = [(vk.alpha_g1, theirs.vk.alpha_g1), (vk.beta_g1, theirs.vk.beta_g1)]
        .into_iter()
        .chain([(vk.delta_g1, theirs.vk.delta_g1)])
        .all(|(point, Exponent(scalar))| point == (g1 * scalar).to_affine())
        && [(vk.beta_g2, theirs.vk.beta_g2), (vk.gamma_g2, theirs.vk.gamma_g2), (vk.delta_g2, theirs.vk.delta_g2)]
            .into_iter()
            .all(|(point, Exponent(scalar))| point == (g2 * scalar).to_affine());
    if !vk_is_equal {
        return Err("vk".into());
    }
    for (section, exponents) in [
        (Section::Ic, &theirs.vk.ic),
        (Section::H, &*theirs.h),
        (Section::L, &*theirs.l),
        (Section::A, &*theirs.a),
        (Section::BG1, &*theirs.b_g1),
    ] {
        compare_section::<G1Projective>(srs, section, exponents, g1)?;
    }
    compare_section::<G2Projective>(srs, Section::BG2, &theirs.b_g2, g2)
}

/// One of blst's groups, with its sums of products.
trait Sums: PrimeCurve<Scalar = Fr> {
    fn sum_of_products(points: &[Self], scalars: &[Fr]) -> Self;
}

impl Sums for G1Projective {
    fn sum_of_products(points: &[Self], scalars: &[Fr]) -> Self {
        Self::multi_exp(points, scalars)
    }
}

impl Sums for G2Projective {
    fn sum_of_products(points: &[Self], scalars: &[Fr]) -> Self {
        Self::multi_exp(points, scalars)
    }
}

fn compare_section<G: Sums>(srs: &SrsFile, section: Section, exponents: &[Exponent], base: G) -> Result<(), String>
where
    G::Affine: Point,
{
    if srs.count(section) != exponents.len() as u64 {
        return Err(format!("{}: {} points, theirs {}", section.name(), srs.count(section), exponents.len()));
    }
    let mut rng = ChaCha20Rng::seed_from_u64(section as u64);
    let mut points = vec![G::Affine::default(); STEP.min(exponents.len())];
    for (step, exponents) in exponents.chunks(STEP).enumerate() {
        let points = &mut points[..exponents.len()];
        let first = step * STEP;
        srs.read_points(section, first as u64, points).map_err(|error| error.to_string())?;
        let weights: Vec<Fr> = exponents.iter().map(|_| Fr::random(&mut rng)).collect();
        let curve: Vec<G> = points.iter().map(|point| point.to_curve()).collect();
        let sum: Fr = exponents.iter().zip(&weights).map(|(exponent, weight)| exponent.0 * weight).sum();
        if G::sum_of_products(&curve, &weights) != base * sum {
            return Err(format!("{}: a point in [{first}, {})", section.name(), first + points.len()));
        }
    }
    Ok(())
}

/// An engine whose groups are all the additive group of Fr.
#[derive(Clone, Debug)]
struct Exponents;

/// An element of any of its groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Exponent(Fr);

/// Defines an operator between exponents, by value and by reference.
macro_rules! operator {
    ($trait:ident, $function:ident, $assign_trait:ident, $assign:ident, $rhs:ty, |$a:ident, $b:ident| $result:expr) => {
        impl $trait<$rhs> for Exponent {
            type Output = Exponent;
            fn $function(self, rhs: $rhs) -> Exponent {
                let ($a, $b) = (self, rhs);
                Exponent($result)
            }
        }
        impl $trait<&$rhs> for Exponent {
            type Output = Exponent;
            fn $function(self, rhs: &$rhs) -> Exponent {
                $trait::$function(self, *rhs)
            }
        }
        impl $assign_trait<$rhs> for Exponent {
            fn $assign(&mut self, rhs: $rhs) {
                *self = $trait::$function(*self, rhs);
            }
        }
        impl $assign_trait<&$rhs> for Exponent {
            fn $assign(&mut self, rhs: &$rhs) {
                *self = $trait::$function(*self, *rhs);
            }
        }
    };
}

operator!(Add, add, AddAssign, add_assign, Exponent, |a, b| a.0 + b.0);
operator!(Sub, sub, SubAssign, sub_assign, Exponent, |a, b| a.0 - b.0);
operator!(Mul, mul, MulAssign, mul_assign, Fr, |a, b| a.0 * b);

impl Neg for Exponent {
    type Output = Exponent;
    fn neg(self) -> Exponent {
        Exponent(-self.0)
    }
}

impl Sum for Exponent {
    fn sum<I: Iterator<Item = Exponent>>(terms: I) -> Exponent {
        terms.fold(Exponent::default(), |sum, term| sum + term)
    }
}

impl<'a> Sum<&'a Exponent> for Exponent {
    fn sum<I: Iterator<Item = &'a Exponent>>(terms: I) -> Exponent {
        terms.copied().sum()
    }
}

impl Group for Exponent {
    type Scalar = Fr;
    fn random(rng: impl RngCore) -> Self {
        Exponent(Fr::random(rng))
    }
    fn identity() -> Self {
        Exponent(Fr::ZERO)
    }
    fn generator() -> Self {
        Exponent(Fr::ONE)
    }
    fn is_identity(&self) -> Choice {
        self.0.is_zero()
    }
    fn double(&self) -> Self {
        Exponent(self.0.double())
    }
}

impl WnafGroup for Exponent {
    fn recommended_wnaf_for_num_scalars(_: usize) -> usize {
        8
    }
}

impl Curve for Exponent {
    type AffineRepr = Exponent;
    fn to_affine(&self) -> Exponent {
        *self
    }
}

impl PrimeGroup for Exponent {}

impl PrimeCurve for Exponent {
    type Affine = Exponent;
}

impl PrimeCurveAffine for Exponent {
    type Scalar = Fr;
    type Curve = Exponent;
    fn identity() -> Self {
        Group::identity()
    }
    fn generator() -> Self {
        Group::generator()
    }
    fn is_identity(&self) -> Choice {
        self.0.is_zero()
    }
    fn to_curve(&self) -> Exponent {
        *self
    }
}

impl GroupEncoding for Exponent {
    type Repr = [u8; 32];
    fn from_bytes(bytes: &[u8; 32]) -> CtOption<Self> {
        Fr::from_bytes_le(bytes).map(Exponent)
    }
    fn from_bytes_unchecked(bytes: &[u8; 32]) -> CtOption<Self> {
        Self::from_bytes(bytes)
    }
    fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes_le()
    }
}

impl UncompressedEncoding for Exponent {
    type Uncompressed = [u8; 32];
    fn from_uncompressed(bytes: &[u8; 32]) -> CtOption<Self> {
        Self::from_bytes(bytes)
    }
    fn from_uncompressed_unchecked(bytes: &[u8; 32]) -> CtOption<Self> {
        Self::from_bytes(bytes)
    }
    fn to_uncompressed(&self) -> [u8; 32] {
        self.to_bytes()
    }
}

impl PairingCurveAffine for Exponent {
    type Pair = Exponent;
    type PairingResult = Exponent;
    fn pairing_with(&self, other: &Exponent) -> Exponent {
        Exponent(self.0 * other.0)
    }
}

impl MillerLoopResult for Exponent {
    type Gt = Exponent;
    fn final_exponentiation(&self) -> Exponent {
        *self
    }
}

impl Engine for Exponents {
    type Fr = Fr;
    type G1 = Exponent;
    type G1Affine = Exponent;
    type G2 = Exponent;
    type G2Affine = Exponent;
    type Gt = Exponent;
    fn pairing(p: &Exponent, q: &Exponent) -> Exponent {
        p.pairing_with(q)
    }
}

impl MultiMillerLoop for Exponents {
    type G2Prepared = Exponent;
    type Result = Exponent;
    fn multi_miller_loop(terms: &[(&Exponent, &Exponent)]) -> Exponent {
        terms.iter().map(|(p, q)| p.pairing_with(q)).sum()
    }
}
