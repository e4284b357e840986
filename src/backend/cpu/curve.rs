//! G1 and G2 as the additions of this back end see them: affine points over a field, Montgomery form, blst's arithmetic.

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Projective, G2Projective};

#[cfg(target_arch = "x86_64")]
use super::wide::Wide;

/// A base field in Montgomery form. `invert` of 0 is 0.
pub(crate) trait Field: Copy + Send + Sync + Eq + std::fmt::Debug {
    const ZERO: Self;
    const ONE: Self;
    fn add(&self, rhs: &Self) -> Self;
    fn sub(&self, rhs: &Self) -> Self;
    fn mul(&self, rhs: &Self) -> Self;
    fn square(&self) -> Self;
    fn neg(&self) -> Self;
    fn invert(&self) -> Self;

    #[inline]
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

/// An affine point; (0, 0), which is on neither curve, stands for infinity, as in blst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Affine<F> {
    pub x: F,
    pub y: F,
}

/// One of the two groups.
///
/// Points that are kept (queries, buckets) are in the *stored form*: blst's where additions are blst's, that of
/// [`super::wide`] where the processor has it; coordinates are then below 2.01 p. Everything else is in blst's form.
pub(crate) trait Group: Send + Sync + 'static {
    type Field: Field;
    #[cfg(target_arch = "x86_64")]
    type Wide: super::wide::Wide<Element = Self::Field>;
    /// Jacobian form, for the few additions that are not batched.
    type Projective: group::Group<Scalar = blstrs::Scalar> + Copy + Send + Sync;
    /// b of y² = x³ + b.
    #[cfg(test)]
    fn curve_b() -> Self::Field;
    #[cfg(test)]
    fn to_projective(point: &Affine<Self::Field>) -> Self::Projective;
    #[cfg(test)]
    fn to_affine(point: &Self::Projective) -> Affine<Self::Field>;
    /// `sum + point`, every case.
    fn add_affine(sum: &Self::Projective, point: &Affine<Self::Field>) -> Self::Projective;

    /// To the stored form.
    fn store(point: &Affine<Self::Field>) -> Affine<Self::Field> {
        #[cfg(target_arch = "x86_64")]
        if super::wide::available() {
            return Affine { x: Self::Wide::to_stored(&point.x), y: Self::Wide::to_stored(&point.y) };
        }
        *point
    }

    /// From the stored form.
    fn restore(point: &Affine<Self::Field>) -> Affine<Self::Field> {
        #[cfg(target_arch = "x86_64")]
        if super::wide::available() {
            return Affine { x: Self::Wide::from_stored(&point.x), y: Self::Wide::from_stored(&point.y) };
        }
        *point
    }

    /// `sum` and a point in the stored form.
    fn add_stored(sum: &Self::Projective, point: &Affine<Self::Field>) -> Self::Projective {
        Self::add_affine(sum, &Self::restore(point))
    }
}

/// G1, over Fp.
pub(crate) struct G1;
/// G2, over Fp2.
pub(crate) struct G2;

impl<F: Field> Affine<F> {
    pub(crate) const INFINITY: Self = Affine { x: F::ZERO, y: F::ZERO };

    #[inline]
    pub(crate) fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    #[inline]
    pub(crate) fn neg_if(self, negative: bool) -> Self {
        if negative {
            Affine { x: self.x, y: self.y.neg() }
        } else {
            self
        }
    }
}

/// Defines [`Field`] by blst's functions, each of which takes (result, operands).
macro_rules! field {
    ($type:ty, $zero:expr, $one:expr, $add:ident, $sub:ident, $mul:ident, $sqr:ident, $cneg:ident, $inv:ident) => {
        impl Field for $type {
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            #[inline]
            fn add(&self, rhs: &Self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: three valid field elements; blst reads two and writes one.
                unsafe { blst::$add(&mut out, self, rhs) };
                out
            }
            #[inline]
            fn sub(&self, rhs: &Self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: as in `add`.
                unsafe { blst::$sub(&mut out, self, rhs) };
                out
            }
            #[inline]
            fn mul(&self, rhs: &Self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: as in `add`.
                unsafe { blst::$mul(&mut out, self, rhs) };
                out
            }
            #[inline]
            fn square(&self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: two valid field elements; blst reads one and writes one.
                unsafe { blst::$sqr(&mut out, self) };
                out
            }
            #[inline]
            fn neg(&self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: as in `square`.
                unsafe { blst::$cneg(&mut out, self, true) };
                out
            }
            fn invert(&self) -> Self {
                let mut out = Self::ZERO;
                // SAFETY: as in `square`.
                unsafe { blst::$inv(&mut out, self) };
                out
            }
        }
    };
}

