//! The MSM's index logic, compiled for the host: digits at all edges, and the tree over every kind of segment.
#![cfg(cuda_host_twin)]

extern crate cuzk;

use blstrs::Scalar;
use ff::Field;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WINDOWS: std::ops::RangeInclusive<u32> = 8..=51;
const LEVELS: usize = 32;

extern "C" {
    fn czk_host_window(windows: u32, window: u32, low: *mut u32, buckets: *mut u32) -> u32;
    fn czk_host_digits(windows: u32, words: *const u32, digits: *mut i32) -> bool;
    fn czk_host_tree(
        starts: *const u32,
        begin: u32,
        end: u32,
        first: u32,
        count: u32,
        all_have_sums: bool,
        items: *const u64,
        buckets: *mut u64,
        pairs: *mut u32,
    ) -> u32;
}

fn window(windows: u32, index: u32) -> (u32, u32, u32) {
    let (mut low, mut buckets) = (0, 0);
    // SAFETY: both pointers are valid for the call.
    let width = unsafe { czk_host_window(windows, index, &mut low, &mut buckets) };
    (low, width, buckets)
}

fn power(bit: u32) -> Scalar {
    (0..bit).fold(Scalar::ONE, |p, _| p.double())
}

#[test]
fn windows_share_out_255_bits() {
    for windows in WINDOWS {
        let mut low = 0;
        for index in 0..windows {
            let (at, width, buckets) = window(windows, index);
            assert_eq!((at, buckets), (low, 1 << (width - 1)));
            low += width;
        }
        assert_eq!(low, 255);
    }
}

fn check_digits(windows: u32, scalar: Scalar) {
    let bytes = scalar.to_bytes_le();
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let mut digits = vec![0i32; windows as usize];
    // SAFETY: eight words, and one digit for each window.
    let negated = unsafe { czk_host_digits(windows, words.as_ptr(), digits.as_mut_ptr()) };
    let mut sum = Scalar::ZERO;
    for (index, &digit) in digits.iter().enumerate() {
        let (low, _, buckets) = window(windows, index as u32);
        assert!(digit.unsigned_abs() <= buckets, "{windows} windows, digit {index} of {scalar:?} is {digit}");
        let part = Scalar::from(u64::from(digit.unsigned_abs())) * power(low);
        sum += if digit < 0 { -part } else { part };
    }
    assert_eq!(if negated { -sum } else { sum }, scalar, "{windows} windows");
}

#[test]
fn digits_sum_to_the_scalar() {
    let half = Scalar::from(2u64).invert().unwrap();
    let mut edges = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, half, half - Scalar::ONE, half + Scalar::ONE];
    for bit in 0..255 {
        edges.extend([power(bit), -power(bit), power(bit) - Scalar::ONE, power(bit) + half]);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    edges.extend((0..200).map(|_| Scalar::random(&mut rng)));
    for windows in WINDOWS {
        edges.iter().for_each(|&scalar| check_digits(windows, scalar));
    }
}

/// Sums all chunks of one sorted list, in chunks of `chunk_items`, and compares with plain sums. Returns the pairs of
/// each level.
fn check_tree(sizes: &[u32], chunk_items: u32, kept: Option<u64>) {
    let mut starts = vec![0u32];
    for size in sizes {
        starts.push(starts.last().unwrap() + size);
    }
    let total = *starts.last().unwrap();
    let items: Vec<u64> = (0..u64::from(total)).map(|i| i * i + 1).collect();
    let mut buckets = vec![kept.unwrap_or(0); sizes.len()];
    for begin in (0..total).step_by(chunk_items as usize) {
        let end = total.min(begin + chunk_items);
        let first = starts.partition_point(|&start| start <= begin) as u32 - 1;
        let last = starts.partition_point(|&start| start < end) as u32 - 1;
        let mut pairs = [0; LEVELS];
        // SAFETY: starts has one entry more than buckets, which hold [first, last], and items has `total`.
        let slots = unsafe {
            let (starts, items, sums) = (starts.as_ptr(), items.as_ptr(), buckets.as_mut_ptr());
            czk_host_tree(starts, begin, end, first, last - first + 1, kept.is_some(), items, sums, pairs.as_mut_ptr())
        };
        let filled =
            (first..=last).filter(|&b| starts[b as usize + 1].min(end) > starts[b as usize].max(begin)).count();
        let filled = filled as u32;
        // A bucket from an earlier chunk is joined at last; in the tree it brings no sum.
        let later = u32::from(starts[first as usize] < begin);
        let sums = if kept.is_some() { filled - later } else { 0 };
        assert_eq!(pairs.iter().sum::<u32>(), end - begin + sums - filled, "one addition less than summands");
        assert!(slots <= (end - begin) / 2 + filled / 2 + 1 + sums, "the bound that workspaces are sized by");
    }
    for (b, &sum) in buckets.iter().enumerate() {
        let own = &items[starts[b] as usize..starts[b + 1] as usize];
        let before = kept.unwrap_or(0);
        assert_eq!(sum, before + own.iter().sum::<u64>(), "bucket {b} of {}, chunks of {chunk_items}", sizes.len());
    }
}

#[test]
fn tree_sums_every_bucket() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut lists: Vec<Vec<u32>> =
        vec![vec![1], vec![1000], vec![1; 100], vec![2, 0, 3, 0, 0, 1], vec![0, 0, 7], vec![255, 1, 256]];
    for spread in [2, 5, 40, 300] {
        lists.push((0..200).map(|_| rng.next_u32() % spread).collect());
    }
    for sizes in &lists {
        for chunk_items in [1, 2, 3, 7, 64, 1000, 1 << 20] {
            check_tree(sizes, chunk_items, None);
            check_tree(sizes, chunk_items, Some(5));
        }
    }
}
