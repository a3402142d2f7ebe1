#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: what clv costs a program on processors that are busy with other work, so that the background
# thread gets one late or never. Emulated hosts, reduces of 64 KiB with 3 ms of work between them and up to 3
# more drawn afresh, free and bound by a broadcast; Open MPI alone and clv in paired blocks of one mpirun.
#
#   tests/quality/under_load.sh [--only LOAD,...] [--hosts 4] [--blocks 20] [--calls 100] [--size 64K]
#
# Loads: none; busy, an endless loop on each processor (stress-ng); realtime, the same while the ranks go first
# (chrt -r 1), so that the thread, which does not, gets nothing; fifo, loops of real-time priority that take
# 80 % of each processor from everybody. About two minutes each; put together 2,000 calls of each.
# Prints a line per load and coupling: 99th percentile of the time in a call and the longest of a block's calls, clv /
# Open MPI alone, medians of paired blocks with limits; the longest wait of any rank for a forecast; the longest of
# which the rank had a processor all the time (wall time less what the kernel says that it was denied one, of the
# whole call); the longest that a rank of that program had no processor when it wanted one (as it overslept).
# TAP: both ratios at most 1.2, no wait of a rank with a processor longer than 10 ms; without fifo none at all.
# Needs root, namespaces and a build; installs stress-ng where it is missing.
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
top=$CLV_TOP only=none,busy,realtime,fifo hosts=4 blocks=20 calls=100 size=64K
. "$CLV_TOP/apps/cli/options.sh" || exit 4
usage() { sed -n '8,17s/^# \{0,1\}//p' "$0"; }
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --only | --hosts | --blocks | --calls | --size)
            options_value "$@"
            declare "${1#--}=$2"; shift ;;
        *) options_other "$1" ;;
    esac
    shift
done
command -v stress-ng >/dev/null || { apt-get update && apt-get install -y --no-install-recommends stress-ng; } >/dev/null 2>&1
command -v stress-ng >/dev/null || tap_skip_all 'no stress-ng here'
eval "$("$CLV_TOP/clv" env)"
work=$(mktemp -d) load=
stop_load() {
    [ -z "$load" ] || { kill "$load" && wait "$load"; } 2>/dev/null
    load=
}
trap 'stop_load; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

start_load() { # of the name
    local how=()
    case $1 in
        none) return ;;
        fifo) how=(--cpu-load 80 --sched fifo --sched-prio 1) ;;
    esac
    stress-ng --cpu 0 "${how[@]}" --timeout 900 >/dev/null 2>&1 &
    load=$!
}

bed() { # load, then what to run
    local first=()
    [ "$1" != realtime ] || first=(--realtime)
    shift
    "$CLV_TOP/apps/bench/cluster" with "$hosts" --rate 400mbit "${first[@]}" --timeout 600 "$@" </dev/null
}

# "ratio low high" of clv's blocks to those of Open MPI alone
ratio() { # file metric
    "$CLV_BUILD/apps/bench/clv-bench-compare" --paired csv --baseline default --metric "$2" "$1" |
        awk -F, '$9 == "clv" { print $13, $14, $15 }'
}

at_most() { awk -v x="$1" -v most="$2" 'BEGIN { exit !(x != "" && x <= most) }'; }

measure() { # load coupling
    local file=$work/$1-$2.json p99 worst wait running late
    bed "$1" -- "$CLV_BUILD/apps/bench/clv-bench" --loop --sizes "$size" --compute 3ms --delay 3ms --patterns uniform \
        --couple "$2" --blocks "$blocks" --block-calls $((calls + 20)) --lead-calls 20 --warmup 40 --warm-learners \
        --algorithms default,clv --json "$file" >"$work/log" 2>&1 || cat "$work/log"
    read -r wait late running < <(bed "$1" --mca coll clv,tuned,basic,libnbc,self,sm,inter,sync -- "$CLV_BUILD/tests/mpi/iterations" uniform \
        1000 65536 3 3 "$2" 2>"$work/errors" |
        awk '$5 == "longest_wait_ns" { printf "%.2f %.2f %.2f\n", $6 / 1e6, $8 / 1e6, $10 / 1e6 }')
    p99=$(ratio "$file" p99) worst=$(ratio "$file" worst)
    echo "# $1, coupled by $2: p99 / Open MPI alone $p99, longest call of a block $worst, longest wait for a forecast $wait ms, with a processor $running ms, for a processor $late ms"
    tap_ok "$1, $2: 99 of 100 calls" at_most "${p99%% *}" 1.2
    tap_ok "$1, $2: the longest call" at_most "${worst%% *}" 1.2
    tap_ok "$1, $2: nobody with a processor waits long for a forecast" at_most "$running" 10
    [ "$1" = fifo ] || tap_ok "$1, $2: nor without" at_most "$wait" 10
}

for name in ${only//,/ }; do
    start_load "$name"
    for couple in none bcast; do
        measure "$name" "$couple"
    done
    stop_load
done
tap_end
