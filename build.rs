//! Compiles the CUDA kernels when there is a compiler for them, and the host twin of the arithmetic headers for tests.
//!
//! `CUDA=0` builds without kernels, `CUDA=1` insists on them; unset, they are built if nvcc is found (`NVCC`,
//! `CUDA_HOME/bin/nvcc`, PATH). `CUDA_ARCHS` lists the architectures, e.g. "90" or "80 86 90".
//! Sets `cfg(cuda)` and `cfg(cuda_host_twin)`.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rustc-check-cfg=cfg(cuda)");
    println!("cargo:rustc-check-cfg=cfg(cuda_host_twin)");
    for name in ["CUDA", "CUDA_ARCHS", "CUDA_HOME", "NVCC", "CXX"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=cuda");
    if env::var_os("CARGO_FEATURE_TESTING").is_some() {
        host_twin();
    }
    let wanted = env::var("CUDA").unwrap_or_default();
    match (wanted.as_str(), find_nvcc()) {
        ("0", _) => {}
        ("1", None) => panic!("CUDA=1, but no nvcc: set NVCC or CUDA_HOME, or run `make cuda-toolkit`"),
        (_, None) => {}
        (_, Some(nvcc)) => kernels(&nvcc),
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

/// Compiles every `.cu` below cuda/, except host/, into one static library.
fn kernels(nvcc: &Path) {
    // SAFETY: a build script is single-threaded here. The cc crate takes nvcc through this variable alone.
    unsafe { env::set_var("NVCC", nvcc) };
    let archs = env::var("CUDA_ARCHS").unwrap_or_else(|_| "80 86 89 90 100 120".into());
    let mut build = cc::Build::new();
    build.cuda(true).cudart("none").include("cuda").pic(true).warnings(false).opt_level(3);
    build.flag("-std=c++17").flag("-Xcompiler=-fno-gnu-unique").flag("--threads=2");
    let mut newest = "";
    for arch in archs.split_whitespace() {
        build.flag(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
        newest = arch;
    }
    build.flag(format!("-gencode=arch=compute_{newest},code=compute_{newest}"));
    for file in sources(Path::new("cuda"), "cu") {
        build.file(file);
    }
    build.compile("cuzk_kernels");
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

/// Compiles cuda/host/*.cpp, the same arithmetic headers for the CPU, if a C++ compiler answers.
fn host_twin() {
    let files = sources(Path::new("cuda/host"), "cpp");
    let mut build = cc::Build::new();
    build.cpp(true).include("cuda").std("c++17").opt_level(2).warnings(true).extra_warnings(true);
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
