//! The static library behind `headers/cuzk.h`: cuzk's exported functions, and the name of this build.

use std::ffi::c_char;

pub use cuzk::ffi;

/// See the header. It stands here because the name changes with every source file, and cuzk itself should not be compiled
/// anew for that.
#[no_mangle]
pub extern "C" fn cuzk_build_id() -> *const c_char {
    concat!(env!("CUZK_BUILD_ID"), "\0").as_ptr().cast()
}
