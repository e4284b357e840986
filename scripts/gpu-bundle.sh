#!/usr/bin/env bash
# Packs everything that tests and benches a GPU into target/gpu-bundle/, for a machine with a GPU and nothing else:
# cuzk-gpu (kernels and CUDA back end), Go's test binary on the archive with `testing`, the Go demo on the archive that is
# shipped, the tool, and inputs.
#
#     target/gpu-bundle/run.sh {test|bench|sanitize|demo} [name …]
#
# CUDA_ARCHS chooses the architectures (default 90).
set -euo pipefail
cd "$(dirname "$0")/.."

bundle=target/gpu-bundle
limit_bytes=$((40 << 20))

if [[ -z ${NVCC:-}${CUDA_HOME:-} ]] && ! command -v nvcc >/dev/null; then
    eval "$(scripts/cuda-toolkit.sh)"
fi
export CUDA=1 CUDA_ARCHS=${CUDA_ARCHS:-90}
built=$PWD/target/gpu-binaries
mkdir -p "$built"
cargo build --release --locked --bin cuzk
cp target/release/cuzk "$built/"
scripts/archive.sh release
(cd go && go build -o "$built/cuzk-demo" ./examples/demo)
scripts/archive.sh testing
(cd go && go test -c -tags cuzk_testing -o "$built/cuzk-go-test" .)
cargo build --release --locked --features testing --bin cuzk-gpu
cp target/release/cuzk-gpu "$built/"
rm -rf "$bundle"
mkdir -p "$bundle"

for binary in "$built"/*; do
    # GNU_UNIQUE symbols ("u" in nm) would be shared with other libraries of a process; ours must have none.
    if nm "$binary" | grep -q ' u '; then
        echo "$binary has GNU_UNIQUE symbols" >&2
        exit 1
    fi
    name=$(basename "$binary")
    strip -o "$bundle/$name" "$binary"
    xz -T0 -f "$bundle/$name"
done

cp -r testdata "$bundle/testdata"

cat >"$bundle/run.sh" <<'RUN'
#!/usr/bin/env bash
# Tests, benches or checks under compute-sanitizer what is packed, on device 0: run.sh {test|bench|sanitize|demo} [name …]
set -uo pipefail
cd "$(dirname "$0")"
for packed in *.xz; do
    name=${packed%.xz}
    [[ $name -nt $packed ]] || { xz -dc "$packed" >"$name" && chmod +x "$name" && touch "$name"; } || exit 1
done
command=${1:-}
shift || true
# Real inputs of all kinds with an SRS, made on the device.
inputs() {
    ./cuzk gen-vanilla --out demo --kind porep,update,window,winning &&
        ./cuzk setup --out demo/params --circuit winningpost-2kib,windowpost-2kib,snapdeals-2kib,porep-2kib
}
case $command in
test)
    ./cuzk-gpu test "$@" || exit 1
    [[ $# == 0 ]] || exit 0
    # The same bytes, with every launch waited for.
    CUDA_LAUNCH_BLOCKING=1 ./cuzk-gpu test msm/apart filecoin/winning filecoin/window filecoin/update filecoin/porep || exit 1
    inputs && CUZK_TEST_DIR=$PWD/demo CUZK_TEST_BACKEND=cuda ./cuzk-go-test
    ;;
bench) exec ./cuzk-gpu bench "$@" ;;
demo) inputs && ./cuzk-demo --backend cuda --dir demo --tool ./cuzk ;;
sanitize)
    failed=0
    for tool in memcheck racecheck initcheck synccheck; do
        names=("$@")
        # Races are looked for a hundred times slower than the rest: in the smallest proofs.
        if [[ $tool == racecheck && $# == 0 ]]; then
            names=(runtime field curve fr ntt rows fixed_base msm ones proofs/smallest)
        fi
        echo "== $tool"
        compute-sanitizer --tool "$tool" --error-exitcode 9 ./cuzk-gpu sanitize "${names[@]}" || failed=1
    done
    exit $failed
    ;;
*)
    echo "usage: run.sh {test|bench|sanitize|demo} [name …]" >&2
    exit 2
    ;;
esac
RUN
chmod +x "$bundle/run.sh"

bytes=$(du -sb "$bundle" | cut -f1)
echo "$bundle: $bytes bytes"
if ((bytes >= limit_bytes)); then
    echo "more than $limit_bytes bytes" >&2
    exit 1
fi
