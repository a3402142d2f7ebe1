#!/bin/bash
# Opt-in: Figure 5 and Table 4 of the paper on synthetic traces of 32 to 512 processes (or those named),
# as rows of Markdown. Four ranks per host, two pauses of 60 s, wander 30 us, begin-end offsets. The traces come
# from a seed, so the figures are the same on any machine: --page puts them into docs/results/trace-correction.md,
# --check compares them with what stands there. 3 min.
#   tests/quality/clc_scale.sh [--page | --check] [PROCESSES ...]
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
page=$top/docs/results/trace-correction.md what=
case ${1:-} in --page | --check) what=$1; shift ;; esac
[ $# -gt 0 ] || set -- 32 64 128 256 512
say() { printf 'clc_scale: %s\n' "$*" >&2; }
# shellcheck source=bench/page/put.sh
. "$top/bench/page/put.sh"

row() { # processes
    local n=$1
    rm -rf "$scratch"/in "$scratch"/out "$scratch"/report.jsonl
    "$build/tests/support/otf2_make" "$scratch/in" "$n" 4 $((30 * n)) 5 >/dev/null
    "$build/tools/clv-correct" "$scratch/in/traces.otf2" -o "$scratch/out" --latency 5000,1000 \
        --threads 2 --quiet --json "$scratch/report.jsonl"
    python3 - "$scratch/report.jsonl" "$n" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
head, t = rows[0], next(r for r in rows if r["record"] == "distances")
total = next(r for r in rows if r["record"] == "operation" and r["operation"] == "all")
assert total["violated_after"] == 0
m = total["messages"]
print("| %s | %d | %d | %.2f | %.2f | %.3f | %.4f / %.1f | %.2f / %.3f | %.6f / %.0f |" % (
    sys.argv[2], head["events"], m, 100 * total["reversed_before"] / m,
    100 * total["violated_before"] / m, 100 * total["explicit"] / m, t["average_percent"],
    t["maximum_percent"], t["intervals_percent"][1], t["intervals_percent"][3],
    t["position_percent"], t["position_ns"] / 1e3))
PY
}

table() { # processes ...
    local n
    echo '| processes | events | messages | reversed % | violated % | explicitly corrected % | average / maximum deviation % | intervals > 0.01 / 1 % | position % / us |'
    echo '|---|---|---|---|---|---|---|---|---|'
    for n in "$@"; do
        row "$n" || return 1
    done
}

case $what in
    '') table "$@" ;;
    --page) put_between "$page" 'clc_scale' table "$@" ;;
    --check)
        cp "$page" "$scratch/page"
        put_between "$scratch/page" 'clc_scale' table "$@"
        diff "$page" "$scratch/page"
        echo 'the page has these figures' ;;
esac
