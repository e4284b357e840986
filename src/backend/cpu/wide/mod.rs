//! Additions of points and transforms, eight at once, with AVX-512's 52-bit multiply-add, on processors that have it.

// Loops over limbs and lanes index several arrays.
#![allow(clippy::needless_range_loop)]

#[cfg(target_arch = "x86_64")]
mod add;
#[cfg(target_arch = "x86_64")]
mod field;
#[cfg(target_arch = "x86_64")]
mod fp;
#[cfg(target_arch = "x86_64")]
mod fr;
#[cfg(target_arch = "x86_64")]
mod ntt;

#[cfg(target_arch = "x86_64")]
pub(crate) use add::WideAdder;
#[cfg(target_arch = "x86_64")]
pub(crate) use field::{Fp2x8, Wide};
#[cfg(target_arch = "x86_64")]
pub(crate) use fp::Fp8;
#[cfg(target_arch = "x86_64")]
pub(crate) use ntt::{WidePlan, WideScratch, LANES};

/// Whether this processor has what the wide arithmetic needs. Asked once.
pub(crate) fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::sync::OnceLock;
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        *AVAILABLE.get_or_init(|| is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma"))
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
