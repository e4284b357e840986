//! Checks of the sums of selected points: indices against the bitmaps, sums against known logarithms.

use crate::harness::{Failure, Harness};
use crate::points::{
    bases_of, expect_point, mix, random_scalar, random_scalars, scalar_of, words_of, TestGroup, Words, G1, G2,
};
use blstrs::Scalar;
use cuzk::backend::cuda::sys::{
    ones_indices, ones_workspace_bytes, sum, sum_workspace_bytes, CudaError, DeviceBuffer, OnesBits, Stream,
};
use ff::Field;
use group::Group;
use rayon::prelude::*;
use std::ptr::null;

/// Index lists and sums.
pub fn test(harness: &mut Harness) {
    harness.check("indices", |h| {
        for words in [0usize, 1, 2, 31, 32, 33, 255, 256, 257, 100_003] {
            indices(h, words)?;
        }
        Ok(())
    });
    harness.check("sums_g1", |h| sums::<G1>(h, &[0, 1, 2, 3, 1_023, 1_024, 1_025, 65_536, 300_001]));
    harness.check("sums_g2", |h| sums::<G2>(h, &[0, 1, 2, 1_025, 70_001]));
    harness.check("repeats", |h| {
        for stride in [1, 32, 61] {
            repeats(h, stride)?;
        }
        Ok(())
    });
}

/// The small ones.
pub fn sanitize(harness: &mut Harness) {
    harness.check("indices", |h| indices(h, 300));
    harness.check("sums_g1", |h| sums::<G1>(h, &[0, 1, 1_025]));
}

/// The ones of L, A (62 M of 128 M in G1) and B_G2 (16 M of 32 M).
pub fn bench(harness: &mut Harness) {
    harness.check("l_a_b_g2", |h| {
        let l = ones_of::<G1>(h, 27, 27)?;
        let b_g2 = ones_of::<G2>(h, 27, 25)?;
        println!("ones of L, A and B_G2 together: {:.1} ms", 2.0 * l + b_g2);
        Ok(())
    });
}

struct Maps {
    bits: Vec<u64>,
    density: Vec<u64>,
    without: Vec<u64>,
}

/// Random bitmaps with words of all zeros and all ones among them.
fn maps(seed: u64, words: usize) -> Maps {
    let word = |kind: u64, i: usize| match mix(seed + kind, i as u64) % 8 {
        0 => 0,
        1 => u64::MAX,
        _ => mix(seed + kind + 10, i as u64),
    };
    let map = |kind| (0..words).map(|i| word(kind, i)).collect();
    Maps { bits: map(1), density: map(2), without: map(3) }
}

fn bit(map: &[u64], i: usize) -> bool {
    map[i / 64] >> (i % 64) & 1 == 1
}

fn expected_indices(maps: &Maps, density: bool, without: bool) -> Vec<u32> {
    let (mut rank, mut found) = (0, Vec::new());
    for i in 0..64 * maps.bits.len() {
        let dense = !density || bit(&maps.density, i);
        if dense && bit(&maps.bits, i) && !(without && bit(&maps.without, i)) {
            found.push(rank);
        }
        rank += u32::from(dense);
    }
    found
}

fn indices(harness: &Harness, words: usize) -> Result<(), Failure> {
    let stream = &harness.stream;
    let maps = maps(words as u64, words);
    let device = [&maps.bits, &maps.density, &maps.without].map(|map| DeviceBuffer::from_slice(map, stream));
    let [bits, density, without] = device;
    let (bits, density, without) = (bits?, density?, without?);
    for (dense, masked) in [(true, true), (true, false), (false, true), (false, false)] {
        let expected = expected_indices(&maps, dense, masked);
        let ones = OnesBits {
            bits: bits.as_ptr().cast(),
            density: if dense { density.as_ptr().cast() } else { null() },
            without: if masked { without.as_ptr().cast() } else { null() },
            word_count: words as u64,
        };
        let room = expected.len() + 3;
        let mut list = DeviceBuffer::<u32>::new(room)?;
        list.fill(0xff, stream)?;
        let (count, found) = run_indices(&ones, &list, room, stream)?;
        assert_eq!(count as usize, expected.len(), "{words} words, density {dense}, without {masked}");
        assert_eq!(found[..expected.len()], expected, "{words} words, density {dense}, without {masked}");
        assert_eq!(found[expected.len()..], [u32::MAX; 3]);
        // A list that is too short is filled and no more, and the count tells.
        list.fill(0xff, stream)?;
        let (count, found) = run_indices(&ones, &list, expected.len() / 2, stream)?;
        assert_eq!(count as usize, expected.len());
        assert!(found[expected.len() / 2..].iter().all(|&index| index == u32::MAX));
    }
    Ok(())
}

