#!/bin/sh
# Runs every fuzz target for FUZZ_SECONDS (300), with the committed corpora. Installs cargo-fuzz if it is missing.
# RUSTC_BOOTSTRAP lets the stable compiler take the coverage and sanitizer flags that fuzzing needs.
set -eu
cd "$(dirname "$0")/.."
export RUSTC_BOOTSTRAP=1
seconds=${FUZZ_SECONDS:-300}
command -v cargo-fuzz >/dev/null 2>&1 || cargo install --locked cargo-fuzz
# New inputs go to a folder of their own: libFuzzer would replace the committed ones, which the tests replay.
run() {
    found=target/fuzz/$2
    mkdir -p "$found"
    cargo fuzz run --fuzz-dir "$1" "$2" "$found" "$1/corpus/$2" -- -max_total_time="$seconds"
}
for target in r1cs_cache params; do
    run fuzz "$target"
done
for target in c1_json vanilla_bincode; do
    run fuzz/circuit "$target"
done
