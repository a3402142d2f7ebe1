#!/bin/bash
# Opt-in: Figure 5 and Table 4 of the paper on synthetic traces of 32 to 512 processes (or those named),
# as rows of Markdown. Four ranks per host, two pauses of 60 s, wander 30 us, begin-end offsets.
#   tests/quality/clc_scale.sh [PROCESSES ...]
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- 32 64 128 256 512
echo '| processes | events | messages | reversed % | violated % | explicitly corrected % | average / maximum deviation % | intervals > 0.01 / 1 % | position % / us | s |'
echo '|---|---|---|---|---|---|---|---|---|---|'
for n in "$@"; do
    rm -rf "$scratch"/*
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
print("| %s | %d | %d | %.2f | %.2f | %.3f | %.4f / %.1f | %.2f / %.3f | %.6f / %.0f | %.1f |" % (
    sys.argv[2], head["events"], m, 100 * total["reversed_before"] / m,
    100 * total["violated_before"] / m, 100 * total["explicit"] / m, t["average_percent"],
    t["maximum_percent"], t["intervals_percent"][1], t["intervals_percent"][3],
    t["position_percent"], t["position_ns"] / 1e3,
    (head["read_ns"] + head["correct_ns"] + head["write_ns"]) / 1e9))
PY
done
