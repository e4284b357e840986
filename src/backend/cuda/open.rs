//! Which devices there are, and opening them.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::backend::CudaBackend;
use super::config::{CudaConfig, Uuid};
use super::device::{Device, Shared};
use super::fault::{Fault, NO_CARD, NO_DRIVER, NO_KERNEL_IMAGE};
use super::job::{look_again, Job};
use super::known;
use super::owner;
use super::pinned::PinnedPool;
use super::sys::{device_count, device_info, driver_version, use_device, CudaError, DeviceInfo};
use crate::error::{Error, Result};

/// Longest wait for a device to start: contexts on a host with many cards take seconds.
const START: Duration = Duration::from_secs(120);

/// What [`open_devices`] found.
pub struct Opened {
    /// Devices that work.
    pub devices: Vec<Arc<CudaBackend>>,
    /// Devices that don't, with why.
    pub refused: Vec<(Uuid, Error)>,
}

/// The devices that the driver shows, in its order. Errors: NO_DEVICE, as for [`super::open`].
pub fn devices() -> Result<Vec<DeviceInfo>> {
    #[cfg(not(cuda))]
    if !super::sys::fake::is_installed() {
        return Err(Error::NoDevice("built without CUDA".into()));
    }
    let count = device_count().map_err(|error| no_device(&error))?;
    if count == 0 {
        return Err(Error::NoDevice("the driver shows no card".into()));
    }
    (0..count).map(|ordinal| device_info(ordinal).map_err(|error| no_device(&error))).collect()
}

/// [`super::open`] with the devices' own types, and those that were refused.
pub fn open_devices(config: &CudaConfig) -> Result<Opened> {
    let found = devices()?;
    let uuids: Vec<Uuid> = found.iter().map(|info| Uuid(info.uuid)).collect();
    let wanted: Vec<Uuid> = if config.devices.is_empty() { uuids.clone() } else { config.devices.clone() };
    let mut opened = Opened { devices: Vec::new(), refused: Vec::new() };
    let pool = PinnedPool::new(config.pinned_memory_bytes, config.strict_pinning, config.wipe_buffers);
    for uuid in wanted {
        let Some(ordinal) = uuids.iter().position(|visible| *visible == uuid) else {
            let visible = uuids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ");
            opened.refused.push((uuid, Error::NoDevice(format!("{uuid} is not visible; {visible} are"))));
            continue;
        };
        match start(ordinal as u32, &found[ordinal], &pool, config) {
            Ok(device) => opened.devices.push(Arc::new(device)),
            Err(error) => {
                log::warn!("{uuid} is not used: {error}");
                opened.refused.push((uuid, error));
            }
        }
    }
    match opened.devices.is_empty() {
        true => Err(none_opened(opened.refused)),
        false => Ok(opened),
    }
}

/// One refusal speaks for itself; several are listed.
fn none_opened(mut refused: Vec<(Uuid, Error)>) -> Error {
    if refused.len() == 1 {
        return refused.remove(0).1;
    }
    let reasons: Vec<String> = refused.iter().map(|(uuid, error)| format!("{uuid}: {error}")).collect();
    Error::NoDevice(reasons.join("; "))
}

fn start(ordinal: u32, info: &DeviceInfo, pool: &Arc<PinnedPool>, config: &CudaConfig) -> Result<CudaBackend> {
    let shared = Shared::new(info);
    #[cfg(feature = "testing")]
    let patience = config.patience;
    #[cfg(not(feature = "testing"))]
    let patience = super::PATIENCE;
    let ((jobs, queue), (ready, answer), (ends, ended)) = (channel(), channel(), channel());
    let (for_thread, info, pool, config) = (Arc::clone(&shared), info.clone(), Arc::clone(pool), config.clone());
    let body = move || {
        run(ordinal, info, for_thread, pool, &config, &ready, &queue);
        drop::<Sender<()>>(ends);
    };
    let builder = thread::Builder::new().name("cuzk-gpu".into()).stack_size(8 << 20);
    builder.spawn(body).map_err(|error| Error::Internal(format!("a device thread can't be started: {error}")))?;
    match look_again(START, |time| answer.recv_timeout(time)) {
        Ok(Ok(())) => Ok(CudaBackend::new(shared, jobs, ended, patience)),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(shared.lose(&format!("it did not start within {} s", START.as_secs()))),
    }
}

/// The whole life of a device thread.
fn run(
    ordinal: u32,
    info: DeviceInfo,
    shared: Arc<Shared>,
    pool: Arc<PinnedPool>,
    config: &CudaConfig,
    ready: &Sender<Result<()>>,
    jobs: &Receiver<Job>,
) {
    let (major, minor) = info.capability;
    let device =
        use_device(ordinal).map_err(Fault::from).and_then(|()| Device::new(info, Arc::clone(&shared), pool, config));
    let checked = match &device {
        Ok(device) => known::check(device).map_err(|fault| refusal(device, fault, major, minor)),
        Err(_) => Ok(()),
    };
    match (device, checked) {
        (Ok(device), Ok(())) => {
            device.publish();
            // Nobody waits any more: the device came too late.
            if ready.send(Ok(())).is_ok() {
                owner::serve(&device, jobs);
            }
        }
        (Ok(device), Err(error)) => {
            // Before anyone hears of it everything is given back.
            drop(device);
            let _ = ready.send(Err(error));
        }
        (Err(fault), _) => {
            let _ = ready.send(Err(start_error(&shared, fault, major, minor)));
        }
    }
}

/// Architectures that this build has code for.
#[cfg(cuda)]
const BUILT_FOR: &str = env!("CUZK_CUDA_ARCHS");
#[cfg(not(cuda))]
const BUILT_FOR: &str = "the host";

fn no_image(label: &str, major: u32, minor: u32) -> Error {
    Error::NoDevice(format!("{label} is sm_{major}{minor}; this build has code for {BUILT_FOR}"))
}

fn refusal(device: &Device, fault: Fault, major: u32, minor: u32) -> Error {
    match fault {
        Fault::Cuda(error) if error.code == NO_KERNEL_IMAGE => no_image(&device.shared.label, major, minor),
        other => device.error(other),
    }
}

fn start_error(shared: &Shared, fault: Fault, major: u32, minor: u32) -> Error {
    match fault {
        Fault::Cuda(error) if error.code == NO_KERNEL_IMAGE => no_image(&shared.label, major, minor),
        Fault::Cuda(error) => Error::NoDevice(format!("{}: {error}", shared.label)),
        Fault::Stopped => Error::Cancelled,
        Fault::Other(error) => error,
    }
}

fn no_device(error: &CudaError) -> Error {
    let version = |v: i32| format!("{}.{}", v / 1000, v % 1000 / 10);
    let why = match (error.code, driver_version()) {
        (NO_DRIVER, Ok((0, _))) => "no CUDA driver".into(),
        (NO_DRIVER, Ok((driver, runtime))) => {
            format!("the driver is too old: it has CUDA {}, this build needs {}", version(driver), version(runtime))
        }
        (NO_CARD, _) => "the driver shows no card".into(),
        _ => error.to_string(),
    };
    Error::NoDevice(why)
}
