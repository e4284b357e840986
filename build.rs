//! Compiles the CUDA kernels when there is a compiler for them, and the host twin of the arithmetic headers for tests.
//!
//! - `CUDA`: 0 builds without kernels, 1 insists on them; unset, they are built if nvcc is found: `NVCC`,
//!   `CUDA_HOME/bin/nvcc`, or nvcc in PATH.
//! - `CUDA_ARCHS`: architectures, e.g. "90" or "80 86 90"; the newest is embedded as PTX too. Default: those of the cards
//!   in this machine, or all that are supported if there is none.
//! - `NVCC_CCBIN`: the C++ compiler that nvcc uses, else `CXX`, else g++.
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
///
/// Calls nvcc itself: the cc crate would compile several files as relocatable device code, whose calls between functions
/// cost registers and a fifth of the speed, and would compile all of them again when one changes. Objects are kept beside
/// cargo's folders (target/release/cuda-kernels), so that builds with other features share them.
fn kernels(nvcc: &Path, testing: bool) {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let profile = out.ancestors().nth(3).expect("OUT_DIR is <profile>/build/<package>/out");
    let out = profile.join("cuda-kernels");
    std::fs::create_dir_all(&out).expect("the target folder is writable");
    let flags = nvcc_flags();
    let is_wanted = |file: &PathBuf| testing || !file.starts_with("cuda/testing");
    let jobs: Vec<(PathBuf, PathBuf)> = sources(Path::new("cuda"), "cu")
        .into_iter()
        .filter(is_wanted)
        .map(|file| {
            let object = out.join(file.to_string_lossy().replace('/', "-")).with_extension("o");
            (file, object)
        })
        .collect();
    let queue = std::sync::Mutex::new(jobs.iter().filter(|(file, object)| is_stale(file, object, nvcc, &flags)));
    let workers = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| loop {
                let Some((file, object)) = queue.lock().expect("a worker panicked").next() else { return };
                compile(file, object, nvcc, &flags);
            });
        }
    });
    let mut archive = cc::Build::new();
    archive.objects(jobs.iter().map(|(_, object)| object)).compile("cuzk_kernels");
    let root = nvcc.canonicalize().expect("nvcc's path").parent().unwrap().parent().unwrap().to_path_buf();
    for dir in ["lib", "lib64"] {
        println!("cargo:rustc-link-search=native={}", root.join(dir).display());
    }
    println!("cargo:rustc-link-lib=static=cudart_static");
    for lib in ["pthread", "dl", "rt", "stdc++"] {
        println!("cargo:rustc-link-lib={lib}");
    }
    println!("cargo:rustc-env=CUZK_CUDA_ARCHS={}", archs().join(" "));
    println!("cargo:rustc-cfg=cuda");
}

fn nvcc_flags() -> Vec<String> {
    // A GNU_UNIQUE symbol can't be made local to an archive, and two libraries with CUB in one process would share it.
    let fixed = "-std=c++17 -O3 -Icuda -Xcompiler=-fPIC -Xcompiler=-fno-gnu-unique -cudart=none";
    let mut flags: Vec<String> = fixed.split(' ').map(String::from).collect();
    let archs = archs();
    flags.extend(archs.iter().map(|arch| format!("-gencode=arch=compute_{arch},code=sm_{arch}")));
    if let Some(newest) = archs.iter().max_by_key(|arch| arch.parse::<u32>().unwrap_or(0)) {
        flags.push(format!("-gencode=arch=compute_{newest},code=compute_{newest}"));
    }
    if let Some(ccbin) = env::var_os("NVCC_CCBIN").or_else(|| env::var_os("CXX")) {
        flags.push(format!("-ccbin={}", ccbin.to_string_lossy()));
    }
    flags
}

/// What made an object: kept beside it, so that other flags or another compiler make it anew.
fn recipe(nvcc: &Path, flags: &[String]) -> String {
    format!("{} {}", nvcc.display(), flags.join(" "))
}

/// Whether `object` is missing, was made differently, or is older than a file that it was made of.
fn is_stale(file: &Path, object: &Path, nvcc: &Path, flags: &[String]) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    let Some(made) = modified(object) else { return true };
    if std::fs::read_to_string(object.with_extension("recipe")).ok() != Some(recipe(nvcc, flags)) {
        return true;
    }
    // "object : file \ file \ …"
    let Ok(rule) = std::fs::read_to_string(object.with_extension("d")) else { return true };
    let Some((_, files)) = rule.split_once(": ") else { return true };
    let mut used = files.split_whitespace().filter(|word| *word != "\\").map(Path::new).chain([file]);
    used.any(|path| modified(path).is_none_or(|time| time > made))
}

fn compile(file: &Path, object: &Path, nvcc: &Path, flags: &[String]) {
    // The recipe is the last to appear, and a compilation that is killed leaves none.
    let (made, written) = (object.with_extension("recipe"), "the target folder is writable");
    if made.exists() {
        std::fs::remove_file(&made).expect(written);
    }
    let mut command = Command::new(nvcc);
    command.args(flags).arg("-c").arg(file).arg("-o").arg(object).arg("-MD").arg("-MF").arg(object.with_extension("d"));
    let output = command.output();
    if output.as_ref().is_ok_and(|output| output.status.success()) {
        std::fs::write(made, recipe(nvcc, flags)).expect(written);
        return;
    }
    let said = output.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stderr).into());
    let host = env::var_os("NVCC_CCBIN").or_else(|| env::var_os("CXX")).unwrap_or_else(|| "g++".into());
    panic!("{said}\n{command:?}\nnvcc: {}\nits host compiler: {}", version(nvcc), version(host.as_ref()));
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
