//! Which back ends an engine has.

use std::sync::Arc;

use super::config::{BackendChoice, Config, DEFAULT_DEVICE_RESERVE_BYTES};
use super::library::Filecoin;
use super::logs::Sink;
use super::pools::pool;
use super::shared::Parts;
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::{self, CudaConfig};
use crate::backend::Backend;
use crate::error::{Error, Result};

/// Whether the kernels are built in.
const HAS_CUDA: bool = cfg!(cuda);

/// The back ends that `config` asks for, and Filecoin's circuits. Errors: NO_DEVICE; INVALID for a UUID that is none, and for
/// named devices beside the CPU; INTERNAL (threads).
pub(super) fn open(config: &Config, threads: usize, sink: &Sink) -> Result<Parts> {
    let library = Box::new(Filecoin::new(config));
    let cpu = || Ok::<Arc<dyn Backend>, Error>(Arc::new(CpuBackend::new(Arc::new(pool("prove", threads, sink)?))));
    let on_cpu = match config.backend {
        BackendChoice::Cpu => true,
        BackendChoice::Auto => !HAS_CUDA,
        BackendChoice::Cuda => false,
    };
    if on_cpu {
        check_none_is_named(config)?;
        return Ok(Parts { library, backends: vec![cpu()?], fallback: None });
    }
    let backends = match cuda(config) {
        Ok(backends) => backends,
        Err(error @ Error::Invalid { .. }) => return Err(error),
        Err(error) if config.backend == BackendChoice::Cuda || config.cpu_fallback.is_empty() => return Err(error),
        Err(error) => {
            log::warn!("{error}; only the kinds of cpu_fallback are proved");
            Vec::new()
        }
    };
    let fallback = if config.cpu_fallback.is_empty() { None } else { Some(cpu()?) };
    Ok(Parts { library, backends, fallback })
}

/// Whoever names devices is not served by the CPU unasked. Errors: INVALID, NO_DEVICE.
fn check_none_is_named(config: &Config) -> Result<()> {
    let named = [("devices", &config.devices), ("reserved_devices", &config.reserved_devices)];
    let Some((field, uuid)) = named.into_iter().find_map(|(field, uuids)| Some((field, uuids.first()?))) else {
        return Ok(());
    };
    match config.backend {
        BackendChoice::Cpu => Err(Error::invalid(field, format!("{uuid:?} is named, but the back end is the CPU"))),
        _ => Err(Error::NoDevice(format!("{field}: {uuid:?} is named, but the library was built without CUDA"))),
    }
}

/// One back end per device. Errors: NO_DEVICE; INVALID for a UUID that is none.
fn cuda(config: &Config) -> Result<Vec<Arc<dyn Backend>>> {
    let default = CudaConfig::default();
    let or = |bytes: u64, default: u64| if bytes == 0 { default } else { bytes };
    cuda::open(&CudaConfig {
        devices: config.devices.iter().map(|uuid| uuid.parse()).collect::<Result<_>>()?,
        device_memory_bytes: Some(config.device_memory_bytes).filter(|bytes| *bytes > 0),
        device_reserve_bytes: or(config.device_reserve_bytes, DEFAULT_DEVICE_RESERVE_BYTES),
        pinned_memory_bytes: or(config.pinned_memory_bytes, default.pinned_memory_bytes),
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;

    #[test]
    fn the_cpu_does_not_stand_in_for_a_device_that_was_named() {
        let uuid = "GPU-00000000-0000-0000-0000-000000000001".to_owned();
        let said = |backend, devices: &[String], reserved_devices: &[String]| {
            let (devices, reserved_devices) = (devices.to_vec(), reserved_devices.to_vec());
            check_none_is_named(&Config { backend, devices, reserved_devices, ..Config::default() })
        };
        let named = std::slice::from_ref(&uuid);
        let refused = |devices, reserved| said(BackendChoice::Cpu, devices, reserved).unwrap_err();
        assert!(matches!(refused(named, &[]), Error::Invalid { field: "devices", .. }));
        assert!(matches!(refused(&[], named), Error::Invalid { field: "reserved_devices", .. }));
        assert_eq!(said(BackendChoice::Auto, named, &[]).unwrap_err().status(), Status::NoDevice);
        said(BackendChoice::Auto, &[], &[]).unwrap();
    }
}
