//! WindowPoSt and WinningPoSt: from sector proofs to checked vanilla proofs of one partition.
//!
//! # Binding
//!
//! Randomness (without its two top bits) and sector ids decide the challenged positions; comm_r is the hash of comm_c and
//! of the root that all paths of the sector lead to. Nothing in a PoSt binds the miner.

use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonDomain;
use filecoin_proofs::parameters::{window_post_public_params, winning_post_public_params};
use filecoin_proofs::with_shape;
use filecoin_proofs_api::{PoStType, RegisteredPoStProof};
use rayon::prelude::*;
use serde::Deserialize;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_post::fallback::{
    self, generate_leaf_challenge, get_challenge_index, FallbackPoStCompound, Proof, PublicInputs, PublicSector,
    SectorProof,
};

use super::decode::{ensure_count, from_bincode, poseidon, List, MerklePath, Node, Place, TreeShape};
use super::reference::{replica_path, Guarded, ReferenceCircuit, ReferenceTree};
use super::registered::{post_circuit, prover_id};
use super::request::{still, GoOn};
use super::CircuitId;
use crate::error::{Error, Result};

/// Most bytes of one sector's proof: a WinningPoSt at 64 GiB has 180 kB, a WindowPoSt 28 kB.
pub const MAX_SECTOR_BYTES: usize = 256 << 10;
/// Most challenges of a sector.
const MAX_CHALLENGES: usize = 66;

const FIELD: &str = "vanilla_proofs";

/// A request for a WindowPoSt partition or a WinningPoSt.
#[derive(Clone, Copy, Debug)]
pub struct PostRequest<'a> {
    /// Registered proof type.
    pub proof: RegisteredPoStProof,
    /// Miner's actor id. No PoSt depends on it.
    pub miner: u64,
    /// Randomness; the two top bits of byte 31 are ignored.
    pub randomness: [u8; 32],
    /// Which partition of the deadline. Only the challenges of WindowPoSt V1 depend on it.
    pub partition: u32,
    /// Sector proofs in bincode; WinningPoSt has one, WindowPoSt 1 to its sector count (the last is repeated).
    pub vanilla_proofs: &'a [&'a [u8]],
}

/// Decoded sector proofs whose counts, positions, commitments and repeated values are right. Hashes may be unchecked.
#[derive(Debug)]
pub struct Post {
    proof: RegisteredPoStProof,
    circuit: CircuitId,
    miner: u64,
    randomness: Node,
    sectors: Vec<Sector>,
}

#[derive(Debug)]
struct Sector {
    id: u64,
    comm_r: Node,
    comm_c: Node,
    comm_r_last: Node,
    paths: Vec<(u64, MerklePath)>,
}

/// A sector's proof in the reference's serialised form.
#[derive(Deserialize)]
struct RawSector {
    sector_id: u64,
    comm_r: Node,
    vanilla_proof: RawProof,
}

#[derive(Deserialize)]
struct RawProof {
    sectors: List<RawSectorProof, 1>,
}

#[derive(Deserialize)]
struct RawSectorProof {
    inclusion_proofs: List<MerklePath, MAX_CHALLENGES>,
    comm_c: Node,
    comm_r_last: Node,
}

impl Post {
    /// Decodes a request and checks everything but the hashes on paths. Blocks: 0.2 s of one core for 2,349 sectors of
    /// 32 GiB. Memory: at most the input's size again. Errors: INVALID naming the field.
    pub fn decode(request: &PostRequest<'_>) -> Result<Self> {
        let circuit = post_circuit(request.proof)?;
        let count = request.vanilla_proofs.len();
        let max = request.proof.sector_count();
        if count == 0 || count > max {
            return Err(Error::invalid(FIELD, format!("{count} sector proofs where 1 to {max} are proved")));
        }
        let lg_nodes = (circuit.sector_size() / 32).trailing_zeros();
        let shape = TreeShape::replica(lg_nodes).expect("a circuit has a size that exists");
        let challenger = Challenger::new(request);
        let mut sectors = Vec::with_capacity(count);
        for (i, bytes) in request.vanilla_proofs.iter().enumerate() {
            let raw: RawSector = from_bincode(FIELD, i, bytes, MAX_SECTOR_BYTES)?;
            let positions = challenger.positions(raw.sector_id, i);
            sectors.push(Sector::check_structure(raw, i, positions, &shape)?);
        }
        Ok(Post { proof: request.proof, circuit, miner: request.miner, randomness: challenger.randomness, sectors })
    }

