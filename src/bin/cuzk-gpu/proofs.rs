//! The back end's sums against the CPU's: random circuits, batches, dropping, yielding, a soak, and memory that is short.

use crate::harness::{Failure, Harness};
use crate::subject::{device, expect_a_checker, expected, open_with, prove, Script, Subject, Taken};
use cuzk::backend::cuda::sys::{device_memory, DeviceBuffer};
use cuzk::backend::cuda::CudaConfig;
use cuzk::backend::{Answer, Backend, Uncontrolled};
use cuzk::Error;
use std::sync::Mutex;

/// All checks.
pub fn test(harness: &mut Harness) {
    harness.check("random", |_| random(200, 18));
    harness.check("batches", |_| batches());
    harness.check("drop", |_| drops());
    harness.check("yield", |_| yields());
    harness.check("soak", |_| soak());
    harness.check("memory", memory);
}

/// Small circuits, and smaller ones for the slower of the checkers.
pub fn sanitize(harness: &mut Harness) {
    expect_a_checker();
    harness.check("smallest", |_| random(3, 4));
    harness.check("random", |_| random(10, 11));
}

/// None: a whole partition is an area of its own.
pub fn bench(_harness: &mut Harness) {}

/// `count` circuits of 2^2 to 2^most rows.
fn random(count: u64, most: u64) -> Result<(), Failure> {
    let device = device()?;
    for seed in 0..count {
        let lg = 2 + seed % (most - 1);
        let rows = (1u64 << lg) - seed * 37 % (1 << (lg - 1));
        let subject = Subject::new(seed, rows as u32 - 1, &device)?;
        device.load(&subject.circuit, &Uncontrolled)?;
        let batch = subject.batch(1)?;
        let found = prove(&*device, &subject.circuit, &batch, &Uncontrolled);
        assert_eq!(found, expected(&subject.circuit, &batch)?, "circuit {seed} of {rows} rows");
        assert!(found[0].is_ok(), "{found:?}");
        device.unload(&subject.circuit);
    }
    Ok(())
}

fn batches() -> Result<(), Failure> {
    let device = device()?;
    for rows in [700, 20_000] {
        let subject = Subject::new(301, rows, &device)?;
        device.load(&subject.circuit, &Uncontrolled)?;
        let batch = subject.batch(10)?;
        let expected = expected(&subject.circuit, &batch)?;
        for count in [1, 2, 3, 10] {
            let found = prove(&*device, &subject.circuit, &batch[..count], &Uncontrolled);
            assert_eq!(found, expected[..count], "{rows} rows, {count} assignments");
        }
        device.unload(&subject.circuit);
    }
    Ok(())
}

/// Ten of the questions `[0, asked)`.
fn ten(asked: usize) -> impl Iterator<Item = usize> {
    (0..10).map(move |i| i * (asked - 1) / 9)
}

fn drops() -> Result<(), Failure> {
    let device = device()?;
    let subject = Subject::new(302, 200_000, &device)?;
    device.load(&subject.circuit, &Uncontrolled)?;
    let batch = subject.batch(3)?;
    let expected = expected(&subject.circuit, &batch)?;
    // The first proof makes the circuit's layout, and asks by the clock meanwhile.
    assert_eq!(prove(&*device, &subject.circuit, &batch, &Uncontrolled), expected);
    let whole = Script::default();
    assert_eq!(prove(&*device, &subject.circuit, &batch, &whole), expected);
    for at in ten(whole.asked()) {
        let script = Script::answering(at, Answer::Drop(vec![1]));
        let found = prove(&*device, &subject.circuit, &batch, &script);
        assert_eq!([&found[0], &found[2]], [&expected[0], &expected[2]], "dropped at {at}");
        let late = found[1] == expected[1];
        assert!(late || found[1] == Err(Error::Cancelled), "dropped at {at}: {:?}", found[1]);
        assert!(!late || at >= whole.asked() / 3, "dropped at {at} and proved");
    }
    device.unload(&subject.circuit);
    Ok(())
}

