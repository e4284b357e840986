#!/usr/bin/env bash
# What the library does to its host, as the kernel sees it: ten proofs from Go under strace. No socket, no file written
# outside the cache directory, no signal handler beside Go's, empty stderr, the environment unchanged.
# Needs `make demo` and `make archive` before.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$PWD/target/demo
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
(cd go && go build -o "$out/guest" ./examples/guest)

# Without strace the program's own checks remain.
trace=()
if command -v strace >/dev/null; then
    # A file per thread: one for all would tear calls apart where another thread comes between.
    calls=network,openat,open,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2
    trace=(strace -ff -qq -e trace="$calls" -o "$out/trace")
fi
rm -rf "$out/cache"
"${trace[@]}" "$out/guest" "$dir" "$out/cache" 2>"$out/stderr"
if [[ -s $out/stderr ]]; then
    echo "stderr isn't empty:" >&2
    head -n 20 "$out/stderr" >&2
    exit 1
fi
compgen -G "$out/trace.*" >/dev/null || exit 0

fail() { echo "strace: $1" >&2 && head -n 20 >&2 && exit 1; }
if grep -hE '^(socket|connect|bind|listen|accept4?|sendto)\(' "$out"/trace.* >"$out/found"; then
    fail "network" <"$out/found"
fi
writes='O_WRONLY|O_RDWR|O_CREAT|^(creat|mkdir|mkdirat|unlink|unlinkat|rename|renameat2?)\('
if grep -hE "$writes" "$out"/trace.* | grep -vE "\"$out/cache|/dev/null|ENOENT" >"$out/found"; then
    fail "written outside the cache directory" <"$out/found"
fi
# Small stacks, as a daemon may have them; and ways for a process to end in the middle of a proof.
(ulimit -s 512 && "$out/guest" "$dir" "$out/cache")
for _ in 1 2 3; do
    for way in exit return; do
        "$out/guest" "$dir" "$out/cache" "$way" 2>"$out/stderr" && status=0 || status=$?
        expected=$([[ $way == exit ]] && echo 7 || echo 0)
        if [[ $status != "$expected" || -s $out/stderr ]]; then
            echo "$way during a proof: status $status: $(head -n 5 "$out/stderr")" >&2
            exit 1
        fi
    done
done
echo "ten proofs: no socket, nothing written outside the cache directory, empty stderr, environment unchanged"
