#!/bin/bash
# Opt-in: what the component costs a program that it does not help. The figures of docs/channel.md
# come from here. About four minutes; ranks run under SCHED_RR (chrt -r 1, needs root) so that other
# work of this machine does not get between them; the background thread stays what it always is.
#
#   tests/quality/costs.sh [calls] [idle] [blocks] [init]           all four without arguments
#
# calls: time of the main thread per eligible call.  idle: the thread when nobody calls, 60 s.
# blocks: 8-byte ping-pong and reduce on two ranks, two runs in turns of 20 ms, the ratio of each pair
# of turns. thread: the component with its thread against the component before any eligible call;
# component: with it (and the thread) against without it; nothing: both without, which shows
# what the method makes of no difference.
# init: MPI_Init, 20 runs each way, in turns.
# CLV_LOCK: a file to lock around each measurement, when others measure on this machine too.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
"$top/clv" build || exit 1
eval "$("$top/clv" env)"
costs=$CLV_BUILD/tests/mpi/costs
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
with='--mca coll clv --mca coll_clv_min_ranks 2'
without='--mca coll ^clv'
steady='chrt -r 1'
chrt -r 1 true 2>/dev/null || { steady=; echo 'not root: ranks without SCHED_RR'; }

run() { timeout -k 5 150 mpirun --oversubscribe -np "$@" 2>"$scratch/errors" </dev/null; }
locked() { # command: alone on this machine as far as others lock too
    if [ -n "${CLV_LOCK:-}" ]; then
        (flock 9 && "$@") 9>"$CLV_LOCK"
    else
        "$@"
    fi
}

# Ranks that compute under SCHED_RR leave the thread no core of two, so they sleep half of the time.
measure_calls() {
    # shellcheck disable=SC2086
    run 2 $with $steady "$costs" calls 2000 1000 1000
    echo 'without SCHED_RR:'
    # shellcheck disable=SC2086
    run 2 $with "$costs" calls 2000 2000
    # shellcheck disable=SC2086
    run 2 $with "$costs" calls 40000 0
}
# Each rank has a thread of its own to wake.
measure_calls_apart() {
    "$top/bench/cluster" with 2 --realtime --timeout 60 --mca coll clv --mca coll_clv_min_ranks 2 -- \
        "$costs" calls 2000 1000 1000 2>"$scratch/errors"
}

measure_idle() {
    "$top/bench/cluster" with 4 --realtime --timeout 150 --mca coll clv -- "$costs" idle 60 \
        2>"$scratch/errors"
}

# take_turns KIND FIRST SECOND N [WORD-FOR-SECOND]: "block first-ns second-ns" lines
take_turns() {
    local start=$(($(date +%s) + 8)) second
    # shellcheck disable=SC2086
    run 2 $3 $steady "$costs" blocks "$1" "$start" 1 "$4" ${5:-} >"$scratch/second" &
    second=$!
    # shellcheck disable=SC2086
    run 2 $2 $steady "$costs" blocks "$1" "$start" 0 "$4" >"$scratch/first"
    wait $second
    awk '$1 == "block" { if (FNR == NR) a[$2] = $3; else if ($2 in a) print $2, a[$2], $3 }' \
        "$scratch/first" "$scratch/second"
}

# The median of the ratios of pairs, and its 95 % interval by order statistics.
summary() { # what
    awk '{ print $2 / $3, $2, $3 }' | sort -g | awk -v what="$1" '
        { ratio[NR] = $1; first[NR] = $2; second[NR] = $3 }
        END {
            if (NR < 20) { print what ": only " NR " pairs of blocks"; exit 1 }
            half = 0.98 * sqrt(NR)
            low = int(NR / 2 - half); high = int(NR / 2 + half + 1)
            low = low < 1 ? 1 : low; high = high > NR ? NR : high
            m = asort_median(first, NR); n = asort_median(second, NR)
            printf "%-20s %4d pairs, ratio %.4f (95 %%: %.4f to %.4f), medians %.0f and %.0f ns\n",
                what, NR, ratio[int((NR + 1) / 2)], ratio[low], ratio[high], m, n
        }
        function asort_median(v, n,    i, j, t) {
            for (i = 2; i <= n; i++) {
                t = v[i]
                for (j = i - 1; j >= 1 && v[j] > t; j--) v[j + 1] = v[j]
                v[j + 1] = t
            }
            return v[int((n + 1) / 2)]
        }'
}

measure_blocks() { # kind
    local n=${CLV_BLOCKS:-300}
    locked take_turns "$1" "$with" "$with" "$n" nothread | summary "$1, thread"
    locked take_turns "$1" "$with" "$without" "$n" | summary "$1, component"
    locked take_turns "$1" "$without" "$without" "$n" | summary "$1, nothing"
}

# In turns, which begins changing too, so that a busy minute falls on both.
measure_init() { # runs
    local i way
    for i in $(seq "$1"); do
        for way in $([ $((i % 2)) -eq 0 ] && echo with without || echo without with); do
            # shellcheck disable=SC2086
            run 2 ${!way} $steady "$costs" init | sed -n "s/^init/$way/p"
        done
    done | sort -k1,1 -k2,2g | awk '
        { v[$1, ++n[$1]] = $2 }
        END { for (w in n) printf "MPI_Init %-8s %d runs, median %.1f ms, quartiles %.1f and %.1f\n",
                  w, n[w], v[w, int((n[w] + 1) / 2)], v[w, int((n[w] + 3) / 4)],
                  v[w, int((3 * n[w] + 3) / 4)] }'
}

[ $# -gt 0 ] || set -- calls idle blocks init
for part in "$@"; do
    case $part in
    calls)
        locked measure_calls
        echo 'on two hosts:'
        locked measure_calls_apart ;;
    idle) measure_idle ;; # nearly idle itself: no lock
    blocks)
        measure_blocks pingpong
        measure_blocks reduce ;;
    init) locked measure_init "${CLV_RUNS:-20}" ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
    esac
done
