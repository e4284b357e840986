//! The echo engine: tiny circuits, devices that fail on demand. Feature `testing` alone.

mod backend;
mod faults;
mod library;
mod options;
mod time;

use std::sync::Arc;

pub use library::echo_inputs;
pub use options::{EchoCall, EchoCallKind, EchoFault, EchoFaultKind, EchoOptions};

use self::backend::EchoBackend;
pub(super) use self::faults::Echo;
use self::library::EchoLibrary;
use super::config::Config;
use super::logs::Sink;
use super::pools::pool;
use super::shared::Parts;
use crate::backend::cpu::CpuBackend;
use crate::backend::Backend;
use crate::error::Result;

/// An echo engine's parts. Errors: INTERNAL (threads, a temporary directory).
pub(super) fn open(
    config: &Config,
    threads: usize,
    sink: &Sink,
    options: EchoOptions,
    echo: &Arc<Echo>,
) -> Result<Parts> {
    let library = Box::new(EchoLibrary::new(config, &options, Arc::clone(echo))?);
    if options.on_cpu {
        let cpu = CpuBackend::new(Arc::new(pool("prove", threads, sink)?));
        return Ok(Parts { library, backends: vec![Arc::new(cpu)], fallback: None });
    }
    let options = Arc::new(options);
    let back_end = |device| -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(EchoBackend::new(device, Arc::clone(&options), Arc::clone(echo), sink)?))
    };
    let backends = (0..options.devices).map(|device| back_end(Some(device))).collect::<Result<_>>()?;
    let fallback = if config.cpu_fallback.is_empty() { None } else { Some(back_end(None)?) };
    Ok(Parts { library, backends, fallback })
}
