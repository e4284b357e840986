//! Names of circuits on the command line.

use cuzk::circuit::{CircuitId, Kind};
use cuzk::{Error, Result};

/// All circuits, by kind and size.
pub fn all() -> impl Iterator<Item = CircuitId> {
    let sizes = |kind| CircuitId::SECTOR_SIZES.map(|size| CircuitId::new(kind, size).expect("a size of the table"));
    Kind::ALL.into_iter().flat_map(sizes)
}

/// The circuit with this name, e.g. `porep-2kib`.
pub fn by_name(name: &str) -> Result<CircuitId> {
    let known = || all().map(|circuit| circuit.to_string()).collect::<Vec<_>>().join(", ");
    all()
        .find(|circuit| circuit.to_string() == name)
        .ok_or_else(|| Error::invalid("circuit", format!("{name} is none of {}", known())))
}
