//! The back end's arithmetic by itself: for setup, benches and comparisons.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};

use super::curve::{Affine, Group, G1, G2};
use super::digits::canonical;
use super::msm::{msm, MsmScratch};
use super::ntt::{Domain, Scratch, Shift};
use super::ones::sum_all;
use super::rows::{evaluate, Factors};
use super::workers::{Tiles, Workers};
use super::{CpuBackend, Loading};
use crate::assignment::Assignment;
use crate::backend::Uncontrolled;
use crate::r1cs::R1cs;

/// All of these block until they are done, use the back end's threads and panic on lengths that don't fit.
impl CpuBackend {
    /// `Σ scalars_i · points_i`. Takes 32 bytes of memory per scalar for a copy, and 8 for each of up to 2^21 digits.
    pub fn msm_g1(&self, points: &[G1Affine], scalars: &[Fr]) -> G1Projective {
        self.msm::<G1>(&stored::<G1>(g1_points(points)), scalars)
    }

    /// `Σ scalars_i · points_i` in G2.
    pub fn msm_g2(&self, points: &[G2Affine], scalars: &[Fr]) -> G2Projective {
        self.msm::<G2>(&stored::<G2>(g2_points(points)), scalars)
    }

    /// `Σ points_i`, by affine additions that share inversions.
    pub fn sum_g1(&self, points: &[G1Affine]) -> G1Projective {
        self.tiled(|tiles| sum_all::<G1>(tiles, &stored::<G1>(g1_points(points))))
    }

    /// `Σ points_i` in G2.
    pub fn sum_g2(&self, points: &[G2Affine]) -> G2Projective {
        self.tiled(|tiles| sum_all::<G2>(tiles, &stored::<G2>(g2_points(points))))
    }

    /// Bit-reversed coefficients, a power of two of them, to values on the domain in natural order, in place.
    pub fn ntt(&self, data: &mut [Fr]) {
        let domain = Domain::new(lg_size(data.len()));
        self.tiled(|tiles| domain.forward(tiles, &mut Scratch::default(), data, Shift::None));
    }

    /// Values in natural order to n times the bit-reversed coefficients, in place.
    pub fn inverse_ntt(&self, data: &mut [Fr]) {
        let domain = Domain::new(lg_size(data.len()));
        self.tiled(|tiles| domain.inverse(tiles, &mut Scratch::default(), data, Shift::None));
    }

    /// `[A·z, B·z]` on the domain: constraints, input rows, then zeros.
    pub fn evaluate_rows(&self, r1cs: &R1cs, assignment: &Assignment) -> [Vec<Fr>; 2] {
        let zeros = vec![Fr::from(0); 1 << r1cs.lg_domain_size()];
        let [mut a, mut b] = [zeros.clone(), zeros];
        self.tiled(|tiles| evaluate(tiles, r1cs, &Factors::of(r1cs), assignment, [&mut a, &mut b]));
        [a, b]
    }

    fn msm<G: Group>(&self, points: &[Affine<G::Field>], scalars: &[Fr]) -> G::Projective {
        assert_eq!(points.len(), scalars.len(), "one scalar per point");
        let mut scalars: Vec<_> = scalars.iter().map(|scalar| canonical(&(*scalar).into())).collect();
        self.tiled(|tiles| msm(tiles, points, None, &mut scalars, &mut [], &mut MsmScratch::<G>::new()))
    }

    /// Runs `work`, which nothing can stop but a panic.
    fn tiled<T>(&self, work: impl FnOnce(&mut dyn Tiles) -> Result<T, super::workers::Stop>) -> T {
        let workers = Workers::new(&self.pool, self, &Uncontrolled);
        let mut tiles = Loading::new(workers, &Uncontrolled, 0);
        work(&mut tiles).unwrap_or_else(|stop| panic!("{stop:?}"))
    }
}

fn lg_size(len: usize) -> u32 {
    assert!(len.is_power_of_two(), "{len} isn't a power of two");
    len.trailing_zeros()
}

fn stored<G: Group>(points: &[Affine<G::Field>]) -> Vec<Affine<G::Field>> {
    points.iter().map(G::store).collect()
}

fn g1_points(points: &[G1Affine]) -> &[Affine<blst::blst_fp>] {
    const _: () = assert!(size_of::<G1Affine>() == size_of::<Affine<blst::blst_fp>>());
    // SAFETY: G1Affine is blst_p1_affine transparently: x, then y, as in Affine, both repr(C).
    unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
}

fn g2_points(points: &[G2Affine]) -> &[Affine<blst::blst_fp2>] {
    const _: () = assert!(size_of::<G2Affine>() == size_of::<Affine<blst::blst_fp2>>());
    // SAFETY: as in `g1_points`.
    unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
}
