//! Scalars cut into signed digits that can be read window by window, in any order.
//!
//! A scalar s above (r − 1)/2 is replaced by r − s and its point by the opposite, so that s < 2^254 and ⌈255 / c⌉ windows
//! of c bits are enough. Then 2^(c−1) is added in every window but the top one: window w of the sum, minus 2^(c−1), is
//! the digit, in [−2^(c−1), 2^(c−1)); the top digit is in [0, 2^(c−1)]. Bit 255 keeps the point's sign.

use blst::blst_fr;

/// A scalar: canonical, little-endian words; after [`recode`] as the module says.
pub(crate) type Limbs = [u64; 4];

/// The order r of the groups.
pub(crate) const ORDER: Limbs = [0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48];

const SIGN: u64 = 1 << 63;

/// A key that stands for the digit 0.
pub(crate) const NO_BUCKET: u32 = u32::MAX;

/// Widths of windows: the narrowest keeps the offset sum below 2^255, the widest keeps keys in 32 bits.
pub(crate) const WINDOW_BITS: std::ops::RangeInclusive<u32> = 4..=24;

/// Points are numbered in 31 bits, beside a sign.
pub(crate) const MAX_POINTS: u64 = 1 << 31;

/// Windows of `window_bits` bits in a scalar.
pub(crate) fn window_count(window_bits: u32) -> u32 {
    255u32.div_ceil(window_bits)
}

/// From Montgomery form.
pub(crate) fn canonical(value: &blst_fr) -> Limbs {
    let mut out = [0; 4];
    // SAFETY: reads one element, writes four words.
    unsafe { blst::blst_uint64_from_fr(out.as_mut_ptr(), value) };
    out
}

/// The sum of 2^(c−1) in every window but the top one.
pub(crate) fn offset(window_bits: u32) -> Limbs {
    let mut sum = [0; 4];
    for window in 0..window_count(window_bits) - 1 {
        let bit = window * window_bits + window_bits - 1;
        sum[bit as usize / 64] |= 1 << (bit % 64);
    }
    sum
}

/// Prepares a canonical scalar for [`key`]; `offset` as above.
#[inline]
pub(crate) fn recode(scalar: &Limbs, offset: &Limbs) -> Limbs {
    let opposite = sub(&ORDER, scalar);
    let negative = less(&opposite, scalar);
    let mut out = add(if negative { &opposite } else { scalar }, offset);
    if negative {
        out[3] |= SIGN;
    }
    out
}

/// Bucket and sign of the digit in `window`: 2 (|digit| − 1) + (1 if the point is to be negated), or [`NO_BUCKET`].
#[inline]
pub(crate) fn key(recoded: &Limbs, window: u32, window_bits: u32) -> u32 {
    let first = window * window_bits;
    let (word, shift) = (first as usize / 64, first % 64);
    let high = if word < 3 { recoded[word + 1] & if word == 2 { !SIGN } else { !0 } } else { 0 };
    let low = recoded[word] & if word == 3 { !SIGN } else { !0 };
    let both = u128::from(high) << 64 | u128::from(low);
    let raw = (both >> shift) as u32 & ((1 << window_bits) - 1);
    let top = (window + 1) * window_bits >= 255;
    let digit = raw as i32 - if top { 0 } else { 1 << (window_bits - 1) };
    let negative = u32::from(digit < 0) ^ (recoded[3] >> 63) as u32;
    match digit {
        0 => NO_BUCKET,
        _ => (digit.unsigned_abs() - 1) << 1 | negative,
    }
}

fn add(a: &Limbs, b: &Limbs) -> Limbs {
    let mut out = [0; 4];
    let mut carry = false;
    for i in 0..4 {
        let (sum, first) = a[i].overflowing_add(b[i]);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (out[i], carry) = (sum, first | second);
    }
    out
}

fn sub(a: &Limbs, b: &Limbs) -> Limbs {
    let mut out = [0; 4];
    let mut borrow = false;
    for i in 0..4 {
        let (difference, first) = a[i].overflowing_sub(b[i]);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (out[i], borrow) = (difference, first | second);
    }
    out
}

fn less(a: &Limbs, b: &Limbs) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;
    use blstrs::Scalar as Fr;
    use ff::Field as _;

    fn limbs(value: Fr) -> Limbs {
        canonical(&value.into())
    }

    /// Σ digit · 2^(c w), in the field.
    fn value_of_digits(recoded: &Limbs, window_bits: u32) -> Fr {
        let mut sum = Fr::ZERO;
        for window in (0..window_count(window_bits)).rev() {
            for _ in 0..window_bits {
                sum = sum.double();
            }
            let key = key(recoded, window, window_bits);
            if key != NO_BUCKET {
                assert!(key >> 1 < 1 << (window_bits - 1), "bucket {} of {window_bits} bits", key >> 1);
                let magnitude = Fr::from(u64::from(key >> 1) + 1);
                sum += if key & 1 == 1 { -magnitude } else { magnitude };
            }
        }
        sum
    }

    #[test]
    fn digits_of_every_width_add_up_to_the_scalar() {
        let seed = 3;
        println!("seed {seed}");
        let mut rng: rand_chacha::ChaCha8Rng = rand_core::SeedableRng::seed_from_u64(seed);
        let half = -Fr::from(2).invert().unwrap();
        let mut values = vec![Fr::ZERO, Fr::ONE, -Fr::ONE, half, half + Fr::ONE, half - Fr::ONE, Fr::from(u64::MAX)];
        values.extend((0..255).map(|k| Fr::from(2).pow_vartime([k])));
        values.extend((0..200).map(|_| Fr::random(&mut rng)));
        for bits in WINDOW_BITS {
            for value in &values {
                let recoded = recode(&limbs(*value), &offset(bits));
                assert_eq!(value_of_digits(&recoded, bits), *value, "{bits} bits");
            }
        }
    }

    #[test]
    fn zero_has_no_digits() {
        for bits in WINDOW_BITS {
            let recoded = recode(&[0; 4], &offset(bits));
            assert!((0..window_count(bits)).all(|window| key(&recoded, window, bits) == NO_BUCKET));
        }
    }

    #[test]
    fn order_is_r() {
        assert_eq!(add(&limbs(-Fr::ONE), &[1, 0, 0, 0]), ORDER);
    }
}
