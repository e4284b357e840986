#!/bin/sh
# From sealing to proofs that filecoin-proofs' verifier accepts, for all kinds at 2 KiB, from Go, with an INSECURE SRS made
# here. CUZK names the tool, DEMO_DIR the folder for its files; SRS and recorded circuits in it are used again.
set -eu
cd "$(dirname "$0")/.."

cuzk=$(realpath "${CUZK:-target/release/cuzk}")
dir=${DEMO_DIR:-target/demo}
mkdir -p "$dir"
dir=$(realpath "$dir")

"$cuzk" gen-vanilla --out "$dir" --kind porep,update,window,winning
"$cuzk" setup --out "$dir/params" --circuit winningpost-2kib,windowpost-2kib,snapdeals-2kib,porep-2kib
cd go
go run ./examples/demo --dir "$dir" --tool "$cuzk"
