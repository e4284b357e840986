//! Records the blank production circuits: repeats, ports, sizes, seconds and peak memory of each.
//!
//! `cargo bench --bench r1cs` runs 32 GiB and 64 GiB of all kinds; circuit names as arguments (`-- porep-32gib`) run those.
//! Each circuit has a process of its own, so that its peak memory is its own. `-- counts` prints the table of
//! src/engine/counts.rs instead, `-- counts porep-8mib` a line of it.

use std::collections::HashSet;
use std::process::{Command, ExitCode};

use cuzk::circuit::{CircuitId, Kind};
use cuzk::r1cs::{Cache, ColumnClass, R1cs, Segment};

/// Ports and fixed: outside variables of the block that move from repeat to repeat, and that don't, ONE included.
/// CPU seconds, one thread. The peak is that of recording alone.
const HEAD: [&str; 12] = [
    "circuit",
    "inputs",
    "aux",
    "constraints",
    "non-zeros A / B / C",
    "block rows x repeats",
    "ports + fixed",
    "coefficients",
    "memory MB",
    "file MB",
    "record all / pinned / store / load CPU s",
    "peak MiB",
];

/// Repeats, ports, fixed outside variables with ONE. (Of SnapDeals' 167 outside variables beside ONE 141 stand still.)
const EXPECTED: [(&str, u32, u32, usize); 4] = [
    ("porep-32gib", 18, 0, 259),
    ("snapdeals-32gib", 86, 26, 142),
    ("windowpost-32gib", 2349, 0, 1),
    ("winningpost-32gib", 66, 0, 1),
];

const CHILD: &str = "--in-this-process";
const COUNTS: &str = "counts";

