//! Transforms on the device against a plain NTT on the CPU, and their times.

use crate::fr::{download, upload, values, Words};
use crate::harness::{Failure, Harness};
use blstrs::Scalar as Fr;
use cuzk::backend::cuda::sys::{CudaError, DeviceBuffer, Event, Ntt, Poll, Stream, Transform, STOPPED};
use ff::{Field, PrimeField};
use rayon::prelude::*;
use std::ffi::c_void;

/// Every size up to 2^14, some larger ones of two and three digits, and spot checks at 2^24 and 2^27.
pub fn test(harness: &mut Harness) {
    small(harness, 14);
    for lg in [18, 19, 20] {
        harness.check(&format!("all/{lg}"), |harness| all(harness, lg));
    }
    for lg in [24, 26, 27, 28] {
        harness.check(&format!("sparse/{lg}"), |harness| sparse(harness, lg));
    }
    harness.check("stop", stop);
    harness.check("arguments", arguments);
}

/// The sizes up to 2^11.
pub fn sanitize(harness: &mut Harness) {
    small(harness, 11);
}

fn small(harness: &mut Harness, most: u32) {
    for lg in 1..=most {
        harness.check(&format!("all/{lg}"), |harness| all(harness, lg));
    }
}

/// The root of order 2^lg that blstrs and bellperson use.
fn root(lg: u32) -> Fr {
    Fr::ROOT_OF_UNITY.pow_vartime([1u64 << (32 - lg)])
}

/// Multiplies value k by step^k.
fn scale(values: &mut [Fr], step: Fr) {
    values.par_chunks_mut(1 << 10).enumerate().for_each(|(n, chunk)| {
        let mut power = step.pow_vartime([(n << 10) as u64]);
        for value in chunk {
            *value *= power;
            power *= step;
        }
    });
}

/// Radix 2 from the definition's recursion, out of place: even and odd halves, then butterflies.
fn cpu_ntt(values: &[Fr], w: Fr) -> Vec<Fr> {
    if values.len() == 1 {
        return values.to_vec();
    }
    let half = |odd: usize| -> Vec<Fr> { values.iter().skip(odd).step_by(2).copied().collect() };
    let (even, odd) = rayon::join(|| cpu_ntt(&half(0), w.square()), || cpu_ntt(&half(1), w.square()));
    let mut odd = odd;
    scale(&mut odd, w);
    let plus = even.iter().zip(&odd).map(|(e, o)| e + o);
    let minus = even.iter().zip(&odd).map(|(e, o)| e - o);
    plus.chain(minus).collect()
}

fn cpu_intt(values: &[Fr], w: Fr) -> Vec<Fr> {
    let inverse = Fr::from(values.len() as u64).invert().expect("not 0");
    cpu_ntt(values, w.invert().expect("not 0")).into_iter().map(|v| v * inverse).collect()
}

struct Case<'a> {
    harness: &'a Harness,
    ntt: &'a Ntt,
    lg: u32,
}

impl Case<'_> {
    fn transform(&self, values: &[Fr], which: Transform) -> Result<Vec<Fr>, Failure> {
        let stream = &self.harness.stream;
        let (data, mut out) = (upload(values, stream)?, DeviceBuffer::<Words>::new(values.len())?);
        out.fill(0xa5, stream)?;
        // SAFETY: two vectors of 2^lg elements.
        unsafe { self.ntt.transform(data.as_ptr(), out.as_ptr(), self.lg, which, stream, None)? };
        download(&out, stream)
    }

    fn check(&self, values: &[Fr], others: &[Fr]) -> Result<(), Failure> {
        let (lg, stream) = (self.lg, &self.harness.stream);
        let (w, g) = (root(lg), root(lg + 1));
        let on_coset = |coefficients: &[Fr]| {
            let mut shifted = coefficients.to_vec();
            scale(&mut shifted, g);
            cpu_ntt(&shifted, w)
        };
        let (on_domain, coset) = (cpu_ntt(values, w), on_coset(values));
        let which = |inverse, coset| Transform { inverse, coset };
        assert_eq!(self.transform(values, which(false, false))?, on_domain, "forward");
        assert_eq!(self.transform(&on_domain, which(true, false))?, values, "inverse");
        assert_eq!(self.transform(values, which(false, true))?, coset, "to the coset");
        assert_eq!(self.transform(&coset, which(true, true))?, values, "from the coset");

        let data = upload(&on_domain, stream)?;
        // SAFETY: 2^lg elements.
        unsafe { self.ntt.to_coset(data.as_ptr(), lg, stream, None)? };
        assert_eq!(download(&data, stream)?, coset, "from domain to coset");

        let data = upload(&on_domain, stream)?;
        // SAFETY: 2^lg elements.
        unsafe { self.ntt.derivative(data.as_ptr(), lg, stream, None)? };
        let times_index: Vec<Fr> = values.iter().enumerate().map(|(k, v)| Fr::from(k as u64) * v).collect();
        assert_eq!(download(&data, stream)?, cpu_ntt(&times_index, w), "derivative");

        // A and B by their values `values` and `others`, C by the products; seven transforms.
        let c: Vec<Fr> = values.iter().zip(others).map(|(a, b)| a * b).collect();
        let [a_g, b_g, c_g] = [values, others, &c].map(|on_domain| on_coset(&cpu_intt(on_domain, w)));
        let divisor = (-Fr::from(2)).invert().expect("x^n - 1 is -2 on the coset");
        let quotient: Vec<Fr> = a_g.iter().zip(&b_g).zip(&c_g).map(|((a, b), c)| (a * b - c) * divisor).collect();
        let mut h = cpu_intt(&quotient, w);
        scale(&mut h, g.invert().expect("not 0"));
        let (a, b) = (upload(values, stream)?, upload(others, stream)?);
        let mut work = DeviceBuffer::<Words>::new(values.len())?;
        work.fill(0xa5, stream)?;
        let vectors = [&a, &b, &work];
        // SAFETY: three vectors of 2^lg elements.
        let found = unsafe { self.ntt.quotient(vectors.map(|v| v.as_ptr()), lg, stream, None)? };
        let place = vectors.into_iter().find(|v| v.as_ptr() == found).ok_or("h is in none of the vectors")?;
        assert_eq!(download(place, stream)?, h, "quotient");
        Ok(())
    }
}