/// Runs a search for a list of `room` places: how many points it found, and the list.
pub fn run_indices(
    ones: &OnesBits,
    list: &DeviceBuffer<u32>,
    room: usize,
    stream: &Stream,
) -> Result<(u32, Vec<u32>), CudaError> {
    let workspace = DeviceBuffer::<u8>::new(ones_workspace_bytes(ones.word_count) as usize)?;
    let count = DeviceBuffer::<u32>::new(1)?;
    let space = (workspace.as_ptr(), workspace.bytes());
    // SAFETY: all buffers live until to_vec has waited for the stream.
    unsafe { ones_indices(ones, list.as_ptr().cast(), room as u64, count.as_ptr().cast(), space, stream)? };
    Ok((count.to_vec(stream)?[0], list.to_vec(stream)?))
}

/// Σ of the bases that `list` names, or of the first `count`.
pub fn run_sum<T: TestGroup>(
    harness: &Harness,
    bases: &DeviceBuffer<u8>,
    list: Option<&DeviceBuffer<u32>>,
    count: usize,
    workspace_bytes: u64,
) -> Result<T::Point, Failure> {
    let stream = &harness.stream;
    let mut workspace = DeviceBuffer::<u8>::new(workspace_bytes as usize)?;
    workspace.fill(0x5a, stream)?;
    let point = DeviceBuffer::<u8>::new(T::CURVE.affine_bytes())?;
    let indices = list.map_or(null(), |list| list.as_ptr().cast_const().cast());
    let space = (workspace.as_ptr(), workspace_bytes);
    // SAFETY: all buffers live until to_vec has waited for the stream.
    unsafe { sum(T::CURVE, bases.as_ptr(), indices, count as u64, space, stream, None, point.as_ptr())? };
    T::point(&point.to_vec(stream)?).ok_or_else(|| "no point".into())
}

fn total(logs: impl Iterator<Item = Words>) -> Scalar {
    logs.map(|words| scalar_of(&words)).fold(Scalar::ZERO, |a, b| a + b)
}

fn sums<T: TestGroup>(harness: &Harness, counts: &[usize]) -> Result<(), Failure> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let logs: Vec<Words> = (0..most as u64).map(|i| if i % 97 == 5 { [0; 4] } else { random_scalar(31, i) }).collect();
    let bases = bases_of::<T>(&logs, &harness.stream)?;
    for &count in counts {
        let list: Vec<u32> = (0..count as u64).map(|i| (mix(32, i) % most as u64) as u32).collect();
        let device = DeviceBuffer::from_slice(&list, &harness.stream)?;
        let listed = T::Point::generator() * total(list.iter().map(|&i| logs[i as usize]));
        let first = T::Point::generator() * total(logs[..count].iter().copied());
        for space in [sum_workspace_bytes(T::CURVE, count as u64), sum_workspace_bytes(T::CURVE, 1 << 16)] {
            expect_point(
                run_sum::<T>(harness, &bases, Some(&device), count, space)?,
                listed,
                format!("{count} listed"),
            )?;
            expect_point(run_sum::<T>(harness, &bases, None, count, space)?, first, format!("the first {count}"))?;
        }
    }
    Ok(())
}

