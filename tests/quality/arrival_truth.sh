#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: whether recorded lateness is true. Emulated hosts whose clocks lie an hour apart and drift, ranks
# that come late as clv-bench's patterns say and write down when by CLOCK_REALTIME, which the hosts have in
# common; and what clv-view makes of the record. Passes when the lateness of at least 99 % of all calls of
# ranks lies within the bound that clv-view prints, and the last rank is right wherever it is named.
# Needs root and namespaces (apps/bench/cluster). About 5 s a pattern.
#
#   tests/quality/arrival_truth.sh [HOSTS [CALLS [DRIFT_PPM [PATTERN ...]]]]     8 hosts, 200 calls, 50 ppm
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
hosts=${1:-8} calls=${2:-200} drift=${3:-50}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- one-late uniform ascending exponential balanced
"$top/clv" build || exit 2
eval "$("$top/clv" env)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The first calls are made before a clock has been compared twice; they count like all others.
judge() { # pattern
    cat "$work/$1.true"/* >"$work/truth"
    "$CLV_BUILD/apps/tools/clv-view" --export jsonl --stream 0 "$work/$1.rec" |
        sed -n 's/.*"call":\([0-9]*\),"rank":\([0-9]*\),.*"bound_ns":\([0-9]*\),"lateness_ns":\([0-9]*\),.*"last":\([01]\).*/\1 \2 \3 \4 \5/p' |
        awk -v name="$1" '
        FILENAME != "-" { real[$1, $2] = $3; if (!($1 in first) || $3 < first[$1]) first[$1] = $3
                          if (!($1 in latest) || $3 > latest[$1]) { latest[$1] = $3; last[$1] = $2 } next }
        { n++; bound[$1, $2] = $3; late[$1, $2] = $4; calls[$1]; if ($4 == 0) zero[$1] = $3
          if ($5) { named++; right += last[$1] == $2 } }
        END {
            for (cell in late) {
                split(cell, at, SUBSEP)
                error = late[cell] - (real[cell] - first[at[1]])
                if (error < 0) error = -error
                limit = bound[cell] + zero[at[1]]
                inside += error <= limit
                sum += error; if (error > worst) worst = error; if (limit > widest) widest = limit
            }
            good = n > 0 && inside >= 0.99 * n && right == named
            printf "%-12s %6d cells: %.2f %% within the bound; error %.2f us in the mean, %.1f at most, bound %.1f at most; last named in %d of %d calls, right in %d: %s\n",
                name, n, n ? 100 * inside / n : 0, n ? sum / n / 1e3 : 0, worst / 1e3, widest / 1e3, named, length(calls), right, good ? "true" : "NOT TRUE"
            exit !good
        }' "$work/truth" -
}

status=0
for pattern in "$@"; do
    mkdir "$work/$pattern.true"
    "$top/apps/bench/cluster" with "$hosts" --realtime --timeout 200 --mca coll_clv_record "$work/$pattern.rec" \
        -- "$CLV_BUILD/tests/mpi/arrival_truth" "$pattern" "$calls" 5 "$drift" "$work/$pattern.true" \
        >"$work/said" 2>&1 || { cat "$work/said"; status=1; continue; }
    judge "$pattern" || status=1
done
exit $status