fn yields() -> Result<(), Failure> {
    let device = device()?;
    let (subject, urgent) = (Subject::new(303, 200_000, &device)?, Subject::new(304, 3_000, &device)?);
    device.load(&subject.circuit, &Uncontrolled)?;
    device.load(&urgent.circuit, &Uncontrolled)?;
    let (batch, urgent_batch) = (subject.batch(2)?, urgent.batch(2)?);
    let (sums, urgent_sums) = (expected(&subject.circuit, &batch)?, expected(&urgent.circuit, &urgent_batch)?);
    assert_eq!(prove(&*device, &subject.circuit, &batch, &Uncontrolled), sums);
    let whole = Script::default();
    assert_eq!(prove(&*device, &subject.circuit, &batch, &whole), sums);
    for at in ten(whole.asked()) {
        let ran = Mutex::new(Vec::new());
        let mut script = Script::answering(at, Answer::Yield);
        script.urgent = Some(Box::new(|inside: &dyn Backend| {
            let found = prove(inside, &urgent.circuit, &urgent_batch, &Uncontrolled);
            ran.lock().expect("no panic").push(found == urgent_sums);
        }));
        assert_eq!(prove(&*device, &subject.circuit, &batch, &script), sums, "yielded at {at}");
        drop(script);
        assert_eq!(ran.into_inner()?, [true], "yielded at {at}");
    }
    device.unload(&subject.circuit);
    device.unload(&urgent.circuit);
    Ok(())
}

/// 100 proofs of four circuits in turn: after the second round nothing is taken any more.
fn soak() -> Result<(), Failure> {
    let device = device()?;
    let subjects: Vec<Subject> = [(305, 900), (306, 60_000), (307, 4_000), (308, 250_000)]
        .into_iter()
        .map(|(seed, rows)| Subject::new(seed, rows, &device))
        .collect::<Result<_, _>>()?;
    let mut work = Vec::new();
    for subject in &subjects {
        device.load(&subject.circuit, &Uncontrolled)?;
        let batch = subject.batch(1)?;
        let sums = expected(&subject.circuit, &batch)?;
        work.push((subject, batch, sums));
    }
    let mut warm: Option<Taken> = None;
    for round in 0..25 {
        for (subject, batch, sums) in &work {
            assert_eq!(prove(&*device, &subject.circuit, batch, &Uncontrolled), *sums, "round {round}");
        }
        match &warm {
            Some(taken) => taken.expect_unchanged(&device, round)?,
            None if round == 1 => warm = Some(Taken::now(&device)?),
            None => {}
        }
    }
    subjects.iter().for_each(|subject| device.unload(&subject.circuit));
    Ok(())
}

/// Memory that another program holds: a typed error, everything given back, and the next call works.
fn memory(harness: &Harness) -> Result<(), Failure> {
    let device = open_with(&CudaConfig { device_reserve_bytes: 64 << 20, ..CudaConfig::default() })?;
    let subject = Subject::new(309, 3_000_000, &device)?;
    device.trim();
    let hog = DeviceBuffer::<u8>::new((device_memory()?.0 - (1 << 30)) as usize)?;
    let error = match device.load(&subject.circuit, &Uncontrolled) {
        Ok(()) => {
            let found = prove(&*device, &subject.circuit, &subject.batch(1)?, &Uncontrolled).remove(0);
            device.unload(&subject.circuit);
            found.err().ok_or("there was room")?
        }
        Err(error) => error,
    };
    match error {
        Error::OutOfMemory { budget, needed, free } => {
            assert!(budget.contains("GPU-") && needed > free, "{budget}: {needed}, {free}");
            println!("{budget}: {needed} bytes needed, {free} free");
        }
        other => return Err(other.into()),
    }
    drop(hog);
    harness.stream.wait()?;
    device.load(&subject.circuit, &Uncontrolled)?;
    let batch = subject.batch(1)?;
    assert_eq!(prove(&*device, &subject.circuit, &batch, &Uncontrolled), expected(&subject.circuit, &batch)?);
    let stats = device.stats();
    let reserved: u64 = stats.reservations.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(reserved, stats.memory_held_bytes, "{:?}", stats.reservations);
    device.close()?;
    Ok(())
}
