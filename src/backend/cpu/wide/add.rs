//! Sums of points by key, as in [`super::super::add`], with sixteen additions in hand at a time.
//!
//! Two products of eight lanes each run side by side, since a product's reduction is a chain of latencies that another's
//! multiply-adds fill. Infinity is marked in the top limb of x; equal and opposite points show as a zero in the running
//! product of denominators, and only then are looked at.

use super::super::curve::{Affine, Field};
use super::field::{Row, Wide};

/// Entries that are added up at once: 1 MiB of G1.
const GROUP: usize = 8192;
/// Marks a pair in [`WideAdder::plan`].
const PAIR: u32 = 1 << 31;
/// Pairs that are added together.
const BUNDLE: usize = 16;
/// Top limb of infinity's x.
const INFINITY: u64 = 1 << 63;
/// Coordinates double in magnitude with every round (x₃ = λ² − x₁ − x₂): below 2^9 p after so many.
const ROUNDS_UNREDUCED: u32 = 8;

/// Points to be summed by key, and the scratch for it. Points are taken and given in the stored form.
pub(crate) struct WideAdder<W: Wide> {
    /// Per entry: x, then y. Two more entries at infinity stand behind the last, for lanes without a pair.
    rows: Vec<Row>,
    keys: Vec<u32>,
    plan: Vec<u32>,
    /// First entry of each pair, up to a whole number of bundles.
    pairs: Vec<usize>,
    bundles: Vec<Bundle<W>>,
}

/// What the second pass over a bundle needs of the first, for each half.
#[derive(Clone, Copy)]
struct Bundle<W> {
    /// Product of the denominators of later bundles, lane by lane.
    suffix: [W; 2],
    /// Lanes whose points are equal, and lanes whose points are opposite.
    doubled: [u8; 2],
    cancelled: [u8; 2],
}

/// Eight pairs (p, q).
struct Pairs<W> {
    px: W,
    qx: W,
    infinite_p: u8,
    infinite_q: u8,
}

impl<W: Wide> WideAdder<W> {
    const STRIDE: usize = 2 * W::ROWS;

