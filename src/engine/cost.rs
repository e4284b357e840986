//! What a request of a kind and size needs, before anything is opened.

use super::counts::counts;
use crate::circuit::registered::partition_count;
use crate::circuit::{CircuitId, Kind};
use crate::error::Result;

/// Bytes that proving a kind at a size needs. They follow from the circuit's own counts; what is reserved
/// follows the opened circuit and may be a little less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Host memory while one request is under way and nothing else: vanilla proofs, the assignment and synthesis of one
    /// partition, the recorded circuit and, on the CPU back end, SRS sections and vectors.
    pub host_bytes: u64,
    /// Pinned host memory, part of the host memory.
    pub pinned_bytes: u64,
    /// Device memory that makes it fast: SRS sections and R1CS resident, and the vectors of one partition.
    pub device_bytes: u64,
    /// The `.params` file and the recorded circuit in the cache.
    pub disk_bytes: u64,
}

/// The cost of `kind` at `sector_size`, on the CPU back end or on devices. Errors: UNSUPPORTED if there is no such size.
pub fn cost(kind: Kind, sector_size: u64, on_cpu: bool) -> Result<Cost> {
    let circuit = CircuitId::new(kind, sector_size)?;
    let counts = counts(circuit);
    let partitions = partition_count(circuit) as u64;
    // Decoded proofs beside their bytes; synthesis holds a partition's share twice more.
    let vanilla = 2 * counts.vanilla + 2 * counts.vanilla / partitions;
    let host = vanilla + counts.assignment() + counts.r1cs;
    let proving = counts.sections() + counts.vectors(on_cpu);
    Ok(Cost {
        host_bytes: if on_cpu { host + proving } else { host },
        pinned_bytes: if on_cpu { 0 } else { counts.assignment() },
        device_bytes: if on_cpu { 0 } else { proving + counts.r1cs },
        disk_bytes: counts.params() + counts.cached,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_large_as_the_networks() {
        // 32 GiB, in whole GiB with the recorded circuit; WinningPoSt 183.5 MiB.
        let gib = |kind| cost(kind, 32 << 30, false).unwrap().disk_bytes >> 30;
        assert_eq!(Kind::ALL.map(gib), [44, 32, 56, 0]);
        let winning = cost(Kind::WinningPoSt, 32 << 30, false).unwrap().disk_bytes >> 20;
        assert_eq!(winning, 183);
    }

    #[test]
    fn the_cpu_needs_host_memory_and_no_device() {
        for kind in Kind::ALL {
            let (cpu, device) = (cost(kind, 2048, true).unwrap(), cost(kind, 2048, false).unwrap());
            assert_eq!((cpu.device_bytes, cpu.pinned_bytes), (0, 0));
            assert!(cpu.host_bytes > device.host_bytes && device.device_bytes > 0);
        }
        assert!(cost(Kind::PoRep, 1234, true).is_err());
    }
}
