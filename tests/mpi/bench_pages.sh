#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tables on the pages of docs/results are what bench/results, bench/loop and bench/grid make of the
# files in docs/results/data: nobody has written a figure into them. Measures nothing; 5 s.
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

# What has no data says so where the tables stand.
for page in README.md nodes.md allreduce.md; do
    for set in $(sed -n 's/^<!-- results \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        if [ -s "$data/single/$set.command" ]; then
            tap_none "single calls: $set" differs "$page" \
                "$CLV_TOP/bench/results" --print --folder "$data/single" --sets "$set"
        else
            section=$(sed -n "/^## $set hosts/,/^<!-- results/p" "$CLV_TOP/docs/results/$page")
            tap_has "single calls: $set: the page says that there is no data" 'Data not kept' "$section"
        fi
    done
done
for page in loop.md nodes.md allreduce.md; do
    for set in $(sed -n 's/^<!-- loop \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        tap_none "iterations: $set" differs "$page" \
            "$CLV_TOP/bench/loop" --print --folder "$data/loop" --set "$set"
        tap_none 'and none is missing' grep 'not measured yet' "$CLV_TOP/docs/results/$page"
    done
done
grid() { "$CLV_TOP/bench/grid" "$@" || [ $? -eq 1 ]; } # 1: a cell fails, or many are undecided
for page in loop.md nodes.md allreduce.md; do
    for cells in $(sed -n 's/^<!-- grid \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        per_host=1
        [ "${cells%-x*}" = "$cells" ] || per_host=${cells##*-x}
        tap_none "the grid of $cells" differs "$page" \
            grid --print --folder "$data/grid-$cells" --collective "${cells%-x*}" --ranks-per-host "$per_host"
    done
done
tap_end
