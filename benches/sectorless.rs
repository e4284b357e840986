//! Inputs made without a sector satisfy the full circuits: every row of partition 0, by circuit.
//!
//! Run: `cargo bench --bench sectorless -- porep-32gib winningpost-32gib`; without names all four circuits of 32 GiB, some
//! 15 core-minutes. CUZK_CACHE names a folder of recorded circuits. Prints seconds per step.

use std::sync::Arc;
use std::time::Instant;

use cuzk::assignment::{Builder, Layouts};
use cuzk::circuit::registered::{post_proof, seal_proof, update_proof};
use cuzk::circuit::{CircuitId, Kind};
use cuzk::groth16::first_unsatisfied_row;
use cuzk::r1cs::cache::Cache;
use cuzk::vanilla::{sectorless, Input};

/// Sectors in a WindowPoSt: the circuit repeats the last one.
const WINDOW_SECTORS: usize = 2;

fn by_name(name: &str) -> CircuitId {
    let all = Kind::ALL.into_iter().flat_map(|kind| CircuitId::SECTOR_SIZES.map(|size| CircuitId::new(kind, size)));
    let known = all.map(|id| id.expect("a size of the table")).find(|id| id.to_string() == name);
    known.unwrap_or_else(|| panic!("{name}: no such circuit"))
}

fn input(id: CircuitId) -> Input {
    let size = CircuitId::SECTOR_SIZES.iter().position(|&size| size == id.sector_size()).expect("a size of the table");
    let size = size as i64;
    let made = match id.kind() {
        Kind::PoRep => sectorless::porep(seal_proof(5 + size).expect("V1_1"), 1000, 7, 1).map(Input::Porep),
        Kind::SnapDeals => sectorless::update(update_proof(size).expect("update"), 1).map(Input::Update),
        Kind::WindowPoSt => {
            sectorless::post(post_proof(10 + size).expect("window"), 1000, WINDOW_SECTORS, 1).map(Input::Post)
        }
        Kind::WinningPoSt => sectorless::post(post_proof(size).expect("winning"), 1000, 1, 1).map(Input::Post),
    };
    made.expect("inputs can be made at every size")
}

/// Runs a step and says how long it took.
fn timed<T>(step: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = step();
    (value, start.elapsed().as_secs_f64())
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let default = Kind::ALL.map(|kind| format!("{}-32gib", kind.name()));
    let names = if names.is_empty() { default.to_vec() } else { names };
    let cache = Cache::new(std::env::var("CUZK_CACHE").unwrap_or_else(|_| "target/bench-cache".into()));
    println!(
        "{:<18} {:>7} {:>7} {:>8} {:>7} {:>8} {:>11} {:>7}",
        "circuit", "make s", "check s", "record s", "synth s", "rows s", "rows", "all hold"
    );
    for name in names {
        let id = by_name(&name);
        let (input, make) = timed(|| input(id));
        let (checked, check) = timed(|| input.check().expect("what was made is true"));
        let (r1cs, record) = timed(|| id.r1cs(&cache).expect("the circuit can be recorded"));
        let layouts = Arc::new(Layouts::pinned(id.layout(&r1cs).expect("the pinned layout")));
        let partition = checked.partitions().next().expect("there is a partition");
        let (assignment, synth) = timed(|| {
            let builder = Builder::new(&layouts, r1cs.input_count);
            builder.synthesize(partition.circuit().expect("a circuit")).expect("the layout fits")
        });
        assert_eq!(assignment.inputs()[1..], partition.inputs(), "{name}: the verifier's inputs");
        let (unsatisfied, rows) = timed(|| first_unsatisfied_row(&r1cs, &assignment));
        assert_eq!(unsatisfied, None, "{name}: a row doesn't hold");
        let count = r1cs.constraint_count;
        println!("{name:<18} {make:>7.1} {check:>7.1} {record:>8.1} {synth:>7.1} {rows:>8.1} {count:>11} {:>7}", "yes");
    }
}
