//! cuda/curve and Fp2, compiled for the host, against blst: every pair of special points, then random ones.
#![cfg(cuda_host_twin)]

extern crate cuzk;

use blst::*;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

type OpFn = unsafe extern "C" fn(i32, *mut u32, *const u32, *const u32, *const u32);
type JacobianFn = unsafe extern "C" fn(*mut u32, *const u32, *const u32);
type BatchFn = unsafe extern "C" fn(*mut u32, *const u32, *const u32, u64);

extern "C" {
    fn czk_host_g1_op(which: i32, r: *mut u32, p: *const u32, q: *const u32, z: *const u32);
    fn czk_host_g2_op(which: i32, r: *mut u32, p: *const u32, q: *const u32, z: *const u32);
    fn czk_host_g1_jacobian(r: *mut u32, p: *const u32, z: *const u32);
    fn czk_host_g2_jacobian(r: *mut u32, p: *const u32, z: *const u32);
    fn czk_host_g1_batch(r: *mut u32, p: *const u32, q: *const u32, count: u64);
    fn czk_host_g2_batch(r: *mut u32, p: *const u32, q: *const u32, count: u64);
    fn czk_host_fp2_op(which: i32, r: *mut u32, a: *const u32, b: *const u32);
}

/// One of the two groups, as blst and the twin know it. Affine points are plain Montgomery limbs on both sides.
trait Group {
    type Affine: Copy + Default + PartialEq + std::fmt::Debug;
    type Jacobian: Copy + Default + PartialEq;
    type Field: Copy + Default;
    const OP: OpFn;
    const JACOBIAN: JacobianFn;
    const BATCH: BatchFn;
    fn multiple(k: &[u8; 32]) -> Self::Jacobian;
    fn affine(p: &Self::Jacobian) -> Self::Affine;
    fn jacobian(p: &Self::Affine) -> Self::Jacobian;
    fn add(p: &Self::Jacobian, q: &Self::Jacobian) -> Self::Jacobian;
    fn neg(p: &Self::Affine) -> Self::Affine;
    fn field(rng: &mut ChaCha8Rng) -> Self::Field;
}

fn random_fp(rng: &mut ChaCha8Rng) -> blst_fp {
    let mut bytes = [0; 64];
    rng.fill_bytes(&mut bytes);
    bytes[47] = 0;
    let mut r = blst_fp::default();
    // SAFETY: 48 bytes are read.
    unsafe { blst_fp_from_lendian(&mut r, bytes.as_ptr()) };
    r
}

macro_rules! group {
    ($name:ident, $affine:ident, $jacobian:ident, $field:ident, $twin:ident, $jac:ident, $batch:ident,
     $gen:ident, $mult:ident, $to_affine:ident, $from_affine:ident, $add:ident, $cneg:ident, $random:expr) => {
        struct $name;
        impl Group for $name {
            type Affine = $affine;
            type Jacobian = $jacobian;
            type Field = $field;
            const OP: OpFn = $twin;
            const JACOBIAN: JacobianFn = $jac;
            const BATCH: BatchFn = $batch;
            fn multiple(k: &[u8; 32]) -> $jacobian {
                let mut r = $jacobian::default();
                // SAFETY: plain values.
                unsafe { $mult(&mut r, $gen(), k.as_ptr(), 256) };
                r
            }
            fn affine(p: &$jacobian) -> $affine {
                let mut r = $affine::default();
                // SAFETY: plain values.
                unsafe { $to_affine(&mut r, p) };
                r
            }
            fn jacobian(p: &$affine) -> $jacobian {
                let mut r = $jacobian::default();
                // SAFETY: plain values.
                unsafe { $from_affine(&mut r, p) };
                r
            }
            fn add(p: &$jacobian, q: &$jacobian) -> $jacobian {
                let mut r = $jacobian::default();
                // SAFETY: plain values.
                unsafe { $add(&mut r, p, q) };
                r
            }
            fn neg(p: &$affine) -> $affine {
                let mut r = Self::jacobian(p);
                // SAFETY: plain values.
                unsafe { $cneg(&mut r, true) };
                Self::affine(&r)
            }
            fn field(rng: &mut ChaCha8Rng) -> $field {
                #[allow(clippy::redundant_closure_call)]
                ($random)(rng)
            }
        }
    };
}
group!(
    G1,
    blst_p1_affine,
    blst_p1,
    blst_fp,
    czk_host_g1_op,
    czk_host_g1_jacobian,
    czk_host_g1_batch,
    blst_p1_generator,
    blst_p1_mult,
    blst_p1_to_affine,
    blst_p1_from_affine,
    blst_p1_add_or_double,
    blst_p1_cneg,
    random_fp
);
group!(
    G2,
    blst_p2_affine,
    blst_p2,
    blst_fp2,
    czk_host_g2_op,
    czk_host_g2_jacobian,
    czk_host_g2_batch,
    blst_p2_generator,
    blst_p2_mult,
    blst_p2_to_affine,
    blst_p2_from_affine,
    blst_p2_add_or_double,
    blst_p2_cneg,
    |rng: &mut ChaCha8Rng| blst_fp2 { fp: [random_fp(rng), random_fp(rng)] }
);

