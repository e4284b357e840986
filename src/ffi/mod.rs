//! The C ABI: exported functions, C structs, the barrier that no panic passes. No mathematics.
//!
//! The contract is said once, at the top of `headers/cuzk.h`, which `make header` writes from this module.
//!
//! | file | what |
//! |---|---|
//! | `numbers` | status codes, kinds, levels |
//! | `abi`, `abi_stats` | structs |
//! | `read` | raw pointers and versioned structs in, checked |
//! | `inputs`, `outputs` | between the caller's structs and the engine's types |
//! | `buffer`, `engines` | what the caller holds by number |
//! | `barrier` | panics and errors become status and message |
//! | `exports`, `verify` | the functions |

mod abi;
mod abi_stats;
mod barrier;
mod buffer;
mod engines;
mod exports;
mod inputs;
mod numbers;
mod outputs;
mod read;
#[cfg(feature = "testing")]
pub mod testing;
mod verify;

pub use abi::{
    Buffer, Bytes, Claim, Config, ErrorOut, Event, Porep, PorepClaim, Post, PostClaim, Request, Sector, Update,
    UpdateClaim, VkSource,
};
pub use abi_stats::{CircuitOut, Cost, DevicePhase, DeviceStats, KindStats, PhaseStats, PoolStats, Stats};
pub use exports::*;
pub use numbers::*;

/// The text of the C header.
#[cfg(feature = "headers")]
pub fn header() -> std::io::Result<String> {
    let mut text = Vec::new();
    let builder = safer_ffi::headers::builder().with_banner(include_str!("contract.h")).with_guard("CUZK_H");
    builder.to_writer(&mut text).generate()?;
    let text = String::from_utf8(text).map_err(std::io::Error::other)?;
    let includes = "#include <stdint.h>\n";
    assert!(text.contains(includes), "safer-ffi's header has changed");
    Ok(text.replacen(includes, &format!("{includes}{BUILD_ID}"), 1))
}

/// The archive defines this one (archive/src/lib.rs): its value changes with every source file.
#[cfg(feature = "headers")]
const BUILD_ID: &str = "
/** \\brief
 *  Names the build: version, flavour, digest of the sources. Static, ends in a 0. Doesn't block.
 */
char const *
cuzk_build_id (void);
";

/// The structs have the layout of C on 64-bit machines: sizes are part of the ABI.
const _: () = {
    assert!(size_of::<Bytes>() == 16 && size_of::<Buffer>() == 24 && size_of::<ErrorOut>() == 32);
    assert!(size_of::<usize>() == 8 && align_of::<Event>() == 8 && align_of::<Stats>() == 8);
};
