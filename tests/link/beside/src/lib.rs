//! What another Rust library in the same binary may do: panic and catch it, and compute with blst.

use std::panic::catch_unwind;
use std::slice;

use blst::*;

/// Panics (0: here, 1: in a task of the global rayon pool, 2: in a thread) and catches it. 1 if that went well.
#[no_mangle]
pub extern "C" fn beside_panic(how: u32) -> u32 {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = match how {
        0 => catch_unwind(|| panic!("beside")).is_err(),
        1 => catch_unwind(|| rayon::join(|| panic!("beside, in a pool"), || ())).is_err(),
        _ => std::thread::spawn(|| panic!("beside, in a thread")).join().is_err(),
    };
    caught.into()
}

/// A verifying key as it stands at the head of a `.params` file.
struct Key {
    alpha: blst_p1_affine,
    beta: blst_p2_affine,
    gamma: blst_p2_affine,
    delta: blst_p2_affine,
    ic: Vec<blst_p1_affine>,
}

struct Proof {
    a: blst_p1_affine,
    b: blst_p2_affine,
    c: blst_p1_affine,
}

fn g1(bytes: &[u8]) -> Option<blst_p1_affine> {
    let mut point = blst_p1_affine::default();
    // SAFETY: 96 bytes, or 48 with the sign of compression in the first.
    let known = unsafe {
        match bytes.len() {
            48 => blst_p1_uncompress(&mut point, bytes.as_ptr()),
            _ => blst_p1_deserialize(&mut point, bytes.as_ptr()),
        }
    };
    (known == BLST_ERROR::BLST_SUCCESS).then_some(point)
}

fn g2(bytes: &[u8]) -> Option<blst_p2_affine> {
    let mut point = blst_p2_affine::default();
    // SAFETY: 192 bytes, or 96 with the sign of compression in the first.
    let known = unsafe {
        match bytes.len() {
            96 => blst_p2_uncompress(&mut point, bytes.as_ptr()),
            _ => blst_p2_deserialize(&mut point, bytes.as_ptr()),
        }
    };
    (known == BLST_ERROR::BLST_SUCCESS).then_some(point)
}

impl Key {
    fn read(bytes: &[u8]) -> Option<Key> {
        let count = u32::from_be_bytes(bytes.get(864..868)?.try_into().ok()?) as usize;
        let ic = bytes.get(868..868 + 96 * count)?.chunks_exact(96).map(g1).collect::<Option<Vec<_>>>()?;
        let (alpha, beta) = (g1(&bytes[..96])?, g2(&bytes[192..384])?);
        Some(Key { alpha, beta, gamma: g2(&bytes[384..576])?, delta: g2(&bytes[672..864])?, ic })
    }
}

impl Proof {
    fn read(bytes: &[u8]) -> Option<Proof> {
        Some(Proof { a: g1(bytes.get(..48)?)?, b: g2(bytes.get(48..144)?)?, c: g1(bytes.get(144..192)?)? })
    }

    /// e(A, B) = e(α, β) · e(Σ x_i IC_i, γ) · e(C, δ), inputs as 32 little-endian bytes each.
    fn is_valid(&self, key: &Key, inputs: &[u8]) -> bool {
        // SAFETY: blst reads 255 bits of each 32-byte scalar; every point is initialised.
        unsafe {
            let mut sum = blst_p1::default();
            blst_p1_from_affine(&mut sum, &key.ic[0]);
            for (point, scalar) in key.ic[1..].iter().zip(inputs.chunks_exact(32)) {
                let (mut base, mut term) = (blst_p1::default(), blst_p1::default());
                blst_p1_from_affine(&mut base, point);
                blst_p1_mult(&mut term, &base, scalar.as_ptr(), 255);
                let before = sum;
                blst_p1_add_or_double(&mut sum, &before, &term);
            }
            let mut public = blst_p1_affine::default();
            blst_p1_to_affine(&mut public, &sum);
            let left = loops(&[(&self.b, &self.a)]);
            left == loops(&[(&key.beta, &key.alpha), (&key.gamma, &public), (&key.delta, &self.c)])
        }
    }

    /// The same proof with other blinding: (A · 1/ρ, ρ · B, C) with ρ = 1/3.
    fn blinded(&self) -> [u8; 192] {
        let three = scalar(3);
        let mut third = blst_fr::default();
        let mut bytes = [0; 192];
        // SAFETY: all values are initialised, all outputs as large as blst writes.
        unsafe {
            blst_fr_inverse(&mut third, &three);
            let (mut a, mut b) = (blst_p1::default(), blst_p2::default());
            blst_p1_from_affine(&mut a, &self.a);
            blst_p2_from_affine(&mut b, &self.b);
            let (mut a3, mut b_third, mut c) = (blst_p1::default(), blst_p2::default(), blst_p1::default());
            blst_p1_mult(&mut a3, &a, little_endian(&three).as_ptr(), 255);
            blst_p2_mult(&mut b_third, &b, little_endian(&third).as_ptr(), 255);
            blst_p1_from_affine(&mut c, &self.c);
            blst_p1_compress(bytes.as_mut_ptr(), &a3);
            blst_p2_compress(bytes[48..].as_mut_ptr(), &b_third);
            blst_p1_compress(bytes[144..].as_mut_ptr(), &c);
        }
        bytes
    }
}

fn scalar(value: u64) -> blst_fr {
    let mut fr = blst_fr::default();
    // SAFETY: blst reads four words.
    unsafe { blst_fr_from_uint64(&mut fr, [value, 0, 0, 0].as_ptr()) };
    fr
}

fn little_endian(fr: &blst_fr) -> [u8; 32] {
    let mut scalar = blst_scalar::default();
    // SAFETY: both are initialised.
    unsafe { blst_scalar_from_fr(&mut scalar, fr) };
    scalar.b
}

unsafe fn loops(pairs: &[(&blst_p2_affine, &blst_p1_affine)]) -> blst_fp12 {
    let mut product = blst_fp12::default();
    for (q, p) in pairs {
        let mut one = blst_fp12::default();
        blst_miller_loop(&mut one, *q, *p);
        product *= one;
    }
    let mut end = blst_fp12::default();
    blst_final_exp(&mut end, &product);
    end
}

/// Verifies a proof of one partition; if it is valid, writes another one of the same statement to `other`. 1 if it is.
///
/// # Safety
///
/// Every pointer has its length; `proof` and `other` have 192 bytes.
#[no_mangle]
pub unsafe extern "C" fn beside_verify(
    key: *const u8,
    key_bytes: usize,
    inputs: *const u8,
    inputs_bytes: usize,
    proof: *const u8,
    other: *mut u8,
) -> u32 {
    let (key, inputs) = (slice::from_raw_parts(key, key_bytes), slice::from_raw_parts(inputs, inputs_bytes));
    let (Some(key), Some(proof)) = (Key::read(key), Proof::read(slice::from_raw_parts(proof, 192))) else { return 0 };
    if !proof.is_valid(&key, inputs) {
        return 0;
    }
    slice::from_raw_parts_mut(other, 192).copy_from_slice(&proof.blinded());
    1
}