    /// The circuit.
    pub fn circuit(&self) -> CircuitId {
        self.circuit
    }

    /// Partitions: a call carries one.
    pub fn partition_count(&self) -> usize {
        1
    }

    /// Checks the hashes on all paths: with [`Post::decode`], all of the vanilla proof is then known to be true. A builder
    /// that computes these hashes while it synthesises need not call it. Parallel over sectors and challenges, in the
    /// caller's rayon pool. Blocks: 20 core-seconds for 2,349 sectors of 32 GiB. Errors: INVALID naming the place.
    pub fn check_hashes(&self, go_on: GoOn<'_>) -> Result<()> {
        self.sectors.par_iter().enumerate().try_for_each(|(i, sector)| {
            sector.paths.par_iter().enumerate().try_for_each(|(n, (_, path))| {
                still(go_on)?;
                let place = Place { field: FIELD, partition: i, challenge: n };
                place.require("inclusion_proofs", path.check_poseidon())
            })
        })
    }

    /// Public inputs, without ONE.
    pub fn inputs(&self) -> Vec<Fr> {
        inputs(
            self.proof,
            self.sectors.iter().map(|sector| (sector.comm_r.to_fr(), sector.paths.iter().map(|path| path.0))),
        )
    }

    /// The reference's circuit, with its witness. Errors: INTERNAL.
    pub fn reference(&self) -> Result<ReferenceCircuit> {
        with_shape!(self.circuit.sector_size(), reference_of, self)
    }

    /// The sectors, the last one repeated up to the proof type's sector count.
    fn padded_sectors(&self) -> impl Iterator<Item = &Sector> {
        let last = &self.sectors[self.sectors.len() - 1];
        self.sectors.iter().chain(std::iter::repeat(last)).take(self.proof.sector_count())
    }

    fn public_inputs(&self, sectors: Vec<PublicSector<PoseidonDomain>>) -> PublicInputs<PoseidonDomain> {
        let prover = Node::try_from(prover_id(self.miner)).expect("an actor id is below the order");
        PublicInputs { randomness: self.randomness.to_poseidon(), prover_id: prover.to_poseidon(), sectors, k: None }
    }
}

impl Sector {
    /// Checks counts, positions, roots and the commitment of the sector at place `i`; hashes no path.
    fn check_structure(raw: RawSector, i: usize, positions: Vec<u64>, shape: &TreeShape) -> Result<Self> {
        let invalid = |reason: String| Error::invalid(FIELD, format!("[{i}]: {reason}"));
        let mut proofs = raw.vanilla_proof.sectors.into_vec();
        ensure_count(proofs.len(), 1).map_err(invalid)?;
        let RawSectorProof { inclusion_proofs, comm_c, comm_r_last } = proofs.remove(0);
        ensure_count(inclusion_proofs.len(), positions.len()).map_err(invalid)?;
        for (n, (path, &position)) in inclusion_proofs.iter().zip(&positions).enumerate() {
            let place = Place { field: FIELD, partition: i, challenge: n };
            place.require("inclusion_proofs", path.check_shape(shape, position))?;
            place.require("inclusion_proofs", path.check_root(&comm_r_last, "comm_r_last"))?;
        }
        if poseidon(&[comm_c, comm_r_last]) != raw.comm_r {
            return Err(invalid("comm_r isn't the hash of comm_c and comm_r_last".into()));
        }
        let paths = positions.into_iter().zip(inclusion_proofs.into_vec()).collect();
        Ok(Sector { id: raw.sector_id, comm_r: raw.comm_r, comm_c, comm_r_last, paths })
    }

