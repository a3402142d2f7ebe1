#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the benchmark of the controlled logical clock's paper, hypre's SMG (smg.c), on emulated hosts whose
# clocks drift and wander, recorded by otf2_recorder.so; then what clv-correct makes of the trace, judged by
# the true time (CLOCK_REALTIME, which emulated hosts share).
#
#   tests/suites/smg.sh [--page] [ROUNDS [PAUSE_S]]     1 round, 15 s: 2 minutes; needs root and libhypre-dev
#
# --page: the reports go to docs/results/data/clc, the table to docs/results/trace-correction.md. --print: only
# the table of the reports there. The trace itself (200 MB) is not kept.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
page=$top/docs/results/trace-correction.md data=$top/docs/results/data/clc what=
case ${1:-} in --page | --print) what=$1; shift ;; esac
rounds=${1:-1} pause=${2:-15}

say() { printf 'smg: %s\n' "$*" >&2; }
die() { local status=$1; shift; say "$*"; exit "$status"; }
# shellcheck source=bench/page/put.sh
. "$top/bench/page/put.sh"

# What is compared: name | options of clv-correct | words of the table. RECORDED: what clv's recorder wrote.
ways='
auto||+ clock, latency auto
recorded|RECORDED|+ clock, recorded clocks, latency auto
zero|--latency 0,0|+ clock, latency 0
half|--latency 15000,1840|+ clock, latency 15 / 1.84 us
high|--latency 40000,3000|+ clock, latency 40 / 3 us
'
rows() { sed '/^$/d' <<<"$ways"; }

record() {
    if [ ! -e /usr/include/hypre/HYPRE.h ]; then
        apt-get -qq install -y --no-install-recommends libhypre-dev >/dev/null 2>&1 || die 4 'no libhypre-dev here'
    fi
    mpicc -O2 -Wall -Wextra -o "$scratch/smg" "$top/tests/suites/smg.c" -I/usr/include/hypre -lHYPRE -lm ||
        die 4 'smg.c does not build'
    "$top/bench/cluster" with 8 --rate 1gbit --ranks-per-host 2 --timeout 400 --mca coll clv --mca coll_clv_record "$scratch/clocks" \
        --env LD_PRELOAD="$CLV_BUILD/.libs/otf2_recorder.so" \
        --env CLV_OTF2_DIR="$scratch/trace" --env CLV_OTF2_TRUTH=1 --env CLV_OTF2_DRIFT_PPM=20 --env CLV_OTF2_WANDER_US=150 \
        --env CLV_OTF2_EPOCH_S="$(date +%s)" -- "$scratch/smg" "$rounds" "$pause" >"$scratch/said" 2>&1 ||
        die 1 "not recorded: $(tail -n 3 "$scratch/said")"
    grep '^round' "$scratch/said" >&2
}

judge() { # name options
    local options=$2 file
    if [ "$options" = RECORDED ]; then
        options=
        for file in "$scratch"/clocks/*.clva; do options+=" --clocks $file"; done
    fi
    # shellcheck disable=SC2086
    "$CLV_BUILD/tools/clv-correct" "$scratch/trace/traces.otf2" -o "$scratch/$1" $options --truth true_ns --quiet \
        --json "$folder/$1.jsonl" && rm -rf "${scratch:?}/$1"
}

# Rows of the stamps before they are corrected, by either kind of clocks, and a row for each report.
table() {
    rows | cut -d'|' -f 1,3 | python3 -c '
import json, sys
folder, first = sys.argv[1], True
for name, words in (line.rstrip("\n").split("|") for line in sys.stdin):
    records = [json.loads(line) for line in open("%s/%s.jsonl" % (folder, name))]
    of = lambda kind: next(r for r in records if r["record"] == kind)
    trace, every = of("trace"), next(r for r in records if r["record"] == "operation" and r["operation"] == "all")
    messages = next(r for r in records if r["record"] == "operation" and r["operation"] == "messages")
    before, after = [r for r in records if r["record"] == "truth"]
    delays = of("true_delays")
    row = lambda words, reversed_, truth: print("| %s | %s | %.1f / %.1f / %.1f | %d of %d (%.1f %%) |" % (
        words, reversed_, truth["lateness_error_mean_ns"] / 1e3, truth["lateness_error_median_ns"] / 1e3,
        truth["lateness_error_p95_ns"] / 1e3, truth["wrong_last"], truth["collectives"],
        100 * truth["wrong_last"] / truth["collectives"]))
    share = lambda: "%.2f %% of messages, %.2f %% of all logical ones" % (
        100 * messages["reversed_before"] / messages["messages"], 100 * every["reversed_before"] / every["messages"])
    if first:
        print("%s; %d events, %d messages, %d collectives; least delays in truth %.1f / %.2f us, found %.1f / %.2f." % (
            trace["time"][:10], trace["events"], messages["messages"], before["collectives"], delays["inter_ns"] / 1e3,
            delays["intra_ns"] / 1e3, trace["inter_ns"] / 1e3, trace["intra_ns"] / 1e3))
        print("\n| | reversed messages | lateness error mean / median / 95 % [us] | wrong last arriver |\n|---|---|---|---|")
        row("begin-end offsets", share(), before)
        first = False
    if name == "recorded":
        row("recorded clocks instead (.clva)", share(), before)
    row(words, every["reversed_after"], after)
' "$folder"
}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
folder=$scratch/reports
[ -z "$what" ] || folder=$data
mkdir -p "$folder" || exit 2
if [ "$what" != --print ]; then
    eval "$("$top/clv" env)"
    record
    while IFS='|' read -r name options _; do
        judge "$name" "$options" || die 1 "clv-correct failed: $name"
    done < <(rows)
fi
if [ "$what" = --page ]; then
    put_between "$page" 'smg' table
else
    table
fi
