//! What the areas share: selection by name, PASS and FAIL lines, and timing by events.

use cuzk::backend::cuda::sys::{device_info, driver_version, use_device, CudaError, DeviceInfo, Event, Stream};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::ExitCode;

/// Why a check failed.
pub type Failure = Box<dyn std::error::Error>;

/// State of one run of the binary.
pub struct Harness {
    /// The device under test, current for this thread.
    pub device: DeviceInfo,
    /// Where the checks launch.
    pub stream: Stream,
    names: Vec<String>,
    area: &'static str,
    passed: u32,
    failed: Vec<String>,
}

impl Harness {
    /// Takes device 0 and prints what it is.
    pub fn new(names: Vec<String>) -> Result<Self, CudaError> {
        let (driver, runtime) = driver_version()?;
        use_device(0)?;
        let device = device_info(0)?;
        let (major, minor) = device.capability;
        println!(
            "{}, sm_{major}{minor}, {} SM, driver {driver}, runtime {runtime}",
            device.name, device.multiprocessors
        );
        Ok(Self { device, stream: Stream::new()?, names, area: "", passed: 0, failed: Vec::new() })
    }

    /// Names that follow belong to `area`.
    pub fn enter(&mut self, area: &'static str) {
        self.area = area;
    }

    /// Whether the command line selects `name` of the current area.
    pub fn selects(&self, name: &str) -> bool {
        let full = format!("{}/{name}", self.area);
        self.names.is_empty()
            || self.names.iter().any(|wanted| wanted == self.area || full.starts_with(wanted.as_str()))
    }

    /// Runs one check, unless the command line names others, and prints PASS or FAIL with its reason. A panic fails it.
    pub fn check(&mut self, name: &str, body: impl FnOnce(&Self) -> Result<(), Failure>) {
        if !self.selects(name) {
            return;
        }
        let full = format!("{}/{name}", self.area);
        let outcome = catch_unwind(AssertUnwindSafe(|| body(self)));
        let reason = match outcome {
            Ok(Ok(())) => {
                self.passed += 1;
                println!("PASS {full}");
                return;
            }
            Ok(Err(reason)) => reason.to_string(),
            Err(panic) => match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
                (Some(text), _) => text.clone(),
                (_, Some(text)) => text.to_string(),
                _ => "panic".into(),
            },
        };
        println!("FAIL {full}: {reason}");
        self.failed.push(full);
    }

    /// Median milliseconds of five runs of what `launch` puts on the stream, after one that warms up.
    pub fn median_ms(&self, launch: impl FnMut(&Stream) -> Result<(), CudaError>) -> Result<f64, CudaError> {
        self.median_ms_after(|_| Ok(()), launch)
    }

    /// The same with something launched before each run that is not timed.
    pub fn median_ms_after(
        &self,
        mut before: impl FnMut(&Stream) -> Result<(), CudaError>,
        mut launch: impl FnMut(&Stream) -> Result<(), CudaError>,
    ) -> Result<f64, CudaError> {
        let (start, stop) = (Event::timing()?, Event::timing()?);
        let mut times = Vec::new();
        for _ in 0..6 {
            before(&self.stream)?;
            start.record(&self.stream)?;
            launch(&self.stream)?;
            stop.record(&self.stream)?;
            stop.wait()?;
            times.push(f64::from(stop.ms_since(&start)?));
        }
        let warm = &mut times[1..];
        warm.sort_by(f64::total_cmp);
        Ok(warm[warm.len() / 2])
    }

    /// The closing line and the exit code: 0 if checks ran and none failed. A run that selected nothing fails.
    pub fn finish(self) -> ExitCode {
        println!("{} passed, {} failed", self.passed, self.failed.len());
        for name in &self.failed {
            println!("failed: {name}");
        }
        ExitCode::from(u8::from(self.passed == 0 || !self.failed.is_empty()))
    }
}