    fn to_public(&self) -> PublicSector<PoseidonDomain> {
        PublicSector { id: self.id.into(), comm_r: self.comm_r.to_poseidon() }
    }
}

/// Derives challenges.
struct Challenger {
    params: fallback::PublicParams,
    randomness: Node,
    first_sector: usize,
}

impl Challenger {
    fn new(request: &PostRequest<'_>) -> Self {
        let mut randomness = request.randomness;
        randomness[31] &= 0x3f;
        let randomness = Node::try_from(randomness).expect("254 bits are below the order");
        let config = request.proof.as_v1_config();
        let params = fallback::PublicParams {
            sector_size: config.sector_size.into(),
            challenge_count: config.challenge_count,
            sector_count: config.sector_count,
            api_version: config.api_version,
        };
        let first_sector = match config.typ {
            PoStType::Window => request.partition as usize * config.sector_count,
            PoStType::Winning => 0,
        };
        Challenger { params, randomness, first_sector }
    }

    /// Challenged nodes of the sector at place `i` of the call.
    fn positions(&self, sector: u64, i: usize) -> Vec<u64> {
        let count = self.params.challenge_count;
        let position = |n| {
            let index = get_challenge_index(self.params.api_version, self.first_sector + i, count, n);
            generate_leaf_challenge(&self.params, self.randomness.to_poseidon(), sector, index)
        };
        (0..count).map(position).collect()
    }
}

/// Public inputs of these sectors' commitments and challenged nodes, without ONE; the last sector is repeated up to the
/// proof type's sector count.
pub(super) fn inputs<N: Iterator<Item = u64> + Clone>(
    proof: RegisteredPoStProof,
    sectors: impl Iterator<Item = (Fr, N)>,
) -> Vec<Fr> {
    let sectors: Vec<(Fr, N)> = sectors.collect();
    let Some(last) = sectors.last() else { return Vec::new() };
    let mut inputs = Vec::new();
    for (comm_r, nodes) in sectors.iter().chain(std::iter::repeat(last)).take(proof.sector_count()) {
        let nodes = nodes.clone().map(Fr::from);
        match proof.typ() {
            PoStType::Window => {
                inputs.push(*comm_r);
                inputs.extend(nodes);
            }
            // The circuit sees each challenge as a sector of its own.
            PoStType::Winning => inputs.extend(nodes.flat_map(|node| [*comm_r, node])),
        }
    }
    inputs
}

/// Nodes that a request challenges in `sector` at place `i` of the call.
pub(crate) fn challenged_nodes(request: &PostRequest<'_>, sector: u64, i: usize) -> Vec<u64> {
    Challenger::new(request).positions(sector, i)
}

fn reference_of<Tree: ReferenceTree>(post: &Post) -> Result<ReferenceCircuit> {
    let config = post.proof.as_v1_config();
    let winning = config.typ == PoStType::Winning;
    let mut sectors = Vec::new();
    let mut proofs = Vec::new();
    for sector in post.padded_sectors() {
        let paths: Vec<_> = sector.paths.iter().map(|(_, path)| replica_path::<Tree>(path)).collect();
        let proof = |inclusion_proofs| SectorProof {
            inclusion_proofs,
            comm_c: sector.comm_c.to_poseidon(),
            comm_r_last: sector.comm_r_last.to_poseidon(),
        };
        if winning {
            sectors.extend(paths.iter().map(|_| sector.to_public()));
            proofs.extend(paths.into_iter().map(|path| proof(vec![path])));
        } else {
            sectors.push(sector.to_public());
            proofs.push(proof(paths));
        }
    }
    let circuit = Guarded::run("the PoSt circuit", || {
        let params = match winning {
            true => winning_post_public_params::<Tree>(&config)?,
            false => window_post_public_params::<Tree>(&config)?,
        };
        let proof = Proof::<Tree::Proof> { sectors: proofs };
        let inputs = post.public_inputs(sectors);
        FallbackPoStCompound::<Tree>::circuit(&inputs, Default::default(), &proof, &params, Some(0))
    })?;
    Ok(Tree::post(circuit))
}
