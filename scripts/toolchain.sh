#!/bin/sh
# Says what is missing before a long build fails half-way. A C++ compiler is wanted by the tests of the CUDA arithmetic
# (compiled for the CPU) and by nvcc; where the system's packages can be installed, it is.
set -eu
for tool in cargo cc make; do
    command -v "$tool" >/dev/null 2>&1 || { echo "cuzk needs $tool in PATH" >&2; exit 1; }
done
if ! command -v c++ >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing g++" >&2
        apt-get install -y -qq g++ >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq g++ >/dev/null; }
    else
        echo "no C++ compiler: the tests of the CUDA arithmetic on the CPU are left out" >&2
    fi
fi
