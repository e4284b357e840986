//! Group laws, batches with a shared inversion, and the loading of points, against blst.

use crate::harness::{Failure, Harness};
use blst::*;
use cuzk::backend::cuda::sys::testing::{test_batch, test_curve, test_xyzz};
use cuzk::backend::cuda::sys::{Curve, DeviceBuffer};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One of the two groups as blst knows it. Points are plain Montgomery limbs here and in the device's tests.
trait Group {
    type Affine: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync;
    type Field: Copy;
    const CURVE: Curve;
    fn multiple(k: &[u8; 32]) -> Self::Affine;
    fn add(p: &Self::Affine, q: &Self::Affine) -> Self::Affine;
    fn neg(p: &Self::Affine) -> Self::Affine;
    fn serialize(p: &Self::Affine) -> Vec<u8>;
    fn jacobian_to_affine(bytes: &[u8]) -> Self::Affine;
    fn field(rng: &mut ChaCha8Rng) -> Self::Field;
}

macro_rules! group {
    ($name:ident, $curve:expr, $affine:ident, $jacobian:ident, $field:ty, $generator:ident, $mult:ident, $to_affine:ident,
     $from_affine:ident, $add:ident, $cneg:ident, $serialize:ident) => {
        struct $name;
        impl Group for $name {
            type Affine = $affine;
            type Field = $field;
            const CURVE: Curve = $curve;
            fn multiple(k: &[u8; 32]) -> $affine {
                let (mut p, mut r) = ($jacobian::default(), $affine::default());
                // SAFETY: plain values.
                unsafe {
                    $mult(&mut p, $generator(), k.as_ptr(), 256);
                    $to_affine(&mut r, &p);
                }
                r
            }
            fn add(p: &$affine, q: &$affine) -> $affine {
                let (mut a, mut b, mut r) = ($jacobian::default(), $jacobian::default(), $affine::default());
                // SAFETY: plain values.
                unsafe {
                    $from_affine(&mut a, p);
                    $from_affine(&mut b, q);
                    let c = a;
                    $add(&mut a, &c, &b);
                    $to_affine(&mut r, &a);
                }
                r
            }
            fn neg(p: &$affine) -> $affine {
                let (mut a, mut r) = ($jacobian::default(), $affine::default());
                // SAFETY: plain values.
                unsafe {
                    $from_affine(&mut a, p);
                    $cneg(&mut a, true);
                    $to_affine(&mut r, &a);
                }
                r
            }
            fn serialize(p: &$affine) -> Vec<u8> {
                let mut bytes = vec![0; $curve.affine_bytes()];
                // SAFETY: the buffer has a point's size.
                unsafe { $serialize(bytes.as_mut_ptr(), p) };
                bytes
            }
            fn jacobian_to_affine(bytes: &[u8]) -> $affine {
                assert_eq!(bytes.len(), size_of::<$jacobian>());
                let mut r = $affine::default();
                // SAFETY: a Jacobian point is plain limbs, of this many bytes.
                unsafe {
                    let p: $jacobian = bytes.as_ptr().cast::<$jacobian>().read_unaligned();
                    $to_affine(&mut r, &p);
                }
                r
            }
            fn field(rng: &mut ChaCha8Rng) -> $field {
                let mut limbs = <$field>::default();
                for limb in &mut limbs {
                    *limb = rng.next_u64() >> 4; // below p in every 384 bits
                }
                limbs
            }
        }
    };
}
group!(
    G1,
    Curve::G1,
    blst_p1_affine,
    blst_p1,
    [u64; 6],
    blst_p1_generator,
    blst_p1_mult,
    blst_p1_to_affine,
    blst_p1_from_affine,
    blst_p1_add_or_double,
    blst_p1_cneg,
    blst_p1_affine_serialize
);
group!(
    G2,
    Curve::G2,
    blst_p2_affine,
    blst_p2,
    [u64; 12],
    blst_p2_generator,
    blst_p2_mult,
    blst_p2_to_affine,
    blst_p2_from_affine,
    blst_p2_add_or_double,
    blst_p2_cneg,
    blst_p2_affine_serialize
);

/// Infinity, small multiples of the generator, random multiples, and the negatives of all.
fn points<G: Group>(count: usize) -> Vec<G::Affine> {
    let mut rng = ChaCha8Rng::seed_from_u64(0x6375);
    let mut out = vec![G::Affine::default()];
    while out.len() < count {
        let mut k = [0; 32];
        if out.len() < 8 {
            k[0] = out.len() as u8;
        } else {
            rng.fill_bytes(&mut k);
        }
        let p = G::multiple(&k);
        out.push(p);
        out.push(G::neg(&p));
    }
    out
}

