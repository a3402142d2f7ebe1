#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The tables on the pages of docs/results are what bench/results and bench/loop make of the files in
# docs/results/data: nobody has written a figure into them. Measures nothing; 2 s.
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

for hosts in $(sed -n 's/^<!-- results \([0-9]*\) -->$/\1/p' "$CLV_TOP/docs/results/README.md"); do
    if [ -s "$data/single/$hosts.command" ]; then
        tap_none "single calls on $hosts hosts" differs README.md \
            "$CLV_TOP/bench/results" --print --folder "$data/single" --hosts "$hosts"
    else
        section=$(sed -n "/^## $hosts hosts/,/^<!-- results/p" "$CLV_TOP/docs/results/README.md")
        tap_has "single calls on $hosts hosts: the page says that there is no data" 'Data not kept' "$section"
    fi
done
for hosts in $(sed -n 's/^<!-- loop \([0-9]*\) -->$/\1/p' "$CLV_TOP/docs/results/loop.md"); do
    tap_none "iterations on $hosts hosts" differs loop.md \
        "$CLV_TOP/bench/loop" --print --folder "$data/loop" --hosts "$hosts"
    tap_none 'and none is missing' grep 'not measured yet' "$CLV_TOP/docs/results/loop.md"
done
tap_end
