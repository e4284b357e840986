//! The disk cache: what is damaged is found, named and replaced; nothing crashes; writers don't harm each other.

mod r1cs_support;

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use blstrs::Scalar as Fr;
use cuzk::r1cs::cache::decode_file;
use cuzk::r1cs::{Cache, R1cs};
use cuzk::{Error, Status};
use r1cs_support::program::{one, term, ByName, Program};
use tempfile::TempDir;

const NAME: &str = "a circuit";
/// Bytes before the key, of the key's version part excluded.
const FIXED_BYTES: usize = 56;

/// Has all parts that a file can have: blocks, ports, inputs, long rows, and escapes.
fn circuit(coefficients: u64) -> R1cs {
    let mut program = Program::new();
    let bits: Vec<_> = (0..300).map(|_| program.aux()).collect();
    for k in 1..=coefficients {
        program.enforce(vec![(bits[0], Fr::from(k))], term(bits[1]), term(one()));
    }
    program.enforce(bits.iter().map(|bit| (*bit, -Fr::from(2))).collect(), term(one()), vec![]);
    for bit in &bits[..5] {
        program.inside("block", |program| {
            let (x, y) = (program.aux(), program.input());
            program.enforce(vec![(x, Fr::from(1 << 50))], term(y), term(*bit));
            program.enforce(term(x), term(bits[3]), vec![]);
        });
    }
    let r1cs = R1cs::record(&program, ByName).unwrap();
    assert_eq!(r1cs.segments.last().unwrap().repeat_count, 5);
    r1cs
}

fn small() -> R1cs {
    circuit(3)
}

fn folder() -> (TempDir, Cache) {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::new(dir.path().join("made/by the first store"));
    (dir, cache)
}

/// The only file of `r1cs`, as bytes.
fn stored(r1cs: &R1cs) -> (TempDir, Cache, Vec<u8>) {
    let (dir, cache) = folder();
    cache.store(NAME, r1cs).unwrap();
    let bytes = fs::read(cache.path(NAME)).unwrap();
    (dir, cache, bytes)
}

/// Loading fails as damage of this very file; `load_or_record` repairs it.
fn assert_replaced(cache: &Cache, r1cs: &R1cs, what: &str) -> String {
    let path = cache.path(NAME);
    let error = cache.load(NAME, None).expect_err(what);
    let Error::ParamsCorrupt(fault) = &error else { panic!("{what}: {error}") };
    assert_eq!(fault.file, path, "{what}");
    let mut recorded = false;
    let again = cache.load_or_record(NAME, None, || {
        recorded = true;
        Ok(r1cs.clone())
    });
    assert_eq!(again.unwrap(), *r1cs, "{what}");
    assert!(recorded, "{what}");
    error.to_string()
}

fn assert_sound(cache: &Cache, r1cs: &R1cs) {
    assert_eq!(cache.load(NAME, None).unwrap().as_ref(), Some(r1cs));
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    let hash = blake2b_simd::Params::new().hash_length(32).personal(b"cuzk r1cs").hash(bytes);
    hash.as_bytes().try_into().unwrap()
}

/// Puts right the digests of header and body, as someone would who means it.
fn reseal(bytes: &mut [u8]) {
    let key_len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let body = FIXED_BYTES + key_len + 32;
    let hash = digest(&bytes[body..]);
    bytes[24..56].copy_from_slice(&hash);
    let check = digest(&bytes[..body - 32]);
    bytes[body - 32..body].copy_from_slice(&check);
}

