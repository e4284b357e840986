//! Filecoin's four kinds at 2 KiB, from the inputs in testdata/: sums and bytes equal to the CPU's, and proofs that verify.

use crate::harness::{Failure, Harness};
use crate::ones::{run_indices, run_sum};
use crate::points::{expect_point, G1};
use crate::subject::{circuit, device, expect_a_checker, expected, pool, prove, Scratch, Taken};
use blstrs::{G1Affine, G1Projective, Scalar as Fr};
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cuda::sys::{sum_workspace_bytes, Curve, DeviceBuffer, OnesBits};
use cuzk::backend::cuda::CudaBackend;
use cuzk::backend::{Backend, Circuit, Sums, Uncontrolled};
use cuzk::circuit::CheckedProofs;
use cuzk::groth16::{self, assemble, Blinding, Verifier};
use cuzk::srs::Section;
use cuzk::vanilla::Input;
use group::prime::PrimeCurveAffine;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::ptr::null;
use std::sync::Arc;
use std::time::Instant;

const INPUTS: [&str; 4] = ["winning", "window", "update", "porep"];

/// All four kinds, and then 500 proofs of them in turn.
pub fn test(harness: &mut Harness) {
    for name in INPUTS {
        harness.check(name, |_| one(name));
    }
    harness.check("soak", |_| soak());
    harness.check("ones_of_a", ones_of_a);
}

/// All four kinds.
pub fn sanitize(harness: &mut Harness) {
    expect_a_checker();
    for name in INPUTS {
        harness.check(name, |_| {
            let (subject, device) = (Subject::new(name)?, device()?);
            device.load(&subject.circuit, &Uncontrolled)?;
            subject.check_proof(&device)?;
            device.unload(&subject.circuit);
            Ok(())
        });
    }
}

/// Milliseconds of one proof of each kind.
pub fn bench(harness: &mut Harness) {
    for name in INPUTS {
        harness.check(name, |_| {
            let (subject, device) = (Subject::new(name)?, device()?);
            device.load(&subject.circuit, &Uncontrolled)?;
            let mut times = Vec::new();
            for _ in 0..6 {
                let start = Instant::now();
                prove(&*device, &subject.circuit, std::slice::from_ref(&subject.assignment), &Uncontrolled)
                    .remove(0)?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times[1..].sort_by(f64::total_cmp);
            println!("{name} 2 KiB: {:.2} ms from assignment to sums; {:?}", times[3], device.stats().last);
            device.unload(&subject.circuit);
            Ok(())
        });
    }
}

/// testdata/ beside the binary, or where the command line was typed.
fn testdata(name: &str) -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe()?.parent().map(|dir| dir.join("testdata"));
    let dirs = beside.into_iter().chain([PathBuf::from("testdata")]);
    let mut files = dirs.map(|dir| dir.join(format!("{name}.json")));
    files.find(|file| file.is_file()).ok_or_else(|| format!("testdata/{name}.json is not found").into())
}

struct Subject {
    circuit: Arc<Circuit>,
    assignment: Arc<Assignment>,
    inputs: Vec<Fr>,
    _dir: Scratch,
}

impl Subject {
    fn new(name: &str) -> Result<Self, Failure> {
        let start = Instant::now();
        let checked = read(&testdata(name)?)?;
        let id = checked.circuit();
        let r1cs = id.record()?;
        let layouts = Arc::new(Layouts::pinned(id.layout(&r1cs)?));
        let (device, dir) = (device()?, Scratch::new()?);
        let recorded = start.elapsed().as_secs_f64();
        let circuit = circuit(name, r1cs, &dir, &device)?;
        let set_up = start.elapsed().as_secs_f64();
        let partition = checked.partitions().next().ok_or("a proof has partitions")?;
        let builder = Builder::new(&layouts, circuit.r1cs().input_count);
        let reference = partition.circuit()?;
        let assignment = pool().install(|| builder.synthesize(reference)).map_err(|error| error.to_string())?;
        let ready = start.elapsed().as_secs_f64();
        println!("{id}: recorded {recorded:.1} s, SRS {:.1} s, synthesis {:.1} s", set_up - recorded, ready - set_up);
        Ok(Subject { circuit, assignment: Arc::new(assignment), inputs: partition.inputs(), _dir: dir })
    }

    /// A proof made on the device, checked by pairing against the verifier's inputs.
    fn check_proof(&self, device: &CudaBackend) -> Result<(), Failure> {
        let proof = groth16::prove(device, &self.circuit, &self.assignment)?;
        assert!(Verifier::new(self.circuit.srs().vk()).verify(&self.inputs, &proof)?);
        Ok(())
    }
}