/// All transforms of 2^lg points on all zero, all r − 1, a single non-zero, and random values with edges among them.
fn all(harness: &Harness, lg: u32) -> Result<(), Failure> {
    let (n, ntt) = (1usize << lg, Ntt::new(&harness.stream)?);
    let case = Case { harness, ntt: &ntt, lg };
    let mut single = vec![Fr::ZERO; n];
    single[n / 2] = -Fr::ONE;
    case.check(&values(n, 3), &values(n, 4))?;
    if lg <= 12 {
        case.check(&vec![Fr::ZERO; n], &values(n, 5))?;
        case.check(&vec![-Fr::ONE; n], &vec![-Fr::ONE; n])?;
        case.check(&single, &values(n, 6))?;
    }
    Ok(())
}

/// A few coefficients at a size that the CPU doesn't transform: values at a few places from the definition, then back.
fn sparse(harness: &Harness, lg: u32) -> Result<(), Failure> {
    let (n, stream, ntt) = (1usize << lg, &harness.stream, Ntt::new(&harness.stream)?);
    let places = [0, 1, n / 3, n / 2 + 7, n - 1];
    let coefficients = values(5, 7).iter().map(|v| v + Fr::from(3)).collect::<Vec<_>>();
    let sparse_vector = || -> Result<DeviceBuffer<Words>, Failure> {
        let mut data = DeviceBuffer::<Words>::new(n)?;
        data.fill(0, stream)?; // all-zero bytes are the element 0
        for (&place, value) in places.iter().zip(&coefficients) {
            let one = upload(&[*value], stream)?.to_vec(stream)?;
            data.write_at(place, &one, stream)?;
        }
        Ok(data)
    };
    let asked: Vec<usize> = (0..400).map(|k| k * 0x9e37_79b1 % n).chain([0, n - 1]).collect();
    for coset in [false, true] {
        let (data, out) = (sparse_vector()?, DeviceBuffer::<Words>::new(n)?);
        let which = Transform { inverse: false, coset };
        // SAFETY: two vectors of 2^lg elements.
        unsafe { ntt.transform(data.as_ptr(), out.as_ptr(), lg, which, stream, None)? };
        let found = asked.iter().map(|&k| out.read_at(k, stream)).collect::<Result<Vec<_>, _>>()?;
        let found = download(&DeviceBuffer::from_slice(&found, stream)?, stream)?;
        for (&k, found) in asked.iter().zip(found) {
            let x = root(lg).pow_vartime([k as u64]) * if coset { root(lg + 1) } else { Fr::ONE };
            let terms = places.iter().zip(&coefficients).map(|(&place, c)| x.pow_vartime([place as u64]) * c);
            assert_eq!(found, terms.sum::<Fr>(), "value {k}");
        }
        // SAFETY: two vectors of 2^lg elements.
        unsafe { ntt.transform(out.as_ptr(), data.as_ptr(), lg, Transform { inverse: true, coset }, stream, None)? };
        let back = download(&data, stream)?;
        for (&place, c) in places.iter().zip(&coefficients) {
            assert_eq!(back[place], *c, "coefficient {place}");
        }
        assert_eq!(back.par_iter().filter(|v| !bool::from(v.is_zero())).count(), places.len());
    }
    Ok(())
}

