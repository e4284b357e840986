//! Counts of every circuit, from which sizes follow before anything is opened.

use crate::circuit::CircuitId;

/// Of a circuit: inputs with ONE, aux, lg of the domain, points of queries A and B, full-size aux, bytes of R1CS and layout
/// in memory, bytes of the R1CS's file, bytes of a whole request.
type Row = (&'static str, u64, u64, u32, u64, u64, u64, u64, u64, u64);

/// All but the last column are printed by `cargo bench --bench r1cs -- counts`; the last is what `cuzk gen-vanilla
/// --sectorless` makes: of a WindowPoSt with all sectors, of a PoRep JSON in base64, whose length varies by some percent.
#[rustfmt::skip]
const TABLE: [Row; 20] = [
    ("porep-2kib", 40, 2_685_673, 22, 2_674_948, 685_522, 43_806, 61_499_716, 48_902_731, 134_208),
    ("porep-8mib", 40, 3_842_449, 22, 3_815_036, 1_011_290, 111_998, 88_268_248, 70_250_083, 280_588),
    ("porep-512mib", 40, 4_420_837, 23, 4_385_080, 1_174_174, 146_094, 101_652_508, 80_923_761, 353_576),
    ("porep-32gib", 328, 130_169_893, 27, 129_753_620, 33_112_282, 1_699_102, 352_163_466, 262_641_016, 51_493_088),
    ("porep-64gib", 328, 131_076_643, 27, 130_637_870, 33_386_944, 1_789_606, 354_688_998, 264_543_066, 52_124_092),
    ("snapdeals-2kib", 5, 1_703_569, 21, 1_697_194, 444_404, 25_896, 20_856_950, 16_419_031, 15_066),
    ("snapdeals-8mib", 5, 9_998_039, 24, 9_981_020, 2_567_922, 70_266, 281_675_928, 223_391_067, 175_464),
    ("snapdeals-512mib", 5, 57_401_314, 26, 57_212_322, 14_916_880, 779_342, 303_061_100, 233_383_937, 7_249_056),
    ("snapdeals-32gib", 5, 80_978_488, 27, 80_743_586, 20_983_608, 965_038, 319_825_152, 243_248_638, 8_988_288),
    ("snapdeals-64gib", 5, 84_931_220, 27, 84_682_730, 22_012_684, 1_019_390, 322_631_408, 244_899_875, 9_208_464),
    ("windowpost-2kib", 23, 22_128, 15, 16_793, 16_029, 21_928, 766_432, 663_605, 11_364),
    ("windowpost-8mib", 23, 65_088, 16, 49_353, 47_149, 64_488, 2_194_468, 1_892_789, 30_564),
    ("windowpost-512mib", 23, 86_568, 17, 65_633, 62_709, 85_768, 2_908_492, 2_507_383, 40_164),
    ("windowpost-32gib", 25_840, 126_902_376, 27, 96_205_645, 91_925_767, 125_727_876, 27_396_448, 3_121_974,
        58_631_040),
    ("windowpost-64gib", 25_301, 131_500_200, 27, 99_649_801, 95_413_201, 130_327_200, 28_466_172, 3_301_346,
        58_698_300),
    ("winningpost-2kib", 133, 91_674, 17, 69_433, 66_793, 91_014, 140_170, 110_322, 36_816),
    ("winningpost-8mib", 133, 233_442, 18, 176_881, 169_489, 231_462, 309_094, 233_586, 100_176),
    ("winningpost-512mib", 133, 304_326, 19, 230_605, 220_837, 301_686, 393_562, 295_220, 131_856),
    ("winningpost-32gib", 133, 375_210, 19, 284_329, 272_185, 371_910, 478_018, 356_851, 164_064),
    ("winningpost-64gib", 133, 396_000, 19, 299_971, 287_695, 392_634, 502_710, 374_817, 167_760),
];

/// Bytes of a G1 point and of a G2 point, affine and uncompressed.
const G1: u64 = 96;
const G2: u64 = 192;
/// Bytes of a scalar.
const FR: u64 = 32;
/// Bytes of an SRS file beside its points: the verifying key's six, and a count for each section.
const HEAD: u64 = 864 + 6 * 4;

/// Counts of a circuit, as far as sizes follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub inputs: u64,
    pub aux: u64,
    pub lg_domain: u32,
    /// Points of queries A and B.
    pub a: u64,
    pub b: u64,
    /// Aux variables that aren't bits.
    pub full: u64,
    /// Bytes of the R1CS and its layout in memory.
    pub r1cs: u64,
    /// Bytes of the R1CS's file in the cache.
    pub cached: u64,
    /// Bytes of a request's vanilla proofs.
    pub vanilla: u64,
}

