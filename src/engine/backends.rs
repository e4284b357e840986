//! Which back ends an engine has.

use std::sync::Arc;

use super::config::{BackendChoice, Config};
use super::library::Filecoin;
use super::logs::Sink;
use super::pools::pool;
use super::shared::Parts;
use crate::backend::cpu::CpuBackend;
use crate::backend::Backend;
use crate::error::{Error, Result};

/// Whether the kernels are built in.
const HAS_CUDA: bool = cfg!(cuda);

/// The back ends that `config` asks for, and Filecoin's circuits. Errors: NO_DEVICE, INTERNAL (threads).
pub(super) fn open(config: &Config, threads: usize, sink: &Sink) -> Result<Parts> {
    let library = Box::new(Filecoin::new(config));
    let cpu = || Ok::<Arc<dyn Backend>, Error>(Arc::new(CpuBackend::new(Arc::new(pool("prove", threads, sink)?))));
    let on_cpu = match config.backend {
        BackendChoice::Cpu => true,
        BackendChoice::Auto => !HAS_CUDA,
        BackendChoice::Cuda => false,
    };
    if on_cpu {
        return Ok(Parts { library, backends: vec![cpu()?], fallback: None });
    }
    let backends = match cuda(config) {
        Ok(backends) => backends,
        Err(error) if config.backend == BackendChoice::Cuda || config.cpu_fallback.is_empty() => return Err(error),
        Err(error) => {
            log::warn!("{error}; only the kinds of cpu_fallback are proved");
            Vec::new()
        }
    };
    let fallback = if config.cpu_fallback.is_empty() { None } else { Some(cpu()?) };
    Ok(Parts { library, backends, fallback })
}

/// One back end per device. Errors: NO_DEVICE.
fn cuda(_config: &Config) -> Result<Vec<Arc<dyn Backend>>> {
    Err(Error::NoDevice("this library was built without CUDA".into()))
}