extern "C" fn count_and_stop(context: *mut c_void) -> i32 {
    // SAFETY: the context is the test's counter, which outlives the call.
    let asked = unsafe { &mut *context.cast::<u32>() };
    *asked += 1;
    i32::from(*asked == 2)
}

/// The second question stops a quotient of 2^25 points.
fn stop(harness: &Harness) -> Result<(), Failure> {
    let (lg, ntt) = (26, Ntt::new(&harness.stream)?);
    let vectors = (0..3).map(|_| DeviceBuffer::<Words>::new(1 << lg)).collect::<Result<Vec<_>, _>>()?;
    let (first, second) = (Event::new()?, Event::new()?);
    let mut asked = 0u32;
    let context = (&raw mut asked).cast();
    let poll = Poll { ask: count_and_stop, context, events: [first.as_ptr(), second.as_ptr()] };
    let pointers = [vectors[0].as_ptr(), vectors[1].as_ptr(), vectors[2].as_ptr()];
    // SAFETY: three vectors of 2^lg elements.
    let stopped = unsafe { ntt.quotient(pointers, lg, &harness.stream, Some(&poll)) };
    assert_eq!(stopped.err().ok_or("it went on")?.code, STOPPED);
    assert_eq!(asked, 2);
    harness.stream.wait()?;
    Ok(())
}

/// Sizes that no table has are refused.
fn arguments(harness: &Harness) -> Result<(), Failure> {
    let ntt = Ntt::new(&harness.stream)?;
    let data = DeviceBuffer::<Words>::new(2)?;
    for lg in [0, 29] {
        // SAFETY: refused before anything is read.
        let refused = unsafe { ntt.to_coset(data.as_ptr(), lg, &harness.stream, None) };
        assert!(refused.is_err());
    }
    // SAFETY: refused before anything is read.
    let same = unsafe { ntt.transform(data.as_ptr(), data.as_ptr(), 1, Transform::default(), &harness.stream, None) };
    assert!(same.is_err());
    Ok(())
}

/// Passes at 2^27, and all transforms from 2^20 to 2^27.
pub fn bench(harness: &mut Harness) {
    harness.check("passes", passes);
    harness.check("sizes", sizes);
}

fn random_vector(lg: u32, stream: &Stream) -> Result<DeviceBuffer<Words>, Failure> {
    let mut data = DeviceBuffer::<Words>::new(1 << lg)?;
    let part = upload(&values(1 << lg.min(20), 8), stream)?.to_vec(stream)?;
    for place in (0..1usize << lg).step_by(part.len()) {
        data.write_at(place, &part, stream)?;
    }
    Ok(data)
}

fn passes(harness: &Harness) -> Result<(), Failure> {
    let (lg, ntt) = (27, Ntt::new(&harness.stream)?);
    let data = random_vector(lg, &harness.stream)?;
    for pass in 0..2 * lg.div_ceil(9) - 1 {
        let mut butterflies = 0;
        let ms = harness.median_ms(|stream| {
            // SAFETY: 2^lg elements.
            butterflies = unsafe { ntt.pass(data.as_ptr(), lg, pass, stream)? };
            Ok(())
        })?;
        println!("ntt pass {pass} of 2^{lg}: {ms:.2} ms, {:.1} G butterflies/s", butterflies as f64 / ms / 1e6);
    }
    Ok(())
}

fn sizes(harness: &Harness) -> Result<(), Failure> {
    let ntt = Ntt::new(&harness.stream)?;
    println!(
        "ntt lg | forward | inverse | to coset (2) | derivative (2) | four, as two derivatives | quotient (6), ms"
    );
    for lg in 20..=27 {
        let (a, b) = (random_vector(lg, &harness.stream)?, random_vector(lg, &harness.stream)?);
        let c = DeviceBuffer::<Words>::new(1 << lg)?;
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_ptr());
        let time = |f: &dyn Fn(&Stream) -> Result<(), CudaError>| harness.median_ms(f);
        // SAFETY: three vectors of 2^lg elements, for all calls below.
        let forward = time(&|s| unsafe { ntt.transform(a, c, lg, Transform::default(), s, None) })?;
        let back = Transform { inverse: true, coset: false };
        let inverse = time(&|s| unsafe { ntt.transform(a, c, lg, back, s, None) })?;
        let to_coset = time(&|s| unsafe { ntt.to_coset(a, lg, s, None) })?;
        let derivative = time(&|s| unsafe { ntt.derivative(a, lg, s, None) })?;
        let four = time(&|s| unsafe {
            ntt.derivative(a, lg, s, None)?;
            ntt.derivative(b, lg, s, None)
        })?;
        let quotient = time(&|s| unsafe { ntt.quotient([a, b, c], lg, s, None).map(|_| ()) })?;
        println!(
            "ntt {lg} | {forward:.3} | {inverse:.3} | {to_coset:.3} | {derivative:.3} | {four:.3} | {quotient:.3}"
        );
    }
    Ok(())
}