/// Infinity, G, -G, 2 G, -2 G, 3 G, and random multiples with their negatives.
fn points<G: Group>(rng: &mut ChaCha8Rng) -> Vec<G::Affine> {
    let mut out = vec![G::Affine::default()];
    let mut scalars: Vec<[u8; 32]> = (1..=3u8).map(|k| std::array::from_fn(|i| if i == 0 { k } else { 0 })).collect();
    for _ in 0..6 {
        let mut k = [0; 32];
        rng.fill_bytes(&mut k);
        scalars.push(k);
    }
    for k in &scalars {
        let p = G::affine(&G::multiple(k));
        out.push(p);
        out.push(G::neg(&p));
    }
    out
}

fn sum<G: Group>(p: &G::Affine, q: &G::Affine) -> G::Affine {
    G::affine(&G::add(&G::jacobian(p), &G::jacobian(q)))
}

fn op<G: Group>(which: i32, p: &G::Affine, q: &G::Affine, z: &G::Field) -> G::Affine {
    let mut r = *p;
    let pointer = |point: &G::Affine| std::ptr::from_ref(point).cast();
    // SAFETY: points and field elements are arrays of limbs, of the sizes that the twin expects.
    unsafe { G::OP(which, std::ptr::from_mut(&mut r).cast(), pointer(p), pointer(q), std::ptr::from_ref(z).cast()) };
    r
}

fn group_law<G: Group>() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6731);
    let points = points::<G>(&mut rng);
    for p in &points {
        let z = G::field(&mut rng);
        let twice = sum::<G>(p, p);
        assert_eq!(op::<G>(2, p, p, &z), twice, "dbl");
        assert_eq!(op::<G>(3, p, p, &z), twice, "dbl of affine");
        assert_eq!(op::<G>(5, p, p, &z), G::neg(p), "neg");
        assert_eq!(op::<G>(6, p, p, &z), G::neg(p), "neg of XYZZ");
        let mut jacobian = G::Jacobian::default();
        // SAFETY: as in op; Jacobian points are three field elements.
        unsafe {
            G::JACOBIAN(
                std::ptr::from_mut(&mut jacobian).cast(),
                std::ptr::from_ref(p).cast(),
                std::ptr::from_ref(&z).cast(),
            )
        };
        assert_eq!(G::affine(&jacobian), *p, "to_jacobian");
        for q in &points {
            let want = sum::<G>(p, q);
            for (which, name) in [(0, "madd"), (1, "add"), (4, "pair")] {
                assert_eq!(op::<G>(which, p, q, &z), want, "{name}: {p:?} + {q:?}");
            }
        }
    }
}

#[test]
fn host_twin_g1_group_law() {
    group_law::<G1>();
}

#[test]
fn host_twin_g2_group_law() {
    group_law::<G2>();
}

