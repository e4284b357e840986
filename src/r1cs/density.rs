//! Densities: which variables have a non-zero coefficient in A and in B, and so a point in the SRS's queries.

use super::{ColumnClass, Matrix, R1cs, Segment};

/// A bit per variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

/// The variables of one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Density {
    /// Of the inputs, ONE first.
    pub inputs: Bitmap,
    /// Of the aux variables.
    pub aux: Bitmap,
}

/// Points that an SRS of the circuit has in its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryCounts {
    /// `input_count`.
    pub ic: u64,
    /// `2^lg_domain_size − 1`.
    pub h: u64,
    /// `aux_count`.
    pub l: u64,
    /// Variables in A, all inputs included.
    pub a: u64,
    /// Variables in B; the same in G1 and G2.
    pub b: u64,
}

impl Bitmap {
    /// `len` bits, all 0.
    pub fn new(len: usize) -> Self {
        Bitmap { words: vec![0; len.div_ceil(64)], len }
    }

    /// Bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bit at all, set or not.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `index`, counted from the lowest bit of the first word.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        assert!(index < self.len);
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// Sets bit `index`.
    #[inline]
    pub fn set(&mut self, index: usize) {
        assert!(index < self.len);
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Bits that are set.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// `ceil(len / 64)` words; bits behind the last are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Indices of the set bits, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit)
            })
        })
    }

    /// Sets bit `offset + i` for each set bit `i` of `other`.
    fn or_at(&mut self, other: &Bitmap, offset: usize) {
        let (word, shift) = (offset / 64, offset % 64);
        for (at, bits) in other.words.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            self.words[word + at] |= bits << shift;
            let carry = bits.checked_shr(64 - shift as u32).unwrap_or(0);
            if carry != 0 {
                self.words[word + at + 1] |= carry;
            }
        }
    }
}

impl Density {
    fn of(r1cs: &R1cs, matrix: impl Fn(&Segment) -> &Matrix) -> Self {
        let mut z = Bitmap::new(r1cs.variable_count() as usize);
        for segment in &r1cs.segments {
            mark(segment, matrix(segment), r1cs.input_count, &mut z);
        }
        let input_count = r1cs.input_count as usize;
        let mut inputs = Bitmap::new(input_count);
        let mut aux = Bitmap::new(r1cs.aux_count as usize);
        for index in z.ones() {
            match index.checked_sub(input_count) {
                Some(j) => aux.set(j),
                None => inputs.set(index),
            }
        }
        Density { inputs, aux }
    }

    /// Variables of the query.
    pub fn count(&self) -> usize {
        self.inputs.count_ones() + self.aux.count_ones()
    }
}

/// Sets the bits of all z indices that `matrix` names in any repeat. Local columns are collected once for all repeats.
fn mark(segment: &Segment, matrix: &Matrix, input_count: u32, z: &mut Bitmap) {
    let mut extent = [0usize; 3];
    for column in &matrix.columns {
        let (class, value) = match column.class() {
            ColumnClass::LocalAux(value) => (0, value),
            ColumnClass::LocalInput(value) => (1, value),
            ColumnClass::Port(value) => (2, value),
            ColumnClass::Outside(value) => {
                z.set(value as usize);
                continue;
            }
        };
        extent[class] = extent[class].max(value as usize + 1);
    }
    let mut local = extent.map(Bitmap::new);
    for column in &matrix.columns {
        match column.class() {
            ColumnClass::LocalAux(value) => local[0].set(value as usize),
            ColumnClass::LocalInput(value) => local[1].set(value as usize),
            ColumnClass::Port(value) => local[2].set(value as usize),
            ColumnClass::Outside(_) => {}
        }
    }
    let [aux, inputs, ports] = local;
    for repeat in 0..segment.repeat_count {
        z.or_at(&aux, (input_count + segment.aux_base + repeat * segment.aux_stride) as usize);
        z.or_at(&inputs, (segment.input_base + repeat * segment.input_stride) as usize);
        let table = repeat as usize * segment.port_count as usize;
        ports.ones().for_each(|port| z.set(segment.ports[table + port] as usize));
    }
}

impl R1cs {
    /// Variables with a non-zero coefficient in A; all inputs, by the input rows.
    pub fn density_a(&self) -> Density {
        let mut density = Density::of(self, |segment| &segment.a);
        (0..self.input_count as usize).for_each(|i| density.inputs.set(i));
        density
    }

    /// Variables with a non-zero coefficient in B.
    pub fn density_b(&self) -> Density {
        Density::of(self, |segment| &segment.b)
    }

    /// Points in the sections of an SRS for this circuit. Reads every column once.
    pub fn query_counts(&self) -> QueryCounts {
        QueryCounts {
            ic: u64::from(self.input_count),
            h: (1 << self.lg_domain_size()) - 1,
            l: u64::from(self.aux_count),
            a: self.density_a().count() as u64,
            b: self.density_b().count() as u64,
        }
    }
}
