//! Bitmaps in 64-bit words.

/// Words that hold one bit for each of `count` variables.
pub(super) fn words_for(count: u32) -> usize {
    count.div_ceil(64) as usize
}

/// Positions of the bits that are set, in ascending order.
pub(super) fn ones(words: &[u64]) -> Ones<'_> {
    Ones { words: words.iter(), word: 0, base: 0u32.wrapping_sub(64) }
}

/// Iterator of [`ones`]: a trailing-zero count and a cleared bit for each position.
#[derive(Clone, Debug)]
pub(super) struct Ones<'a> {
    words: std::slice::Iter<'a, u64>,
    /// What is left of the current word.
    word: u64,
    /// Position of the current word's bit 0.
    base: u32,
}

impl Iterator for Ones<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.base = self.base.wrapping_add(64);
        }
        let position = self.base + self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(position)
    }
}
