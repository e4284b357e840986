//! [`Layouts`]: the layout of a circuit over time.

use std::sync::{Arc, Mutex, PoisonError};

use super::layout::Layout;

/// The layout of one circuit, shared by all its builders.
///
/// Pinned: the layout follows from the R1CS and never changes; a value that doesn't fit is an error.
///
/// Growing, for circuits whose layout isn't known: generation 0 has no full-size variable, and each witness that needs
/// more of them than any before makes the next generation, which keeps all of the earlier ones. An assignment keeps the
/// generation it was built with and stays valid.
#[derive(Debug)]
pub struct Layouts {
    pinned: bool,
    current: Mutex<Arc<Layout>>,
}

impl Layouts {
    /// A layout that never changes.
    pub fn pinned(layout: Layout) -> Self {
        Layouts { pinned: true, current: Mutex::new(Arc::new(layout)) }
    }

    /// A layout that is learnt from witnesses.
    pub fn growing(aux_count: u32) -> Self {
        Layouts { pinned: false, current: Mutex::new(Arc::new(Layout::all_bits(aux_count))) }
    }

    /// Whether the layout never changes.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// The newest generation.
    pub fn current(&self) -> Arc<Layout> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The newest generation, after adding a generation if it lacks any of `positions`. Must not be pinned.
    pub(super) fn grow(&self, positions: &[u32]) -> Arc<Layout> {
        debug_assert!(!self.pinned);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if positions.iter().any(|&aux| !current.is_full(aux)) {
            let mut full = current.full.clone();
            positions.iter().for_each(|&aux| full[aux as usize / 64] |= 1 << (aux % 64));
            *current = Arc::new(Layout::with_generation(current.generation + 1, current.aux_count, full));
        }
        current.clone()
    }
}