/// All ordered pairs of the points.
fn pairs<T: Copy>(points: &[T]) -> (Vec<T>, Vec<T>) {
    points.iter().flat_map(|&p| points.iter().map(move |&q| (p, q))).unzip()
}

fn group_law<G: Group>(harness: &Harness, count: usize) -> Result<(), Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(0x7a);
    let (p, q) = pairs(&points::<G>(count));
    let z: Vec<G::Field> = p.iter().map(|_| G::field(&mut rng)).collect();
    for op in 0..7 {
        let r = test_curve(G::CURVE, op, [&p, &q], &z, &harness.stream)?;
        for i in 0..p.len() {
            let want = match op {
                0 | 1 | 4 => G::add(&p[i], &q[i]),
                2 | 3 => G::add(&p[i], &p[i]),
                _ => G::neg(&p[i]),
            };
            if r[i] != want {
                return Err(format!("operation {op} of {:x?} {:x?}: {:x?}", p[i], q[i], r[i]).into());
            }
        }
    }
    Ok(())
}

fn batch<G: Group>(harness: &Harness, count: usize) -> Result<(), Failure> {
    let (p, q) = pairs(&points::<G>(count));
    for per_thread in [1, 7, p.len() as u64] {
        let r = test_batch(G::CURVE, [&p, &q], per_thread, &harness.stream)?;
        for i in 0..p.len() {
            if r[i] != G::add(&p[i], &q[i]) {
                return Err(format!("{per_thread} a thread: {:x?} + {:x?}: {:x?}", p[i], q[i], r[i]).into());
            }
        }
    }
    Ok(())
}

/// Loads stored points; returns what they are on the device, and the first bad index.
fn load(curve: Curve, bytes: &[u8], base: u64, harness: &Harness) -> Result<(DeviceBuffer<u8>, u64), Failure> {
    let stream = &harness.stream;
    let stored = DeviceBuffer::from_slice(bytes, stream)?;
    let mut points = DeviceBuffer::<u8>::new(bytes.len())?;
    points.fill(0xa5, stream)?;
    let bad = DeviceBuffer::from_slice(&[u64::MAX], stream)?;
    let count = (bytes.len() / curve.affine_bytes()) as u64;
    // SAFETY: both buffers hold `count` points, and the stream is waited for below.
    unsafe { curve.load(points.as_ptr(), stored.as_ptr(), count, base, bad.as_ptr().cast(), stream)? };
    let bad = bad.to_vec(stream)?[0];
    Ok((points, bad))
}

fn load_and_store<G: Group>(harness: &Harness, count: usize) -> Result<(), Failure> {
    let points = points::<G>(count);
    let bytes: Vec<u8> = points.iter().flat_map(|p| G::serialize(p)).collect();
    let (loaded, bad) = load(G::CURVE, &bytes, 0, harness)?;
    assert_eq!(bad, u64::MAX);
    assert_eq!(G::CURVE.store(&loaded, &harness.stream)?, bytes);
    let (_, bad) = load(G::CURVE, &[], 5, harness)?;
    assert_eq!(bad, u64::MAX);
    Ok(())
}

