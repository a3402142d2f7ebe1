#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: mutants of allreduce and broadcast plans, random ones and those of the generators that ship, against the
# validator and an oracle that follows every contribution; no wrong one may be accepted. Executes the units that
# `./clv build` has made, with more rounds. TAP and, last, a table.
#
#   tests/quality/mutants.sh [MUTANTS OF EACH KIND]      200000; CLV_SEED as for the units
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
each=${1:-200000}
. "$top/tests/support/tap.sh"
[[ $each =~ ^[1-9][0-9]{0,8}$ ]] || { echo "mutants: '$each' is no number of mutants" >&2; exit 2; }
[ -x "$build/tests/schedule/test_sched_ring" ] || { echo 'mutants: run ./clv build' >&2; exit 4; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Random plans are drawn for four goals in turn; of the instances of generators one of twelve has a single rank,
# whose plan has nothing to change.
for unit in "test_sched_goal $((4 * each))" "test_sched_ring $((each * 11 / 10 + 20))"; do
    read -r name rounds <<<"$unit"
    CLV_ROUNDS=$rounds "$build/tests/schedule/$name" >"$work/$name" 2>&1
    tap_point $? "$name, $rounds rounds, $(grep -ao 'CLV_SEED=[0-9]*' "$work/$name" | head -n 1)"
done
kinds='allreduce|bcast|plain-ring|cut-ring|helper-trees|bcast-chain'
rows() {
    sed -nE "s/^# mutants of ($kinds): ([0-9]+), ([0-9]+) of them wrong, ([0-9]+) .*/| \1 | \2 | \3 | \4 |/p" "$work"/*
}
tap_none 'of each kind there were enough' awk -F'|' -v each="$each" '
    $3 >= each { n++ } END { if (n != 6) print n + 0 " of 6 kinds" }' <<<"$(rows)"
printf '\n| mutants of | drawn | wrong | refused though right |\n|---|---|---|---|\n'
rows
tap_end
