#!/bin/sh
# Runs every fuzz target for FUZZ_SECONDS (300), with the committed corpora. Installs cargo-fuzz if it is missing.
# RUSTC_BOOTSTRAP lets the stable compiler take the coverage and sanitizer flags that fuzzing needs.
set -eu
cd "$(dirname "$0")/.."
export RUSTC_BOOTSTRAP=1
seconds=${FUZZ_SECONDS:-300}
command -v cargo-fuzz >/dev/null 2>&1 || cargo install --locked cargo-fuzz
for target in r1cs_cache params; do
    cargo fuzz run --fuzz-dir fuzz "$target" -- -max_total_time="$seconds"
done
for target in c1_json vanilla_bincode; do
    cargo fuzz run --fuzz-dir fuzz/circuit "$target" -- -max_total_time="$seconds"
done
