#!/usr/bin/env bash
# Fetches what compiles the kernels (nvcc, its device compiler, the runtime's headers and static library, CUB, cuobjdump)
# as wheels into .cuda/, unless it is there, and prints the environment for it: eval "$(scripts/cuda-toolkit.sh)".
# .cuda/toolkit is then what CUDA_HOME should be. No driver and no card are needed to compile.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
    nvidia-cuda-nvcc==13.0.88
    nvidia-cuda-crt==13.0.88
    nvidia-nvvm==13.0.88
    nvidia-cuda-runtime==13.0.96
    nvidia-cuda-cccl==13.0.85
    nvidia-cuda-cuobjdump
    nvidia-cuda-nvdisasm
)
root=$PWD/.cuda
stamp=$root/packages

if [[ ! -f $stamp || $(cat "$stamp") != "${packages[*]}" ]]; then
    rm -rf "$root"
    python3 -m venv "$root/venv" >&2
    "$root/venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" >&2
    (cd "$root" && ln -s venv/lib/python3*/site-packages/nvidia/cu13 toolkit)
    echo "${packages[*]}" >"$stamp"
fi

home=$root/toolkit
[[ -x $home/bin/nvcc ]] || { echo "no nvcc in $home" >&2; exit 1; }
echo "export CUDA_HOME=$home"
echo "export NVCC=$home/bin/nvcc"
echo "export PATH=\$PATH:$home/bin"
