#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the benchmark of the controlled logical clock's paper, hypre's SMG (smg.c), on emulated hosts whose
# clocks drift and wander, recorded by otf2_recorder.so; then what clv-correct makes of the trace, judged by
# the true time (CLOCK_REALTIME, which emulated hosts share).
#
#   tests/suites/smg.sh [--page | --print | --report FILE] [--hosts N] [--each RANKS] [--realtime] [--keep DIR] [ROUNDS [PAUSE_S]]
#
# 8 hosts of 2 ranks, 1 round, 15 s: 2 minutes; needs root and libhypre-dev.
# --report: only the report of begin-end offsets and the clock, as the paper has them, to FILE.
# --page: the reports go to docs/results/data/smg.jsonl, the table to docs/results/trace-correction.md. --print: only
# the table of the reports there. --keep: DIR gets the trace (200 MB) and the recorded clocks; one that is
# there already is judged instead of recording another. --realtime: on a machine with other work, ranks go first.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
page=$top/docs/results/trace-correction.md data=$top/docs/results/data what=
hosts=8 each=2 keep='' report='' first=()
while [ $# -gt 0 ]; do
    case $1 in
        --page | --print) what=$1 ;;
        --hosts) hosts=$2; shift ;;
        --each) each=$2; shift ;;
        --realtime) first=(--realtime) ;;
        --report) report=$2; shift ;;
        --keep) keep=$2; shift ;;
        *) break ;;
    esac
    shift
done
rounds=${1:-1} pause=${2:-15}

say() { printf 'smg: %s\n' "$*" >&2; }
die() { local status=$1; shift; say "$*"; exit "$status"; }
# shellcheck source=apps/bench/page/pages.sh
. "$top/apps/bench/page/pages.sh"

# What is compared: name | options of clv-correct | stages of the report that are shown, and their words.
# RECORDED: what clv's recorder wrote.
ways='
auto||presynchronised:begin-end offsets,refined:+ its own messages,corrected:+ clock (latency auto)
measured|--presync measured|corrected:begin-end offsets + clock (latency auto)
recorded|RECORDED|presynchronised:recorded clocks (.clva),refined:+ its own messages,corrected:+ clock (latency auto)
tracker|RECORDED --presync measured|corrected:recorded clocks + clock (latency auto)
zero|--latency 0,0|corrected:begin-end offsets + messages + clock (latency 0)
high|--latency 40000,3000|corrected:begin-end offsets + messages + clock (latency 40 / 3 us)
'
rows() { sed '/^$/d' <<<"$ways"; }

record() {
    if [ ! -e /usr/include/hypre/HYPRE.h ]; then
        apt-get -qq install -y --no-install-recommends libhypre-dev >/dev/null 2>&1 || die 4 'no libhypre-dev here'
    fi
    mpicc -O2 -Wall -Wextra -o "$scratch/smg" "$top/tests/suites/smg.c" -I/usr/include/hypre -lHYPRE -lm ||
        die 4 'smg.c does not build'
    mkdir -p "$keep" || die 4 "no $keep"
    "$top/apps/bench/cluster" with "$hosts" "${first[@]}" --rate 1gbit --ranks-per-host "$each" --timeout 500 --mca coll clv \
        --mca coll_clv_record "$keep/clocks" --env LD_PRELOAD="$CLV_BUILD/.libs/otf2_recorder.so" \
        --env CLV_OTF2_DIR="$keep/trace" --env CLV_OTF2_TRUTH=1 --env CLV_OTF2_DRIFT_PPM=20 --env CLV_OTF2_WANDER_US=150 \
        --env CLV_OTF2_EPOCH_S="$(date +%s)" -- "$scratch/smg" "$rounds" "$pause" >"$scratch/said" 2>&1 ||
        die 1 "not recorded: $(tail -n 3 "$scratch/said")"
    grep '^round' "$scratch/said" >&2
}

