//! The built-in table against parameters.json of the filecoin-proofs that cargo resolved.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use cuzk::srs::known::{by_name, by_vk_digest, KNOWN};
use serde::Deserialize;

#[derive(Deserialize)]
struct Entry {
    digest: String,
    sector_size: u64,
}

fn parameters_json() -> BTreeMap<String, Entry> {
    // Packages of other platforms needn't have been downloaded.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let package = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|package| package["name"] == "filecoin-proofs"))
        .expect("filecoin-proofs is a dependency");
    let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
    let json = std::fs::read(manifest.with_file_name("parameters.json")).expect("it is part of the package");
    serde_json::from_slice(&json).expect("name, digest and sector size of each file")
}

#[test]
fn the_table_is_parameters_json() {
    let json = parameters_json();
    assert_eq!(json.len(), 2 * KNOWN.len(), "one .params and one .vk per entry");
    for known in &KNOWN {
        let vk = &json[&format!("{}.vk", known.name)];
        let params = &json[&format!("{}.params", known.name)];
        assert_eq!((vk.digest.as_str(), vk.sector_size), (known.vk_digest, known.sector_bytes), "{}", known.name);
        assert_eq!((params.digest.as_str(), params.sector_size), (known.params_digest, known.sector_bytes));
    }
}

#[test]
fn an_entry_is_found_by_its_vk_digest_and_by_its_name_and_by_nothing_else() {
    for known in &KNOWN {
        assert_eq!(by_vk_digest(known.vk_digest), Some(known), "digests are distinct");
        assert_eq!(by_name(known.name), Some(known), "names are distinct");
        assert_eq!(by_vk_digest(known.params_digest), None);
    }
    assert!(KNOWN.windows(2).all(|pair| pair[0].name < pair[1].name), "sorted by name");
    assert_eq!(by_vk_digest(""), None);
}

#[test]
fn the_proofs_stack_is_pinned_exactly_and_builds_use_the_lock_file() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut pinned = Vec::new();
    for manifest in ["Cargo.toml", "reference/Cargo.toml"] {
        for line in read(manifest).lines() {
            let Some((package, version)) = line.split_once(" = ") else { continue };
            let of_the_stack = ["filecoin-", "storage-proofs-", "bellp", "blstrs", "neptune"];
            if of_the_stack.iter().any(|prefix| package.starts_with(prefix)) && !version.contains("workspace") {
                assert!(version.contains("\"="), "{manifest}: {line}");
                pinned.push(package.to_owned());
            }
        }
    }
    for package in ["bellpepper-core", "bellperson", "blstrs", "filecoin-proofs", "storage-proofs-porep", "neptune"] {
        assert!(pinned.iter().any(|found| found == package), "{package} isn't pinned");
    }
    // A command of cargo that resolves versions names the lock file. (fmt and clean don't resolve any.)
    for file in ["Makefile", ".ci/run", "scripts/gpu-bundle.sh"] {
        let text = read(file).replace("$(CARGO_FLAGS)", "--locked");
        let resolves = |line: &&str| {
            let command = line.replace("$(CARGO)", "cargo");
            ["build", "test", "bench", "run", "clippy", "doc"]
                .iter()
                .any(|verb| command.contains(&format!("cargo {verb}")))
        };
        for line in text.lines().filter(resolves) {
            assert!(line.contains("--locked"), "{file}: {line}");
        }
    }
}