/// Counts of `circuit`.
pub(super) fn counts(circuit: CircuitId) -> Counts {
    let name = circuit.to_string();
    let row = TABLE.iter().find(|row| row.0 == name).expect("every circuit is in the table");
    let (_, inputs, aux, lg_domain, a, b, full, r1cs, cached, vanilla) = *row;
    Counts { inputs, aux, lg_domain, a, b, full, r1cs, cached, vanilla }
}

impl Counts {
    /// A partition's compact assignment.
    pub fn assignment(&self) -> u64 {
        self.inputs * FR + 8 * self.aux.div_ceil(64) + self.full * FR
    }

    /// The SRS sections that a back end reads: H, L, A, B_G2.
    pub fn sections(&self) -> u64 {
        let h = (1u64 << self.lg_domain) - 1;
        (h + self.aux + self.a) * G1 + self.b * G2
    }

    /// The `.params` file.
    pub fn params(&self) -> u64 {
        HEAD + self.sections() + (self.inputs + self.b) * G1
    }

    /// The vectors of a partition: three of the domain on a device; on the CPU two, and 8 bytes a point for its buckets.
    pub fn vectors(&self, on_cpu: bool) -> u64 {
        (if on_cpu { 2 * FR + 8 } else { 3 * FR }) << self.lg_domain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Kind;

    fn circuit(kind: Kind, sector_size: u64) -> CircuitId {
        CircuitId::new(kind, sector_size).unwrap()
    }

    /// Compares a line with the circuit itself, whose R1CS and layout have the pinned hashes.
    fn check(id: CircuitId) {
        let r1cs = id.record_pinned().unwrap();
        assert_eq!(r1cs.structural_hash(), id.pinned_hash(), "{id}");
        let layout = id.layout(&r1cs).unwrap();
        let (points, row) = (r1cs.query_counts(), counts(id));
        let found = (points.ic, points.l, r1cs.lg_domain_size(), points.a, points.b, u64::from(layout.full_count()));
        assert_eq!(found, (row.inputs, row.aux, row.lg_domain, row.a, row.b, row.full), "{id}");
        assert_eq!(r1cs.bytes_used() + layout.bytes_used() as u64, row.r1cs, "{id}");
    }

    #[test]
    fn lines_are_in_order_and_each_circuit_has_its_own() {
        let all = Kind::ALL.into_iter().flat_map(|kind| CircuitId::SECTOR_SIZES.map(|size| circuit(kind, size)));
        assert!(all.map(|id| id.to_string()).eq(TABLE.map(|row| row.0.to_owned())));
        for rows in TABLE.chunks(5) {
            assert!(rows.is_sorted_by_key(|row| row.2), "aux rises with the sector");
        }
    }

    #[test]
    fn posts_have_these_counts_at_every_size() {
        for kind in [Kind::WindowPoSt, Kind::WinningPoSt] {
            CircuitId::SECTOR_SIZES.into_iter().for_each(|size| check(circuit(kind, size)));
        }
    }

    #[test]
    fn small_poreps_and_snapdeals_have_these_counts() {
        [2 << 10, 8 << 20, 512 << 20].into_iter().for_each(|size| check(circuit(Kind::PoRep, size)));
        check(circuit(Kind::SnapDeals, 2 << 10));
    }

    #[test]
    fn the_largest_porep_has_these_counts() {
        check(circuit(Kind::PoRep, 64 << 30));
    }

    #[test]
    fn requests_are_as_long_as_told() {
        let samples = crate::vanilla::samples_2kib().unwrap();
        let told = |kind| counts(circuit(kind, 2 << 10)).vanilla as usize;
        let all = |proofs: &[Vec<u8>]| proofs.iter().map(Vec::len).sum::<usize>();
        for (kind, bytes) in [
            (Kind::PoRep, samples.porep.c1.len() / 3 * 4),
            (Kind::SnapDeals, all(&samples.update.vanilla_proofs)),
            (Kind::WindowPoSt, all(&samples.window.vanilla_proofs)),
            (Kind::WinningPoSt, all(&samples.winning.vanilla_proofs)),
        ] {
            let told = told(kind);
            assert!(bytes.abs_diff(told) * 20 <= told, "{kind:?}: {bytes} bytes, {told} told");
        }
    }
}
