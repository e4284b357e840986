//! Requests of any kind, on their way to partitions that can be synthesised.
//!
//! [`Request::decode`] → [`VanillaProofs`] (within limits, structure checked) → [`VanillaProofs::check`] →
//! [`CheckedProofs`] → [`CheckedProofs::partitions`]. A builder that computes all hashes while it synthesises may start
//! from [`VanillaProofs`] and do the rest of the check as a by-product.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use rayon::prelude::*;

use super::porep::{Porep, PorepRequest};
use super::post::{Post, PostRequest};
use super::reference::{Guarded, ReferenceCircuit};
use super::update::{Update, UpdateRequest};
use super::CircuitId;
use crate::error::{Error, Result};

/// What a caller asks to be proved.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// PoRep C2.
    Porep(PorepRequest<'a>),
    /// SnapDeals.
    Update(UpdateRequest<'a>),
    /// WindowPoSt or WinningPoSt.
    Post(PostRequest<'a>),
}

/// Vanilla proofs of all partitions: decoded, and everything checked against the request but the hashes.
#[derive(Debug)]
pub enum VanillaProofs {
    /// PoRep C2.
    Porep(Porep),
    /// SnapDeals.
    Update(Update),
    /// WindowPoSt or WinningPoSt.
    Post(Post),
}

/// Vanilla proofs that are true: the circuits made from them are satisfied.
#[derive(Debug)]
pub struct CheckedProofs(VanillaProofs);

/// Asked by a check whether it should go on, from any of its threads.
pub type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// Errors: CANCELLED if `go_on` says no.
pub(super) fn still(go_on: GoOn<'_>) -> Result<()> {
    match go_on() {
        true => Ok(()),
        false => Err(Error::Cancelled),
    }
}

/// One partition of checked proofs.
#[derive(Clone, Copy, Debug)]
pub struct Partition<'a> {
    proofs: &'a VanillaProofs,
    index: usize,
}

impl Request<'_> {
    /// Decodes the bytes within hard limits and checks counts, positions, commitments and repeated values.
    /// Errors: INVALID naming the field, UNSUPPORTED (non-interactive PoRep). A retry can't help.
    pub fn decode(&self) -> Result<VanillaProofs> {
        Ok(match self {
            Request::Porep(request) => VanillaProofs::Porep(Porep::decode(request)?),
            Request::Update(request) => VanillaProofs::Update(Update::decode(request)?),
            Request::Post(request) => VanillaProofs::Post(Post::decode(request)?),
        })
    }

    /// [`Request::decode`], then [`VanillaProofs::check`].
    pub fn check(&self) -> Result<CheckedProofs> {
        self.decode()?.check()
    }
}

impl VanillaProofs {
    /// The circuit of all partitions.
    pub fn circuit(&self) -> CircuitId {
        match self {
            VanillaProofs::Porep(porep) => porep.circuit(),
            VanillaProofs::Update(update) => update.circuit(),
            VanillaProofs::Post(post) => post.circuit(),
        }
    }

    /// Partitions, at least 1; the proof has 192 bytes for each.
    pub fn partition_count(&self) -> usize {
        match self {
            VanillaProofs::Porep(porep) => porep.partition_count(),
            VanillaProofs::Update(update) => update.partition_count(),
            VanillaProofs::Post(post) => post.partition_count(),
        }
    }

    /// Checks the hashes of all partitions, in the caller's rayon pool.
    /// Blocks: 2.8 core-seconds for a PoRep of 32 GiB, 20 for a full WindowPoSt. Errors: INVALID naming the place.
    pub fn check(self) -> Result<CheckedProofs> {
        self.check_while(&|| true)
    }

    /// The same; `go_on` is asked before each challenge, every 15 ms of a core or so.
    /// Errors: INVALID naming the place; CANCELLED if it says no.
    pub fn check_while(self, go_on: GoOn<'_>) -> Result<CheckedProofs> {
        (0..self.partition_count()).into_par_iter().try_for_each(|k| self.check_hashes(k, go_on))?;
        Ok(CheckedProofs(self))
    }

    /// Checks the hashes of partition `k`. Errors: INVALID naming the place; CANCELLED if `go_on` says no.
    pub fn check_hashes(&self, k: usize, go_on: GoOn<'_>) -> Result<()> {
        match self {
            VanillaProofs::Porep(porep) => porep.check_hashes(k, go_on),
            VanillaProofs::Update(update) => update.check_hashes(k, go_on),
            VanillaProofs::Post(post) => post.check_hashes(go_on),
        }
    }

    /// Public inputs of partition `k`, without ONE, as the network's verifier computes them.
    pub fn inputs(&self, k: usize) -> Vec<Fr> {
        match self {
            VanillaProofs::Porep(porep) => porep.inputs(k),
            VanillaProofs::Update(update) => update.inputs(k),
            VanillaProofs::Post(post) => post.inputs(),
        }
    }

    fn reference(&self, k: usize) -> Result<ReferenceCircuit> {
        match self {
            VanillaProofs::Porep(porep) => porep.reference(k),
            VanillaProofs::Update(update) => update.reference(k),
            VanillaProofs::Post(post) => post.reference(),
        }
    }
}

impl CheckedProofs {
    /// The circuit of all partitions.
    pub fn circuit(&self) -> CircuitId {
        self.0.circuit()
    }

    /// The partitions, in the order of their proofs.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = Partition<'_>> {
        (0..self.0.partition_count()).map(|index| Partition { proofs: &self.0, index })
    }
}

impl Partition<'_> {
    /// Place among the partitions.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Public inputs, without ONE, as the network's verifier computes them.
    pub fn inputs(&self) -> Vec<Fr> {
        self.proofs.inputs(self.index)
    }

    /// The reference's circuit with this partition's witness; a new one on every call. Memory: about twice the
    /// partition's share of the vanilla proof. Errors: INTERNAL.
    pub fn circuit(&self) -> Result<ReferenceCircuit> {
        self.proofs.reference(self.index)
    }

    /// Synthesises the reference's circuit into `cs`. Errors: INTERNAL, also if the reference panics.
    pub fn synthesize<CS: ConstraintSystem<Fr>>(&self, cs: &mut CS) -> Result<()> {
        let circuit = self.circuit()?;
        Guarded::run("synthesis", || circuit.synthesize(cs).map_err(|error: SynthesisError| anyhow::anyhow!(error)))
    }
}
