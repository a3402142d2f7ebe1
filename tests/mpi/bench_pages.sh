#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tables on the pages of docs/results are what apps/bench/results, apps/bench/loop and apps/bench/grid make of the
# files in docs/results/data: nobody has written a figure into them. Each figure in the table of README.md is
# in a table of the page that its row links to. Measures nothing; 5 s.
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

# What has no data says so where the tables stand. All sets of a page in one run, which a point each then looks at.
between() { sed -n "/^<!-- results $2 -->\$/,/^<!-- end -->\$/p" "$1"; } # page set
besides() { sed '/^<!-- results .* -->$/,/^<!-- end -->$/d' "$1"; }
differs_in() { # page set
    diff <(between "$CLV_TOP/docs/results/$1" "$2") <(between "$work/$1" "$2")
    diff <(besides "$CLV_TOP/docs/results/$1") <(besides "$work/$1")
    [ -z "$said" ] || echo "$said"
    [ "$(between "$work/$1" "$2" | wc -l)" -gt 2 ] || echo "no table of $2"
}
for page in single-calls.md nodes.md allreduce.md transports.md; do
    mapfile -t sets < <(sed -n 's/^<!-- results \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page")
    said=$(IFS=,; differs "$page" "$CLV_TOP/apps/bench/results" --print --folder "$data" --sets "${sets[*]}" |
        grep 'has failed$')
    for set in "${sets[@]}"; do tap_none "single calls: $set" differs_in "$page" "$set"; done
done
for page in loop.md nodes.md allreduce.md transports.md; do
    for set in $(sed -n 's/^<!-- loop \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        tap_none "iterations: $set" differs "$page" \
            "$CLV_TOP/apps/bench/loop" --print --folder "$data" --set "$set"
        tap_none 'and none is missing' grep 'not measured yet' "$CLV_TOP/docs/results/$page"
    done
done
tap_none 'shared memory' differs shared-memory.md "$CLV_TOP/apps/bench/shared_memory" --print --data "$data/shared-memory.jsonl"
tap_none 'announced progress' differs loop.md "$CLV_TOP/apps/bench/uneven" --print --data "$data/uneven.jsonl"
grid() { "$CLV_TOP/apps/bench/grid" "$@" || [ $? -eq 1 ]; } # 1: a cell fails, or many are undecided
for page in loop.md nodes.md allreduce.md transports.md; do
    for cells in $(sed -n 's/^<!-- grid \(.*\) -->$/\1/p' "$CLV_TOP/docs/results/$page"); do
        per_host=1 pml='' kind=$cells
        [ "${kind%-ucx}" = "$kind" ] || pml=ucx kind=${kind%-ucx}
        [ "${kind%-x*}" = "$kind" ] || per_host=${kind##*-x} kind=${kind%-x*}
        tap_none "the grid of $cells" differs "$page" \
            grid --print --folder "$data" --collective "$kind" --ranks-per-host "$per_host" --pml "$pml"
    done
done
unknown_figures() { # figures of README.md's table that no table of their page has
    grep -E '^\|.*\]\([a-z-]+[.]md\) \|$' "$CLV_TOP/docs/results/README.md" | while IFS='|' read -r _ program _ figures; do
        page=$(sed -E 's/.*\]\(([a-z-]+[.]md)\).*/\1/' <<<"$figures")
        for figure in $(grep -oE '[0-9]+[.][0-9]+' <<<"$figures"); do
            sed -n '/^<!-- [a-z].* -->$/,/^<!-- end -->$/p' "$CLV_TOP/docs/results/$page" | grep -qF "| $figure |" || echo "$program: $figure is not in a table of $page"
        done
    done
    [ "$(grep -cE '^\|.*\]\([a-z-]+[.]md\) \|$' "$CLV_TOP/docs/results/README.md")" -ge 5 ] || echo 'the table is gone'
}
tap_none 'the figures of README.md are those of the pages that it links' unknown_figures
tap_end
