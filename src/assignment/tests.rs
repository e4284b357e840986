//! Layout and assignment at the edges of a word, with hand-made values.

use std::sync::Arc;

use blstrs::Scalar as Fr;
use ff::Field;

use super::*;
use crate::error::Error;

/// Aux counts at the edges of a word.
const COUNTS: [u32; 8] = [0, 1, 2, 63, 64, 65, 128, 200];

fn layout_of(aux_count: u32, is_full: impl Fn(u32) -> bool) -> Layout {
    let mut words = vec![0u64; aux_count.div_ceil(64) as usize];
    for aux in (0..aux_count).filter(|&aux| is_full(aux)) {
        words[aux as usize / 64] |= 1 << (aux % 64);
    }
    Layout::from_words(aux_count, words).unwrap()
}

/// Value of aux variable `aux`: full-size ones run through 0, 1, 2, p − 1; bits alternate irregularly.
fn value_of(layout: &Layout, aux: u32) -> Fr {
    if layout.is_full(aux) {
        [Fr::ZERO, Fr::ONE, Fr::from(2), -Fr::ONE][layout.rank(aux) as usize % 4]
    } else {
        Fr::from(u64::from(aux * aux % 7 < 3))
    }
}

fn assignment_of(layout: Layout) -> (Assignment, Vec<Fr>) {
    let values: Vec<Fr> = (0..layout.aux_count()).map(|aux| value_of(&layout, aux)).collect();
    let mut bits = vec![0u64; layout.full_words().len()];
    let mut full = Vec::new();
    for (aux, value) in values.iter().enumerate() {
        if layout.is_full(aux as u32) {
            full.push(*value);
        } else {
            bits[aux / 64] |= u64::from(*value == Fr::ONE) << (aux % 64);
        }
    }
    let inputs = vec![Fr::ONE, Fr::from(5), Fr::ZERO];
    (Assignment::new(Arc::new(layout), inputs, bits, full).unwrap(), values)
}

#[test]
fn ranks_and_positions_are_those_of_the_bitmap() {
    for aux_count in COUNTS {
        let layout = layout_of(aux_count, |aux| aux % 3 == 1 || aux > 190);
        let expected: Vec<u32> = (0..aux_count).filter(|aux| aux % 3 == 1 || *aux > 190).collect();
        assert_eq!(layout.full_positions().collect::<Vec<_>>(), expected);
        assert_eq!(layout.full_count() as usize, expected.len());
        for aux in 0..aux_count {
            assert_eq!(layout.rank(aux) as usize, expected.iter().filter(|&&full| full < aux).count());
            assert_eq!(layout.is_full(aux), expected.contains(&aux));
        }
        assert_eq!(layout.rank_directory().len(), layout.full_words().len() + 1);
    }
}

#[test]
fn every_value_comes_back() {
    for aux_count in COUNTS {
        let (assignment, values) = assignment_of(layout_of(aux_count, |aux| aux % 5 == 2 || aux == 63 || aux == 64));
        assert_eq!(assignment.aux_values().collect::<Vec<_>>(), values);
        for (aux, value) in values.iter().enumerate() {
            assert_eq!(assignment.aux(aux as u32), *value);
            assert_eq!(assignment.z(3 + aux as u32), *value);
        }
        assert_eq!((assignment.z(0), assignment.z(1), assignment.z(2)), (Fr::ONE, Fr::from(5), Fr::ZERO));
        let layout = assignment.layout();
        let is_one = |aux: &u32| !layout.is_full(*aux) && values[*aux as usize] == Fr::ONE;
        let ones: Vec<u32> = (0..aux_count).filter(is_one).collect();
        assert_eq!(assignment.ones().collect::<Vec<_>>(), ones);
        assert_eq!(assignment.one_count() as usize, ones.len());
        for (aux, value) in assignment.full_values() {
            assert_eq!(*value, values[aux as usize]);
        }
        assert_eq!(assignment.variable_count(), 3 + u64::from(aux_count));
    }
}

