//! The C ABI's contract, on the functions as C calls them.

mod engine;
mod verify;

use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuzk::ffi::testing::{self, Echo};
use cuzk::ffi::*;
use cuzk::Status;

/// Fault points and counts of live buffers are the process's: tests take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn zeroed<T>() -> T {
    // SAFETY: the C structs hold integers and raw pointers alone.
    unsafe { std::mem::zeroed() }
}

fn bytes(from: &[u8]) -> Bytes {
    Bytes { ptr: from.as_ptr(), len: from.len() as u64 }
}

/// Takes the message out of an error, and checks that it tells the same status.
fn message(status: u32, error: &mut ErrorOut) -> String {
    assert_eq!(error.status, status);
    let text = match error.message.len {
        0 => String::new(),
        // SAFETY: the library's buffer, not freed yet.
        len => unsafe {
            String::from_utf8(std::slice::from_raw_parts(error.message.ptr, len as usize).to_vec()).unwrap()
        },
    };
    assert_eq!(cuzk_free(&mut error.message), CUZK_OK);
    assert_eq!((error.message.len, error.message.id), (0, 0), "freeing empties the struct");
    text
}

/// Calls with an error to be filled; the status and its message.
fn call(function: impl FnOnce(*mut ErrorOut) -> u32) -> (u32, String) {
    let mut error = zeroed();
    let status = function(&mut error);
    (status, message(status, &mut error))
}

#[track_caller]
fn refused(status: Status, part: &str, function: impl FnOnce(*mut ErrorOut) -> u32) {
    let (found, text) = call(function);
    assert_eq!(found, status as u32, "{text}");
    assert!(text.contains(part), "{text:?} doesn't say {part:?}");
}

#[track_caller]
fn accepted(function: impl FnOnce(*mut ErrorOut) -> u32) {
    let (status, text) = call(function);
    assert_eq!(status, CUZK_OK, "{text}");
    assert_eq!(text, "");
}

/// Resident memory of this process in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn config() -> Config {
    Config {
        struct_size: size_of::<Config>() as u64,
        abi_version: CUZK_ABI_VERSION,
        backend: CUZK_BACKEND_CPU,
        ..zeroed()
    }
}

fn echo() -> u64 {
    let mut engine = 0;
    accepted(|error| testing::cuzk_testing_open_echo(&config(), &Echo::default(), &mut engine, error));
    engine
}

fn close(engine: u64) {
    accepted(|error| cuzk_engine_close(engine, error));
}

#[test]
fn headers_are_the_sources() {
    let _alone = alone();
    let header = cuzk::ffi::header().unwrap();
    let committed = |path: &str| std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(header == committed("headers/cuzk.h"), "run `make header`");
    assert!(header == committed("go/cuzk.h"), "run `make header`");
}

