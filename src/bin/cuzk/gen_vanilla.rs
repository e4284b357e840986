//! `cuzk gen-vanilla`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cuzk::vanilla::{post, sectorless, Input, SealedSector, SectorSpec};
use cuzk::{files, Error, Result};
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};

use crate::output::{make_dir, say};
use crate::progress::Step;

/// Seals sectors, or does without, and writes one input file per kind.
#[derive(Args)]
pub struct GenVanilla {
    /// Directory for the files, made if need be: porep.json, porep-synthetic.json, update.json, window.json, winning.json.
    #[arg(long)]
    out: PathBuf,
    /// Which inputs to make.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "porep,porep-synthetic,update,window,winning")]
    kind: Vec<InputKind>,
    /// Sector size.
    #[arg(long, value_enum, default_value = "2kib")]
    size: Size,
    /// Version of the PoRep.
    #[arg(long, value_enum, default_value = "v1_1")]
    porep_version: PorepVersion,
    /// Don't seal: sparse trees around real challenges, in seconds at every size. Not for synthetic PoRep.
    #[arg(long)]
    sectorless: bool,
    /// Sectors of a WindowPoSt; at most the circuit's (2, 2349 at 32 GiB, 2300 at 64 GiB).
    #[arg(long, default_value_t = 2)]
    sectors: usize,
    /// Miner's actor id.
    #[arg(long, default_value_t = 1000)]
    miner: u64,
    /// Number of the first sector. (Sectors of a PoSt that aren't sealed have the numbers from 1 on.)
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=u64::MAX >> 1))]
    sector: u64,
    /// Data, tickets and randomness follow from it.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=u64::MAX >> 1))]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputKind {
    Porep,
    PorepSynthetic,
    Update,
    Window,
    Winning,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PorepVersion {
    V1,
    #[value(name = "v1_1")]
    V1_1,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    #[value(name = "2kib")]
    KiB2,
    #[value(name = "8mib")]
    MiB8,
    #[value(name = "512mib")]
    MiB512,
    #[value(name = "32gib")]
    GiB32,
    #[value(name = "64gib")]
    GiB64,
}

impl InputKind {
    fn file_name(self) -> &'static str {
        match self {
            InputKind::Porep => "porep.json",
            InputKind::PorepSynthetic => "porep-synthetic.json",
            InputKind::Update => "update.json",
            InputKind::Window => "window.json",
            InputKind::Winning => "winning.json",
        }
    }
}

impl Size {
    /// Go's number of a registered proof is its version's first number plus this.
    fn offset(self) -> i64 {
        self as i64
    }

    fn seal(self, version: PorepVersion) -> Result<RegisteredSealProof> {
        let first = if version == PorepVersion::V1 { 0 } else { 5 };
        cuzk::circuit::registered::seal_proof(first + self.offset())
    }

    fn synthetic(self) -> Result<RegisteredSealProof> {
        cuzk::circuit::registered::seal_proof(10 + self.offset())
    }

    fn update(self) -> Result<RegisteredUpdateProof> {
        cuzk::circuit::registered::update_proof(self.offset())
    }

    fn winning(self) -> Result<RegisteredPoStProof> {
        cuzk::circuit::registered::post_proof(self.offset())
    }

    fn window(self) -> Result<RegisteredPoStProof> {
        cuzk::circuit::registered::post_proof(10 + self.offset())
    }
}

impl GenVanilla {
    pub fn run(&self) -> Result<()> {
        make_dir(&self.out)?;
        if self.sectorless {
            return self.kind.iter().try_for_each(|&kind| self.write(kind, self.without_sector(kind)));
        }
        if matches!(self.size, Size::GiB32 | Size::GiB64) {
            return Err(Error::invalid("size", "sectors above 512 MiB aren't sealed here; add --sectorless"));
        }
        // A name of its own: what is removed below is what was made here.
        let scratch = self.out.join(format!(".sectors.{}", files::unique()));
        let failed = |error| files::error("out", &scratch, &error);
        fs::create_dir(&scratch).map_err(failed)?;
        fs::set_permissions(&scratch, Permissions::from_mode(0o700)).map_err(failed)?;
        let result = self.kind.iter().try_for_each(|&kind| self.write(kind, self.sealed(kind, &scratch)));
        let removed = fs::remove_dir_all(&scratch).map_err(failed);
        result.and(removed)
    }

    fn write(&self, kind: InputKind, input: Result<Input>) -> Result<()> {
        let path = self.out.join(kind.file_name());
        input?.write(&path)?;
        say!("{}", path.display())?;
        Ok(())
    }

    fn without_sector(&self, kind: InputKind) -> Result<Input> {
        let _step = Step::new(format!("making {}", kind.file_name()));
        let GenVanilla { miner, sector, seed, .. } = *self;
        Ok(match kind {
            InputKind::Porep => {
                Input::Porep(sectorless::porep(self.size.seal(self.porep_version)?, miner, sector, seed)?)
            }
            InputKind::PorepSynthetic => Input::Porep(sectorless::porep(self.size.synthetic()?, miner, sector, seed)?),
            InputKind::Update => Input::Update(sectorless::update(self.size.update()?, seed)?),
            InputKind::Window => Input::Post(sectorless::post(self.size.window()?, miner, self.sectors, seed)?),
            InputKind::Winning => Input::Post(sectorless::post(self.size.winning()?, miner, 1, seed)?),
        })
    }

    fn sealed(&self, kind: InputKind, scratch: &Path) -> Result<Input> {
        let _step = Step::new(format!("sealing for {}", kind.file_name()));
        let seal = self.size.seal(self.porep_version)?;
        let dir = scratch.join(kind.file_name());
        Ok(match kind {
            InputKind::Porep => Input::Porep(self.seal(&dir, seal, 0)?.porep()?),
            InputKind::PorepSynthetic => Input::Porep(self.seal(&dir, self.size.synthetic()?, 0)?.porep()?),
            InputKind::Update => Input::Update(self.seal(&dir, seal, 0)?.update()?),
            InputKind::Winning => Input::Post(post(self.size.winning()?, &[&self.seal(&dir, seal, 0)?], self.seed)?),
            InputKind::Window => {
                let sealed = |i: usize| self.seal(&dir.join(i.to_string()), seal, i as u64);
                let sectors = (0..self.sectors).map(sealed).collect::<Result<Vec<_>>>()?;
                Input::Post(post(self.size.window()?, &sectors.iter().collect::<Vec<_>>(), self.seed)?)
            }
        })
    }

    /// Seals the sector `offset` places behind the first.
    fn seal(&self, dir: &Path, proof: RegisteredSealProof, offset: u64) -> Result<SealedSector> {
        let (sector, seed) = (self.sector + offset, self.seed + offset);
        SealedSector::seal(dir, SectorSpec { proof, miner: self.miner, sector, seed })
    }
}
