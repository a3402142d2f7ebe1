#!/usr/bin/env bash
# Builds the fuzz target with clang and lets it run for CLV_FUZZ_SECONDS (8), starting from golden
# files. Prints TAP; without clang and libFuzzer the point is skipped.
set -u
seconds=${CLV_FUZZ_SECONDS:-8}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo 1..1

cd "$CLV_TOP" || exit 1
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { (void) d; (void) n; return 0; }' |
    clang -x c -fsanitize=fuzzer -o "$scratch/probe" - 2> "$scratch/log"; then
    echo 'ok 1 - fuzz the schedule # SKIP no clang with libFuzzer'
    exit 0
fi
mkdir "$scratch/corpus"
cp tests/data/golden/{00,01,02,03,05,07,09,12,15,17,29}.txt "$scratch/corpus"
if clang -D_GNU_SOURCE -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=undefined -I. -o "$scratch/fuzz" tests/fuzz/fuzz_sched.c \
    schedule/{,generators/}*.c util/util_alloc.c util/util_status.c util/util_log.c > "$scratch/log" 2>&1 &&
    (cd "$scratch" && ./fuzz -max_total_time="$seconds" -max_len=2048 -timeout=120 \
        -rss_limit_mb=2048 corpus >> log 2>&1); then
    echo 'ok 1 - fuzz the schedule'
    grep -E '^Done|cov:' "$scratch/log" | tail -n 2 | sed 's/^/# /'
else
    echo 'not ok 1 - fuzz the schedule'
    { grep 'INFO: Seed' "$scratch/log"; tail -n 30 "$scratch/log"; } | sed 's/^/# /'
fi