#[test]
fn a_zero_or_one_in_a_full_size_position_stays_there() {
    let (assignment, _) = assignment_of(layout_of(3, |_| true));
    assert_eq!(assignment.aux_value(0), Value::Full(&Fr::ZERO));
    assert_eq!(assignment.aux_value(1), Value::Full(&Fr::ONE));
    assert_eq!(assignment.ones().count(), 0);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let layout = Arc::new(layout_of(65, |aux| aux == 64));
    let new = |inputs: &[Fr], bits: &[u64], full: &[Fr]| {
        Assignment::new(layout.clone(), inputs.to_vec(), bits.to_vec(), full.to_vec())
    };
    let (one, two) = (Fr::ONE, Fr::from(2));
    assert!(new(&[one], &[5, 0], &[two]).is_ok());
    let field = |result: crate::Result<Assignment>| match result {
        Err(Error::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(new(&[], &[5, 0], &[two])), "inputs");
    assert_eq!(field(new(&[two], &[5, 0], &[two])), "inputs");
    assert_eq!(field(new(&[one], &[5], &[two])), "bits");
    assert_eq!(field(new(&[one], &[5, 0, 0], &[two])), "bits");
    assert_eq!(field(new(&[one], &[5, 1], &[two])), "bits");
    assert_eq!(field(new(&[one], &[5, 2], &[two])), "bits");
    assert_eq!(field(new(&[one], &[5, 0], &[])), "full");
    assert_eq!(field(new(&[one], &[5, 0], &[two, two])), "full");
    assert!(Layout::from_words(63, vec![1 << 63]).is_err());
    assert!(Layout::from_words(64, vec![1 << 63]).is_ok());
    assert!(Layout::from_words(64, vec![]).is_err());
}

#[test]
fn the_hash_depends_on_each_position_and_the_count_alone() {
    let base = layout_of(1000, |aux| aux % 10 == 0);
    let mut hashes = vec![base.hash(), layout_of(1001, |aux| aux % 10 == 0 && aux < 1000).hash()];
    hashes.extend((0..1000).map(|flipped| layout_of(1000, |aux| (aux % 10 == 0) != (aux == flipped)).hash()));
    let distinct: std::collections::HashSet<_> = hashes.iter().collect();
    assert_eq!(distinct.len(), hashes.len());
    assert_eq!(base.hash(), Layout::with_generation(7, 1000, base.full_words().to_vec()).hash());
}

#[test]
fn layouts_of_more_words_than_one_hash_step_hash_the_plain_encoding() {
    let layout = layout_of(64 * 1030 + 7, |aux| aux % 11 < 4);
    let mut encoding = b"cuzk layout 1".to_vec();
    encoding.extend(layout.aux_count().to_le_bytes());
    encoding.extend(layout.full_words().iter().flat_map(|word| word.to_le_bytes()));
    let expected = blake2b_simd::Params::new().hash_length(32).hash(&encoding);
    assert_eq!(layout.hash(), expected.as_bytes());
}

#[test]
fn values_are_compared_across_layouts() {
    let (assignment, values) = assignment_of(layout_of(130, |aux| aux % 5 == 2));
    let wider = Layout::with_generation(1, 130, layout_of(130, |aux| aux % 5 < 3).full_words().to_vec());
    assert!(wider.covers(assignment.layout()) && !assignment.layout().covers(&wider));
    let bits = assignment.bits().iter().zip(wider.full_words()).map(|(bits, full)| bits & !full).collect();
    let full: Vec<Fr> = wider.full_positions().map(|aux| values[aux as usize]).collect();
    let inputs = assignment.inputs().to_vec();
    let mut other = Assignment::new(Arc::new(wider), inputs, bits, full).unwrap();
    assert!(other.same_values(&assignment) && assignment.same_values(&other));
    assert_ne!(other, assignment);
    other.full[3] += Fr::ONE;
    assert!(!other.same_values(&assignment));
}
