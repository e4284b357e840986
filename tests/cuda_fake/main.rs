//! The CUDA back end on a fake machine (`backend::cuda::sys::fake`): everything above the kernels' C functions is the
//! shipped code, and its sums are the CPU back end's.

#[cfg(not(cuda))]
mod faults;
#[cfg(not(cuda))]
mod memory;
#[cfg(not(cuda))]
mod open;
#[cfg(not(cuda))]
mod pinned;
#[cfg(not(cuda))]
mod proofs;
#[cfg(not(cuda))]
#[path = "../backend_cpu_support/mod.rs"]
mod support;
