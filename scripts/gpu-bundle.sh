#!/usr/bin/env bash
# Packs cuzk-gpu, the tests and benches of the kernels and of the CUDA back end, with its inputs into target/gpu-bundle/
# for a machine with a GPU and nothing else:
#
#     target/gpu-bundle/run.sh {test|bench|sanitize} [name …]
#
# CUDA_ARCHS chooses the architectures (default 90). More binaries to pack are named as arguments.
set -euo pipefail
cd "$(dirname "$0")/.."

bundle=target/gpu-bundle
limit_bytes=$((40 << 20))

if [[ -z ${NVCC:-}${CUDA_HOME:-} ]] && ! command -v nvcc >/dev/null; then
    eval "$(scripts/cuda-toolkit.sh)"
fi
CUDA=1 CUDA_ARCHS=${CUDA_ARCHS:-90} cargo build --release --locked --features testing --bin cuzk-gpu
rm -rf "$bundle"
mkdir -p "$bundle"

for binary in target/release/cuzk-gpu "$@"; do
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
# Tests, benches or checks under compute-sanitizer kernels and back end on device 0: run.sh {test|bench|sanitize} [name …]
set -uo pipefail
cd "$(dirname "$0")"
for packed in *.xz; do
    name=${packed%.xz}
    [[ $name -nt $packed ]] || { xz -dc "$packed" >"$name" && chmod +x "$name" && touch "$name"; } || exit 1
done
command=${1:-}
shift || true
case $command in
test | bench) exec ./cuzk-gpu "$command" "$@" ;;
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
    echo "usage: run.sh {test|bench|sanitize} [name …]" >&2
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
