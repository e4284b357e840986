//! [`Layout`]: which aux variables are full-size, with the rank directory that finds their slots.

use std::fmt;

use super::words::{ones, words_for};
use crate::error::{Error, Result};

/// Which aux variables of a circuit are full-size. Immutable; shared by an [`Arc`](std::sync::Arc).
#[derive(Clone, PartialEq, Eq)]
pub struct Layout {
    pub(crate) generation: u32,
    pub(crate) aux_count: u32,
    /// One bit per aux variable, 1 = full-size; `ceil(aux_count / 64)` words.
    pub(crate) full: Vec<u64>,
    /// `rank[w]` = full-size variables before word `w`; one entry more than words, the last is the total.
    pub(crate) rank: Vec<u32>,
}

impl Layout {
    /// A layout of generation 0 from its bitmap: bit `j % 64` of word `j / 64` says that aux variable `j` is full-size.
    /// Errors: INVALID if there aren't `ceil(aux_count / 64)` words, or a bit behind the last variable is set.
    pub fn from_words(aux_count: u32, full: Vec<u64>) -> Result<Self> {
        check_words("layout", aux_count, &full)?;
        Ok(Self::with_generation(0, aux_count, full))
    }

    /// The layout of generation 0 in which every aux variable is a bit.
    pub fn all_bits(aux_count: u32) -> Self {
        Self::with_generation(0, aux_count, vec![0; words_for(aux_count)])
    }

    /// The words must be checked already.
    pub(crate) fn with_generation(generation: u32, aux_count: u32, full: Vec<u64>) -> Self {
        let mut rank = Vec::with_capacity(full.len() + 1);
        let mut before = 0;
        for word in &full {
            rank.push(before);
            before += word.count_ones();
        }
        rank.push(before);
        Layout { generation, aux_count, full, rank }
    }

    /// Number of this layout among its circuit's: a later one has every full-size variable of an earlier one. A layout
    /// that follows from an R1CS is generation 0 and has no successor.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Aux variables.
    pub fn aux_count(&self) -> u32 {
        self.aux_count
    }

    /// Full-size aux variables.
    pub fn full_count(&self) -> u32 {
        *self.rank.last().expect("the rank directory ends with the total")
    }

    /// The bitmap, one bit per aux variable, 1 = full-size. Bits behind the last variable are 0.
    pub fn full_words(&self) -> &[u64] {
        &self.full
    }

    /// For each word of the bitmap, the full-size variables before it; then the total.
    pub fn rank_directory(&self) -> &[u32] {
        &self.rank
    }

    /// Whether aux variable `aux` is full-size. Panics if there is none.
    #[inline]
    pub fn is_full(&self, aux: u32) -> bool {
        assert!(aux < self.aux_count, "aux variable {aux} of {}", self.aux_count);
        self.full[aux as usize / 64] >> (aux % 64) & 1 == 1
    }

    /// Full-size variables before `aux`: its slot if it is full-size itself. Panics if there is no variable `aux`.
    #[inline]
    pub fn rank(&self, aux: u32) -> u32 {
        assert!(aux < self.aux_count, "aux variable {aux} of {}", self.aux_count);
        let (word, bit) = (aux as usize / 64, aux % 64);
        self.rank[word] + (self.full[word] & ((1 << bit) - 1)).count_ones()
    }

    /// The full-size variables in ascending order, which is the order of their slots.
    pub fn full_positions(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        ones(&self.full)
    }

    /// Whether every full-size variable of `other` is full-size here, for layouts of one circuit.
    pub fn covers(&self, other: &Layout) -> bool {
        self.aux_count == other.aux_count && self.full.iter().zip(&other.full).all(|(mine, other)| other & !mine == 0)
    }

    /// blake2b-256 of the positions: of `"cuzk layout 1"`, the number of aux variables and the bitmap's words, all
    /// little-endian. The generation is left out.
    pub fn hash(&self) -> [u8; 32] {
        let mut state = blake2b_simd::Params::new().hash_length(32).to_state();
        state.update(b"cuzk layout 1").update(&self.aux_count.to_le_bytes());
        let mut bytes = [0; 8 * HASHED_WORDS];
        for words in self.full.chunks(HASHED_WORDS) {
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            state.update(&bytes[..8 * words.len()]);
        }
        state.finalize().as_bytes().try_into().expect("32 bytes were asked for")
    }

    /// Bytes that this layout takes.
    pub fn bytes_used(&self) -> usize {
        std::mem::size_of::<Self>() + 8 * self.full.capacity() + 4 * self.rank.capacity()
    }
}

/// Words that are handed to the hash function at a time.
const HASHED_WORDS: usize = 512;

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Layout {{ generation {}, {} full-size of {} }}", self.generation, self.full_count(), self.aux_count)
    }
}

/// INVALID, naming `field`, unless `words` holds one bit for each of `aux_count` variables and zeros behind them.
pub(super) fn check_words(field: &'static str, aux_count: u32, words: &[u64]) -> Result<()> {
    let expected = words_for(aux_count);
    if words.len() != expected {
        return Err(Error::invalid(field, format!("{} words where {expected} are expected", words.len())));
    }
    let used = aux_count % 64;
    if used != 0 && words[expected - 1] >> used != 0 {
        return Err(Error::invalid(field, format!("a bit behind aux variable {} is set", aux_count - 1)));
    }
    Ok(())
}
