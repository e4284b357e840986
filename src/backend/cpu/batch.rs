//! One batch: assignment after assignment, each finished alone.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use blstrs::Scalar as Fr;

use super::msm::msm;
use super::ones::query_sum;
use super::query::stopped;
use super::quotient::{coset_part, quotient};
use super::resident::{Resident, Workspace};
use super::rows::{evaluate, evaluate_product};
use super::workers::{panic_message, Stop, Tiles, Workers};
use crate::assignment::Assignment;
use crate::backend::{Circuit, Done, Sums};
use crate::error::{Error, Result};

/// The state of a batch, on the thread that called `prove`.
pub(crate) struct Batch<'a> {
    workers: Workers<'a>,
    done: Done<'a>,
    finished: Vec<bool>,
    current: Option<usize>,
}

impl Tiles for Batch<'_> {
    fn run(&mut self, count: usize, work: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Stop> {
        let Batch { workers, done, finished, current } = self;
        workers.run(count, &mut |index| drop_item(done, finished, *current, index), work)
    }

    fn workers(&self) -> usize {
        self.workers.count()
    }
}

/// Finishes a dropped assignment. True if it was the one in work.
fn drop_item(done: &mut Done<'_>, finished: &mut [bool], current: Option<usize>, index: usize) -> bool {
    if finished.get(index) != Some(&false) {
        return false;
    }
    finished[index] = true;
    done(index, Err(Error::Cancelled));
    current == Some(index)
}

impl<'a> Batch<'a> {
    pub(crate) fn new(workers: Workers<'a>, count: usize, done: Done<'a>) -> Self {
        Batch { workers, done, finished: vec![false; count], current: None }
    }

    /// Finishes `index`, unless it was dropped.
    fn finish(&mut self, index: usize, result: Result<Sums>) {
        if !self.finished[index] {
            self.finished[index] = true;
            (self.done)(index, result);
        }
    }

    /// Every assignment that isn't finished ends with `error`.
    pub(crate) fn refuse(&mut self, error: &Error) {
        for index in 0..self.finished.len() {
            self.finish(index, Err(error.clone()));
        }
    }

    pub(crate) fn run(
        &mut self,
        circuit: &Circuit,
        resident: &Resident,
        assignments: &[Arc<Assignment>],
        space: &mut Workspace,
    ) {
        for (index, assignment) in assignments.iter().enumerate() {
            if self.finished[index] {
                continue;
            }
            self.current = Some(index);
            let Batch { workers, done, finished, current } = self;
            let asked = workers.ask(&mut |dropped| drop_item(done, finished, *current, dropped));
            if self.finished[index] {
                continue;
            }
            let sums = || prove_one(self, circuit, resident, assignment, space);
            let result = asked.map_err(stopped).and_then(|()| {
                catch_unwind(AssertUnwindSafe(sums)).unwrap_or_else(|panic| Err(Error::Internal(panic_message(panic))))
            });
            self.finish(index, result);
        }
    }
}

/// The sums of one assignment.
fn prove_one(
    tiles: &mut dyn Tiles,
    circuit: &Circuit,
    resident: &Resident,
    assignment: &Assignment,
    space: &mut Workspace,
) -> Result<Sums> {
    let r1cs = circuit.r1cs();
    let counts = [assignment.input_count(), assignment.aux_count()];
    if counts != [r1cs.input_count, r1cs.aux_count] {
        let expected = format!("expected {} inputs and {} aux variables", r1cs.input_count, r1cs.aux_count);
        return Err(Error::invalid("assignment", format!("{expected}, found {} and {}", counts[0], counts[1])));
    }
    space.grow(resident.domain.size())?;
    sums(tiles, circuit, resident, assignment, space).map_err(stopped)
}

fn sums(
    tiles: &mut dyn Tiles,
    circuit: &Circuit,
    resident: &Resident,
    assignment: &Assignment,
    space: &mut Workspace,
) -> Result<Sums, Stop> {
    let ([a, b], ntt, tail, g1, g2) = space.parts(resident.domain.size());
    let (r1cs, Resident { domain, factors, .. }) = (circuit.r1cs(), resident);
    evaluate(tiles, r1cs, factors, assignment, [&mut *a, &mut *b])?;
    coset_part(tiles, domain, ntt, [&mut *a, &mut *b])?;
    evaluate_product(tiles, r1cs, factors, assignment, b)?;
    let h = quotient(tiles, domain, ntt, a, b)?;
    // What b holds isn't needed any more.
    let lent = words(b);
    let h = msm(tiles, &resident.h, None, h, lent, &mut g1.msm)?;
    Ok(Sums {
        h_l: h + query_sum(tiles, &resident.l, assignment, tail, lent, g1)?,
        a: query_sum(tiles, &resident.a, assignment, tail, lent, g1)?,
        b_g2: query_sum(tiles, &resident.b_g2, assignment, tail, lent, g2)?,
        #[cfg(feature = "testing")]
        b_g1: match &resident.b_g1 {
            Some(query) => Some(query_sum(tiles, query, assignment, tail, lent, g1)?),
            None => None,
        },
    })
}

/// The memory of scalars for other use. What they are afterwards is undefined: any words are a Scalar, reduced or not.
fn words(scalars: &mut [Fr]) -> &mut [u32] {
    const _: () = assert!(size_of::<Fr>() == 32 && align_of::<Fr>() >= align_of::<u32>());
    // SAFETY: Scalar is four words of 64 bits transparently, without padding; the slice is exclusive for its life.
    unsafe { std::slice::from_raw_parts_mut(scalars.as_mut_ptr().cast(), 8 * scalars.len()) }
}
