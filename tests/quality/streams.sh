#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: a program with forty streams (five communicators, eight sizes from 512 KiB down to 4 KiB, roots
# that rotate) on emulated hosts: Open MPI alone, its pipeline forced and clv in turns, an mpirun each.
#
#   tests/quality/streams.sh [--turns 5] [--hosts 8] [--calls 800] [--streams 40] [--pattern repeated]
#
# Prints the time of an iteration, free and bound by a broadcast from the root: medians with least and largest, and the
# median of the ratios turn by turn. TAP: clv takes at most 1.02 of Open MPI alone, and 1.05 of the better one.
# Half a minute an mpirun, fifteen minutes in all. Needs root, namespaces and a build.
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
top=$CLV_TOP turns=5 hosts=8 calls=800 streams=40 pattern=repeated
. "$CLV_TOP/apps/cli/options.sh" || exit 4
usage() { sed -n '7,11s/^# \{0,1\}//p' "$0"; }
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --turns | --hosts | --calls | --streams | --pattern)
            options_value "$@"
            declare "${1#--}=$2"; shift ;;
        *) options_other "$1" ;;
    esac
    shift
done
eval "$("$CLV_TOP/clv" env)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

. "$CLV_TOP/tests/support/ways.sh"

pace_ms() { # way coupling
    # shellcheck disable=SC2086
    "$CLV_TOP/apps/bench/cluster" with "$hosts" --rate 400mbit --realtime --timeout 200 ${ways[$1]} -- \
        "$CLV_BUILD/tests/mpi/iterations" "$pattern" "$calls" 524288 20 10 "$2" "$streams" 2>"$work/errors" </dev/null |
        awk '$1 == "pace_ns" { printf "%.2f", $2 / 1e6 }'
}

# "median least largest" of a column, or of the ratios of two
middle() { # file column [column]
    awk -v a="$2" -v b="${3:-0}" '{ print b ? $a / $b : $a }' "$1" | sort -g |
        awk '{ v[NR] = $1 } END { printf "%.3f %.3f %.3f", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}
at_most() { awk -v x="$1" -v most="$2" 'BEGIN { exit !(x > 0 && x <= most) }'; }

for couple in none bcast; do
    for ((turn = 0; turn < turns; turn++)); do
        echo "$(pace_ms default $couple) $(pace_ms pipeline $couple) $(pace_ms clv $couple)"
    done >"$work/$couple"
    echo "# $streams streams, coupled by $couple, ms per iteration (median, least, largest): default $(middle "$work/$couple" 1)," \
        "pipeline $(middle "$work/$couple" 2), clv $(middle "$work/$couple" 3)"
    first=$(middle "$work/$couple" 3 1) second=$(middle "$work/$couple" 3 2)
    echo "# clv / default $first, clv / pipeline $second"
    tap_ok "$couple: at most 1.02 of Open MPI alone" at_most "${first%% *}" 1.02
    tap_ok "$couple: at most 1.05 of the pipeline forced" at_most "${second%% *}" 1.05
done
tap_end