const FP_ZERO: blst_fp = blst_fp { l: [0; 6] };
/// 2^384 mod p (`tests::one_is_one`).
const FP_ONE: blst_fp = blst_fp {
    l: [
        0x760900000002fffd,
        0xebf4000bc40c0002,
        0x5f48985753c758ba,
        0x77ce585370525745,
        0x5c071a97a256ec6d,
        0x15f65ec3fa80e493,
    ],
};

field!(
    blst_fp,
    FP_ZERO,
    FP_ONE,
    blst_fp_add,
    blst_fp_sub,
    blst_fp_mul,
    blst_fp_sqr,
    blst_fp_cneg,
    blst_fp_eucl_inverse
);
field!(
    blst_fp2,
    blst_fp2 { fp: [FP_ZERO; 2] },
    blst_fp2 { fp: [FP_ONE, FP_ZERO] },
    blst_fp2_add,
    blst_fp2_sub,
    blst_fp2_mul,
    blst_fp2_sqr,
    blst_fp2_cneg,
    blst_fp2_eucl_inverse
);

/// Defines [`Group`] by blst's functions.
macro_rules! group {
    ($field:ty, $wide:ident, $projective:ty, $affine:ident, $from:ident, $to:ident, $add:ident) => {
        type Projective = $projective;
        type Field = $field;
        #[cfg(target_arch = "x86_64")]
        type Wide = super::wide::$wide;

        #[cfg(test)]
        fn to_projective(point: &Affine<$field>) -> $projective {
            let mut out = <$projective as group::Group>::identity();
            let point = $affine { x: point.x, y: point.y };
            // SAFETY: a valid point in, a valid point out.
            unsafe { blst::$from(out.as_mut(), &point) };
            out
        }

        #[cfg(test)]
        fn to_affine(point: &$projective) -> Affine<$field> {
            let mut out = <$affine>::default();
            // SAFETY: a valid point in, a valid point out.
            unsafe { blst::$to(&mut out, point.as_ref()) };
            Affine { x: out.x, y: out.y }
        }

        fn add_affine(sum: &$projective, point: &Affine<$field>) -> $projective {
            let mut out = *sum;
            let point = $affine { x: point.x, y: point.y };
            // SAFETY: two valid points in, one out; blst allows `out` to be an operand.
            unsafe { blst::$add(out.as_mut(), sum.as_ref(), &point) };
            out
        }
    };
}

impl Group for G1 {
    group!(
        blst_fp,
        Fp8,
        G1Projective,
        blst_p1_affine,
        blst_p1_from_affine,
        blst_p1_to_affine,
        blst_p1_add_or_double_affine
    );

    #[cfg(test)]
    fn curve_b() -> blst_fp {
        let two = FP_ONE.add(&FP_ONE);
        two.add(&two)
    }
}

impl Group for G2 {
    group!(
        blst_fp2,
        Fp2x8,
        G2Projective,
        blst_p2_affine,
        blst_p2_from_affine,
        blst_p2_to_affine,
        blst_p2_add_or_double_affine
    );

    #[cfg(test)]
    fn curve_b() -> blst_fp2 {
        blst_fp2 { fp: [G1::curve_b(); 2] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        let mut one = FP_ZERO;
        // SAFETY: reads six words, writes one element.
        unsafe { blst::blst_fp_from_uint64(&mut one, [1, 0, 0, 0, 0, 0].as_ptr()) };
        assert_eq!(one, FP_ONE);
        assert_eq!(blst_fp2::ONE.mul(&blst_fp2::ONE), blst_fp2::ONE);
    }

    #[test]
    fn the_inverse_of_zero_is_zero() {
        assert!(blst_fp::ZERO.invert().is_zero());
        assert!(blst_fp2::ZERO.invert().is_zero());
        let seven = (0..7).fold(FP_ZERO, |sum, _| sum.add(&FP_ONE));
        assert_eq!(seven.invert().mul(&seven), FP_ONE);
    }

    #[test]
    fn generators_are_on_their_curves() {
        use group::Group as _;
        let p = G1::to_affine(&G1Projective::generator());
        assert_eq!(p.y.square(), p.x.square().mul(&p.x).add(&G1::curve_b()));
        let q = G2::to_affine(&G2Projective::generator());
        assert_eq!(q.y.square(), q.x.square().mul(&q.x).add(&G2::curve_b()));
        assert!(G1::to_affine(&G1Projective::identity()).is_infinity());
    }
}
