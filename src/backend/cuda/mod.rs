//! The CUDA back end: one `CudaBackend` per device, each with a thread of its own that makes all its CUDA calls.
//!
//! | file | what it holds |
//! |---|---|
//! | `sys` | the kernels' C interface: the only module that calls C |
//! | `open` | which devices there are, which are used, and why not |
//! | `backend`, `turn` | the caller's side: jobs, questions to the control, the watchdog |
//! | `owner`, `job` | the device thread, and what goes between it and a caller |
//! | `device`, `fault` | what a device thread owns; from CUDA's errors to ours |
//! | `arena`, `pinned` | device memory with named reservations; the process's pinned memory |
//! | `prepare` | what is computed of a circuit and a layout on the host |
//! | `load`, `readers`, `resident` | SRS and R1CS on the device |
//! | `plan`, `prove`, `sums` | the memory of a proof; its launches; its sums on the host |
//! | `multiples` | many multiples of one point, for setup |
//! | `known` | the proof that a device must get right before it is used |
//!
//! # Memory
//!
//! Each device has one arena under a cap; everything on it is a reservation with a name: `tables`, `urgent` (kept free for
//! a WinningPoSt that interrupts), `work` (computed beforehand by `plan`), `srs …` and `r1cs …` per circuit, `layout …`.
//! Pinned memory is shared by all devices. Once a circuit has been proved twice nothing is allocated, pinned or created:
//! [`CudaStats::calls`] shows it.
//!
//! # Faults
//!
//! | fault | what callers get | what happens |
//! |---|---|---|
//! | out of memory | OUT_OF_MEMORY with the device, needed and free | everything is given back; the next call works |
//! | a CUDA error that stays | DEVICE_LOST | every later call fails at once; a restart of the process is needed |
//! | no question for 2 s | DEVICE_LOST | the same: the thread is left behind |
//! | any other CUDA error, a panic | INTERNAL for one assignment | the next one works |

use crate::backend::Backend;
use crate::error::Result;
use std::sync::Arc;

#[cfg(any(cuda, feature = "testing"))]
mod arena;
#[cfg(any(cuda, feature = "testing"))]
mod backend;
mod config;
#[cfg(any(cuda, feature = "testing"))]
mod device;
#[cfg(any(cuda, feature = "testing"))]
mod fault;
#[cfg(any(cuda, feature = "testing"))]
mod job;
#[cfg(any(cuda, feature = "testing"))]
mod known;
#[cfg(any(cuda, feature = "testing"))]
mod load;
#[cfg(any(cuda, feature = "testing"))]
mod multiples;
#[cfg(any(cuda, feature = "testing"))]
mod open;
#[cfg(any(cuda, feature = "testing"))]
mod owner;
#[cfg(any(cuda, feature = "testing"))]
pub mod pinned;
#[cfg(any(cuda, feature = "testing"))]
mod plan;
#[cfg(any(cuda, feature = "testing"))]
mod prepare;
#[cfg(any(cuda, feature = "testing"))]
mod prove;
#[cfg(any(cuda, feature = "testing"))]
mod readers;
#[cfg(any(cuda, feature = "testing"))]
mod resident;
mod stats;
#[cfg(any(cuda, feature = "testing"))]
mod sums;
#[cfg(any(cuda, feature = "testing"))]
pub mod sys;
#[cfg(any(cuda, feature = "testing"))]
mod turn;

#[cfg(any(cuda, feature = "testing"))]
pub use backend::CudaBackend;
pub use config::{CudaConfig, Uuid};

/// Longest silence of a device thread that has a job.
#[cfg(any(cuda, feature = "testing"))]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

#[cfg(any(cuda, feature = "testing"))]
pub use open::{devices, open_devices, Opened};
pub use stats::{Calls, CudaStats, Health, Phases};

/// Opens the devices that `config` names, or all that the driver shows (CUDA_VISIBLE_DEVICES decides that), each proved by
/// a small proof with a known answer. Devices that can't be used are left out with a warning.
/// Threads: one per device, named `cuzk-gpu`, until the back end is dropped. Blocks for the drivers' start, some seconds.
/// Errors: NO_DEVICE says which it is: built without CUDA, no driver, a driver too old (both versions), no card, an
/// unknown UUID, or why each device was refused; OUT_OF_MEMORY.
pub fn open(config: &CudaConfig) -> Result<Vec<Arc<dyn Backend>>> {
    #[cfg(any(cuda, feature = "testing"))]
    {
        let opened = open_devices(config)?;
        Ok(opened.devices.into_iter().map(|device| device as Arc<dyn Backend>).collect())
    }
    #[cfg(not(any(cuda, feature = "testing")))]
    {
        let _ = config;
        Err(crate::error::Error::NoDevice("built without CUDA".into()))
    }
}