judge() { # name options
    local options=$2 file clocks=
    for file in "$keep"/clocks/*.clva; do clocks+=" --clocks $file"; done
    options=${options/RECORDED/$clocks}
    # shellcheck disable=SC2086
    "$CLV_BUILD/apps/tools/clv-correct" "$keep/trace/traces.otf2" -o "$scratch/$1" $options --truth true_ns --quiet \
        --json "$folder/$1.json" && rm -rf "${scratch:?}/$1"
}

# A row for each stage that is named.
table() {
    rows | cut -d'|' -f 1,3 | python3 -c '
import json, sys
folder, first = sys.argv[1], True
for name, stages in (line.rstrip("\n").split("|") for line in sys.stdin):
    records = [json.loads(line) for line in open("%s/%s.json" % (folder, name))]
    of = lambda kind: next(r for r in records if r["record"] == kind)
    operation = lambda which: next(r for r in records if r["record"] == "operation" and r["operation"] == which)
    trace, every, messages, delays = of("trace"), operation("all"), operation("messages"), of("true_delays")
    truths = {r["stamps"]: r for r in records if r["record"] == "truth"}
    if first:
        print("%s; %d hosts, %d ranks, %d events, %d messages, %d collectives; least delays in truth %.1f / %.2f us, found %.1f / %.2f." % (
            trace["time"][:10], trace["nodes"], trace["ranks"], trace["events"], messages["messages"],
            truths["corrected"]["collectives"], delays["inter_ns"] / 1e3, delays["intra_ns"] / 1e3,
            trace["inter_ns"] / 1e3, trace["intra_ns"] / 1e3))
        print("\n| | reversed: of messages, of all logical ones | lateness error mean / median / 95 % [us] | wrong last arriver |\n|---|---|---|---|")
        first = False
    for stage, words in (s.split(":") for s in stages.split(",")):
        if stage not in truths:
            continue
        truth, key = truths[stage], {"presynchronised": "before", "refined": "refined", "corrected": "after"}[stage]
        share = lambda r: "%.3f %%" % (100 * r["reversed_" + key] / r["messages"]) if r["reversed_" + key] else "0"
        print("| %s | %s, %s | %.1f / %.1f / %.1f | %d of %d (%.1f %%) |" % (
            words, share(messages), share(every), truth["lateness_error_mean_ns"] / 1e3,
            truth["lateness_error_median_ns"] / 1e3, truth["lateness_error_p95_ns"] / 1e3, truth["wrong_last"],
            truth["collectives"], 100 * truth["wrong_last"] / truth["collectives"]))
' "$folder"
}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
folder=$scratch/reports
mkdir -p "$folder" || exit 2
if [ "$what" = --print ]; then
    folder=$data
    unpack_kept smg
    trap 'rm -rf "$scratch" "$unpacked"' EXIT
else
    eval "$("$top/clv" env)"
    keep=${keep:-$scratch}
    [ -e "$keep/trace/traces.otf2" ] || record
    if [ -n "$report" ]; then
        judge paper '--presync ends' && mkdir -p "$(dirname "$report")" && sed 's#"[^"]*/traces.otf2"#"traces.otf2"#' "$folder/paper.json" >"$report"
        exit
    fi
    while IFS='|' read -r name options _; do
        judge "$name" "$options" || die 1 "clv-correct failed: $name"
    done < <(rows)
fi
if [ "$what" = --page ]; then
    # The keys that the table reads.
    # shellcheck disable=SC2046
    keep_table smg 'time record operation nodes ranks events messages collectives inter_ns intra_ns stamps reversed_before reversed_refined
        reversed_after lateness_error_mean_ns lateness_error_median_ns lateness_error_p95_ns wrong_last' \
        $(rows | sed "s#|.*#.json#; s#^#$folder/#") | grep -v '"record":"location"' >"$data/smg.jsonl" || exit 1
    put_between "$page" 'smg' table
else
    table
fi
