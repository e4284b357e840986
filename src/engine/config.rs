//! What an engine is opened with.

use std::collections::BTreeSet;
use std::path::PathBuf;

use log::LevelFilter;

use crate::circuit::Kind;
use crate::error::{Error, Result};
use crate::srs::SrsCheck;

/// Which back end proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BackendChoice {
    /// CUDA if it is built in, else the CPU. Built in, but without a usable device: only the kinds of
    /// [`Config::cpu_fallback`] are proved, others fail with NO_DEVICE.
    #[default]
    Auto,
    /// CUDA; [`Engine::open`](super::Engine::open) fails with NO_DEVICE if it isn't built in or finds no device.
    Cuda,
    /// The host's cores.
    Cpu,
}

/// Configuration of an engine. Numbers: 0 means the default.
#[derive(Clone, Debug)]
pub struct Config {
    /// Directories of `.params` files, searched in order. Default, if empty: the one that FIL_PROOFS_PARAMETER_CACHE
    /// names, or /var/tmp/filecoin-proof-parameters.
    pub param_dirs: Vec<PathBuf>,
    /// Where recorded circuits and finished checks are kept, made when it is first written to. Default, None: nowhere;
    /// each process then records each circuit anew (0.3 to 1.6 s per million constraints of a block).
    pub cache_dir: Option<PathBuf>,
    /// Which back end proves. Default: [`BackendChoice::Auto`].
    pub backend: BackendChoice,
    /// Kinds that are proved on the CPU when no device can, with a warning and counted. Default: WinningPoSt alone.
    pub cpu_fallback: BTreeSet<Kind>,
    /// Accept `.params` whose verifying key isn't one of the network's. Default: no.
    pub allow_unknown_params: bool,
    /// UUIDs of the devices to use; naming some is an error where the back end is the CPU. Default, if empty: all.
    pub devices: Vec<String>,
    /// UUIDs of devices that prove WinningPoSts and nothing else; the same holds for them. Default: none.
    pub reserved_devices: Vec<String>,
    /// Budget of host memory in bytes: requests, assignments, recorded circuits and, on the CPU back end, SRS sections.
    /// Default: four fifths of what machine and cgroup allow.
    pub host_memory_bytes: u64,
    /// Budget of pinned host memory in bytes, for all devices together. Default: 1 GiB.
    pub pinned_memory_bytes: u64,
    /// Cap in bytes on what is used of each device. Default: what is free when it is opened, less 1 GiB.
    pub device_memory_bytes: u64,
    /// Bytes of each device's memory that only a WinningPoSt may use. Default: 1 GiB.
    pub device_reserve_bytes: u64,
    /// Threads that synthesise and, on the CPU back end, prove. Default: the CPUs that machine and cgroup allow. PoSts
    /// have threads of their own beside these.
    pub threads: u32,
    /// Most unfinished PoRep and SnapDeals requests; a request counts until its completion is taken by
    /// [`Engine::next`](super::Engine::next). WindowPoSts and WinningPoSts have as many places each, 64 at least, that no
    /// other kind can take. Default: 256.
    pub queue_len: u32,
    /// How far an SRS is checked before it is used. Default: [`SrsCheck::OnCurve`].
    pub srs_check: SrsCheck,
    /// Most detailed log records that become events. Default: Info.
    pub log_level: LevelFilter,
}

/// [`Config::queue_len`] where it is 0.
pub const DEFAULT_QUEUE_LEN: u32 = 256;
/// Least places that WindowPoSts and WinningPoSts have.
pub const MIN_POST_PLACES: u32 = 64;
/// [`Config::device_reserve_bytes`] where it is 0.
pub const DEFAULT_DEVICE_RESERVE_BYTES: u64 = 1 << 30;
/// More threads than this are refused.
const MAX_THREADS: u32 = 1024;
/// A longer queue is refused.
const MAX_QUEUE_LEN: u32 = 1 << 20;

