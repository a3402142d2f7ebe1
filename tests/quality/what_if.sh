#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: whether clv-view's what-if is true. On emulated hosts a program is recorded as it runs by default;
# what clv-view then says that an iteration takes by default, with a forced pipeline and with clv is compared
# with runs that really use them. A line per program and algorithm, then how many are within 10 and 20 %, and
# whether the ranking is right wherever real runs differ by more than 10 %. Passes with 12 of 15 within 10 %,
# all within 20 %, and every ranking right. Needs root and namespaces (apps/bench/cluster). About 8 min.
#
#   tests/quality/what_if.sh [--keep FOLDER] [--calls N] [--couple none|bcast] [--bytes N] [PATTERN ...]
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
calls=80 couple=none bytes=2097152 hosts=8 rate=400mbit keep=
while [ $# -gt 0 ]; do
    case $1 in
        --keep|--calls|--couple|--bytes) [ $# -gt 1 ] || { echo "$1 needs a value"; exit 2; }
            declare "${1#--}=$2"; shift 2 ;;
        -*) sed -n '/^#   tests/s/^# *//p' "$0"; exit 2 ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || set -- uniform repeated one-late ascending root-late
[ -n "${CLV_NO_BUILD:-}" ] || "$top/clv" build || exit 2
eval "$("$top/clv" env)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${keep:-$work}
mkdir -p "$folder" || exit 2

. "$top/tests/support/ways.sh"

run() { # pattern, options of cluster: ns of an iteration
    local pattern=$1
    shift
    "$top/apps/bench/cluster" with "$hosts" --rate "$rate" --realtime --timeout 120 "$@" -- \
        "$CLV_BUILD/tests/mpi/iterations" "$pattern" "$calls" "$bytes" 50 40 "$couple" 2>"$work/errors" |
        sed -n 's/^iteration_ns \([0-9]*\) .*/\1/p' | grep . || { cat "$work/errors" >&2; return 1; }
}
# Of one way in the line of JSON.
predicted() { # file way
    tr -d '\n' <"$1" | sed -n "s/.*\"way\":\"$2\",[^}]*},\"scaled\":{\"run_ns\":[0-9]*,\"pace_ns\":\([0-9]*\),.*/\1/p"
}

: >"$folder/lines"
status=0
for pattern in "$@"; do
    name=${pattern//[^a-z0-9-]/_}-$couple
    rm -rf "${folder:?}/$name"
    run "$pattern" --mca coll_clv_record "$folder/$name" >/dev/null || { status=1; continue; }
    "$CLV_BUILD/apps/tools/clv-view" --json "$folder/$name" >"$work/json" || { status=1; continue; }
    for way in default pipeline clv; do
        # shellcheck disable=SC2086
        real=$(run "$pattern" ${ways[$way]}) || { status=1; continue; }
        echo "$pattern $way $real $(predicted "$work/json" $way)" | tee -a "$folder/lines" |
            awk '{ printf "%-12s %-9s real %8.2f ms, predicted %8.2f ms: %+.1f %%\n", $1, $2, $3 / 1e6, $4 / 1e6, 100 * ($4 / $3 - 1) }'
    done
done
awk '{ n++; off = $4 / $3 - 1; if (off < 0) off = -off
       ten += off <= 0.1; twenty += off <= 0.2
       for (i = 1; i < n; i++) if (pattern[i] == $1) {
           apart = real[i] > $3 ? real[i] / $3 : $3 / real[i]
           if (apart > 1.1) { pairs++; right += (real[i] > $3) == (said[i] > $4) } }
       pattern[n] = $1; real[n] = $3; said[n] = $4 }
     END { good = n > 0 && twenty == n && ten >= 0.8 * n && right == pairs
           printf "%d of %d within 10 %%, %d within 20 %%; ranking right in %d of %d pairs: %s\n", ten, n, twenty, right, pairs, good ? "true" : "NOT TRUE"
           exit !good }' "$folder/lines" || status=1
exit $status
