//! The circuits' names, and where their repeated blocks are.

use std::fmt;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk_reference::{porep_challenges, update_challenges, window_post_sectors, Blank, WINNING_POST_CHALLENGES};

use crate::assignment::Layout;
use crate::error::{Error, Result};
use crate::r1cs::{Cache, Mark, Proposer, R1cs};

use super::pinned;

/// What a circuit proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Proof of replication, one partition.
    PoRep,
    /// Empty-sector update, one partition.
    SnapDeals,
    /// The deadline's proof, one partition.
    WindowPoSt,
    /// The block producer's proof.
    WinningPoSt,
}

/// One of Filecoin's circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CircuitId {
    pub(super) kind: Kind,
    pub(super) sector_size: u64,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::PoRep, Kind::SnapDeals, Kind::WindowPoSt, Kind::WinningPoSt];

    /// Short name for files and logs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::PoRep => "porep",
            Kind::SnapDeals => "snapdeals",
            Kind::WindowPoSt => "windowpost",
            Kind::WinningPoSt => "winningpost",
        }
    }
}

impl CircuitId {
    /// Sector sizes in bytes that the network registers proofs for: 2 KiB, 8 MiB, 512 MiB, 32 GiB, 64 GiB.
    pub const SECTOR_SIZES: [u64; 5] = [2 << 10, 8 << 20, 512 << 20, 32 << 30, 64 << 30];

    /// The circuit of `kind` for sectors of `sector_size` bytes. Errors: UNSUPPORTED if there is no such sector size.
    pub fn new(kind: Kind, sector_size: u64) -> Result<Self> {
        if Self::SECTOR_SIZES.contains(&sector_size) {
            return Ok(CircuitId { kind, sector_size });
        }
        Err(Error::Unsupported(format!("{} with a sector size of {sector_size} bytes", kind.name())))
    }

    /// What it proves.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// Bytes of a sector.
    pub fn sector_size(self) -> u64 {
        self.sector_size
    }

    /// Synthesises the circuit without a witness: allocation closures fail if they are called.
    pub fn synthesize_blank<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError> {
        let blocks = self.block_count().map_err(|error| SynthesisError::IoError(std::io::Error::other(error)))?;
        self.blank(blocks).synthesize(cs)
    }

    /// Records the R1CS from a blank synthesis, in blocks: one per challenge of a PoRep or SnapDeals, one per sector of a
    /// PoSt. Takes 0.3 to 0.4 s per million constraints of a PoRep or SnapDeals, 1.6 s of a PoSt (benches/r1cs.rs).
    pub fn record(self) -> Result<R1cs> {
        self.record_blocks(self.block_count()?)
    }

    /// Challenges of a partition, or sectors of a PoSt.
    fn block_count(self) -> Result<usize> {
        match self.kind {
            Kind::PoRep => porep_challenges(self.sector_size)
                .map_err(|error| Error::Internal(format!("public parameters: {error}"))),
            Kind::SnapDeals => Ok(update_challenges(self.sector_size)),
            Kind::WindowPoSt => Ok(window_post_sectors(self.sector_size)),
            Kind::WinningPoSt => Ok(WINNING_POST_CHALLENGES),
        }
    }

    /// The blank circuit, or one like it with another number of blocks (of which SnapDeals has always the same).
    fn blank(self, blocks: usize) -> Blank {
        let sector_size = self.sector_size;
        match self.kind {
            Kind::PoRep => Blank::PoRep { sector_size, challenges: blocks },
            Kind::SnapDeals => Blank::Update { sector_size },
            Kind::WindowPoSt => Blank::WindowPoSt { sector_size, sectors: blocks },
            Kind::WinningPoSt => Blank::WinningPoSt { sector_size, sectors: blocks },
        }
    }

    fn record_blocks(self, blocks: usize) -> Result<R1cs> {
        R1cs::record(self.blank(blocks), Blocks(self.kind))
    }

    /// The R1CS as [`Self::record`] makes it, from two blocks where that is enough: those of a PoRep and of a PoSt have no
    /// ports, so the rest follows, and the pinned hash of a full recording tells whether it does.
    pub fn record_pinned(self) -> Result<R1cs> {
        let blocks = self.block_count()?;
        if blocks > 2 && self.kind != Kind::SnapDeals {
            let r1cs = self.record_blocks(2).and_then(|r1cs| r1cs.with_repeats(blocks as u32));
            match r1cs {
                Ok(r1cs) if r1cs.structural_hash() == self.pinned_hash() => return Ok(r1cs),
                _ => log::warn!("{self}: two blocks don't give the pinned R1CS; all are recorded"),
            }
        }
        self.record()
    }

    /// The R1CS from `cache`, recorded and stored if it isn't there. Errors: INTERNAL if the proofs stack in this build
    /// makes another circuit than the pinned one.
    pub fn r1cs(self, cache: &Cache) -> Result<R1cs> {
        cache.load_or_record(&self.to_string(), Some(self.pinned_hash()), || self.record_pinned())
    }

    /// The layout of its compact assignments, derived from its R1CS. Takes 10 ns a row and block.
    /// Errors: INTERNAL if it isn't the pinned one.
    pub fn layout(self, r1cs: &R1cs) -> Result<Layout> {
        let layout = Layout::derive(r1cs);
        if layout.hash() == pinned::layout_hash(self) {
            return Ok(layout);
        }
        Err(Error::Internal(format!("{self}: the layout that follows from its R1CS isn't the pinned one")))
    }

    /// Structural hash that the circuit's R1CS has to have.
    pub fn pinned_hash(self) -> [u8; 32] {
        pinned::hash(self)
    }
}

impl fmt::Display for CircuitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.sector_size {
            size if size >= 1 << 30 => (30, "gib"),
            size if size >= 1 << 20 => (20, "mib"),
            _ => (10, "kib"),
        };
        write!(f, "{}-{}{name}", self.kind.name(), self.sector_size >> unit)
    }
}

/// Proposes the blocks of a kind by the names that storage-proofs gives its namespaces.
#[derive(Clone, Copy, Debug)]
pub struct Blocks(pub Kind);

impl Proposer for Blocks {
    fn depth_limit(&self) -> usize {
        match self.0 {
            Kind::PoRep | Kind::SnapDeals => 1,
            Kind::WindowPoSt | Kind::WinningPoSt => 2,
        }
    }

    fn mark(&self, depth: usize, name: &str) -> Mark {
        match self.0 {
            Kind::PoRep if name.starts_with("challenge_") => Mark::Block,
            // A challenge has no namespace of its own; this is the first of the many that it opens.
            Kind::SnapDeals if name.starts_with("get_challenge_high_bits ") => Mark::Start,
            Kind::WindowPoSt | Kind::WinningPoSt if depth == 1 && name.starts_with("sector_") => Mark::Block,
            _ => Mark::None,
        }
    }
}