    /// Only where [`super::available`] says so.
    pub(crate) fn new() -> Self {
        assert!(super::available());
        let mut rows = vec![Row([0; 8]); (GROUP + 2) * Self::STRIDE];
        for entry in GROUP..GROUP + 2 {
            rows[entry * Self::STRIDE].0[7] = INFINITY;
        }
        WideAdder { rows, keys: Vec::new(), plan: Vec::new(), pairs: Vec::new(), bundles: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
    }

    /// As [`super::super::add::PlainAdder::push`].
    #[inline]
    pub(crate) fn push(
        &mut self,
        key: u32,
        point: &Affine<W::Element>,
        negative: bool,
        emit: &mut impl FnMut(u32, Affine<W::Element>),
    ) {
        if self.keys.len() == GROUP {
            self.reduce();
            let last = self.keys.len() - 1;
            (0..last).for_each(|entry| emit(self.keys[entry], self.point(entry)));
            self.rows.copy_within(last * Self::STRIDE..(last + 1) * Self::STRIDE, 0);
            self.keys.drain(..last);
        }
        // SAFETY: `new` has checked the processor; there are rows for GROUP entries, and fewer keys.
        unsafe { self.put(self.keys.len() * Self::STRIDE, point, negative) };
        self.keys.push(key);
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn put(&mut self, at: usize, point: &Affine<W::Element>, negative: bool) {
        let rows = self.rows.as_mut_ptr().add(at);
        W::unpack(&point.x, false, rows);
        W::unpack(&point.y, negative, rows.add(W::ROWS));
        if point.is_infinity() {
            self.rows[at].0[7] = INFINITY;
        }
    }

    /// As [`super::super::add::PlainAdder::finish`].
    pub(crate) fn finish(&mut self, emit: &mut impl FnMut(u32, Affine<W::Element>)) {
        self.reduce();
        (0..self.keys.len()).for_each(|entry| emit(self.keys[entry], self.point(entry)));
        self.keys.clear();
    }

    fn point(&self, entry: usize) -> Affine<W::Element> {
        let rows = &self.rows[entry * Self::STRIDE..][..Self::STRIDE];
        if rows[0].0[7] == INFINITY {
            return Affine::INFINITY;
        }
        Affine { x: W::of_rows(&rows[..W::ROWS]), y: W::of_rows(&rows[W::ROWS..]) }
    }

    /// Until every key stands once; coordinates are products then.
    fn reduce(&mut self) {
        let mut rounds = 0;
        // SAFETY: `new` has checked the processor.
        while unsafe { self.round() } {
            rounds += 1;
            if rounds % ROUNDS_UNREDUCED == 0 {
                // SAFETY: as above.
                unsafe { self.reduce_coordinates() };
            }
        }
        // Without a round too: negated entries are signed.
        if rounds == 0 || rounds % ROUNDS_UNREDUCED != 0 {
            // SAFETY: as above.
            unsafe { self.reduce_coordinates() };
        }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn round(&mut self) -> bool {
        self.plan.clear();
        self.pairs.clear();
        let mut at = 0;
        while at < self.keys.len() {
            let paired = at + 1 < self.keys.len() && self.keys[at] == self.keys[at + 1];
            self.plan.push(at as u32 | if paired { PAIR } else { 0 });
            if paired {
                self.pairs.push(at);
            }
            at += 1 + usize::from(paired);
        }
        if self.pairs.is_empty() {
            return false;
        }
        self.pairs.resize(self.pairs.len().next_multiple_of(BUNDLE), GROUP);
        let product = self.multiply_denominators();
        self.add_pairs(invert_lanes(product));
        self.keys.truncate(self.plan.len());
        true
    }

    /// x of both points of eight pairs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn pairs(&self, first: usize) -> Pairs<W> {
        let at: [usize; 8] = std::array::from_fn(|lane| self.pairs[first + lane] * Self::STRIDE);
        // SAFETY: places of entries; the last, GROUP, has a successor.
        let (px, qx) = (W::load(self.rows.as_ptr(), at), W::load(self.rows.as_ptr().add(Self::STRIDE), at));
        Pairs { px, qx, infinite_p: px.marked_lanes(INFINITY), infinite_q: qx.marked_lanes(INFINITY) }
    }

    /// y of both points of eight pairs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn ys(&self, first: usize) -> [W; 2] {
        let at: [usize; 8] = std::array::from_fn(|lane| self.pairs[first + lane] * Self::STRIDE + W::ROWS);
        // SAFETY: as in `pairs`.
        [W::load(self.rows.as_ptr(), at), W::load(self.rows.as_ptr().add(Self::STRIDE), at)]
    }

    /// From the last bundle to the first. Per half and lane, the product of all denominators.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn multiply_denominators(&mut self) -> [W; 2] {
        self.bundles.clear();
        let mut product = [W::one(); 2];
        for first in (0..self.pairs.len()).step_by(BUNDLE).rev() {
            let mut bundle = Bundle { suffix: product, doubled: [0; 2], cancelled: [0; 2] };
            for half in 0..2 {
                let pairs = self.pairs(first + 8 * half);
                let denominator = pairs.qx.difference(&pairs.px);
                let idle = pairs.infinite_p | pairs.infinite_q;
                let denominator = if idle == 0 { denominator } else { denominator.blend(idle, &W::one()) };
                product[half] = bundle.suffix[half].mul(&denominator);
                let zero = product[half].zero_lanes();
                if zero != 0 {
                    let [py, qy] = self.ys(first + 8 * half);
                    let equal = py.difference(&qy).mul(&W::one()).zero_lanes() & zero;
                    bundle.doubled[half] = equal;
                    bundle.cancelled[half] = zero & !equal;
                    let denominator = denominator.blend(equal, &py.add(&py).lifted());
                    let denominator = denominator.blend(zero & !equal, &W::one());
                    product[half] = bundle.suffix[half].mul(&denominator);
                }
            }
            self.bundles.push(bundle);
        }
        product
    }