fn main() -> ExitCode {
    // cargo passes `--bench` to every bench target.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, name] = &args[..] {
        if flag == CHILD {
            print(named(name));
            return ExitCode::SUCCESS;
        }
    }
    if let Some((COUNTS, names)) = args.split_first().map(|(first, names)| (first.as_str(), names)) {
        let all = Kind::ALL.into_iter().flat_map(|kind| CircuitId::SECTOR_SIZES.map(|size| circuit(kind, size)));
        let wanted = |id: &CircuitId| names.is_empty() || names.contains(&id.to_string());
        all.filter(wanted).for_each(print_counts);
        return ExitCode::SUCCESS;
    }
    let production = Kind::ALL.into_iter().flat_map(|kind| [32 << 30, 64 << 30].map(|size| circuit(kind, size)));
    let circuits: Vec<CircuitId> = match args.is_empty() {
        true => production.collect(),
        false => args.iter().map(|name| named(name)).collect(),
    };
    println!("| {} |", HEAD.join(" | "));
    println!("|{}", "---|".repeat(HEAD.len()));
    let exe = std::env::current_exe().expect("the path of this program");
    for id in circuits {
        let status = Command::new(&exe).args([CHILD, &id.to_string()]).status().expect("a child process");
        if !status.success() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn circuit(kind: Kind, sector_size: u64) -> CircuitId {
    CircuitId::new(kind, sector_size).expect("a registered size")
}

fn named(name: &str) -> CircuitId {
    let all = Kind::ALL.into_iter().flat_map(|kind| CircuitId::SECTOR_SIZES.map(|size| circuit(kind, size)));
    all.into_iter().find(|id| id.to_string() == name).unwrap_or_else(|| panic!("no circuit {name}"))
}

/// One line of the table; the hash stands apart, ready for the table of pinned ones.
fn print(id: CircuitId) {
    let (r1cs, record_s) = timed(|| id.record().expect("a recording"));
    let peak_bytes = peak_bytes();
    let (short, short_s) = timed(|| id.record_pinned().expect("a recording"));
    assert!(short == r1cs, "what is recorded from two blocks is the same");
    drop(short);
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Cache::new(dir.path());
    let name = id.to_string();
    let ((), store_s) = timed(|| cache.store(&name, &r1cs).expect("a file"));
    let (loaded, load_s) = timed(|| cache.load(&name, None).expect("a sound file"));
    assert!(loaded.as_ref() == Some(&r1cs), "what was stored is loaded");
    let file_bytes = std::fs::metadata(cache.path(&name)).expect("a file").len();
    let block = block_of(&r1cs);
    if let Some((_, repeats, ports, fixed)) = EXPECTED.iter().find(|(circuit, ..)| *circuit == name) {
        let found = (block.repeat_count, block.port_count, fixed_outside(block));
        assert_eq!(found, (*repeats, *ports, *fixed), "{name}: repeats, ports and fixed outside variables");
    }
    let cells = [
        name,
        r1cs.input_count.to_string(),
        r1cs.aux_count.to_string(),
        r1cs.constraint_count.to_string(),
        r1cs.non_zero_counts().map(|count| count.to_string()).join(" / "),
        format!("{} x {}", block.row_count, block.repeat_count),
        format!("{} + {}", block.port_count, fixed_outside(block)),
        r1cs.dictionary.len().to_string(),
        format!("{:.1}", r1cs.bytes_used() as f64 / 1e6),
        format!("{:.1}", file_bytes as f64 / 1e6),
        format!("{record_s:.1} / {short_s:.1} / {store_s:.2} / {load_s:.2}"),
        format!("{:.1}", peak_bytes as f64 / f64::from(1 << 20)),
    ];
    println!("| {} |", cells.join(" | "));
    let hex: String = r1cs.structural_hash().iter().map(|byte| format!("{byte:02x}")).collect();
    eprintln!("    (\"{id}\", \"{hex}\"),");
}

/// A line of the table that sizes follow from: inputs with ONE, aux, lg of the domain, points of queries A and B, full-size
/// aux, bytes of R1CS and layout in memory, and of the R1CS's file.
fn print_counts(id: CircuitId) {
    let r1cs = id.record_pinned().expect("a recording");
    let layout = id.layout(&r1cs).expect("the pinned layout");
    let counts = r1cs.query_counts();
    let dir = tempfile::tempdir().expect("a folder");
    let cache = Cache::new(dir.path());
    cache.store(&id.to_string(), &r1cs).expect("a file");
    let file_bytes = std::fs::metadata(cache.path(&id.to_string())).expect("a file").len();
    let memory = r1cs.bytes_used() + layout.bytes_used() as u64;
    let (aux, lg_domain, full) = (r1cs.aux_count, r1cs.lg_domain_size(), layout.full_count());
    println!(
        "    (\"{id}\", {}, {aux}, {lg_domain}, {}, {}, {full}, {memory}, {file_bytes}),",
        counts.ic, counts.a, counts.b
    );
}

/// What `work` gives, and the CPU seconds of this process that it takes. (Nothing here waits or has a second thread.)
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_seconds();
    let value = work();
    (value, cpu_seconds() - start)
}

/// The segment that stands most often.
fn block_of(r1cs: &R1cs) -> &Segment {
    r1cs.segments.iter().max_by_key(|segment| segment.repeat_count).expect("a circuit with rows")
}

/// Distinct outside variables that are the same in all repeats, ONE included.
fn fixed_outside(segment: &Segment) -> usize {
    let columns = segment.matrices().into_iter().flat_map(|matrix| &matrix.columns);
    let outside = |class: &ColumnClass| matches!(class, ColumnClass::Outside(_));
    columns.map(|column| column.class()).filter(outside).collect::<HashSet<_>>().len()
}

/// Largest resident set of this process so far.
fn peak_bytes() -> u64 {
    usage().ru_maxrss as u64 * 1024
}

/// User and system time of this process so far.
fn cpu_seconds() -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage().ru_utime) + seconds(usage().ru_stime)
}

fn usage() -> libc::rusage {
    // SAFETY: `rusage` is plain data, for which all zeros is a value, and `usage` is valid for writes of it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &mut usage), 0);
        usage
    }
}
