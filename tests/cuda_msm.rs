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
    fn czk_host_plane_word(at: u64, count: u64, word: u32) -> u64;
    fn czk_host_split(lg_buckets: u32, items: u64, bits: *mut u32, rooms: *mut u64) -> bool;
    fn czk_host_blocks_at_once(shared_bytes: u32, shared_block_bytes: u32, bytes: u32, most: u32) -> u32;
    fn czk_host_pair_launch(tiles: u64, resident: u64, rounds_max: u32, rounds: *mut u32) -> u32;
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

#[test]
fn planes_hold_every_word_once() {
    for count in [1u64, 31, 511, 512, 513, 1_024, 1_500] {
        let mut seen = vec![false; 8 * count as usize];
        for (at, word) in (0..count).flat_map(|at| (0..8).map(move |word| (at, word))) {
            // SAFETY: no pointers.
            let place = unsafe { czk_host_plane_word(at, count, word) };
            assert!(!std::mem::replace(&mut seen[place as usize], true), "word {word} of {at} of {count}");
            // A tile of 512 scalars stays where it is, since one block reads all of it before it writes any.
            assert_eq!(place / 4_096, at / 512);
        }
    }
}

/// The steps of a split take all bits; keys fit 16 bits after the first, and parts hold the densest window's share.
#[test]
fn splits_have_room_for_spread_digits() {
    for (lg_buckets, items) in (0..32).flat_map(|lg| [1, 600, 1 << 20, 1 << 24, 1 << 27].map(|items| (lg, items))) {
        let (mut bits, mut rooms) = ([0; 3], [0; 2]);
        // SAFETY: room for three and two numbers.
        let is_split = unsafe { czk_host_split(lg_buckets, items, bits.as_mut_ptr(), rooms.as_mut_ptr()) };
        assert_eq!(is_split, (15..=23).contains(&lg_buckets));
        if !is_split {
            continue;
        }
        assert_eq!(bits.iter().sum::<u32>(), lg_buckets);
        assert!(bits[1] + bits[2] <= 16 && bits[2] <= 9);
        for (parts, room) in [(1u64 << bits[0], rooms[0]), (1 << (bits[0] + bits[1]), rooms[1])] {
            // 2^255 / r < 1.1045 times the average, and five standard deviations.
            let share = items as f64 / parts as f64 * 1.1045;
            assert!(room as f64 >= share + 5.0 * share.sqrt(), "{items} items, {parts} parts of {room}");
            assert!(room as f64 <= 1.2 * share + 16.0 * share.sqrt() + 64.0, "{items} items, {parts} parts of {room}");
        }
    }
}

/// Shared memory of a multiprocessor and of a block: sm_80, sm_86 and 89, sm_90 and 100, sm_120.
const CARDS: [[u32; 2]; 4] =
    [[164 << 10, 163 << 10], [100 << 10, 99 << 10], [228 << 10, 227 << 10], [100 << 10, 99 << 10]];

#[test]
fn every_card_runs_every_block() {
    for [shared, block] in CARDS {
        for bytes in [0, 1 << 10, 47 << 10, 66 << 10, 99 << 10] {
            // SAFETY: no pointers.
            let blocks = unsafe { czk_host_blocks_at_once(shared, block, bytes, 4) };
            assert!((1..=4).contains(&blocks), "{blocks} blocks of {bytes} of {shared}");
            assert!(blocks * (bytes + 1_024) <= shared);
            assert!(blocks == 4 || (blocks + 1) * (bytes + 1_024) > shared);
        }
        // SAFETY: no pointers.
        assert_eq!(unsafe { czk_host_blocks_at_once(shared, block, block + 1, 4) }, 0);
    }
}

#[test]
fn pairs_are_launched_in_rounds() {
    let most = 256;
    for resident in [1u64, 60, 396, 600] {
        for tiles in (1..3_000).chain([1 << 16, (1 << 16) + 1, 1 << 20, (1 << 23) + 7]) {
            let mut rounds = 0;
            // SAFETY: the pointer is valid for the call.
            let blocks = u64::from(unsafe { czk_host_pair_launch(tiles, resident, most, &mut rounds) });
            let rounds = u64::from(rounds);
            assert!(rounds <= u64::from(most));
            assert!(
                blocks * rounds >= tiles && (blocks - 1) * rounds < tiles,
                "no tile is left out, and no block idle"
            );
        }
    }
}
