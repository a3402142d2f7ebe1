#!/bin/bash
# Opt-in: fuzzes what comes in from outside, with clang's libFuzzer under ASan and UBSan.
#
#   tests/fuzz/run.sh [--record] [SECONDS per target, 30] [TARGET ...]
#
# Each fuzz_*.c here is one target, linked with the pure rooms. Findings stay in a folder that is named.
# --record adds a row per target to docs/results/data/fuzz.csv, where executions add up: target, date,
# commit, seconds, executions, edges covered, outcome. tests/fuzz/run.sh --sum prints the sums.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
page=docs/results/data/fuzz.csv
sums() {
    awk -F, 'NR > 1 { runs[$1] += $5; seconds[$1] += $4; bad[$1] += $7 != "clean"; edges[$1] = $6; all += $5 }
        END { for (one in runs) printf "%s: %.0f executions in %d s, %d edges, %d runs with a finding\n", one, runs[one],
                  seconds[one], edges[one], bad[one]
              printf "all: %.0f executions\n", all }' "$page" | sort
}
record=
case ${1:-} in
--sum) sums; exit ;;
--record) record=yes; shift ;;
esac
seconds=${1:-30}
[ $# -eq 0 ] || shift
[[ $seconds =~ ^[0-9]+$ ]] || { sed -n '4,8p' "$0" >&2; exit 2; }
command -v clang >/dev/null || { echo 'no clang' >&2; exit 77; }
[ $# -gt 0 ] || set -- $(cd tests/fuzz && ls fuzz_*.c | sed 's/\.c$//')
work=$(mktemp -d)
commit=$(git rev-parse --short HEAD 2>/dev/null || echo -)

# The newest number that libFuzzer printed behind a word: "#12345 DONE cov: 678 ..."
number() { # pattern file
    grep -oE "$1" "$2" | tail -n 1 | grep -oE '[0-9]+' || echo 0
}

status=0
for name in "$@"; do
    clang -std=gnu11 -D_GNU_SOURCE -DCLV_FUZZ_ENGINE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=undefined \
        "tests/fuzz/$name.c" tests/support/random_plan.c pap_predict/{,agree/,predict/}*.c $(ls net/*.c | grep -v net_cores) clocksync/*.c \
        choose/*.c schedule/{,generators/}*.c trace/*.c clc/*.c util/*.c -lpthread -lm -lhwloc -o "$work/$name"
    mkdir -p "$work/$name.corpus"
    began=$SECONDS outcome=clean
    (cd "$work" && "./$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        "$name.corpus" >"$name.log" 2>&1) || outcome=finding status=1
    runs=$(number '^#[0-9]+' "$work/$name.log") edges=$(number 'cov: [0-9]+' "$work/$name.log")
    if [ $outcome = clean ]; then
        echo "ok - $name, $runs executions, $edges edges"
    else
        echo "not ok - $name, $runs executions, see $work/$name.log"
    fi
    [ -z "$record" ] ||
        echo "$name,$(date -u +%F),$commit,$((SECONDS - began)),$runs,$edges,$outcome" >>"$page"
done
[ $status -ne 0 ] || rm -rf "$work"
exit $status
