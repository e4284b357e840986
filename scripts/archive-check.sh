#!/usr/bin/env bash
# Checks an isolated archive: archive-check.sh ARCHIVE EXPORTS. Its global symbols are exactly those that EXPORTS lists, none
# is GNU_UNIQUE (those can't be local, and two libraries in one process would share them), and a panic unwinds.
set -euo pipefail

archive=$1 exports=$2
fail() { echo "$archive: $*" >&2 && exit 1; }

symbols=$(nm "$archive")
global=$(nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort -u)
difference=$(diff <(sort -u "$exports") - <<<"$global") ||
    fail "global symbols differ from the expected ones:"$'\n'"$difference"
if awk '$2 == "u"' <<<"$symbols" | grep .; then fail "has GNU_UNIQUE symbols"; fi
if grep panic_abort <<<"$symbols"; then fail 'panic = "abort"'; fi
grep panic_unwind <<<"$symbols" >/dev/null || fail "no unwinding code"
if [[ $archive != *testing* ]] && { echo "$symbols" && strings -n 8 "$archive"; } | grep -iE 'cuzk_testing|fault point of'; then
    fail "has parts of the feature \`testing\`"
fi
