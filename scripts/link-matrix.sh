#!/usr/bin/env bash
# Links the archive in every way that Go has, with GNU ld and lld, and with gold and mold where they are installed, into a
# program that holds a second Rust library which isn't isolated (tests/link), and runs it. Needs `make demo`, `make archive` and
# `make archive-testing` before.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

cargo build --release --locked --manifest-path tests/link/beside/Cargo.toml --target-dir target/beside
lld=-fuse-ld=lld
if ! command -v ld.lld >/dev/null; then
    # rustup's own.
    lld="$lld -B$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld"
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# build NAME LINKER EXTRA_LDFLAGS GO_FLAGS …
build() {
    local name=$1 linker=$2 extra=$3
    shift 3
    local flags="-Wl,-z,defs $extra"
    case $linker in
    ld) ;;
    lld) flags="$flags $lld" ;;
    *) flags="$flags -fuse-ld=$linker" ;;
    esac
    (cd tests/link/program && go build -o "$out/$name" -ldflags "-linkmode=external -extldflags '$flags'" "$@" .)
}

unset CGO_LDFLAGS_ALLOW CGO_LDFLAGS
linkers=(ld lld)
for linker in gold mold; do
    if command -v "ld.$linker" >/dev/null; then linkers+=("$linker"); fi
done
for linker in "${linkers[@]}"; do
    build "default-$linker" "$linker" -no-pie -tags cuzk_testing
    build "race-$linker" "$linker" -no-pie -tags cuzk_testing -race
    build "pie-$linker" "$linker" "" -tags cuzk_testing -buildmode=pie
done
build release-ld ld -no-pie
for program in "$out"/*; do
    printf '%s: ' "${program##*/}"
    "$program" "$root/target/demo"
done

# A shared library of Go's with the archive inside has no symbol that nobody defines.
build shared.so ld "" -tags cuzk_testing -buildmode=c-shared
nm -D --defined-only "$out/shared.so" | grep ' T cuzk_engine_open$' >/dev/null
echo "c-shared: links"
