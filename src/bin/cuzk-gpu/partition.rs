//! A whole partition of PoRep 32 GiB on the device: the real circuit with a real witness, an SRS made on the device, a
//! proof that verifies, and where the time goes.

use crate::harness::{Failure, Harness};
use crate::subject::{circuit, open_with, pool, prove, Scratch};
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cuda::sys::{device_memory, Curve, MsmPlan};
use cuzk::backend::cuda::{CudaBackend, CudaConfig, Phases};
use cuzk::backend::{Backend, Circuit, Uncontrolled};
use cuzk::circuit::{CheckedProofs, CircuitId, Kind};
use cuzk::groth16::{self, Verifier};
use cuzk::vanilla::{sectorless, Input};
use filecoin_proofs_api::RegisteredSealProof;
use std::sync::Arc;
use std::time::Instant;

/// None: minutes of host work come before it.
pub fn test(_harness: &mut Harness) {}

/// None, for the same reason.
pub fn sanitize(_harness: &mut Harness) {}

/// One circuit.
pub fn bench(harness: &mut Harness) {
    harness.check("porep", |_| porep());
}

/// Says how long a step took.
fn timed<T>(step: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let start = Instant::now();
    let done = work()?;
    println!("partition: {step}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(done)
}

fn checked() -> Result<CheckedProofs, Failure> {
    let c1 = pool().install(|| sectorless::porep(RegisteredSealProof::StackedDrg32GiBV1_1, 1000, 18, 0))?;
    // Hashes are checked when the proof is: a wrong one fails the pairing.
    Ok(pool().install(|| Input::Porep(c1).check())?)
}

fn synthesize(checked: &CheckedProofs, layouts: &Arc<Layouts>, input_count: u32) -> Result<Assignment, Failure> {
    let partition = checked.partitions().next().ok_or("a proof has partitions")?;
    let reference = partition.circuit()?;
    Ok(Builder::new(layouts, input_count).synthesize(reference).map_err(|error| error.to_string())?)
}

fn porep() -> Result<(), Failure> {
    let config = CudaConfig { b_g1: false, ..CudaConfig::default() };
    let device = open_with(&config)?;
    let id = CircuitId::new(Kind::PoRep, 32 << 30)?;
    let r1cs = timed("recording", || Ok(id.record_pinned()?))?;
    let layouts = timed("layout", || Ok(Arc::new(Layouts::pinned(id.layout(&r1cs)?))))?;
    let input_count = r1cs.input_count;
    let checked = timed("input", checked)?;
    let dir = Scratch::new()?;
    // Synthesis has one thread, setup the others.
    let (made, synthesized) = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let assignment = timed("synthesis beside setup", || synthesize(&checked, &layouts, input_count));
            assignment.map_err(|error| error.to_string())
        });
        let made = timed("setup", || circuit("porep-32gib", r1cs, &dir, &device));
        (made, other.join())
    });
    let circuit = made?;
    let assignment = Arc::new(synthesized.map_err(|_| "synthesis panicked")??);
    device.trim();
    timed("load", || Ok(device.load(&circuit, &Uncontrolled)?))?;
    measure(&device, &circuit, &assignment)?;
    let proof = timed("proof with its check", || Ok(groth16::prove(&*device, &circuit, &assignment)?))?;
    let partition = checked.partitions().next().ok_or("a proof has partitions")?;
    assert!(Verifier::new(circuit.srs().vk()).verify(&partition.inputs(), &proof)?);
    device.unload(&circuit);
    device.trim();
    timed("second load", || Ok(device.load(&circuit, &Uncontrolled)?))?;
    device.close()?;
    Ok(())
}

/// Six proofs, the first of which isn't counted.
fn measure(device: &CudaBackend, circuit: &Arc<Circuit>, assignment: &Arc<Assignment>) -> Result<(), Failure> {
    let (mut runs, mut warm): (Vec<(f64, Phases)>, _) = (Vec::new(), None);
    for _ in 0..6 {
        let start = Instant::now();
        prove(device, circuit, std::slice::from_ref(assignment), &Uncontrolled).remove(0)?;
        runs.push((start.elapsed().as_secs_f64() * 1e3, device.stats().last));
        let calls = device.stats().calls;
        assert!(runs.len() < 3 || warm == Some(calls), "{warm:?}, then {calls:?}");
        warm = Some(calls);
    }
    for (ms, phases) in &runs {
        println!("partition: {ms:.1} ms, {phases:?}");
    }
    runs.remove(0);
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("partition: median {:.1} ms from assignment to sums on the host", runs[2].0);
    let scalars = (1 << circuit.r1cs().lg_domain_size()) + u64::from(assignment.layout().full_count());
    println!("partition: {:?}", MsmPlan::new(Curve::G1, false, scalars, 8 << 30, 0)?);
    let stats = device.stats();
    for (name, bytes) in &stats.reservations {
        println!("partition: {name}: {:.3} GiB", *bytes as f64 / f64::from(1 << 30));
        assert!(name != "work" || *bytes <= 13 << 30, "working memory of {bytes} bytes");
    }
    let (free, total) = device_memory()?;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    println!("partition: arena {:.2} GiB, card {:.2} GiB in use", gib(stats.memory_held_bytes), gib(total - free));
    println!("partition: calls so far {:?}", stats.calls);
    Ok(())
}
