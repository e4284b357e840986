//! The working memory of a proof, laid out before anything is taken.
//!
//! One reservation holds everything. Behind inputs, values, bits and results lies the *scratch*, which each phase uses in
//! its own way:
//!
//! | phase | scratch |
//! |---|---|
//! | rows, quotient | three vectors of the domain's size |
//! | MSM of H and L's tail | the vector with h, and the MSM's workspace where the other two were |
//! | ones | three lists of points, the workspace of the search and of the sums |
//! | MSMs of A, B_G2 (B_G1) | gathered scalars, and the MSM's workspace |
//!
//! At 2^27 the three vectors decide: 12 GiB.

use super::prepare::{Prepared, PreparedLayout};
use super::sums::{Of, RESULT_BYTES};
use super::sys::{ones_workspace_bytes, sum_workspace_bytes, CudaError, Curve, MsmPlan};

/// Bytes of a field element.
pub(super) const FR: u64 = 32;
/// What MSMs may take beside a vector where the domain is small: enough for one pass over 2^19 scalars.
const SMALL_WORKSPACE: u64 = 832 << 20;
/// Largest size whose transforms have one digit, which leaves h in another vector (exports/ntt.h says where h is; the
/// device thread compares).
const LG_ONE_DIGIT: u32 = 9;

/// Offsets are from the start of the reservation.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub lg_size: u32,
    pub input_count: u64,
    pub full_count: u64,
    pub word_count: u64,
    /// Inputs, then full-size values, in device form.
    pub values: u64,
    pub bits: u64,
    pub results: u64,
    /// Three vectors: for a, for the third one, for b.
    pub vectors: [u64; 3],
    pub h: Msm,
    pub ones: Ones,
    pub a: Msm,
    pub b2: Msm,
    #[cfg(feature = "testing")]
    pub b1: Msm,
    /// Bytes of the reservation.
    pub bytes: u64,
}

/// An MSM, if it has any scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Msm {
    pub count: u64,
    pub plan: Option<MsmPlan>,
    pub workspace: u64,
    /// Where its scalars are gathered.
    pub scalars: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ones {
    /// Most points in the lists of L, A and B.
    pub most: [u64; 3],
    pub lists: [u64; 3],
    pub search: (u64, u64),
    pub sum: (u64, u64),
}

/// Hands out offsets.
struct Cut(u64);

impl Cut {
    fn take(&mut self, bytes: u64) -> u64 {
        let at = self.0;
        self.0 += bytes.next_multiple_of(256);
        at
    }
}

impl Plan {
    /// For a domain of `2^lg_size` points and assignments of `layout`.
    pub(super) fn new(lg_size: u32, prepared: &Prepared, layout: &PreparedLayout) -> Result<Self, CudaError> {
        let input_count = u64::from(prepared.input_count);
        let full_count = u64::from(layout.layout.full_count());
        let word_count = layout.layout.full_words().len() as u64;
        let mut cut = Cut(0);
        let values = cut.take(FR * (input_count + full_count));
        let bits = cut.take(8 * word_count);
        let results = cut.take(RESULT_BYTES);
        let scratch = cut.0;
        let vector = FR << lg_size;
        let vectors = [scratch, scratch + vector, scratch + 2 * vector];
        let floor = (3 * vector).max(SMALL_WORKSPACE);

        let h = Msm::of_h(lg_size, full_count, scratch)?;
        let bits_most = u64::from(layout.layout.aux_count()) - full_count;
        let most = [bits_most, bits_most.min(prepared.a.aux_count), bits_most.min(prepared.b.aux_count)];
        let ones = Ones::new(most, word_count, scratch, floor);
        let gathered = |of: Of, count: u64| Msm::gathered(of.curve(), count, scratch, floor);
        let (a, b2) = (gathered(Of::A, layout.a_count)?, gathered(Of::B2, layout.b_count)?);
        let ends = [scratch + 3 * vector, h.end(), ones.sum.0 + ones.sum.1, a.end(), b2.end()];
        let mut bytes = ends.into_iter().max().unwrap_or(scratch);
        #[cfg(feature = "testing")]
        let b1 = gathered(Of::B1, layout.b_count)?;
        #[cfg(feature = "testing")]
        {
            bytes = bytes.max(b1.end());
        }
        bytes = bytes.next_multiple_of(256);
        Ok(Plan {
            lg_size,
            input_count,
            full_count,
            word_count,
            values,
            bits,
            results,
            vectors,
            h,
            ones,
            a,
            b2,
            #[cfg(feature = "testing")]
            b1,
            bytes,
        })
    }

    /// The least that any plan for this domain takes.
    pub(super) fn least_bytes(lg_size: u32) -> u64 {
        3 * (FR << lg_size)
    }

    /// The plan of `of`'s MSM.
    pub(super) fn msm(&self, of: Of) -> &Msm {
        match of {
            Of::HL => &self.h,
            Of::A => &self.a,
            Of::B2 => &self.b2,
            #[cfg(feature = "testing")]
            Of::B1 => &self.b1,
        }
    }
}

impl Msm {
    /// H's MSM keeps clear of the vector with h: the workspace takes the place of the first two where it fits there, and
    /// else stands behind all three.
    fn of_h(lg_size: u32, full_count: u64, scratch: u64) -> Result<Self, CudaError> {
        let vector = FR << lg_size;
        let count = (1 << lg_size) - 1 + full_count;
        let plan = plan(Curve::G1, count, (2 * vector).max(SMALL_WORKSPACE))?;
        let bytes = plan.map_or(0, |plan| plan.workspace_bytes);
        let before = lg_size > LG_ONE_DIGIT && bytes <= 2 * vector;
        let workspace = if before { scratch } else { scratch + 3 * vector };
        Ok(Msm { count, plan, workspace, scalars: 0 })
    }

    fn gathered(curve: Curve, count: u64, scratch: u64, floor: u64) -> Result<Self, CudaError> {
        let scalars = (FR * count).next_multiple_of(256);
        let budget = floor.saturating_sub(scalars).max(SMALL_WORKSPACE);
        Ok(Msm { count, plan: plan(curve, count, budget)?, workspace: scratch + scalars, scalars: scratch })
    }

    fn end(&self) -> u64 {
        self.workspace + self.plan.map_or(0, |plan| plan.workspace_bytes)
    }
}

fn plan(curve: Curve, count: u64, budget: u64) -> Result<Option<MsmPlan>, CudaError> {
    (count > 0).then(|| MsmPlan::new(curve, false, count, budget, 0)).transpose()
}

impl Ones {
    fn new(most: [u64; 3], word_count: u64, scratch: u64, floor: u64) -> Self {
        let mut cut = Cut(scratch);
        let lists = most.map(|most| cut.take(4 * most));
        let search_bytes = ones_workspace_bytes(word_count);
        let search = (cut.take(search_bytes), search_bytes);
        let [l, a, b] = most;
        let wanted = sum_workspace_bytes(Curve::G1, l.max(a)).max(sum_workspace_bytes(Curve::G2, b));
        let least = sum_workspace_bytes(Curve::G1, 0).max(sum_workspace_bytes(Curve::G2, 0));
        let room = (scratch + floor).saturating_sub(cut.0);
        let sum_bytes = wanted.min(room).max(least);
        Ones { most, lists, search, sum: (cut.take(sum_bytes), sum_bytes) }
    }
}
