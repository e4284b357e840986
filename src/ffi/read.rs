//! Reading what a caller hands in: bytes, lists, and structs of another version.

use std::path::PathBuf;

use super::abi::{
    Bytes, Claim, Config, Event, Porep, PorepClaim, Post, PostClaim, Request, Update, UpdateClaim, VkSource,
};
use super::abi_stats::{Cost, Stats};
use crate::error::{Error, Result};

/// A struct that starts with `struct_size` and may grow in later versions.
///
/// # Safety
///
/// `#[repr(C)]`, its first field is `struct_size: u64`, and every bit pattern is a value of it.
pub unsafe trait Versioned: Copy {
    /// Name in errors.
    const NAME: &'static str;
}

/// Reads the struct at `from`. A caller that knows fewer fields says so by a smaller `struct_size`: only that many bytes
/// are read, the rest is 0. One that knows more may use what is new only if it is 0.
///
/// Errors: INVALID for NULL, or a size that no version has; UNSUPPORTED for fields that aren't known here.
///
/// # Safety
///
/// `from` is NULL or points to `struct_size` readable bytes, 8 at least.
pub unsafe fn versioned<T: Versioned>(from: *const T) -> Result<T> {
    if from.is_null() {
        return Err(Error::invalid(T::NAME, "is NULL"));
    }
    // SAFETY: the caller vouches for the first field.
    let size = unsafe { from.cast::<u64>().read_unaligned() };
    let known = size_of::<T>() as u64;
    if size < 8 || size % 8 != 0 || size > known + 4096 {
        let reason = format!("struct_size is {size}, this version's {known}");
        return Err(Error::invalid(T::NAME, reason));
    }
    // SAFETY: the caller vouches for `size` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size as usize) };
    if bytes.iter().skip(known as usize).any(|&byte| byte != 0) {
        let reason = format!("{}: a field beyond this version's {known} bytes is set", T::NAME);
        return Err(Error::Unsupported(reason));
    }
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    let count = bytes.len().min(known as usize);
    // SAFETY: `count` bytes are readable there and fit here; every bit pattern is a T.
    Ok(unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.as_mut_ptr().cast::<u8>(), count);
        value.assume_init()
    })
}

/// Writes as much of `value` as the caller's struct at `to` has room for; its `struct_size` stays.
/// Errors: INVALID for NULL, or a size below `least`.
///
/// # Safety
///
/// `to` is NULL or points to `struct_size` writable bytes, 8 at least, of which the first 8 are initialised.
pub unsafe fn write_versioned<T: Versioned>(to: *mut T, value: &T) -> Result<()> {
    // SAFETY: the caller vouches for the first field.
    let size = unsafe { size_for_writing(to, 8)? };
    let count = size.min(size_of::<T>()) - 8;
    // SAFETY: both have `count` bytes behind the first field.
    unsafe {
        let from = std::ptr::from_ref(value).cast::<u8>().add(8);
        std::ptr::copy_nonoverlapping(from, to.cast::<u8>().add(8), count);
    }
    Ok(())
}

/// The size of the caller's struct at `to`, at least `least`.
///
/// # Safety
///
/// As [`write_versioned`].
pub unsafe fn size_for_writing<T: Versioned>(to: *mut T, least: usize) -> Result<usize> {
    if to.is_null() {
        return Err(Error::invalid(T::NAME, "is NULL"));
    }
    // SAFETY: the caller vouches for the first field.
    let size = unsafe { to.cast::<u64>().read_unaligned() };
    if size < least as u64 || size % 8 != 0 {
        let reason = format!("struct_size is {size}, this version's {}", size_of::<T>());
        return Err(Error::invalid(T::NAME, reason));
    }
    Ok(size as usize)
}

/// The bytes, borrowed. Errors: INVALID for (NULL, n).
///
/// # Safety
///
/// `bytes` describes memory that is readable for `'a`, or is (NULL, n).
pub unsafe fn bytes<'a>(field: &'static str, bytes: Bytes) -> Result<&'a [u8]> {
    // SAFETY: the caller's promise.
    unsafe { list(field, bytes.ptr, bytes.len) }
}

/// A list of `count` elements, borrowed. Errors: INVALID for (NULL, n) and for more than fits an address space.
///
/// # Safety
///
/// As [`bytes`]; and every bit pattern is a T.
pub unsafe fn list<'a, T: Copy>(field: &'static str, ptr: *const T, count: u64) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(Error::invalid(field, format!("(NULL, {count})")));
    }
    if !ptr.is_aligned() {
        return Err(Error::invalid(field, "the pointer isn't aligned"));
    }
    let fits = |count: usize| count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    match usize::try_from(count).ok().filter(|&count| fits(count)) {
        // SAFETY: not NULL, aligned, of a possible size; the caller vouches for the memory.
        Some(count) => Ok(unsafe { std::slice::from_raw_parts(ptr, count) }),
        None => Err(Error::invalid(field, format!("{count} elements don't fit an address space"))),
    }
}

/// Exactly 32 bytes.
///
/// # Safety
///
/// As [`bytes`].
pub unsafe fn bytes_32(field: &'static str, from: Bytes) -> Result<[u8; 32]> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(field, from)? };
    bytes.try_into().map_err(|_| Error::invalid(field, format!("{} bytes instead of 32", bytes.len())))
}

/// Text.
///
/// # Safety
///
/// As [`bytes`].
pub unsafe fn text(field: &'static str, from: Bytes) -> Result<String> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(field, from)? };
    String::from_utf8(bytes.to_vec()).map_err(|_| Error::invalid(field, "isn't UTF-8"))
}

/// A list of texts.
///
/// # Safety
///
/// As [`bytes`], for the list and for each element.
pub unsafe fn texts(field: &'static str, ptr: *const Bytes, count: u64) -> Result<Vec<String>> {
    // SAFETY: the caller's promise.
    unsafe {
        let elements = list(field, ptr, count)?.iter().enumerate();
        elements.map(|(i, element)| text(field, *element).map_err(|error| error.in_entry(i))).collect()
    }
}

/// A list of paths.
///
/// # Safety
///
/// As [`texts`].
pub unsafe fn paths(field: &'static str, ptr: *const Bytes, count: u64) -> Result<Vec<PathBuf>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { texts(field, ptr, count)? }.into_iter().map(PathBuf::from).collect())
}

/// Fields kept for later must be 0, or a caller's new wish would be passed over in silence.
pub fn reserved(name: &'static str, fields: &[u64]) -> Result<()> {
    match fields.iter().all(|&field| field == 0) {
        true => Ok(()),
        false => Err(Error::invalid(name, "a reserved field isn't 0")),
    }
}

/// A switch: 0 or 1.
pub fn switch(field: &'static str, value: u64) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::invalid(field, format!("{value} is neither 0 nor 1"))),
    }
}

macro_rules! versioned {
    ($($kind:ident: $name:literal),* $(,)?) => {$(
        // SAFETY: repr(C), begins with struct_size, and holds integers and raw pointers alone.
        unsafe impl Versioned for $kind {
            const NAME: &'static str = $name;
        }
    )*};
}

versioned! {
    Config: "config", Porep: "porep", Update: "update", Post: "post", Request: "request", PorepClaim: "porep",
    UpdateClaim: "update", PostClaim: "post", Claim: "claim", VkSource: "vk_source", Event: "event", Stats: "stats",
    Cost: "cost",
}
