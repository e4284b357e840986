//! A list with a largest length.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// At most `MAX` values. Decoding fails at the first value too many, and never reserves room on the input's word alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const MAX: usize> List<T, MAX> {
    /// The values.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> TryFrom<Vec<T>> for List<T, MAX> {
    type Error = String;

    fn try_from(values: Vec<T>) -> Result<Self, String> {
        match values.len() <= MAX {
            true => Ok(List(values)),
            false => Err(format!("more than {MAX} entries")),
        }
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        // bincode states a length before the values, so a false one ends here and not after MAX values.
        if sequence.size_hint().is_some_and(|count| count > MAX) {
            return Err(A::Error::custom(format_args!("more than {MAX} entries")));
        }
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element()? {
            if values.len() == MAX {
                return Err(A::Error::custom(format_args!("more than {MAX} entries")));
            }
            values.push(value);
        }
        values.shrink_to_fit();
        Ok(List(values))
    }
}
