//! One proof: what is launched, in which order.
//!
//! ```text
//! upload ─► A·z, B·z ─► quotient ─► MSM of H and L's tail ─► ones of L, A, B ─► MSMs of A's and B's tails ─► results
//! ```
//!
//! All on the lane's main stream (the MSMs sort beside it); the host asks between phases and never queues more than two.

use std::ffi::c_void;
use std::ptr::null;
use std::rc::Rc;

use super::arena::Reservation;
use super::device::{Device, Lane, BORDERS};
use super::fault::{Fault, Outcome};
use super::load;
use super::multiples::scalar_bytes;
use super::owner::Asker;
use super::plan::{Plan, FR};
use super::prepare::PreparedLayout;
use super::resident::{bytes_of, Resident, ResidentLayout};
use super::stats::Phases;
use super::sums::{Of, RawSums, COUNTS, RESULT_BYTES};
use super::sys::{self, fr_from_montgomery, gather, ones_indices, sum, DeviceZ, MsmTerm, OnesBits, RowsOf};
use crate::assignment::Assignment;
use crate::error::Error;
use crate::srs::Section;

/// What all phases of one proof use.
struct Proof<'a> {
    device: &'a Device,
    asker: &'a Asker<'a>,
    lane: &'a Lane,
    resident: &'a Resident,
    layout: Rc<ResidentLayout>,
    work: Rc<Reservation>,
}

pub(super) fn prove(
    device: &Device,
    asker: &Asker<'_>,
    resident: &Resident,
    assignment: &Assignment,
    layout: &PreparedLayout,
) -> Outcome<RawSums> {
    let r1cs = resident.circuit.r1cs();
    let counts = [assignment.input_count(), assignment.aux_count()];
    if counts != [r1cs.input_count, r1cs.aux_count] {
        let expected = format!("expected {} inputs and {} aux variables", r1cs.input_count, r1cs.aux_count);
        let found = format!("{expected}, found {} and {}", counts[0], counts[1]);
        return Err(Error::invalid("assignment", found).into());
    }
    let layout = load::layout(device, asker, resident, layout)?;
    let lane = asker.lane();
    let work = device.work(lane, layout.plan.bytes)?;
    Proof { device, asker, lane, resident, layout, work }.run(assignment)
}

