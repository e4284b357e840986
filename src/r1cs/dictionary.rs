//! The coefficient dictionary while a circuit is recorded.

use std::collections::HashMap;

use blst::blst_fr;
use blstrs::Scalar as Fr;

use super::ESCAPE;

/// Distinct coefficients in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    values: Vec<Fr>,
    /// Keyed by Montgomery limbs, which are unique for a field element.
    index: HashMap<[u64; 4], u16>,
    /// The last coefficient looked up: runs of one coefficient are common.
    last: Option<(Fr, u16)>,
}

impl Dictionary {
    /// Index of `coefficient`, which is added if it is new; [`ESCAPE`] if it is new and the dictionary is full.
    pub(super) fn index_of(&mut self, coefficient: &Fr) -> u16 {
        if let Some((value, index)) = self.last {
            if value == *coefficient {
                return index;
            }
        }
        let limbs = blst_fr::from(*coefficient).l;
        let index = match self.index.get(&limbs) {
            Some(index) => *index,
            None if self.values.len() < usize::from(ESCAPE) => {
                let index = self.values.len() as u16;
                self.values.push(*coefficient);
                self.index.insert(limbs, index);
                index
            }
            None => return ESCAPE,
        };
        self.last = Some((*coefficient, index));
        index
    }

    /// The coefficients, indexed.
    pub(super) fn values(&self) -> &[Fr] {
        &self.values
    }

    /// The coefficients, in order of index.
    pub(super) fn into_values(self) -> Vec<Fr> {
        self.values
    }
}
