//! From CUDA's errors to ours.

use super::sys::{self, CudaError};
use crate::error::Error;

/// What ends an operation on the device thread.
#[derive(Debug)]
pub(super) enum Fault {
    /// A CUDA call or launch.
    Cuda(CudaError),
    /// The control dropped the assignment, or the caller is gone.
    Stopped,
    /// Anything else.
    Other(Error),
}

pub(super) type Outcome<T> = Result<T, Fault>;

impl From<CudaError> for Fault {
    fn from(error: CudaError) -> Self {
        match error.code {
            sys::STOPPED => Fault::Stopped,
            _ => Fault::Cuda(error),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Cancelled => Fault::Stopped,
            other => Fault::Other(other),
        }
    }
}

/// `cudaErrorMemoryAllocation`.
pub(super) const NO_MEMORY: i32 = 2;
/// `cudaErrorInsufficientDriver`, also without any driver.
pub(super) const NO_DRIVER: i32 = 35;
/// `cudaErrorNoDevice`.
pub(super) const NO_CARD: i32 = 100;
/// `cudaErrorNoKernelImageForDevice`.
pub(super) const NO_KERNEL_IMAGE: i32 = 209;

/// Errors after which the process can't use the device any more, as the runtime's documentation says of each: uncorrectable
/// memory and links, illegal addresses and instructions, traps, and contexts that are gone.
pub(super) fn is_sticky(code: i32) -> bool {
    const UNKNOWN: i32 = 999;
    matches!(code, 4 | 46 | 201 | 214 | 219 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721 | UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_is_no_error_of_cuda() {
        let of = |code| Fault::from(CudaError { code, message: "why".into() });
        assert!(matches!(of(sys::STOPPED), Fault::Stopped));
        assert!(matches!(of(700), Fault::Cuda(_)));
        assert!(is_sticky(700) && is_sticky(719) && !is_sticky(NO_MEMORY) && !is_sticky(NO_KERNEL_IMAGE));
    }
}
