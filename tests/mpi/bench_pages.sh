#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tables on the pages of docs/results are what bench/results, bench/loop, bench/grid and smg.sh make of
# the files in docs/results/data: nobody has written a figure into them. Each file there is that of a table or
# is named by a page, and together they are small. Measures nothing; 40 s.
. "$CLV_TOP/tests/support/tap.sh"
data=$CLV_TOP/docs/results/data
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# differs PAGE COMMAND...: what the command, which writes the tables into the page, changes in it.
differs() {
    local page=$1
    shift
    cp "$CLV_TOP/docs/results/$page" "$work/$page"
    "$@" --page "$work/$page" 2>&1 >/dev/null || echo "$* has failed"
    diff "$CLV_TOP/docs/results/$page" "$work/$page"
}

for page in README.md nodes.md allreduce.md; do
    for set in $(sed -n 's/^<!-- results \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        tap_none "single calls: $set" differs "$page" \
            "$CLV_TOP/bench/results" --print --folder "$data" --sets "$set"
    done
done
for page in loop.md nodes.md allreduce.md; do
    for set in $(sed -n 's/^<!-- loop \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        tap_none "iterations: $set" differs "$page" \
            "$CLV_TOP/bench/loop" --print --folder "$data" --set "$set"
        tap_none 'and none is missing' grep 'not measured yet' "$CLV_TOP/docs/results/$page"
    done
done
grid() { "$CLV_TOP/bench/grid" "$@" || [ $? -eq 1 ]; } # 1: a cell fails, or many are undecided
for page in loop.md nodes.md allreduce.md; do
    for cells in $(sed -n 's/^<!-- grid \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        per_host=1
        [ "${cells%-x*}" = "$cells" ] || per_host=${cells##*-x}
        tap_none "the grid of $cells" differs "$page" \
            grid --print --folder "$data" --collective "${cells%-x*}" --ranks-per-host "$per_host"
    done
done
smg() { diff <("$CLV_TOP/tests/suites/smg.sh" --print 2>&1) <(sed '1,/^<!-- smg -->/d; /^<!-- end -->/,$d' "$CLV_TOP/docs/results/trace-correction.md" | sed '1d; $d'); }
tap_none 'the table of SMG' smg

# results-8.jsonl is what the mark "results 8" is made from; papers.jsonl and the like are named in full.
unnamed() {
    local file name
    for file in "$data"/*; do
        name=${file##*/}
        grep -qrxF --include='*.md' "<!-- $(sed 's/[.]jsonl$//; s/-/ /' <<<"$name") -->" "$CLV_TOP/docs/results" ||
            grep -qrF --include='*.md' "data/$name" "$CLV_TOP/docs" || echo "$name"
    done
}
tap_none 'every file of data is that of a table, or a page names it' unnamed
tap_ok 'they are 60 files at most' test "$(find "$data" -type f | wc -l)" -le 60
tap_ok 'of 4 MB' test "$(cat "$data"/* | wc -c)" -le 4000000
tap_end
