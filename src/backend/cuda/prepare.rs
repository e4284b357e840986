//! What is computed of a circuit and of a layout on the host, before the device needs it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::assignment::Layout;
use crate::r1cs::{Density, R1cs};

/// The queries of a circuit.
pub(super) struct Prepared {
    pub input_count: u32,
    pub a: Query,
    pub b: Query,
}

/// Which variables a query has points for.
pub(super) struct Query {
    /// Inputs with a point; their points come first.
    pub inputs: Vec<u32>,
    /// Aux variables with a point.
    pub aux_count: u64,
    /// A bit per aux variable, and the points before each word; none if every aux variable has a point.
    pub aux: Option<(Vec<u64>, Vec<u32>)>,
}

/// What the device needs of a layout.
pub(super) struct PreparedLayout {
    /// Unique in this process.
    pub id: u64,
    pub layout: Arc<Layout>,
    /// Full-size variables and inputs with a point in A, and in B.
    pub a_count: u64,
    pub b_count: u64,
    /// Taken by the device that has copied them; made again if another one needs them.
    lists: Mutex<Option<Lists>>,
}

/// Where full-size values meet points. A *slot* is an index into inputs, then full-size values.
pub(super) struct Lists {
    /// L's points of the full-size values, in order.
    pub l: Vec<u32>,
    pub a: Tail,
    pub b: Tail,
}

/// The inputs and full-size variables that have a point in a query.
#[derive(Default)]
pub(super) struct Tail {
    pub points: Vec<u32>,
    pub slots: Vec<u32>,
}

impl Prepared {
    /// Reads every column of A and B once.
    pub(super) fn new(r1cs: &R1cs) -> Self {
        let (a, b) = (Query::new(&r1cs.density_a()), Query::new(&r1cs.density_b()));
        Prepared { input_count: r1cs.input_count, a, b }
    }
}

impl Query {
    fn new(density: &Density) -> Self {
        let inputs = density.inputs.ones().map(|input| input as u32).collect();
        let count = density.aux.count_ones();
        let ranked = || {
            let words = density.aux.words().to_vec();
            let rank = words.iter().scan(0, |total, word| {
                let before = *total;
                *total += word.count_ones();
                Some(before)
            });
            let rank = rank.collect();
            (words, rank)
        };
        Query { inputs, aux_count: count as u64, aux: (count < density.aux.len()).then(ranked) }
    }

    /// The number of aux variable `j`'s point, if it has one.
    fn point(&self, j: u32) -> Option<u32> {
        let before = self.inputs.len() as u32;
        let Some((words, rank)) = &self.aux else { return Some(before + j) };
        let (word, bit) = (j as usize / 64, j % 64);
        let below = (words[word] & ((1 << bit) - 1)).count_ones();
        (words[word] >> bit & 1 == 1).then(|| before + rank[word] + below)
    }

    fn tail(&self, input_count: u32, layout: &Layout) -> Tail {
        let mut tail = Tail { points: (0..self.inputs.len() as u32).collect(), slots: self.inputs.clone() };
        for (slot, j) in (input_count..).zip(layout.full_positions()) {
            if let Some(point) = self.point(j) {
                tail.points.push(point);
                tail.slots.push(slot);
            }
        }
        tail
    }
}

impl Lists {
    fn new(prepared: &Prepared, layout: &Layout) -> Self {
        Lists {
            l: layout.full_positions().collect(),
            a: prepared.a.tail(prepared.input_count, layout),
            b: prepared.b.tail(prepared.input_count, layout),
        }
    }
}

impl PreparedLayout {
    pub(super) fn new(prepared: &Prepared, layout: &Arc<Layout>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let lists = Lists::new(prepared, layout);
        PreparedLayout {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            layout: Arc::clone(layout),
            a_count: lists.a.points.len() as u64,
            b_count: lists.b.points.len() as u64,
            lists: Mutex::new(Some(lists)),
        }
    }

    /// The lists, which the caller may keep.
    pub(super) fn take_lists(&self, prepared: &Prepared) -> Lists {
        let kept = self.lists.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        kept.unwrap_or_else(|| Lists::new(prepared, &self.layout))
    }
}
