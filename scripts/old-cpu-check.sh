#!/usr/bin/env bash
# Opens an engine, makes a proof and verifies it on an emulated processor of 2008, which has no ADX, no BMI2 and no AVX.
# Needs `make demo` and `make archive` before.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! emulator=$(command -v qemu-x86_64-static || command -v qemu-x86_64); then
    echo "no qemu-x86_64: it is in Debian's package qemu-user-static" >&2
    exit 1
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
(cd go && go build -o "$out/guest" ./examples/guest)
"$emulator" -cpu Nehalem "$out/guest" target/demo "$out/cache" one
echo "a proof made and verified on a processor without ADX, BMI2 and AVX"