    /// From the first bundle to the last, in place.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn add_pairs(&mut self, mut inverse: [W; 2]) {
        let (mut to, mut first) = (0, 0);
        while let Some(bundle) = self.bundles.pop() {
            let (sums, marks) = self.add_bundle(first, &bundle, &mut inverse);
            to = self.store(to, first, &sums, &marks);
            first += BUNDLE;
        }
        // Entries without a pair behind the last bundle.
        while to < self.plan.len() {
            self.move_entry(self.plan[to] as usize, to);
            to += 1;
        }
    }

    /// Per half the sums x, y of eight pairs, and the lanes where p, q or infinity is the sum instead. Products of the two
    /// halves alternate.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn add_bundle(&self, first: usize, bundle: &Bundle<W>, inverse: &mut [W; 2]) -> ([[W; 2]; 2], [[u8; 3]; 2]) {
        let halves = [self.pairs(first), self.pairs(first + 8)];
        let ys = [self.ys(first), self.ys(first + 8)];
        let lines = [0, 1].map(|half| line(&halves[half], &ys[half], bundle.doubled[half], bundle.cancelled[half]));
        let slopes = [0, 1].map(|half| inverse[half].mul(&bundle.suffix[half]));
        *inverse = [0, 1].map(|half| inverse[half].mul(&lines[half][1]));
        let slopes = [0, 1].map(|half| slopes[half].mul(&lines[half][0]));
        let squares = slopes.map(|slope| slope.square());
        let x = [0, 1].map(|half| squares[half].sub2(&halves[half].px, &halves[half].qx));
        let products = [0, 1].map(|half| slopes[half].mul(&halves[half].px.difference(&x[half])));
        let sums = [0, 1].map(|half| [x[half], products[half].sub(&ys[half][0])]);
        let marks = [0, 1].map(|half: usize| {
            let Pairs { infinite_p, infinite_q, .. } = halves[half];
            // p + infinity = p, infinity + q = q, p − p = infinity.
            [infinite_q, infinite_p & !infinite_q, bundle.cancelled[half]]
        });
        (sums, marks)
    }

    /// Stores a bundle's sums, and the unpaired entries before and between them, from entry `to` on; where it stopped.
    /// Entries move first: their old places may be a sum's new one, and the pairs of this bundle have been read.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn store(&mut self, mut to: usize, first: usize, sums: &[[W; 2]; 2], marks: &[[u8; 3]; 2]) -> usize {
        let mut targets = [0; BUNDLE];
        let mut stored = [0u8; 2];
        let mut count = 0;
        while count < BUNDLE && self.pairs[first + count] != GROUP {
            let step = self.plan[to];
            let from = (step & !PAIR) as usize;
            if step & PAIR == 0 {
                self.move_entry(from, to);
            } else {
                let (half, lane) = (count / 8, count % 8);
                self.keys[to] = self.keys[from];
                targets[count] = to * Self::STRIDE;
                let [of_p, of_q, _] = marks[half];
                if (of_p | of_q) >> lane & 1 == 1 {
                    self.move_entry(from + usize::from(of_q >> lane & 1), to);
                } else {
                    stored[half] |= 1 << lane;
                }
                count += 1;
            }
            to += 1;
        }
        for half in 0..2 {
            let at: [usize; 8] = std::array::from_fn(|lane| targets[8 * half + lane]);
            // SAFETY: places of entries, for the lanes that are stored.
            sums[half][0].store(self.rows.as_mut_ptr(), at, stored[half]);
            sums[half][1].store(self.rows.as_mut_ptr().add(W::ROWS), at, stored[half]);
            let cancelled = marks[half][2] & stored[half];
            for lane in (0..8).filter(|lane| cancelled >> lane & 1 == 1) {
                self.rows[at[lane]].0[7] = INFINITY;
            }
        }
        to
    }

    fn move_entry(&mut self, from: usize, to: usize) {
        self.keys[to] = self.keys[from];
        if from != to {
            self.rows.copy_within(from * Self::STRIDE..(from + 1) * Self::STRIDE, to * Self::STRIDE);
        }
    }

    /// Every coordinate to a product.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn reduce_coordinates(&mut self) {
        for first in (0..self.keys.len()).step_by(8) {
            let count = (self.keys.len() - first).min(8);
            let at =
                std::array::from_fn(
                    |lane| if lane < count { (first + lane) * Self::STRIDE } else { GROUP * Self::STRIDE },
                );
            let rows = self.rows.as_mut_ptr();
            // SAFETY: places of entries.
            let (x, y) = (W::load(rows, at), W::load(rows.add(W::ROWS), at));
            let lanes = !x.marked_lanes(INFINITY);
            x.lifted().mul(&W::one()).store(rows, at, lanes);
            y.lifted().mul(&W::one()).store(rows.add(W::ROWS), at, lanes);
        }
    }
}

/// Numerator and denominator of eight slopes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn line<W: Wide>(pairs: &Pairs<W>, [py, qy]: &[W; 2], doubled: u8, cancelled: u8) -> [W; 2] {
    let mut numerator = qy.difference(py);
    let mut denominator = pairs.qx.difference(&pairs.px);
    if doubled != 0 {
        let square = pairs.px.lifted().square();
        numerator = numerator.blend(doubled, &square.add(&square).add(&square));
        denominator = denominator.blend(doubled, &py.add(py).lifted());
    }
    let idle = pairs.infinite_p | pairs.infinite_q | cancelled;
    if idle != 0 {
        denominator = denominator.blend(idle, &W::one());
    }
    [numerator, denominator]
}

/// The inverse of every lane of both, none of them 0.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn invert_lanes<W: Wide>(product: [W; 2]) -> [W; 2] {
    let both = product[0].mul(&product[1]);
    let mut rows = [Row([0; 8]); 16];
    let at = std::array::from_fn(|lane| lane * W::ROWS);
    both.store(rows.as_mut_ptr(), at, 0xff);
    let lanes = at.map(|at| W::from_stored(&W::of_rows(&rows[at..at + W::ROWS])));
    let mut before = [W::Element::ONE; 8];
    let mut all = W::Element::ONE;
    for lane in 0..8 {
        before[lane] = all;
        all = all.mul(&lanes[lane]);
    }
    let mut rest = all.invert();
    for lane in (0..8).rev() {
        W::to_rows(&W::to_stored(&rest.mul(&before[lane])), &mut rows[at[lane]..at[lane] + W::ROWS]);
        rest = rest.mul(&lanes[lane]);
    }
    let inverse = W::load(rows.as_ptr(), at);
    [inverse.mul(&product[1]), inverse.mul(&product[0])]
}
