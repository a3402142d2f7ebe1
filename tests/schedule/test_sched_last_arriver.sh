#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Why a Clairvoyant plan that knows arrivals drawn afresh ends later than one made for equal arrivals: in the order of
# its group the last arriver stands last, so its link out, over which all its segments must leave, is idle while others
# are served. Plans are replayed under the true arrivals in a machine of the plan's own rounds: a rank sends one
# segment and receives one at a time, each takes a round. No network, no MPI: what differs is the plan. TAP. 5 s.
# With -v only the table, of CLV_SETS sets of arrivals (10), as docs/results/single-calls.md has it.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
. "$CLV_TOP/tests/support/tap.sh"
export LC_ALL=C
plan=$CLV_BUILD/apps/tools/clv-plan
segments=64 rounds_of_delay=78 # 50 ms of which a vector's 64 segments take 41

# Arrivals in ns, drawn from a seed; a round is 1 ms.
draw() { # ranks seed
    awk -v n="$1" -v seed="$2" -v delay=$((rounds_of_delay * 1000000)) 'BEGIN {
        x = seed * 7919 + 17
        for (i = 0; i < n; i++) { for (k = 0; k < 3; k++) x = (x * 16807) % 2147483647; a[i] = int(x / 2147483647 * delay); if (i == 0 || a[i] < low) low = a[i] }
        for (i = 0; i < n; i++) printf "%s%d", i ? " " : "", a[i] - low }'
}
# Rounds from the last arrival to the end, and those of them in which the last arriver's link out was idle.
replay() { # scheduler ranks "predicted arrivals" "true arrivals"
    printf 'P %d\nN %d\nroot 0\nd 1000000\narrival %s\n' "$2" $segments "$3" | "$plan" --scheduler "$1" |
        awk -v true="$4" -v n="$2" '
            BEGIN { split(true, a, " "); for (i = 1; i <= n; i++) { out[i - 1] = into[i - 1] = a[i] / 1e6; if (a[i] > late) { late = a[i]; last = i - 1 } } }
            /^[0-9]/ {
                start = out[$2] > into[$3] ? out[$2] : into[$3]; if (has[$2, $4] > start) start = has[$2, $4]
                out[$2] = into[$3] = has[$3, $4] = start + 1; if (start + 1 > end) end = start + 1
                if ($2 == last) { sent++; done = start + 1 } }
            END { print end - late / 1e6, done - late / 1e6 - sent }'
}
median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.1f\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
table() { # sets
    local ranks seed arrivals zeros row
    for ranks in 8 16 48; do
        zeros=$(seq -s ' ' $ranks | sed 's/[0-9]*/0/g')
        : >"$work/exact"; : >"$work/equal"; : >"$work/latest"
        for seed in $(seq "$1"); do
            arrivals=$(draw $ranks "$seed")
            replay bitset $ranks "$arrivals" "$arrivals" >>"$work/exact"
            replay bitset $ranks "$zeros" "$arrivals" >>"$work/equal"
            replay latest-first $ranks "$arrivals" "$arrivals" >>"$work/latest"
        done
        row=$ranks
        for kind in exact equal latest; do row+=" $(cut -d' ' -f1 "$work/$kind" | median) $(cut -d' ' -f2 "$work/$kind" | median)"; done
        echo "$row"
    done
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = -v ]; then
    echo 'ranks | Clairvoyant, arrivals exact: after, idle | told all are equal: after, idle | latest first, exact: after, idle'
    table "${CLV_SETS:-10}"
    exit
fi
table 10 >"$work/table"
sed 's/^/# /' "$work/table"
tap_ok 'told exactly, Clairvoyant ends later than told nothing' awk '$2 <= $4 || ($1 > 8 && $2 <= $4 + 4) { bad = 1 } END { exit bad || NR != 3 }' "$work/table"
tap_ok 'by the rounds in which the last arriver sends nothing' awk '{ d = ($2 - $4) - ($3 - $5); if (d > 4 || d < -4) bad = 1 } END { exit bad }' "$work/table"
tap_ok 'and the same loop with the latest arrival first loses fewer than three' awk '$7 >= 3 || $6 > 64 + 4 { bad = 1 } END { exit bad }' "$work/table"
tap_end