/// All ordered pairs of the special points in one batch: no kind of pair spoils another's inverse.
fn batch<G: Group>() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6762);
    let points = points::<G>(&mut rng);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for p in &points {
        for q in &points {
            left.push(*p);
            right.push(*q);
        }
    }
    for count in [0, 1, 2, left.len()] {
        let mut r = vec![points[1]; count];
        // SAFETY: `count` points each.
        unsafe { G::BATCH(r.as_mut_ptr().cast(), left.as_ptr().cast(), right.as_ptr().cast(), count as u64) };
        for i in 0..count {
            assert_eq!(r[i], sum::<G>(&left[i], &right[i]), "pair {i}: {:?} + {:?}", left[i], right[i]);
        }
    }
}

#[test]
fn host_twin_batches_share_an_inversion() {
    batch::<G1>();
    batch::<G2>();
}

fn is_on_curve<G: Group>(p: &G::Affine) -> bool {
    let mut word = [0u32; 48];
    let (p, z) = (std::ptr::from_ref(p).cast(), G::Field::default());
    // SAFETY: as in op; the answer is one word.
    unsafe { G::OP(7, word.as_mut_ptr(), p, p, std::ptr::from_ref(&z).cast()) };
    word[0] != 0
}

#[test]
fn host_twin_is_on_curve() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6f63);
    for p in points::<G1>(&mut rng) {
        let mut off = p;
        off.x.l[0] ^= 1;
        assert!(is_on_curve::<G1>(&p));
        // SAFETY: plain values.
        assert_eq!(is_on_curve::<G1>(&off), unsafe { blst_p1_affine_on_curve(&off) });
    }
    for p in points::<G2>(&mut rng) {
        assert!(is_on_curve::<G2>(&p));
        for half in 0..2 {
            let mut off = p;
            off.y.fp[half].l[0] ^= 1;
            // SAFETY: plain values.
            assert_eq!(is_on_curve::<G2>(&off), unsafe { blst_p2_affine_on_curve(&off) });
        }
    }
}

#[test]
fn host_twin_fp2_equals_blst() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6632);
    let one = G1::affine(&G1::multiple(&[1; 32])).x;
    let zero = blst_fp::default();
    let mut values = vec![blst_fp2 { fp: [zero, zero] }, blst_fp2 { fp: [one, zero] }, blst_fp2 { fp: [zero, one] }];
    values.extend((0..40).map(|_| blst_fp2 { fp: [random_fp(&mut rng), random_fp(&mut rng)] }));
    for a in &values {
        for b in &values {
            check_fp2(a, b);
        }
    }
}

fn check_fp2(a: &blst_fp2, b: &blst_fp2) {
    for which in 0..9 {
        let (mut r, mut want, mut t) = (blst_fp2::default(), blst_fp2::default(), blst_fp2::default());
        // SAFETY: plain values; an Fp2 element is 24 words.
        unsafe {
            czk_host_fp2_op(
                which,
                std::ptr::from_mut(&mut r).cast(),
                std::ptr::from_ref(a).cast(),
                std::ptr::from_ref(b).cast(),
            );
            match which {
                0 => blst_fp2_mul(&mut want, a, b),
                1 => blst_fp2_sqr(&mut want, a),
                2 => blst_fp2_add(&mut want, a, b),
                3 => blst_fp2_sub(&mut want, a, b),
                4 => blst_fp2_cneg(&mut want, a, true),
                5 => blst_fp2_add(&mut want, a, a),
                6 => blst_fp2_inverse(&mut want, a),
                7 => {
                    blst_fp2_mul(&mut t, a, b);
                    blst_fp2_sub(&mut want, &t, a);
                }
                _ => {
                    blst_fp2_sqr(&mut want, a);
                    blst_fp2_sub(&mut t, &want, b);
                    blst_fp2_sub(&mut want, &t, b);
                }
            }
        }
        assert_eq!(r, want, "operation {which} of {a:?} and {b:?}");
    }
    let mut word = [0u32; 24];
    // SAFETY: as above.
    unsafe { czk_host_fp2_op(9, word.as_mut_ptr(), std::ptr::from_ref(a).cast(), std::ptr::from_ref(b).cast()) };
    assert_eq!(word[0] != 0, a == b);
}
