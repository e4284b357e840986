//! [`Assignment`]: the values of one `z` in compact form.

use std::fmt;
use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;

use super::layout::{check_words, Layout};
use super::words::ones;
use crate::error::{Error, Result};

/// The values of one satisfied (or to be checked) `z`. Built by a circuit's builder, read by back ends; never changed.
#[derive(Clone, PartialEq, Eq)]
pub struct Assignment {
    pub(crate) layout: Arc<Layout>,
    /// ONE, then the other inputs.
    pub(crate) inputs: Vec<Fr>,
    pub(crate) bits: Vec<u64>,
    pub(crate) full: Vec<Fr>,
}

/// A value of `z` as it is kept: what multiplies rows needs no product for a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A bit that is 0.
    Zero,
    /// A bit that is 1.
    One,
    /// An input or a full-size variable; may be 0 or 1.
    Full(&'a Fr),
}

/// The vectors of an [`Assignment`], for a builder to fill again.
#[derive(Debug, Default)]
pub struct Buffers {
    pub(super) inputs: Vec<Fr>,
    pub(super) bits: Vec<u64>,
    pub(super) full: Vec<Fr>,
}

impl Assignment {
    /// An assignment from its parts: the inputs (ONE first), one bit per aux variable, the full-size values in order.
    /// Errors: INVALID if the first input isn't ONE, a count doesn't fit the layout, or a bit is set behind the last
    /// variable or for a full-size one.
    pub fn new(layout: Arc<Layout>, inputs: Vec<Fr>, bits: Vec<u64>, full: Vec<Fr>) -> Result<Self> {
        if inputs.first() != Some(&Fr::ONE) {
            return Err(Error::invalid("inputs", "the first input isn't ONE"));
        }
        check_words("bits", layout.aux_count(), &bits)?;
        if full.len() != layout.full_count() as usize {
            let expected = layout.full_count();
            return Err(Error::invalid("full", format!("{} values where {expected} are expected", full.len())));
        }
        if let Some(word) = bits.iter().zip(layout.full_words()).position(|(bits, full)| bits & full != 0) {
            let at = 64 * word as u32 + (bits[word] & layout.full_words()[word]).trailing_zeros();
            return Err(Error::invalid("bits", format!("the bit of aux variable {at} is set, which is full-size")));
        }
        Ok(Assignment { layout, inputs, bits, full })
    }

    /// The layout, which names its generation.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Inputs, ONE included.
    pub fn input_count(&self) -> u32 {
        self.inputs.len() as u32
    }

    /// Aux variables.
    pub fn aux_count(&self) -> u32 {
        self.layout.aux_count
    }

    /// Variables, ONE included.
    pub fn variable_count(&self) -> u64 {
        u64::from(self.input_count()) + u64::from(self.aux_count())
    }

    /// ONE, then the other inputs.
    pub fn inputs(&self) -> &[Fr] {
        &self.inputs
    }

    /// One bit per aux variable; 0 for a full-size one and behind the last variable.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// The full-size values; slot [`Layout::rank`] belongs to its variable.
    pub fn full(&self) -> &[Fr] {
        &self.full
    }

    /// z index `k` as it is kept: `[0, input_count)` are the inputs, aux variables follow. Panics if `k` is no z index.
    #[inline]
    pub fn value(&self, k: u32) -> Value<'_> {
        match k.checked_sub(self.inputs.len() as u32) {
            None => Value::Full(&self.inputs[k as usize]),
            Some(aux) => self.aux_value(aux),
        }
    }

    /// Aux variable `aux` as it is kept. Panics if there is none.
    #[inline]
    pub fn aux_value(&self, aux: u32) -> Value<'_> {
        if self.layout.is_full(aux) {
            Value::Full(&self.full[self.layout.rank(aux) as usize])
        } else if self.bits[aux as usize / 64] >> (aux % 64) & 1 == 1 {
            Value::One
        } else {
            Value::Zero
        }
    }

    /// The value at z index `k`. Panics if `k` is no z index.
    #[inline]
    pub fn z(&self, k: u32) -> Fr {
        self.value(k).to_fr()
    }

    /// The value of aux variable `aux`. Panics if there is none.
    #[inline]
    pub fn aux(&self, aux: u32) -> Fr {
        self.aux_value(aux).to_fr()
    }

    /// Aux variables whose bit is 1, ascending. A full-size variable that holds 1 isn't among them.
    pub fn ones(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        ones(&self.bits)
    }

    /// How many aux variables [`Self::ones`] names.
    pub fn one_count(&self) -> u32 {
        self.bits.iter().map(|word| word.count_ones()).sum()
    }

    /// The full-size aux variables with their values, ascending.
    pub fn full_values(&self) -> impl Iterator<Item = (u32, &Fr)> + Clone + '_ {
        self.layout.full_positions().zip(&self.full)
    }

    /// All aux values in order, one after another in 32 bytes: for tests and for reference provers.
    pub fn aux_values(&self) -> impl Iterator<Item = Fr> + '_ {
        let mut full = self.full.iter();
        (0..self.aux_count()).map(move |aux| {
            let (word, bit) = (aux as usize / 64, aux % 64);
            if self.layout.full[word] >> bit & 1 == 1 {
                *full.next().expect("one slot per full-size variable")
            } else {
                Fr::from(self.bits[word] >> bit & 1)
            }
        })
    }

    /// Whether both hold the same values, whichever their layouts are.
    pub fn same_values(&self, other: &Assignment) -> bool {
        if self.layout == other.layout {
            return self == other;
        }
        self.inputs == other.inputs && self.aux_count() == other.aux_count() && self.aux_values().eq(other.aux_values())
    }

    /// Bytes that this assignment takes, its layout not included (all assignments of a circuit share it).
    pub fn bytes_used(&self) -> usize {
        let values = self.inputs.capacity() + self.full.capacity();
        std::mem::size_of::<Self>() + 8 * self.bits.capacity() + std::mem::size_of::<Fr>() * values
    }

    /// Takes the vectors out, for a builder to fill them again.
    pub fn into_buffers(self) -> Buffers {
        Buffers { inputs: self.inputs, bits: self.bits, full: self.full }
    }
}

impl Value<'_> {
    /// The field element.
    #[inline]
    pub fn to_fr(self) -> Fr {
        match self {
            Value::Zero => Fr::ZERO,
            Value::One => Fr::ONE,
            Value::Full(value) => *value,
        }
    }
}

/// Counts only: values of an assignment are no matter for a log.
impl fmt::Debug for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Assignment {{ {} inputs, {} ones, {:?} }}", self.input_count(), self.one_count(), self.layout)
    }
}
