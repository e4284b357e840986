//! Tests and benches of the CUDA kernels on a machine with a GPU: `cuzk-gpu {test|bench|sanitize} [name …]`.
//!
//! One binary, so that it can be carried to a machine that has no Rust. A name is an area (`runtime`) or the start of a
//! check's or bench's full name (`runtime/copy`); none means all. `sanitize` runs the small sizes, for compute-sanitizer.

#[cfg(cuda)]
mod curve;
#[cfg(cuda)]
mod faults;
#[cfg(cuda)]
mod field;
#[cfg(cuda)]
mod filecoin;
#[cfg(cuda)]
mod fixed_base;
#[cfg(cuda)]
mod fp_oracle;
#[cfg(cuda)]
mod fr;
#[cfg(cuda)]
mod harness;
#[cfg(cuda)]
mod msm;
#[cfg(cuda)]
mod msm_bench;
#[cfg(cuda)]
mod ntt;
#[cfg(cuda)]
mod ones;
#[cfg(cuda)]
mod partition;
#[cfg(cuda)]
mod points;
#[cfg(cuda)]
mod proofs;
#[cfg(cuda)]
mod random;
#[cfg(cuda)]
mod rows;
#[cfg(cuda)]
mod runtime;
#[cfg(cuda)]
mod subject;

/// One area of the kernels: a module with these three functions.
#[cfg(cuda)]
struct Area {
    name: &'static str,
    test: fn(&mut harness::Harness),
    bench: fn(&mut harness::Harness),
    sanitize: fn(&mut harness::Harness),
}

#[cfg(cuda)]
macro_rules! area {
    ($module:ident) => {
        Area { name: stringify!($module), test: $module::test, bench: $module::bench, sanitize: $module::sanitize }
    };
}

#[cfg(cuda)]
const AREAS: &[Area] = &[
    area!(runtime),
    area!(field),
    area!(curve),
    area!(fr),
    area!(ntt),
    area!(rows),
    area!(fixed_base),
    area!(msm),
    area!(ones),
    area!(proofs),
    area!(filecoin),
    area!(partition),
    area!(faults),
];

#[cfg(cuda)]
fn main() -> std::process::ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let pick: fn(&Area) -> fn(&mut harness::Harness) = match command.as_str() {
        "test" => |area| area.test,
        "bench" => |area| area.bench,
        "sanitize" => |area| area.sanitize,
        _ => {
            eprintln!("usage: cuzk-gpu {{test|bench|sanitize}} [name …]");
            return std::process::ExitCode::from(2);
        }
    };
    let mut harness = match harness::Harness::new(args.collect()) {
        Ok(harness) => harness,
        Err(error) => {
            eprintln!("cuzk-gpu: {error}");
            return std::process::ExitCode::from(2);
        }
    };
    for area in AREAS {
        harness.enter(area.name);
        pick(area)(&mut harness);
    }
    harness.finish()
}

#[cfg(not(cuda))]
fn main() {
    eprintln!("cuzk-gpu: built without CUDA");
    std::process::exit(2);
}