/// Points that repeat or cancel another one `stride` before them, as the A query's do.
fn repeats(harness: &Harness, stride: usize) -> Result<(), Failure> {
    let count = 100_000;
    let mut logs: Vec<Words> = random_scalars(33, count);
    for i in stride..count {
        match mix(34, i as u64) % 5 {
            0 => logs[i] = logs[i - stride],
            1 => logs[i] = words_of(&-scalar_of(&logs[i - stride])),
            _ => {}
        }
    }
    let bases = bases_of::<G1>(&logs, &harness.stream)?;
    let expected = <G1 as TestGroup>::Point::generator() * total(logs.iter().copied());
    let space = sum_workspace_bytes(G1::CURVE, count as u64);
    expect_point(run_sum::<G1>(harness, &bases, None, count, space)?, expected, format!("stride {stride}"))
}

/// Milliseconds for the ones of 2^lg_variables variables, 48.4 % of them set, in a query of 2^lg_points.
fn ones_of<T: TestGroup>(harness: &Harness, lg_variables: u32, lg_points: u32) -> Result<f64, Failure> {
    let stream = &harness.stream;
    let words = 1usize << (lg_variables - 6);
    let logs: Vec<Words> = random_scalars(35, 1 << lg_points);
    let bases = bases_of::<T>(&logs, stream)?;
    // 31/64 of the bits, and every fourth variable has a point in the smaller query.
    let bits: Vec<u64> = (0..words).into_par_iter().map(|w| sparse_half(w as u64)).collect();
    let step = 1 << (lg_variables - lg_points);
    let density = (0..64).step_by(step).fold(0u64, |word, b| word | 1 << b);
    let (d_bits, d_density) =
        (DeviceBuffer::from_slice(&bits, stream)?, DeviceBuffer::from_slice(&vec![density; words], stream)?);
    let ones = OnesBits {
        bits: d_bits.as_ptr().cast(),
        density: d_density.as_ptr().cast(),
        without: null(),
        word_count: words as u64,
    };
    let room = 1usize << lg_points;
    let list = DeviceBuffer::<u32>::new(room)?;
    let (count, found) = run_indices(&ones, &list, room, stream)?;
    let expected = found[..count as usize].par_iter().map(|&i| scalar_of(&logs[i as usize]));
    let expected = T::Point::generator() * expected.reduce(|| Scalar::ZERO, |a, b| a + b);
    let space = sum_workspace_bytes(T::CURVE, count.into());
    expect_point(run_sum::<T>(harness, &bases, Some(&list), count as usize, space)?, expected, "bench of ones")?;
    time_ones::<T>(harness, &ones, (&bases, &list, count))
}

fn sparse_half(word: u64) -> u64 {
    (0..64).fold(0, |bits, b| bits | u64::from(mix(36, word * 64 + b) % 64 < 31) << b)
}

type Selected<'a> = (&'a DeviceBuffer<u8>, &'a DeviceBuffer<u32>, u32);

fn time_ones<T: TestGroup>(harness: &Harness, ones: &OnesBits, selected: Selected<'_>) -> Result<f64, Failure> {
    let (bases, list, count) = selected;
    let workspace = DeviceBuffer::<u8>::new(sum_workspace_bytes(T::CURVE, count.into()) as usize)?;
    let scan = DeviceBuffer::<u8>::new(ones_workspace_bytes(ones.word_count) as usize)?;
    let (found, point) = (DeviceBuffer::<u32>::new(1)?, DeviceBuffer::<u8>::new(T::CURVE.affine_bytes())?);
    let (space, scan) = ((workspace.as_ptr(), workspace.bytes()), (scan.as_ptr(), scan.bytes()));
    // SAFETY: all buffers live until median_ms has waited for its last event.
    let ms_indices = harness.median_ms(|stream| unsafe {
        ones_indices(ones, list.as_ptr().cast(), list.len() as u64, found.as_ptr().cast(), scan, stream)
    })?;
    let listed = list.as_ptr().cast_const().cast();
    // SAFETY: as above.
    let ms_sum = harness.median_ms(|stream| unsafe {
        sum(T::CURVE, bases.as_ptr(), listed, count.into(), space, stream, None, point.as_ptr())
    })?;
    println!(
        "ones {:?}: {count} of {} variables: indices {ms_indices:.2} ms, sum {ms_sum:.2} ms ({:.2} G additions/s)",
        T::CURVE,
        64 * ones.word_count,
        f64::from(count) / ms_sum / 1e6
    );
    Ok(ms_indices + ms_sum)
}
