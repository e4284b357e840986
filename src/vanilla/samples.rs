//! One input per kind at 2 KiB, made once per process.

use std::path::Path;

use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof};
use once_cell::sync::Lazy;

use super::{post, PorepInput, PostInput, SealedSector, SectorSpec, UpdateInput};
use crate::error::{Error, Result};

/// One real input per kind and version.
#[derive(Clone, Debug)]
pub struct Samples {
    /// PoRep V1.
    pub porep_v1: PorepInput,
    /// PoRep V1_1.
    pub porep: PorepInput,
    /// Synthetic PoRep.
    pub porep_synthetic: PorepInput,
    /// SnapDeals, in the sector of `porep`.
    pub update: UpdateInput,
    /// WindowPoSt (V1_1 in Go's names, V1_2 in filecoin-proofs-api's) over two sectors.
    pub window: PostInput,
    /// WindowPoSt over one sector, which the circuit repeats.
    pub window_short: PostInput,
    /// WindowPoSt V1, whose challenges depend on a sector's place in the list.
    pub window_v1: PostInput,
    /// WinningPoSt.
    pub winning: PostInput,
}

impl Samples {
    /// Seals three 2 KiB sectors in `dir` and makes all inputs from them; about a second on one core.
    /// Errors: INTERNAL (disk, reference code).
    pub fn make(dir: &Path, seed: u64) -> Result<Self> {
        use RegisteredPoStProof::{StackedDrgWindow2KiBV1, StackedDrgWindow2KiBV1_2, StackedDrgWinning2KiBV1};
        use RegisteredSealProof::{StackedDrg2KiBV1, StackedDrg2KiBV1_1, StackedDrg2KiBV1_1_Feat_SyntheticPoRep};
        let seal = |name: &str, proof, sector| {
            SealedSector::seal(&dir.join(name), SectorSpec { proof, miner: 1000, sector, seed: seed + sector })
        };
        let v1 = seal("v1", StackedDrg2KiBV1, 17)?;
        let v1_1 = seal("v1_1", StackedDrg2KiBV1_1, 18)?;
        let synthetic = seal("synthetic", StackedDrg2KiBV1_1_Feat_SyntheticPoRep, 300)?;
        Ok(Samples {
            porep_v1: v1.porep()?,
            porep: v1_1.porep()?,
            porep_synthetic: synthetic.porep()?,
            update: v1_1.update()?,
            window: post(StackedDrgWindow2KiBV1_2, &[&v1_1, &synthetic], seed)?,
            window_short: post(StackedDrgWindow2KiBV1_2, &[&v1_1], seed)?,
            window_v1: post(StackedDrgWindow2KiBV1, &[&v1, &v1_1], seed)?,
            winning: post(StackedDrgWinning2KiBV1, &[&v1_1], seed)?,
        })
    }
}

/// Samples of a fixed seed, made on first use and kept: for tests and benches. Blocks about a second the first time.
/// Errors: INTERNAL, on every call once it has failed.
pub fn samples_2kib() -> Result<&'static Samples> {
    static SAMPLES: Lazy<Result<Samples>> = Lazy::new(|| {
        let name = format!("cuzk-samples-{}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        let samples = Samples::make(&dir, 1);
        let _ = std::fs::remove_dir_all(&dir);
        samples
    });
    SAMPLES.as_ref().map_err(Error::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_inputs() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = Samples::make(one.path(), 7).unwrap();
        let second = Samples::make(two.path(), 7).unwrap();
        assert_eq!(first.porep, second.porep);
        assert_eq!(first.porep_synthetic, second.porep_synthetic);
        assert_eq!(first.update, second.update);
        assert_eq!(first.window, second.window);
        assert_eq!(first.winning, second.winning);
        let other = Samples::make(tempfile::tempdir().unwrap().path(), 8).unwrap();
        assert_ne!(first.porep, other.porep);
    }
}