/// Every way to spoil a point is found, at the right index, and the least index wins.
fn load_bad<G: Group>(harness: &Harness) -> Result<(), Failure> {
    let points = points::<G>(300);
    let good: Vec<u8> = points.iter().flat_map(|p| G::serialize(p)).collect();
    let size = G::CURVE.affine_bytes();
    // index 0 is infinity
    type Spoiler = (&'static str, usize, fn(&mut [u8]));
    let spoilers: [Spoiler; 8] = [
        ("compressed flag", 7, |p| p[0] |= 0x80),
        ("sign flag", 7, |p| p[0] |= 0x20),
        ("infinity flag on a point", 7, |p| p[0] |= 0x40),
        ("infinity with a coordinate", 0, |p| p[50] = 1),
        ("zeros without the flag", 0, |p| p[0] = 0),
        ("off the curve", 299, |p| *p.last_mut().unwrap() ^= 1),
        ("x not below p", 128, |p| p[..48].copy_from_slice(&[0x1f; 48])),
        ("y + p", 127, add_p_to_y),
    ];
    for (name, index, spoil) in spoilers {
        let mut bytes = good.clone();
        spoil(&mut bytes[index * size..][..size]);
        let (loaded, bad) = load(G::CURVE, &bytes, 1000, harness)?;
        assert_eq!(bad, 1000 + index as u64, "{name}");
        let mut want = good.clone();
        want[index * size..][..size].copy_from_slice(&G::serialize(&G::Affine::default()));
        assert_eq!(G::CURVE.store(&loaded, &harness.stream)?, want, "{name}");
    }
    let mut bytes = good.clone();
    for index in [290, 31, 64] {
        bytes[index * size] |= 0x80;
    }
    assert_eq!(load(G::CURVE, &bytes, 0, harness)?.1, 31);
    Ok(())
}

/// The last 48 bytes, as a big-endian integer, plus p: the same element, not canonical.
fn add_p_to_y(point: &mut [u8]) {
    let p = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    let (start, mut carry) = (point.len() - 48, 0);
    for i in (0..48).rev() {
        let t = u32::from(point[start + i]) + u32::from_str_radix(&p[2 * i..2 * i + 2], 16).unwrap() + carry;
        point[start + i] = t as u8;
        carry = t >> 8;
    }
}

/// Points in XYZZ form, of many scales, come back as blst's Jacobian points.
fn to_jacobian<G: Group>(harness: &Harness) -> Result<(), Failure> {
    let (points, stream) = (points::<G>(100), &harness.stream);
    let mut rng = ChaCha8Rng::seed_from_u64(0x6a);
    let z: Vec<G::Field> = points.iter().map(|_| G::field(&mut rng)).collect();
    let xyzz = test_xyzz(G::CURVE, &points, &z, stream)?;
    let mut jacobian = DeviceBuffer::<u8>::new(points.len() * G::CURVE.jacobian_bytes())?;
    jacobian.fill(0xa5, stream)?;
    // SAFETY: as many points each, waited for below.
    unsafe { G::CURVE.to_jacobian(jacobian.as_ptr(), xyzz.as_ptr(), points.len() as u64, stream)? };
    for (point, bytes) in points.iter().zip(jacobian.to_vec(stream)?.chunks(G::CURVE.jacobian_bytes())) {
        assert_eq!(G::jacobian_to_affine(bytes), *point);
    }
    Ok(())
}

fn checks(harness: &mut Harness, count: usize) {
    harness.check("g1/law", |h| group_law::<G1>(h, count));
    harness.check("g2/law", |h| group_law::<G2>(h, count));
    harness.check("g1/batch", |h| batch::<G1>(h, count));
    harness.check("g2/batch", |h| batch::<G2>(h, count));
    harness.check("g1/load", |h| load_and_store::<G1>(h, 20 * count));
    harness.check("g2/load", |h| load_and_store::<G2>(h, 20 * count));
    harness.check("g1/load-bad", load_bad::<G1>);
    harness.check("g2/load-bad", load_bad::<G2>);
    harness.check("g1/jacobian", to_jacobian::<G1>);
    harness.check("g2/jacobian", to_jacobian::<G2>);
}

/// All pairs of special and random points; loading, good and bad.
pub fn test(harness: &mut Harness) {
    checks(harness, 40);
}

/// The same on few.
pub fn sanitize(harness: &mut Harness) {
    checks(harness, 9);
}

/// How fast points are loaded: decoded, checked on the curve, converted.
pub fn bench(harness: &mut Harness) {
    harness.check("g1/load", load_rate::<G1>);
    harness.check("g2/load", load_rate::<G2>);
}

fn load_rate<G: Group>(harness: &Harness) -> Result<(), Failure> {
    let count = 1usize << 22;
    let some: Vec<u8> = points::<G>(1000).iter().flat_map(|p| G::serialize(p)).collect();
    let bytes: Vec<u8> = some.iter().copied().cycle().take(count * G::CURVE.affine_bytes()).collect();
    let stored = DeviceBuffer::from_slice(&bytes, &harness.stream)?;
    let points = DeviceBuffer::<u8>::new(bytes.len())?;
    let bad = DeviceBuffer::from_slice(&[u64::MAX], &harness.stream)?;
    let ms = harness.median_ms(|stream| {
        // SAFETY: both buffers hold `count` points, and median_ms waits.
        unsafe { G::CURVE.load(points.as_ptr(), stored.as_ptr(), count as u64, 0, bad.as_ptr().cast(), stream) }
    })?;
    assert_eq!(bad.to_vec(&harness.stream)?[0], u64::MAX);
    println!("load {:?}: {:.2} G points/s, 2^22 points", G::CURVE, count as f64 / ms / 1e6);
    Ok(())
}
