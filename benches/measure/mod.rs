//! What a process has used so far, for benches.
#![allow(dead_code)] // every bench uses some of it

use std::time::Instant;

/// CPU seconds of this process, all threads added up.
pub fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call fills in.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "this system has a clock per process");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Peak resident memory of this process in MiB.
pub fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).expect("a number").parse::<f64>().expect("KiB") / 1024.0
}

/// Elapsed and CPU seconds.
pub fn timed<T>(run: impl FnOnce() -> T) -> (T, f64, f64) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let value = run();
    (value, start.elapsed().as_secs_f64(), cpu_seconds() - cpu)
}
