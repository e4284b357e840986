//! Compiles the CUDA kernels when there is a compiler for them, and the host twin of the arithmetic headers for tests.
//!
//! - `CUDA`: 0 builds without kernels, 1 insists on them; unset, they are built if nvcc is found: `NVCC`,
//!   `CUDA_HOME/bin/nvcc`, or nvcc in PATH.
//! - `CUDA_ARCHS`: architectures, e.g. "90" or "80 86 90"; the newest is embedded as PTX too. Default: those of the cards
//!   in this machine, or all that are supported if there is none.
//! - `NVCC_CCBIN`: the C++ compiler that nvcc uses, else `CXX`, else c++.
//!
//! Sets `cfg(cuda)` and `cfg(cuda_host_twin)`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const ALL_ARCHS: &str = "80 86 89 90 100 120";

fn main() {
    println!("cargo:rustc-check-cfg=cfg(cuda)");
    println!("cargo:rustc-check-cfg=cfg(cuda_host_twin)");
    for name in ["CUDA", "CUDA_ARCHS", "CUDA_HOME", "NVCC", "NVCC_CCBIN", "CXX"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=cuda");
    let testing = env::var_os("CARGO_FEATURE_TESTING").is_some();
    if testing {
        host_twin();
    }
    let wanted = env::var("CUDA").unwrap_or_default();
    match (wanted.as_str(), find_nvcc()) {
        ("0", _) => {}
        ("1", None) => panic!("CUDA=1, but no nvcc: set NVCC or CUDA_HOME, or run scripts/cuda-toolkit.sh"),
        (_, None) => {}
        (_, Some(nvcc)) => kernels(&nvcc, testing),
    }
}

/// The first of `NVCC`, `CUDA_HOME/bin/nvcc` and nvcc in PATH that exists.
fn find_nvcc() -> Option<PathBuf> {
    let in_path = || {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|dir| dir.join("nvcc")).find(|file| file.is_file())
    };
    let named = env::var_os("NVCC").map(PathBuf::from);
    let home = env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/nvcc"));
    named.or(home).filter(|file| file.is_file()).or_else(in_path)
}

/// Compiles every `.cu` below cuda/ into one static library; those in cuda/testing only for tests.
fn kernels(nvcc: &Path, testing: bool) {
    // SAFETY: a build script is single-threaded here. The cc crate takes nvcc through this variable alone, and hands the
    // C++ compiler that it finds in CXX to nvcc.
    unsafe {
        env::set_var("NVCC", nvcc);
        if let Some(ccbin) = env::var_os("NVCC_CCBIN") {
            env::set_var("CXX", ccbin);
        }
    }
    let host_compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut build = cc::Build::new();
    build.cuda(true).cudart("none").include("cuda").pic(true).warnings(false).opt_level(3);
    // A GNU_UNIQUE symbol can't be made local to an archive, and two libraries with CUB in one process would share it.
    build.flag("-std=c++17").flag("-Xcompiler=-fno-gnu-unique").flag("--threads=2");
    let archs = archs();
    for arch in &archs {
        build.flag(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    }
    if let Some(newest) = archs.iter().max_by_key(|arch| arch.parse::<u32>().unwrap_or(0)) {
        build.flag(format!("-gencode=arch=compute_{newest},code=compute_{newest}"));
    }
    let is_wanted = |file: &PathBuf| testing || !file.starts_with("cuda/testing");
    build.files(sources(Path::new("cuda"), "cu").into_iter().filter(is_wanted));
    if let Err(error) = build.try_compile("cuzk_kernels") {
        panic!(
            "CUDA kernels: {error}\nnvcc: {} \nits host compiler: {}",
            version(nvcc),
            version(host_compiler.as_ref())
        );
    }
    let root = nvcc.canonicalize().expect("nvcc's path").parent().unwrap().parent().unwrap().to_path_buf();
    for dir in ["lib", "lib64"] {
        println!("cargo:rustc-link-search=native={}", root.join(dir).display());
    }
    println!("cargo:rustc-link-lib=static=cudart_static");
    for lib in ["pthread", "dl", "rt", "stdc++"] {
        println!("cargo:rustc-link-lib={lib}");
    }
    println!("cargo:rustc-cfg=cuda");
}

/// The architectures to compile for, e.g. ["90"].
fn archs() -> Vec<String> {
    let named = env::var("CUDA_ARCHS").ok();
    let list = named.filter(|list| !list.trim().is_empty()).or_else(archs_of_cards).unwrap_or_else(|| ALL_ARCHS.into());
    let mut archs: Vec<String> = list.split_whitespace().map(String::from).collect();
    archs.sort();
    archs.dedup();
    archs
}

/// Compute capabilities of the cards in this machine, if there are any.
fn archs_of_cards() -> Option<String> {
    let query = ["--query-gpu=compute_cap", "--format=csv,noheader"];
    let output = Command::new("nvidia-smi").args(query).output().ok().filter(|output| output.status.success())?;
    let list = String::from_utf8(output.stdout).ok()?.replace('.', "");
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    (list.split_whitespace().next().is_some() && list.split_whitespace().all(is_number)).then_some(list)
}

/// A compiler's path and what it says of its version.
fn version(compiler: &Path) -> String {
    let said = Command::new(compiler).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().find(|line| line.contains("release") || line.contains('.')).unwrap_or("no answer");
    format!("{} ({line})", compiler.display())
}

/// Compiles cuda/host/*.cpp, the same arithmetic headers for the CPU, if a C++ compiler answers.
fn host_twin() {
    let files = sources(Path::new("cuda/host"), "cpp");
    let mut build = cc::Build::new();
    build.cpp(true).include("cuda").std("c++17").opt_level(2).extra_warnings(true);
    build.flag_if_supported("-Wno-unused-function");
    if files.is_empty()
        || build
            .try_get_compiler()
            .map(|tool| tool.to_command().arg("--version").output())
            .map_or(true, |out| out.is_err())
    {
        return;
    }
    build.files(files).compile("cuzk_host_twin");
    println!("cargo:rustc-cfg=cuda_host_twin");
}

/// Files below `dir` with extension `ext`, sorted.
fn sources(dir: &Path, ext: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return found };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path, ext));
        } else if path.extension().is_some_and(|e| e == ext) {
            found.push(path);
        }
    }
    found.sort();
    found
}
