#!/bin/sh
# From sealing to proofs that filecoin-proofs' verifier accepts, for all kinds at 2 KiB, with an INSECURE SRS made here.
# CUZK names the tool, DEMO_DIR the folder for its files; SRS and recorded circuits in it are used again.
set -eu

cuzk=${CUZK:-target/release/cuzk}
dir=${DEMO_DIR:-target/demo}

"$cuzk" gen-vanilla --out "$dir"
"$cuzk" setup --out "$dir/params" --circuit winningpost-2kib,windowpost-2kib,snapdeals-2kib,porep-2kib
for kind in winning window update porep porep-synthetic; do
    "$cuzk" prove --input "$dir/$kind.json" --out "$dir/$kind.proof" \
        --params "$dir/params" --allow-unknown-params --cache "$dir/cache"
    # A process each: filecoin-proofs keeps what it has read of verifying keys.
    "$cuzk" verify --input "$dir/$kind.json" --proof "$dir/$kind.proof" --params "$dir/params"
done