fn read(path: &Path) -> Result<CheckedProofs, Failure> {
    let input = Input::read(path)?;
    Ok(pool().install(|| input.check())?)
}

fn one(name: &str) -> Result<(), Failure> {
    let (subject, device) = (Subject::new(name)?, device()?);
    device.load(&subject.circuit, &Uncontrolled)?;
    let batch = vec![Arc::clone(&subject.assignment); 2];
    let found = prove(&*device, &subject.circuit, &batch, &Uncontrolled);
    let expected = expected(&subject.circuit, &batch)?;
    assert_eq!(found, expected);
    let vk = subject.circuit.srs().vk();
    let bytes = |sums: &cuzk::Result<cuzk::backend::Sums>| -> Result<[u8; 192], Failure> {
        let sums = sums.as_ref().map_err(|error| error.to_string())?;
        Ok(assemble(vk, sums, &Blinding::chosen(Fr::from(5), Fr::from(7))).to_bytes())
    };
    assert_eq!(bytes(&found[1])?, bytes(&expected[0])?);
    subject.check_proof(&device)?;
    device.unload(&subject.circuit);
    Ok(())
}

/// 500 proofs of the four kinds in turn, all resident: each gives the sums of the first, one of each verifies, and after the
/// second round nothing is taken any more.
fn soak() -> Result<(), Failure> {
    let device = device()?;
    let subjects: Vec<Subject> = INPUTS.into_iter().map(Subject::new).collect::<Result<_, _>>()?;
    for subject in &subjects {
        device.load(&subject.circuit, &Uncontrolled)?;
    }
    let sums = |subject: &Subject| {
        prove(&*device, &subject.circuit, std::slice::from_ref(&subject.assignment), &Uncontrolled).remove(0)
    };
    let first: Vec<Sums> = subjects.iter().map(sums).collect::<Result<_, _>>()?;
    let mut warm: Option<Taken> = None;
    for round in 1..125 {
        for (subject, first) in subjects.iter().zip(&first) {
            assert_eq!(sums(subject)?, *first, "round {round}");
        }
        match &warm {
            Some(taken) => taken.expect_unchanged(&device, round)?,
            None => warm = Some(Taken::now(&device)?),
        }
    }
    for subject in &subjects {
        subject.check_proof(&device)?;
        device.unload(&subject.circuit);
    }
    Ok(())
}

/// Sums of every point of PoRep's A query, every 32nd and every 61st, against the CPU's. A fifth of its points have an x
/// that another one has: columns that are alike or opposite.
fn ones_of_a(harness: &Harness) -> Result<(), Failure> {
    let (subject, stream) = (Subject::new("porep")?, &harness.stream);
    let srs = subject.circuit.srs();
    let count = srs.count(Section::A) as usize;
    let (mut bytes, mut points) = (vec![0; 96 * count], vec![G1Affine::default(); count]);
    srs.read(Section::A, 0, &mut bytes)?;
    srs.read_points(Section::A, 0, &mut points)?;
    let xs: HashSet<&[u8]> = bytes.chunks_exact(96).map(|point| &point[..48]).collect();
    println!("A query of PoRep 2 KiB: {count} points, {} x coordinates", xs.len());
    assert!(xs.len() < count, "points that repeat are what this is about");
    let (bases, stored) = (DeviceBuffer::<u8>::new(bytes.len())?, DeviceBuffer::from_slice(&bytes, stream)?);
    let bad = DeviceBuffer::from_slice(&[u64::MAX], stream)?;
    // SAFETY: all buffers live until to_vec has waited for the stream.
    unsafe { Curve::G1.load(bases.as_ptr(), stored.as_ptr(), count as u64, 0, bad.as_ptr().cast(), stream)? };
    assert_eq!(bad.to_vec(stream)?, [u64::MAX]);
    for stride in [1, 32, 61] {
        let mut bits = vec![0u64; count.div_ceil(64)];
        (0..count).step_by(stride).for_each(|i| bits[i / 64] |= 1 << (i % 64));
        let device = DeviceBuffer::from_slice(&bits, stream)?;
        let word_count = bits.len() as u64;
        let ones = OnesBits { bits: device.as_ptr().cast(), density: null(), without: null(), word_count };
        let list = DeviceBuffer::<u32>::new(count)?;
        let (found, _) = run_indices(&ones, &list, count, stream)?;
        assert_eq!(found as usize, count.div_ceil(stride));
        let space = sum_workspace_bytes(Curve::G1, found.into());
        let sum = run_sum::<G1>(harness, &bases, Some(&list), found as usize, space)?;
        let expected = points.iter().step_by(stride).map(G1Affine::to_curve).sum::<G1Projective>();
        expect_point(sum, expected, format!("every {stride}. point of A"))?;
    }
    Ok(())
}
