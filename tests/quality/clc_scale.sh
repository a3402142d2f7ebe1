#!/bin/bash
# Opt-in: Figure 5 and Table 4 of the controlled logical clock's paper, as rows of Markdown and a picture.
#
#   tests/quality/clc_scale.sh [--page | --check] [--figure clc] [--emulated] [PROCESSES ...]
#
# Synthetic traces of 32 to 1,024 processes (or those named): four ranks per host, two pauses of 60 s, wander
# 30 us, begin-end offsets. They come from a seed, so the figures are the same on any machine: --page puts
# them into docs/results/trace-correction.md, --check compares them with what stands there. 6 min.
# --emulated: records hypre's SMG (tests/suites/smg.sh) on as many emulated hosts, 8 to 48, one rank each; the
# reports stay in docs/results/data/clc_scale.jsonl, and their rows are shown with the others from then on. 15 min, root.
# --figure clc: draws Figure 5 from all rows, docs/results/clc.svg; needs gnuplot.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
page=$top/docs/results/trace-correction.md data=$top/docs/results/data what='' figure='' emulated=''
say() { printf 'clc_scale: %s\n' "$*" >&2; }
while [ $# -gt 0 ]; do
    case $1 in
        --page | --check) what=$1 ;;
        --emulated) emulated=yes ;;
        --figure)
            [ "${2:-}" = clc ] || { say 'the figure is called clc'; exit 2; }
            figure=$top/docs/results/clc.svg
            shift
            ;;
        -*) say "no option $1"; exit 2 ;;
        *) break ;;
    esac
    shift
done
hosts='8 16 32 48'
[ -z "$emulated" ] || [ $# -eq 0 ] || { hosts=$*; set --; }
[ $# -gt 0 ] || set -- 32 64 128 256 512 1024
# shellcheck source=apps/bench/page/pages.sh
. "$top/apps/bench/page/pages.sh"
folder=$data unpacked=''
unpack_kept clc_scale
trap 'rm -rf "$scratch" "$unpacked"' EXIT

# A row of the table from a report; the same numbers for the figure go to $scratch/points.
row() { # what processes report
    python3 - "$1" "$2" "$3" "$scratch/points" <<'PY'
import json, sys
kind, n, report, points = sys.argv[1:]
rows = [json.loads(line) for line in open(report)]
head, t = rows[0], next(r for r in rows if r["record"] == "distances")
total = next(r for r in rows if r["record"] == "operation" and r["operation"] == "all")
assert total["violated_after"] == 0
m = total["messages"]
share = [100 * total[key] / m for key in ("reversed_before", "violated_before", "explicit")]
with open(points, "a") as out:
    print(kind, n, *share, file=out)
print("| %s | %s | %d | %d | %.2f | %.2f | %.3f | %.4f / %.1f | %.2f / %.3f | %.6f / %.0f |" % (
    kind, n, head["events"], m, *share, t["average_percent"], t["maximum_percent"],
    t["intervals_percent"][1], t["intervals_percent"][3], t["position_percent"], t["position_ns"] / 1e3))
PY
}

synthetic() { # processes
    local n=$1
    rm -rf "$scratch"/in "$scratch"/out "$scratch"/report.jsonl
    "$build/tests/support/otf2_make" "$scratch/in" "$n" 4 $((30 * n)) 5 >/dev/null
    "$build/apps/tools/clv-correct" "$scratch/in/traces.otf2" -o "$scratch/out" --latency 5000,1000 \
        --presync measured --threads 2 --quiet --json "$scratch/report.jsonl"
    row synthetic "$n" "$scratch/report.jsonl"
}

table() { # processes ...
    local n
    echo '| trace | processes | events | messages | reversed % | violated % | explicitly corrected % | average / maximum deviation % | intervals > 0.01 / 1 % | position % / us |'
    echo '|---|---|---|---|---|---|---|---|---|---|'
    for n in "$@"; do
        synthetic "$n" || return 1
    done
    for n in 8 16 32 48; do
        [ ! -e "$folder/hosts-$n.json" ] || row SMG "$n" "$folder/hosts-$n.json" || return 1
    done
}

draw() {
    command -v gnuplot >/dev/null || { say 'there is no gnuplot'; exit 4; }
    gnuplot <<END
set terminal svg size 720,420 font "sans,12"
set output "$figure"
set logscale xy
set xlabel "processes"
set ylabel "% of logical messages"
set key outside
set xtics (8, 16, 32, 64, 128, 256, 512, 1024)
what = "reversed violated corrected"
plot for [kind in "$(cut -d' ' -f 1 "$scratch/points" | sort -u | xargs)"] for [k = 3:5] \
    "< grep ^" . kind . " $scratch/points" using 2:k with linespoints title word(what, k - 2) . ", " . kind
END
}

for n in ${emulated:+$hosts}; do
    "$top/tests/suites/smg.sh" --hosts "$n" --each 1 --report "$folder/hosts-$n.json"
done
# The keys that a row reads.
# shellcheck disable=SC2046
[ -z "$emulated" ] || keep_table clc_scale 'time record operation events messages reversed_before violated_before violated_after explicit
    average_percent maximum_percent intervals_percent position_percent position_ns' \
    $(for n in 8 16 32 48; do ls "$folder/hosts-$n.json" 2>/dev/null; done) | grep -v '"record":"\(location\|truth\|true_delays\)"' >"$data/clc_scale.jsonl"
case $what in
    '') table "$@" ;;
    --page) put_between "$page" 'clc_scale' table "$@" ;;
    --check)
        cp "$page" "$scratch/page"
        put_between "$scratch/page" 'clc_scale' table "$@"
        diff "$page" "$scratch/page"
        echo 'the page has these figures' ;;
esac
[ -z "$figure" ] || draw