#[test]
fn what_is_stored_is_loaded() {
    for r1cs in [small(), circuit(70_000), R1cs::record(&Program::new(), ByName).unwrap()] {
        let (_dir, cache, bytes) = stored(&r1cs);
        assert_sound(&cache, &r1cs);
        assert_eq!(cache.load(NAME, Some(r1cs.structural_hash())).unwrap(), Some(r1cs.clone()));
        assert_eq!(decode_file(&bytes, NAME, None).unwrap(), r1cs);
        assert_eq!(cache.load_or_record(NAME, None, || panic!("it is there")).unwrap(), r1cs);
        assert_eq!(fs::read_dir(cache.path(NAME).parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn no_file_is_no_error() {
    let (_dir, cache) = folder();
    assert_eq!(cache.load(NAME, None).unwrap(), None);
}

#[test]
fn a_file_cut_anywhere_is_replaced() {
    let r1cs = small();
    let (_dir, cache, bytes) = stored(&r1cs);
    for len in 0..bytes.len() {
        fs::write(cache.path(NAME), &bytes[..len]).unwrap();
        let error = cache.load(NAME, None).unwrap_err();
        assert_eq!(error.status(), Status::ParamsCorrupt);
        assert!(error.to_string().contains(&format!("{len} bytes")), "cut at {len}: {error}");
        if len % 97 == 0 {
            assert_replaced(&cache, &r1cs, &format!("cut at {len}"));
        }
    }
}

#[test]
fn a_longer_file_is_replaced() {
    let r1cs = small();
    let (_dir, cache, mut bytes) = stored(&r1cs);
    let len = bytes.len();
    bytes.push(0);
    fs::write(cache.path(NAME), &bytes).unwrap();
    let error = assert_replaced(&cache, &r1cs, "one byte more");
    assert!(error.contains(&format!("expected {len} bytes, found {} bytes", len + 1)), "{error}");
    assert_sound(&cache, &r1cs);
}

#[test]
fn any_flipped_bit_is_found() {
    let (_dir, _cache, bytes) = stored(&small());
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let error = decode_file(&damaged, NAME, None).unwrap_err();
            assert_eq!(error.status(), Status::ParamsCorrupt, "bit {bit} of byte {at}");
        }
    }
}

/// A body whose digest is right, but whose content isn't: rejected, or an R1CS that is sound.
#[test]
fn a_resealed_file_is_rejected_or_sound() {
    let (_dir, _cache, bytes) = stored(&small());
    let body = bytes.len() - small().to_body().len();
    let mut sound = 0;
    for at in body..bytes.len() {
        for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut forged = bytes.clone();
            forged[at] = value;
            reseal(&mut forged);
            if let Ok(r1cs) = decode_file(&forged, NAME, None) {
                assert_eq!(r1cs.to_body(), forged[body..]);
                assert!(r1cs.variable_count() >= r1cs.query_counts().a);
                let terms = |index| r1cs.row(index).a.chain(r1cs.row(index).b).chain(r1cs.row(index).c);
                let in_range = |(index, _)| u64::from(index) < r1cs.variable_count();
                assert!((0..r1cs.row_count().min(100)).flat_map(terms).all(in_range));
                sound += 1;
            }
        }
    }
    assert!(sound > 0, "a coefficient may be another");
}

#[test]
fn counts_beyond_the_file_allocate_nothing() {
    let body = small().to_body();
    // Dictionary and segment counts; the first segment's counts stand behind the dictionary.
    let dictionary_len = u32::from_le_bytes(body[16..20].try_into().unwrap()) as usize;
    let segment = 24 + 32 * dictionary_len;
    for at in [16, 20, segment + 8, segment + 12, segment + 32, segment + 36, segment + 40, segment + 44] {
        let mut forged = body.clone();
        forged[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = R1cs::from_body(&forged).unwrap_err();
        assert_eq!(error.status(), Status::Invalid, "counts at {at}");
    }
}

#[test]
fn another_version_or_circuit_is_replaced() {
    let r1cs = small();
    let (_dir, cache, bytes) = stored(&r1cs);
    let version_in_key = FIXED_BYTES + "cuzk ".len();
    for (at, value, expected) in [
        (0, b'x', "a file of the R1CS cache"),
        (8, 0, "format version 1, found 0"),
        (8, 2, "format version 1, found 2"),
        (version_in_key, b'9', "9.1.0 a circuit"),
    ] {
        let mut other = bytes.clone();
        other[at] = value;
        reseal(&mut other);
        fs::write(cache.path(NAME), &other).unwrap();
        let error = assert_replaced(&cache, &r1cs, expected);
        assert!(error.contains(expected), "{error}");
        assert_sound(&cache, &r1cs);
    }
    cache.store("another circuit", &r1cs).unwrap();
    fs::copy(cache.path("another circuit"), cache.path(NAME)).unwrap();
    assert_replaced(&cache, &r1cs, "the file of another circuit");
    assert_sound(&cache, &r1cs);
}

#[test]
fn names_that_read_alike_have_files_of_their_own() {
    let cache = Cache::new("/folder");
    let names = ["a/b", "a_b", "a b", "../a", &"x".repeat(100), &"x".repeat(101)];
    let paths: std::collections::HashSet<_> = names.iter().map(|name| cache.path(name)).collect();
    assert_eq!(paths.len(), names.len());
    assert!(paths.iter().all(|path| path.parent() == Some(Path::new("/folder"))));
    for name in ["", &"x".repeat(201)] {
        assert_eq!(cache.load(name, None).unwrap_err().status(), Status::Invalid);
        assert_eq!(cache.store(name, &small()).unwrap_err().status(), Status::Invalid);
        assert_eq!(cache.load_or_record(name, None, || Ok(small())).unwrap_err().status(), Status::Invalid);
    }
}

#[test]
fn a_pinned_hash_is_enforced() {
    let r1cs = small();
    let (_dir, cache, _bytes) = stored(&r1cs);
    let pinned = circuit(4).structural_hash();
    assert_eq!(cache.load(NAME, Some(pinned)).unwrap_err().status(), Status::ParamsCorrupt);
    let loaded = cache.load_or_record(NAME, Some(pinned), || Ok(circuit(4))).unwrap();
    assert_eq!(loaded, circuit(4));
    assert_sound(&cache, &circuit(4));
    let error = cache.load_or_record("changed", Some(pinned), || Ok(r1cs)).unwrap_err();
    assert_eq!(error.status(), Status::Internal);
    assert!(!cache.path("changed").exists());
}

#[test]
fn an_error_of_the_recording_is_returned() {
    let (_dir, cache) = folder();
    let result = cache.load_or_record(NAME, None, || Err(Error::Cancelled));
    assert_eq!(result, Err(Error::Cancelled));
    assert!(!cache.path(NAME).exists());
}

#[test]
fn what_is_no_file_is_an_error() {
    let (_dir, cache, _bytes) = stored(&small());
    let path = cache.path(NAME);
    let fails = |what: &str| {
        assert_eq!(cache.load(NAME, None).unwrap_err().status(), Status::ParamsCorrupt, "{what}");
        let recorded = cache.load_or_record(NAME, None, || Ok(small()));
        assert_eq!(recorded.unwrap(), small(), "{what}");
    };
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fails("a folder, which can't be replaced either");
    fs::remove_dir(&path).unwrap();

    let c_path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a valid C string for the call.
    assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
    fails("a pipe");
    assert_sound(&cache, &small());
    fs::remove_file(&path).unwrap();

    std::os::unix::fs::symlink(&path, &path).unwrap();
    fails("a link to itself");
    assert_sound(&cache, &small());

    File::create(&path).unwrap().set_len(1024).unwrap();
    fails("1 KiB of zeros");
    assert_sound(&cache, &small());
}

#[test]
fn a_file_cut_while_it_is_read_is_an_error() {
    let r1cs = circuit(70_000);
    let (_dir, cache, bytes) = stored(&r1cs);
    let path = cache.path(NAME);
    std::thread::scope(|scope| {
        let cutter = scope.spawn(|| {
            for round in 0..200 {
                let file = File::options().write(true).open(&path).unwrap();
                file.set_len(bytes.len() as u64 * (round % 7) / 7).unwrap();
                (&file).write_all(&bytes).unwrap();
            }
        });
        while !cutter.is_finished() {
            match cache.load(NAME, None) {
                Ok(loaded) => assert_eq!(loaded.as_ref(), Some(&r1cs)),
                Err(error) => assert_eq!(error.status(), Status::ParamsCorrupt),
            }
        }
    });
    assert_sound(&cache, &r1cs);
}

#[test]
fn a_folder_that_cannot_be_written_costs_a_recording_only() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"").unwrap();
    let cache = Cache::new(&file);
    assert_eq!(cache.store(NAME, &small()).unwrap_err().status(), Status::Internal);
    assert_eq!(cache.load_or_record(NAME, None, || Ok(small())).unwrap(), small());
}

