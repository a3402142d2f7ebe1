#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A short run of libFuzzer with address and undefined-behaviour checks on the protocol's decoder and
# state machine. CLV_FUZZ_SECONDS (default 8) makes it long. Skips without clang and its fuzzer.
set -u
top=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
seconds=${CLV_FUZZ_SECONDS:-8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sources=$(cd "$top" && ls pap_predict/pap_{vector,tree,wire,agree}.c util/util_{alloc,status}.c)
cd "$top" || exit 1
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { (void) d; (void) n; return 0; }' |
    clang -x c -fsanitize=fuzzer -o "$work/probe" - 2>"$work/log"; then
    echo "1..0 # SKIP clang with libFuzzer is not here"
    exit 0
fi
echo "1..1"
if ! clang -std=gnu11 -O1 -g -D_GNU_SOURCE -DCLV_FUZZ_ENGINE -I. -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=all -o "$work/fuzz" tests/fuzz/fuzz_pap_wire.c $sources > "$work/log" 2>&1; then
    sed 's/^/# /' "$work/log" | tail -30
    echo "not ok 1 - the fuzz target compiles"
    exit 1
fi
mkdir "$work/corpus"
if (cd "$work" && timeout $((seconds + 300)) ./fuzz -max_total_time="$seconds" -max_len=2048 \
    -print_final_stats=1 corpus) > "$work/log" 2>&1; then
    sed -n 's/^stat::number_of_executed_units: */# runs: /p; s/^stat::peak_rss_mb: */# MB: /p' "$work/log"
    echo "ok 1 - libFuzzer finds nothing in $seconds seconds"
else
    { grep 'INFO: Seed' "$work/log"; tail -n 30 "$work/log"; } | sed 's/^/# /'
    echo "not ok 1 - libFuzzer finds nothing in $seconds seconds"
    exit 1
fi