/// A C compiler sees the sizes that Rust has, also of a header that is included twice and from C++.
#[test]
fn layouts_are_those_of_c() {
    let _alone = alone();
    let mut source = String::from("#include \"cuzk.h\"\n#include \"cuzk.h\"\n");
    let mut size = |name: &str, bytes: usize| {
        source.push_str(&format!("_Static_assert(sizeof(cuzk_{name}_t) == {bytes}, \"{name}\");\n"));
    };
    size("bytes", size_of::<Bytes>());
    size("buffer", size_of::<Buffer>());
    size("error", size_of::<ErrorOut>());
    size("config", size_of::<Config>());
    size("porep", size_of::<Porep>());
    size("update", size_of::<Update>());
    size("post", size_of::<Post>());
    size("request", size_of::<Request>());
    size("porep_claim", size_of::<PorepClaim>());
    size("update_claim", size_of::<UpdateClaim>());
    size("sector", size_of::<Sector>());
    size("post_claim", size_of::<PostClaim>());
    size("claim", size_of::<Claim>());
    size("vk_source", size_of::<VkSource>());
    size("event", size_of::<Event>());
    size("cost", size_of::<Cost>());
    size("kind_stats", size_of::<KindStats>());
    size("phase_stats", size_of::<PhaseStats>());
    size("pool_stats", size_of::<PoolStats>());
    size("device_stats", size_of::<DeviceStats>());
    size("device_phase", size_of::<DevicePhase>());
    size("circuit", size_of::<CircuitOut>());
    size("stats", size_of::<Stats>());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("layout.c");
    std::fs::write(&file, source).unwrap();
    let headers = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/headers");
    let compiled = Command::new("cc").args(["-fsyntax-only", "-Wall", "-Werror", headers]).arg(file).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

#[test]
fn engines_are_numbers_that_stay_closed() {
    let _alone = alone();
    let engine = echo();
    close(engine);
    let other = echo();
    assert_ne!(engine, other, "a number is never given twice");
    let mut event = Event { struct_size: size_of::<Event>() as u64, ..zeroed() };
    let mut stats = Stats { struct_size: size_of::<Stats>() as u64, ..zeroed() };
    let mut cost = Cost { struct_size: size_of::<Cost>() as u64, ..zeroed() };
    let foreign = [0, 1 << 15, u64::MAX, other ^ (1 << 40), other & 0xffff];
    let mut check = |id: u64, status: Status| {
        refused(status, "engine", |error| cuzk_engine_submit(id, null(), 0, null_mut(), error));
        refused(status, "engine", |error| cuzk_engine_next(id, 0, &mut event, error));
        refused(status, "engine", |error| cuzk_engine_cancel(id, 1, error));
        refused(status, "engine", |error| cuzk_engine_preload(id, CUZK_KIND_POREP, 2048, 1, error));
        refused(status, "engine", |error| cuzk_engine_evict(id, CUZK_KIND_POREP, 2048, 1, error));
        refused(status, "engine", |error| cuzk_engine_trim(id, 1, error));
        refused(status, "engine", |error| cuzk_engine_stats(id, &mut stats, error));
        refused(status, "engine", |error| cuzk_engine_cost(id, CUZK_KIND_POREP, 2048, &mut cost, error));
        refused(status, "engine", |error| cuzk_engine_close(id, error));
    };
    check(engine, Status::Closed);
    for id in foreign {
        check(id, Status::Invalid);
    }
    close(other);
    assert_eq!(testing::cuzk_testing_live_engines(), 0);
}

#[test]
fn one_release_engine_at_a_time() {
    let _alone = alone();
    let (mut engine, mut second) = (0, 77);
    accepted(|error| cuzk_engine_open(&config(), &mut engine, error));
    refused(Status::AlreadyOpen, "already open", |error| cuzk_engine_open(&config(), &mut second, error));
    assert_eq!(second, 0, "an output is 0 on failure");
    close(engine);
    accepted(|error| cuzk_engine_open(&config(), &mut second, error));
    close(second);
}

#[test]
fn configurations_of_other_versions() {
    let _alone = alone();
    let open = |config: *const Config| {
        let mut engine = 0;
        let outcome = call(|error| cuzk_engine_open(config, &mut engine, error));
        if outcome.0 == CUZK_OK {
            close(engine);
        }
        outcome
    };
    let status = |config: &Config| open(config).0;
    let mut older = Config { abi_version: CUZK_ABI_VERSION + 1, ..config() };
    assert_eq!(status(&older), CUZK_ABI_MISMATCH);

    // A caller that knows the first fields alone: what lies behind them isn't read.
    older = Config { struct_size: 16, queue_len: u32::MAX, param_dir_count: 99, ..config() };
    assert_eq!(status(&older), CUZK_OK);
    for size in [0, 7, 12, 1 << 20] {
        assert_eq!(status(&Config { struct_size: size, ..config() }), CUZK_INVALID, "{size}");
    }

    // A caller that knows one field more may leave it alone.
    #[repr(C)]
    struct Newer {
        known: Config,
        added: u64,
    }
    let size = size_of::<Newer>() as u64;
    let mut newer = Newer { known: Config { struct_size: size, ..config() }, added: 0 };
    assert_eq!(open(std::ptr::from_ref(&newer).cast()).0, CUZK_OK);
    newer.added = 1;
    assert_eq!(open(std::ptr::from_ref(&newer).cast()).0, CUZK_UNSUPPORTED);

    assert_eq!(status(&Config { reserved_2: 1, ..config() }), CUZK_INVALID);
    for (field, config) in [
        ("backend", Config { backend: 99, ..config() }),
        ("srs_check", Config { srs_check: 3, ..config() }),
        ("log_level", Config { log_level: 6, ..config() }),
        ("cpu_fallback", Config { cpu_fallback: 1, ..config() }),
        ("allow_unknown_params", Config { allow_unknown_params: 2, ..config() }),
        ("cache_dir", Config { cache_dir: Bytes { ptr: null(), len: 3 }, ..config() }),
        ("cache_dir", Config { cache_dir: bytes(b"\xff"), ..config() }),
        ("devices", Config { device_count: 1, ..config() }),
        ("param_dirs", Config { param_dirs: 9 as *const Bytes, param_dir_count: 1, ..config() }),
        ("param_dirs", Config { param_dirs: std::ptr::dangling(), param_dir_count: u64::MAX, ..config() }),
    ] {
        let (status, text) = open(&config);
        assert_eq!(status, CUZK_INVALID, "{field}");
        assert!(text.starts_with(field), "{text}");
    }
    assert_eq!(open(null()).0, CUZK_INVALID);
    refused(Status::Invalid, "engine", |error| cuzk_engine_open(&config(), null_mut(), error));
}

#[test]
fn buffers_are_freed_once() {
    let _alone = alone();
    let live = testing::cuzk_testing_live_buffers();
    let mut error: ErrorOut = zeroed();
    assert_eq!(cuzk_engine_cancel(0, 1, &mut error), CUZK_INVALID);
    assert_eq!(testing::cuzk_testing_live_buffers(), live + 1);
    let mut copy = error.message;
    let mut elsewhere = Buffer { ptr: 8 as *mut u8, len: 1 << 40, id: copy.id };
    assert_eq!(cuzk_free(&mut elsewhere), CUZK_OK, "address and length aren't believed");
    assert_eq!(testing::cuzk_testing_live_buffers(), live);
    assert_eq!(cuzk_free(&mut copy), CUZK_INVALID, "a copy, a second time");
    assert_eq!(cuzk_free(&mut copy), CUZK_OK, "emptied");
    assert_eq!(cuzk_free(&mut zeroed()), CUZK_OK);
    assert_eq!(cuzk_free(null_mut()), CUZK_OK);
    assert_eq!(cuzk_engine_cancel(0, 1, null_mut()), CUZK_INVALID, "without an error to fill");
    assert_eq!(testing::cuzk_testing_live_buffers(), live);
}

#[test]
fn outputs_need_their_first_size() {
    let _alone = alone();
    let engine = echo();
    for size in [0, 8, size_of::<Event>() as u64 - 8] {
        let mut event = Event { struct_size: size, ..zeroed() };
        refused(Status::Invalid, "event", |error| cuzk_engine_next(engine, 0, &mut event, error));
    }
    for size in [0, 8, size_of::<Stats>() as u64 - 8] {
        let mut stats = Stats { struct_size: size, ..zeroed() };
        refused(Status::Invalid, "stats", |error| cuzk_engine_stats(engine, &mut stats, error));
    }
    refused(Status::Invalid, "NULL", |error| cuzk_engine_next(engine, 0, null_mut(), error));
    refused(Status::Invalid, "NULL", |error| cuzk_engine_stats(engine, null_mut(), error));

    // A cost that ends earlier is written as far as it goes.
    let mut cost = Cost { struct_size: 16, pinned_bytes: 7, device_bytes: 7, disk_bytes: 7, ..zeroed() };
    accepted(|error| cuzk_engine_cost(engine, CUZK_KIND_POREP, 2048, &mut cost, error));
    assert!(cost.host_bytes > 1 << 20);
    assert_eq!((cost.struct_size, cost.pinned_bytes, cost.device_bytes, cost.disk_bytes), (16, 7, 7, 7));
    refused(Status::Unsupported, "2049", |error| cuzk_engine_cost(engine, CUZK_KIND_POREP, 2049, &mut cost, error));
    refused(Status::Invalid, "kind", |error| cuzk_engine_cost(engine, 9, 2048, &mut cost, error));
    refused(Status::Unsupported, "2049", |error| cuzk_engine_preload(engine, CUZK_KIND_POREP, 2049, 1, error));
    close(engine);
}

type Export = (&'static str, fn(*mut ErrorOut) -> u32);

/// Every exported function, called so that it would succeed or fail at once.
const EXPORTS: [Export; 12] = [
    ("cuzk_engine_open", |error| cuzk_engine_open(null(), &mut 0, error)),
    ("cuzk_engine_close", |error| cuzk_engine_close(0, error)),
    ("cuzk_engine_submit", |error| cuzk_engine_submit(0, null(), 0, null_mut(), error)),
    ("cuzk_engine_next", |error| cuzk_engine_next(0, 0, null_mut(), error)),
    ("cuzk_engine_cancel", |error| cuzk_engine_cancel(0, 0, error)),
    ("cuzk_engine_preload", |error| cuzk_engine_preload(0, 1, 2048, 0, error)),
    ("cuzk_engine_evict", |error| cuzk_engine_evict(0, 1, 2048, 0, error)),
    ("cuzk_engine_trim", |error| cuzk_engine_trim(0, 0, error)),
    ("cuzk_engine_stats", |error| cuzk_engine_stats(0, null_mut(), error)),
    ("cuzk_engine_cost", |error| cuzk_engine_cost(0, 1, 2048, null_mut(), error)),
    ("cuzk_verify", |error| cuzk_verify(null(), null(), null(), error)),
    ("cuzk_free", |error| {
        let status = cuzk_free(null_mut());
        // It has no error to fill; the others' checks need one.
        let text = if status == CUZK_INTERNAL { "cuzk_free panicked: fault point" } else { "" };
        // SAFETY: from `call`.
        unsafe { (*error).status = status };
        assert!(status == CUZK_OK || !text.is_empty());
        status
    }),
];

#[test]
fn no_panic_passes_an_export() {
    let _alone = alone();
    let header = cuzk::ffi::header().unwrap();
    let declared = header.lines().filter(|line| line.starts_with("cuzk_") && line.ends_with(" (")).count();
    // cuzk_abi_version and cuzk_build_id return constants.
    assert_eq!(declared, EXPORTS.len(), "a function of the header has no fault point here");
    for (name, function) in EXPORTS {
        let before = call(function).0;
        for how in 0..3 {
            assert_eq!(testing::cuzk_testing_fault(&bytes(name.as_bytes()), how), CUZK_OK);
            let (status, text) = call(function);
            assert_eq!(status, CUZK_INTERNAL, "{name}");
            assert!(name == "cuzk_free" || text.contains(name), "{name}: {text:?}");
            assert_eq!(call(function).0, before, "{name}: the next call is as the first");
        }
    }
}

/// A panic inside an export leaves stderr empty: the test starts itself again and reads what that writes.
#[test]
fn panics_are_silent() {
    const CHILD: &str = "CUZK_TEST_PANICS";
    if std::env::var_os(CHILD).is_some() {
        return no_panic_passes_an_export();
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "panics_are_silent", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let output = child.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