impl Default for Config {
    fn default() -> Self {
        Config {
            param_dirs: Vec::new(),
            cache_dir: None,
            backend: BackendChoice::Auto,
            cpu_fallback: BTreeSet::from([Kind::WinningPoSt]),
            allow_unknown_params: false,
            devices: Vec::new(),
            reserved_devices: Vec::new(),
            host_memory_bytes: 0,
            pinned_memory_bytes: 0,
            device_memory_bytes: 0,
            device_reserve_bytes: 0,
            threads: 0,
            queue_len: 0,
            srs_check: SrsCheck::OnCurve,
            log_level: LevelFilter::Info,
        }
    }
}

impl Config {
    /// Errors: INVALID names the first field whose value can't be.
    pub fn check(&self) -> Result<()> {
        if self.threads > MAX_THREADS {
            return Err(Error::invalid("threads", format!("{}, at most {MAX_THREADS}", self.threads)));
        }
        if self.queue_len > MAX_QUEUE_LEN {
            return Err(Error::invalid("queue_len", format!("{}, at most {MAX_QUEUE_LEN}", self.queue_len)));
        }
        if let Some(dir) = self.param_dirs.iter().find(|dir| dir.as_os_str().is_empty()) {
            return Err(Error::invalid("param_dirs", format!("{dir:?} names no directory")));
        }
        if self.cache_dir.as_ref().is_some_and(|dir| dir.as_os_str().is_empty()) {
            return Err(Error::invalid("cache_dir", "an empty path; leave it out instead"));
        }
        if let Some(file) = self.cache_dir.as_ref().filter(|dir| dir.exists() && !dir.is_dir()) {
            return Err(Error::invalid("cache_dir", format!("{} is no directory", file.display())));
        }
        let both = self.reserved_devices.iter().find(|uuid| {
            let allowed = self.devices.is_empty() || self.devices.contains(uuid);
            uuid.is_empty() || !allowed
        });
        match both {
            Some(uuid) => Err(Error::invalid("reserved_devices", format!("{uuid:?} is none of `devices`"))),
            None => Ok(()),
        }
    }

    /// Places for unfinished requests of `kind`.
    pub fn places(&self, kind: Kind) -> u32 {
        let queue_len = if self.queue_len == 0 { DEFAULT_QUEUE_LEN } else { self.queue_len };
        match kind {
            Kind::PoRep | Kind::SnapDeals => queue_len,
            Kind::WindowPoSt | Kind::WinningPoSt => queue_len.max(MIN_POST_PLACES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(config: Config) -> String {
        config.check().unwrap_err().to_string()
    }

    #[test]
    fn the_default_passes_and_nonsense_is_named() {
        Config::default().check().unwrap();
        assert!(refused(Config { threads: 5000, ..Config::default() }).starts_with("threads"));
        assert!(refused(Config { queue_len: u32::MAX, ..Config::default() }).starts_with("queue_len"));
        assert!(refused(Config { param_dirs: vec!["".into()], ..Config::default() }).starts_with("param_dirs"));
        assert!(refused(Config { cache_dir: Some("".into()), ..Config::default() }).starts_with("cache_dir"));
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache_dir = Some(file.path().to_owned());
        assert!(refused(Config { cache_dir, ..Config::default() }).ends_with("is no directory"));
        let devices = vec!["GPU-1".to_owned()];
        let reserved_devices = vec!["GPU-2".to_owned()];
        assert!(refused(Config { devices, reserved_devices, ..Config::default() }).starts_with("reserved_devices"));
    }

    #[test]
    fn posts_have_places_of_their_own() {
        let config = Config { queue_len: 3, ..Config::default() };
        assert_eq!(Kind::ALL.map(|kind| config.places(kind)), [3, 3, 64, 64]);
        assert_eq!(Config::default().places(Kind::PoRep), 256);
    }
}