impl Proof<'_> {
    fn run(&self, assignment: &Assignment) -> Outcome<RawSums> {
        self.border(0)?;
        self.upload(assignment)?;
        self.border(1)?;
        let h = self.quotient()?;
        self.border(3)?;
        self.msm_h(h)?;
        self.border(4)?;
        self.ones()?;
        self.border(5)?;
        self.msm_gathered(Of::A, 0)?;
        self.border(6)?;
        self.msm_gathered(Of::B2, 1)?;
        self.border(7)?;
        #[cfg(feature = "testing")]
        if self.device.sums.contains(&Of::B1) {
            self.msm_gathered(Of::B1, 1)?;
        }
        self.results()
    }

    fn plan(&self) -> &Plan {
        &self.layout.plan
    }

    /// The address of `bytes` bytes of working memory.
    fn at(&self, offset: u64, bytes: u64) -> *mut c_void {
        self.work.at(offset, bytes)
    }

    fn border(&self, index: usize) -> Outcome<()> {
        self.asker.ask()?;
        Ok(self.lane.borders[index].record(&self.lane.main)?)
    }

    fn values(&self) -> *mut c_void {
        self.at(self.plan().values, FR * (self.plan().input_count + self.plan().full_count))
    }

    fn full_values(&self) -> *mut c_void {
        let plan = self.plan();
        self.at(plan.values + FR * plan.input_count, FR * plan.full_count)
    }

    fn upload(&self, assignment: &Assignment) -> Outcome<()> {
        let plan = self.plan();
        let mut waiting = self.asker.waiting();
        let (values, bits) = (self.values(), self.at(plan.bits, 8 * plan.word_count));
        let [inputs, full] = [assignment.inputs(), assignment.full()].map(scalar_bytes);
        // SAFETY: all places are of this proof's working memory, which outlives the stream's work.
        unsafe {
            // Not all parts of an MSM are written, but all results are copied.
            sys::fill(self.at(plan.results, RESULT_BYTES), 0, RESULT_BYTES, &self.lane.main)?;
            self.device.upload(self.lane, values, inputs, &mut waiting)?;
            self.device.upload(self.lane, self.full_values(), full, &mut waiting)?;
            self.device.upload(self.lane, bits, bytes_of(assignment.bits()), &mut waiting)?;
            fr_from_montgomery(values, values, plan.input_count + plan.full_count, &self.lane.main)?;
        }
        Ok(())
    }

    /// a = A·z, b = B·z, and the vector that holds h.
    fn quotient(&self) -> Outcome<*mut c_void> {
        let plan = self.plan();
        let z = DeviceZ {
            inputs: self.values(),
            bits: self.at(plan.bits, 8 * plan.word_count),
            full_bits: self.layout.full_bits,
            rank: self.layout.rank,
            full: self.full_values(),
        };
        let [a, third, b] = plan.vectors.map(|vector| self.at(vector, FR << plan.lg_size));
        let (rows, main) = (&self.resident.rows, &self.lane.main);
        // SAFETY: three vectors of the domain's size, and an assignment whose counts are the R1CS's.
        unsafe {
            rows.evaluate(RowsOf::A, &z, a, plan.lg_size, main)?;
            rows.evaluate(RowsOf::B, &z, b, plan.lg_size, main)?;
        }
        self.border(2)?;
        if plan.lg_size == 0 {
            return Ok(b);
        }
        let poll = self.asker.poll();
        // SAFETY: as above; the poll outlives the call.
        let h = unsafe { self.device.ntt.quotient([a, b, third], plan.lg_size, main, Some(&poll)) };
        let h = h.map_err(|error| self.asker.explain(error.into()))?;
        let (first, end) = (plan.h.workspace, plan.h.workspace + plan.h.plan.map_or(0, |plan| plan.workspace_bytes));
        let at = (h as u64).wrapping_sub(self.at(0, 0) as u64);
        if at < end && at + (FR << plan.lg_size) > first {
            return Err(Fault::Other(Error::Internal("the quotient is where the MSM works".into())));
        }
        self.lane.pace()?;
        Ok(h)
    }

    fn msm_h(&self, h: *mut c_void) -> Outcome<()> {
        let plan = self.plan();
        let (h_points, h_count) = self.resident.srs.section(Section::H);
        let (l_points, l_count) = self.resident.srs.section(Section::L);
        let of_h = MsmTerm { consumed: 1, ..term(h_points, h_count, null(), h, h_count) };
        let of_l = term(l_points, l_count, self.layout.l, self.full_values(), plan.full_count);
        let terms = [of_h, of_l].into_iter().filter(|term| term.count > 0).collect::<Vec<_>>();
        self.msm(Of::HL, &terms)
    }

    /// The MSM of the inputs and full-size variables that have a point.
    fn msm_gathered(&self, of: Of, tail: usize) -> Outcome<()> {
        let msm = self.plan().msm(of);
        if msm.count == 0 {
            return Ok(());
        }
        let (points, slots) = self.layout.tails[tail];
        let scalars = self.at(msm.scalars, FR * msm.count);
        // SAFETY: the lists have `count` entries, and the slots are of inputs and full-size values.
        unsafe { gather(scalars, self.values(), slots, msm.count, &self.lane.main)? };
        let (bases, base_count) = self.resident.srs.query(of);
        self.msm(of, &[MsmTerm { consumed: 1, ..term(bases, base_count, points, scalars, msm.count) }])
    }

    fn msm(&self, of: Of, terms: &[MsmTerm]) -> Outcome<()> {
        let msm = self.plan().msm(of);
        let Some(plan) = &msm.plan else { return Ok(()) };
        let point_bytes = of.curve().affine_bytes() as u64;
        let parts = self.at(self.plan().results + of.offset() + point_bytes, point_bytes * sys::MSM_PARTS as u64);
        let workspace = self.at(msm.workspace, plan.workspace_bytes);
        let (streams, poll) = (self.lane.msm_streams(), self.asker.poll());
        // SAFETY: points are resident, everything else is of this proof's working memory, as the plan lays it out.
        let launched = unsafe { plan.run(terms, workspace, &streams, Some(&poll), None, parts) };
        launched.map_err(|error| self.asker.explain(error.into()))?;
        self.lane.pace()
    }

    /// The sums of the points of variables that are 1.
    fn ones(&self) -> Outcome<()> {
        let (plan, resident) = (self.plan(), self.resident);
        let counts = self.at(plan.results + COUNTS, 16).cast::<u32>();
        let densities = [null(), resident.densities[0], resident.densities[1]];
        let search = (self.at(plan.ones.search.0, plan.ones.search.1), plan.ones.search.1);
        for (query, density) in densities.into_iter().enumerate() {
            let bits = OnesBits {
                bits: self.at(plan.bits, 8 * plan.word_count).cast(),
                density,
                without: null(),
                word_count: plan.word_count,
            };
            let (list, most) = self.list(query);
            // SAFETY: bitmaps have as many words as the assignment, and the list has room for `most`.
            unsafe { ones_indices(&bits, list, most, counts.add(query), search, &self.lane.main)? };
        }
        let counts = self.read_counts()?;
        for (query, of) in [(0, Of::HL), (1, Of::A), (2, Of::B2)] {
            self.sum_of_ones(of, query, counts[query])?;
        }
        #[cfg(feature = "testing")]
        if self.device.sums.contains(&Of::B1) {
            self.sum_of_ones(Of::B1, 2, counts[2])?;
        }
        self.lane.pace()
    }

    fn list(&self, query: usize) -> (*mut u32, u64) {
        let most = self.plan().ones.most[query];
        (self.at(self.plan().ones.lists[query], 4 * most).cast(), most)
    }

    /// How many ones each list names. Waits for the device.
    fn read_counts(&self) -> Outcome<[u64; 3]> {
        let mut results = self.lane.results.borrow_mut();
        let from = self.at(self.plan().results + COUNTS, 16);
        // SAFETY: 16 bytes each, and the stream is waited for.
        unsafe { sys::copy(results.as_mut_ptr().cast(), from, 16, &self.lane.main)? };
        self.lane.main.wait()?;
        let count = |query: usize| u32::from_le_bytes(results[4 * query..4 * query + 4].try_into().expect("4 bytes"));
        let counts = [0, 1, 2].map(|query| u64::from(count(query)));
        let most = self.plan().ones.most;
        match counts.iter().zip(&most).all(|(count, most)| count <= most) {
            true => Ok(counts),
            false => {
                Err(Fault::Other(Error::Internal(format!("the device found {counts:?} ones of at most {most:?}"))))
            }
        }
    }

    fn sum_of_ones(&self, of: Of, query: usize, count: u64) -> Outcome<()> {
        self.asker.ask()?;
        let plan = self.plan();
        let (bases, base_count) = self.resident.srs.query(of);
        // Points of inputs come first; the list counts from the first aux variable's.
        let inputs = match query {
            0 => 0,
            1 => self.resident.prepared.a.inputs.len() as u64,
            _ => self.resident.prepared.b.inputs.len() as u64,
        };
        let point_bytes = of.curve().affine_bytes() as u64;
        debug_assert!(inputs + count <= base_count);
        let bases = bases.cast::<u8>().wrapping_add((inputs * point_bytes) as usize).cast();
        let space = (self.at(plan.ones.sum.0, plan.ones.sum.1), plan.ones.sum.1);
        let to = self.at(plan.results + of.offset(), point_bytes);
        let (list, _) = self.list(query);
        let poll = self.asker.poll();
        // SAFETY: the list names points of this query alone.
        let launched = unsafe { sum(of.curve(), bases, list, count, space, &self.lane.main, Some(&poll), to) };
        launched.map_err(|error| self.asker.explain(error.into()))
    }

    /// Waits for everything, and takes the results and times.
    fn results(&self) -> Outcome<RawSums> {
        let bytes = {
            let mut results = self.lane.results.borrow_mut();
            let from = self.at(self.plan().results, RESULT_BYTES);
            // SAFETY: both have the bytes, and the stream is waited for.
            unsafe { sys::copy(results.as_mut_ptr().cast(), from, RESULT_BYTES, &self.lane.main)? };
            self.lane.pace()?;
            self.asker.ask()?;
            self.lane.main.wait()?;
            results.to_vec()
        };
        let phases = self.phases()?;
        self.device.shared.with_stats(|stats| stats.observe(phases));
        let plans = self.device.sums.iter().map(|of| (*of, self.plan().msm(*of).plan)).collect();
        Ok(RawSums { bytes, plans })
    }

    fn phases(&self) -> Outcome<Phases> {
        let mut ms = [0.0; BORDERS - 1];
        for (phase, ms) in ms.iter_mut().enumerate() {
            *ms = f64::from(self.lane.borders[phase + 1].ms_since(&self.lane.borders[phase])?);
        }
        Ok(Phases::from_ms(ms))
    }
}

fn term(bases: *const c_void, base_count: u64, indices: *const u32, scalars: *const c_void, count: u64) -> MsmTerm {
    MsmTerm { bases, base_count, indices, scalars, count, canonical: 0, consumed: 0 }
}