#[test]
fn only_stale_leftovers_of_the_same_file_are_removed() {
    let (_dir, cache, _bytes) = stored(&small());
    let path = cache.path(NAME);
    let file_name = path.file_name().unwrap().to_str().unwrap();
    let leftover = |name: &str, age_s| {
        let at = path.with_file_name(name);
        let file = File::create(&at).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
        at
    };
    let stale = leftover(&format!(".{file_name}.1.2.3.tmp"), 7200);
    let fresh = leftover(&format!(".{file_name}.1.2.4.tmp"), 60);
    let foreign = leftover(".something else.1.2.3.tmp", 7200);
    cache.store(NAME, &small()).unwrap();
    assert!(!stale.exists());
    assert!(fresh.exists() && foreign.exists());
}

const FOLDER_VARIABLE: &str = "CUZK_TEST_R1CS_CACHE_FOLDER";

/// Stores and loads in turn. Alone it is a test of one process; `writers_do_not_harm_each_other` starts several of it.
#[test]
fn a_writer_reads_what_was_written() {
    let own = tempfile::tempdir().unwrap();
    let dir = std::env::var_os(FOLDER_VARIABLE).map_or(own.path().to_path_buf(), Into::into);
    let cache = Cache::new(dir);
    let r1cs = circuit(2000);
    for _ in 0..30 {
        cache.store(NAME, &r1cs).unwrap();
        assert_sound(&cache, &r1cs);
        assert_eq!(cache.load_or_record(NAME, None, || panic!("a damaged file was seen")).unwrap(), r1cs);
    }
}

#[test]
fn writers_do_not_harm_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let start = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "a_writer_reads_what_was_written"]).env(FOLDER_VARIABLE, dir.path());
        child.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    assert_sound(&Cache::new(dir.path()), &circuit(2000));
}

/// What was logged in this process.
struct Log(Mutex<Vec<(log::Level, String)>>);

static LOG: Log = Log(Mutex::new(Vec::new()));

impl log::Log for Log {
    fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push((record.level(), record.args().to_string()));
    }

    fn flush(&self) {}
}

#[test]
fn a_damaged_file_is_named_in_a_warning() {
    log::set_logger(&LOG).unwrap();
    log::set_max_level(log::LevelFilter::Info);
    let (_dir, cache, bytes) = stored(&small());
    let path = cache.path(NAME);
    let warnings = || {
        let log = LOG.0.lock().unwrap();
        let ours =
            |(level, text): &&(log::Level, String)| *level == log::Level::Warn && text.contains(path.to_str().unwrap());
        log.iter().filter(ours).count()
    };
    cache.load_or_record(NAME, None, || panic!("it is there")).unwrap();
    assert_eq!(warnings(), 0);
    fs::write(&path, &bytes[1..]).unwrap();
    cache.load_or_record(NAME, None, || Ok(small())).unwrap();
    assert_eq!(warnings(), 1);
}
