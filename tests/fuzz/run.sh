#!/bin/bash
# Opt-in: fuzzes what comes in from outside, with clang's libFuzzer under ASan and UBSan.
#   tests/fuzz/run.sh [SECONDS per target, 30]
# Each fuzz_*.c here is one target, linked with the pure rooms. Findings stay in a folder that is named.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-30}
command -v clang >/dev/null || { echo 'no clang' >&2; exit 77; }
work=$(mktemp -d)
cd "$top"
status=0
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    clang -std=gnu11 -D_GNU_SOURCE -DCLV_FUZZ_ENGINE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined \
        "$source" tests/support/random_plan.c pap_predict/{,agree/,predict/}*.c net/*.c clocksync/*.c \
        choose/*.c schedule/{,generators/}*.c trace/*.c clc/*.c util/*.c -lpthread -lm -lhwloc -o "$work/$name"
    mkdir -p "$work/$name.corpus"
    if (cd "$work" && "./$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        "$name.corpus" >"$name.log" 2>&1); then
        echo "ok - $name, $(grep -o 'stat::number_of_executed_units.*\|Done [0-9]* runs' "$work/$name.log" | tail -1)"
    else
        echo "not ok - $name, see $work/$name.log"
        status=1
    fi
done
[ $status -ne 0 ] || rm -rf "$work"
exit $status
