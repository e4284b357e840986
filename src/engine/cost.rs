//! What a request of a kind and size needs, before anything is opened.

use crate::circuit::registered::partition_count;
use crate::circuit::{CircuitId, Kind};
use crate::error::Result;

/// Bytes that proving a kind at a size needs. Estimates from the circuits' counts; what is reserved follows the opened
/// circuit and may be a little less.
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

/// Counts of a circuit, as far as sizes follow from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    inputs: u64,
    aux: u64,
    lg_domain: u32,
    /// Aux variables in A and in B.
    a: u64,
    b: u64,
    /// Full-size aux per thousand.
    full_permille: u64,
    /// Bytes of a request's vanilla proofs.
    vanilla: u64,
    /// Bytes of the recorded circuit, in memory as on disk.
    r1cs: u64,
}

const MIB: u64 = 1 << 20;

/// Counts of `circuit`: those of docs and tests at 2 KiB and 32 GiB; other sizes have no more than the next one listed.
pub(super) fn counts(circuit: CircuitId) -> Counts {
    let small = circuit.sector_size() <= 2 << 10;
    let counts = |inputs, aux, lg_domain, a, b, full_permille, vanilla, r1cs| Counts {
        inputs,
        aux,
        lg_domain,
        a,
        b,
        full_permille,
        vanilla,
        r1cs,
    };
    match (circuit.kind(), small) {
        (Kind::PoRep, true) => counts(40, 2_685_673, 22, 2_674_908, 685_521, 17, MIB, 64 * MIB),
        (Kind::PoRep, false) => counts(328, 132_000_000, 27, 131_600_000, 33_600_000, 14, 64 * MIB, 192 * MIB),
        (Kind::SnapDeals, true) => counts(5, 1_703_569, 21, 1_697_189, 444_403, 16, MIB, 64 * MIB),
        (Kind::SnapDeals, false) => counts(5, 82_000_000, 27, 81_700_000, 21_300_000, 16, 16 * MIB, 192 * MIB),
        (Kind::WindowPoSt, true) => counts(23, 22_128, 15, 16_770, 16_028, 992, MIB, MIB),
        (Kind::WindowPoSt, false) => counts(25_840, 126_902_376, 27, 96_200_000, 92_100_000, 992, 64 * MIB, 64 * MIB),
        (Kind::WinningPoSt, true) => counts(133, 91_674, 17, 69_300, 66_792, 992, MIB, MIB),
        (Kind::WinningPoSt, false) => counts(133, 380_000, 19, 288_000, 276_000, 992, MIB, 8 * MIB),
    }
}

/// Bytes of a G1 point and of a G2 point, affine and uncompressed.
const G1: u64 = 96;
const G2: u64 = 192;
/// Bytes of a scalar.
const FR: u64 = 32;

impl Counts {
    /// A partition's compact assignment.
    pub fn assignment(&self) -> u64 {
        self.inputs * FR + self.aux.div_ceil(8) + self.aux * self.full_permille / 1000 * FR
    }

    /// The recorded circuit.
    pub fn recorded(&self) -> u64 {
        self.r1cs
    }

    /// The SRS sections that a back end reads: H, L, A, B_G2.
    fn sections(&self) -> u64 {
        let h = (1u64 << self.lg_domain) - 1;
        (h + self.aux + self.a + self.inputs) * G1 + (self.b + 1) * G2
    }

    /// The `.params` file.
    fn params(&self) -> u64 {
        self.sections() + (self.inputs + self.b + 1) * G1 + 864 + 24
    }

    /// The vectors of a partition: three of the domain.
    fn vectors(&self) -> u64 {
        (3 * FR) << self.lg_domain
    }
}

/// The cost of `kind` at `sector_size`, on the CPU back end or on devices. Errors: UNSUPPORTED if there is no such size.
pub fn cost(kind: Kind, sector_size: u64, on_cpu: bool) -> Result<Cost> {
    let circuit = CircuitId::new(kind, sector_size)?;
    let counts = counts(circuit);
    let partitions = partition_count(circuit) as u64;
    // Decoded proofs beside their bytes; synthesis holds a partition's share twice more.
    let vanilla = 2 * counts.vanilla + 2 * counts.vanilla / partitions;
    let host = vanilla + counts.assignment() + counts.r1cs;
    let proving = counts.sections() + counts.vectors();
    Ok(Cost {
        host_bytes: if on_cpu { host + proving } else { host },
        pinned_bytes: if on_cpu { 0 } else { counts.assignment() },
        device_bytes: if on_cpu { 0 } else { proving + counts.r1cs },
        disk_bytes: counts.params() + counts.r1cs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_large_as_the_networks() {
        // 32 GiB, in whole GiB with the recorded circuit; WinningPoSt 184 MiB.
        let gib = |kind| cost(kind, 32 << 30, false).unwrap().disk_bytes >> 30;
        assert_eq!(Kind::ALL.map(gib), [44, 32, 56, 0]);
        let winning = cost(Kind::WinningPoSt, 32 << 30, false).unwrap().disk_bytes >> 20;
        assert!((184..200).contains(&winning), "{winning}");
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
