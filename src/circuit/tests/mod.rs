//! Tests that need real vanilla proofs.

mod binding;
mod flips;
mod oracle;
mod satisfied;

use super::porep::PorepRequest;
use super::post::PostRequest;
use super::update::UpdateRequest;
use super::{CheckedProofs, Request, VanillaProofs};
use crate::error::{Error, Result};
use crate::vanilla::{PorepInput, PostInput, UpdateInput};

/// An input whose bytes a test may change before it asks.
#[derive(Clone)]
enum Asked {
    Porep(PorepInput),
    Update(UpdateInput),
    Post(PostInput),
}

impl Asked {
    fn with<T>(&self, ask: impl FnOnce(Request<'_>) -> T) -> T {
        match self {
            Asked::Porep(input) => ask(Request::Porep(porep(input))),
            Asked::Update(input) => {
                let proofs: Vec<_> = input.vanilla_proofs.iter().map(Vec::as_slice).collect();
                ask(Request::Update(update(input, &proofs)))
            }
            Asked::Post(input) => {
                let proofs: Vec<_> = input.vanilla_proofs.iter().map(Vec::as_slice).collect();
                ask(Request::Post(post(input, &proofs)))
            }
        }
    }

    fn decode(&self) -> Result<VanillaProofs> {
        self.with(|request| request.decode())
    }

    fn check(&self) -> Result<CheckedProofs> {
        self.with(|request| request.check())
    }
}

fn porep(input: &PorepInput) -> PorepRequest<'_> {
    PorepRequest { miner: input.miner, sector: input.sector, c1: &input.c1 }
}

fn update<'a>(input: &UpdateInput, vanilla_proofs: &'a [&'a [u8]]) -> UpdateRequest<'a> {
    let UpdateInput { proof, comm_r_old, comm_r_new, comm_d_new, .. } = *input;
    UpdateRequest { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs }
}

fn post<'a>(input: &PostInput, vanilla_proofs: &'a [&'a [u8]]) -> PostRequest<'a> {
    let PostInput { proof, miner, randomness, partition, .. } = *input;
    PostRequest { proof, miner, randomness, partition, vanilla_proofs }
}

/// One input per kind and version.
fn all_samples() -> Vec<(&'static str, Asked)> {
    let samples = crate::vanilla::samples_2kib().unwrap().clone();
    vec![
        ("PoRep V1", Asked::Porep(samples.porep_v1)),
        ("PoRep V1_1", Asked::Porep(samples.porep)),
        ("synthetic PoRep", Asked::Porep(samples.porep_synthetic)),
        ("SnapDeals", Asked::Update(samples.update)),
        ("WindowPoSt", Asked::Post(samples.window)),
        ("WindowPoSt of one sector", Asked::Post(samples.window_short)),
        ("WindowPoSt V1", Asked::Post(samples.window_v1)),
        ("WinningPoSt", Asked::Post(samples.winning)),
    ]
}

/// The field that an INVALID names; anything else fails the test.
#[track_caller]
fn invalid_field<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    match result {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("INVALID expected, not {other:?}"),
    }
}
