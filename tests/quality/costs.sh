#!/bin/bash
# Opt-in: what the component costs a program that it does not help. The figures of docs/design/channel.md
# come from here. About a quarter of an hour; ranks run under SCHED_RR (chrt -r 1, needs root) so that other
# work of this machine does not get between them; the background thread stays what it always is.
#
#   tests/quality/costs.sh [calls] [idle] [latency] [blocks] [below] [init] [record] [drain]      all without arguments
#
# calls: time of the main thread per eligible call.  idle: the thread when nobody calls, 60 s.
# latency: from the last record to its forecast on 4, 8 and 16 emulated hosts, which share this machine's
# cores: calls 20 ms apart, for which the threads look by themselves, and 10 to 30 ms, mostly rung for.
# blocks: 8-byte ping-pong and reduce on two ranks, two runs in turns of 20 ms, the ratio of each pair
# of turns. thread: the component with its thread against the component before any eligible call;
# component: with it (and the thread) against without it; nothing: both without, which shows
# what the method makes of no difference.
# below: reduce, allreduce and bcast of 8 bytes to 32 KiB, which clv leaves alone, with it (and its thread)
#        against without it, as blocks
# record: 8-byte allreduce and ping-pong in the same turns, clv there but not recording, and the first recorded,
# against without it.
# drain: what the thread takes of a core while 16 ranks of a node are recorded, 1,000 calls a second (0.1 % wanted);
#        of that what it takes to start. CLV_CALLS: iterations, 20 s by default.
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
export OMPI_MCA_coll_clv_shared_processors=no
export OMPI_MCA_coll_clv_setup_bytes=0 # the thread is there from the first call on
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
    "$top/apps/bench/cluster" with 2 --realtime --timeout 60 --mca coll clv --mca coll_clv_min_ranks 2 -- \
        "$costs" calls 2000 1000 1000 2>"$scratch/errors"
}

measure_idle() {
    "$top/apps/bench/cluster" with 4 --realtime --timeout 150 --mca coll clv -- "$costs" idle 60 \
        2>"$scratch/errors"
}

measure_latency() { # hosts
    local spread
    for spread in '20000 0' '10000 20000'; do
        # shellcheck disable=SC2086
        "$top/apps/bench/cluster" with "$1" --realtime --timeout 60 -- \
            "$CLV_BUILD/tests/mpi/record_latency" 500 $spread 2>"$scratch/errors"
    done
}

# take_turns KIND FIRST SECOND [WORD-FOR-SECOND]: "first-ns second-ns" lines, one a pair of blocks
take_turns() {
    local start=$(($(date +%s) + 4)) second
    # shellcheck disable=SC2086
    run 2 $3 $steady "$costs" blocks "$1" "$start" 1 "${CLV_BLOCKS:-60}" ${4:-} >"$scratch/second" &
    second=$!
    # shellcheck disable=SC2086
    run 2 $2 $steady "$costs" blocks "$1" "$start" 0 "${CLV_BLOCKS:-60}" >"$scratch/first"
    wait $second
    awk '$1 == "block" { if (FNR == NR) a[$2] = $3; else if ($2 in a) print a[$2], $3 }' \
        "$scratch/first" "$scratch/second"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "none" }'; }

# Two processes differ a little for as long as they live (where their memory lies), so what counts is
# how much the median ratio of a pair of runs moves when both are started anew.
compare() { # what, then as take_turns
    local what=$1 restart ratios=$scratch/ratios pairs=$scratch/pairs
    shift
    : >"$ratios"
    : >"$pairs"
    for restart in $(seq "${CLV_RESTARTS:-6}"); do
        take_turns "$@" >"$scratch/turns"
        cat "$scratch/turns" >>"$pairs"
        awk '{ print $1 / $2 }' "$scratch/turns" | median >>"$ratios"
    done
    printf '%-22s ratio %.3f (%.3f to %.3f over %d restarts), medians %.1f and %.1f ns, %d pairs\n' \
        "$what" "$(median <"$ratios")" "$(sort -g "$ratios" | head -n 1)" \
        "$(sort -g "$ratios" | tail -n 1)" "$restart" "$(cut -d' ' -f1 "$pairs" | median)" \
        "$(cut -d' ' -f2 "$pairs" | median)" "$(wc -l <"$pairs")"
}

measure_blocks() { # kind
    locked compare "$1, thread" "$1" "$with" "$with" nothread
    locked compare "$1, component" "$1" "$with" "$without"
    locked compare "$1, nothing" "$1" "$without" "$without"
}

# A row of calls that do not come to clv would say nothing.
measure_below() {
    local kind bytes
    for kind in reduce allreduce bcast; do for bytes in 8 1024 4096 32768; do
        locked compare "$kind, $bytes bytes" "$kind:$bytes" "$with --mca coll_clv_collectives reduce,allreduce,bcast" "$without"
        grep -q '^reached [1-9]' "$scratch/first" && grep -q '^reached 0' "$scratch/second" ||
            echo "$kind, $bytes bytes: WRONG, with and without clv reached it $(sed -n 's/^reached //p' "$scratch/first" "$scratch/second" | xargs) times"
    done; done
}

measure_record() {
    locked compare 'allreduce, off' allreduce "$with" "$without" nothread
    locked compare 'pingpong, off' pingpong "$with" "$without" nothread
    locked compare 'allreduce, recorded' allreduce "--mca coll_clv_record $scratch/record" "$without" nothread
    echo "recorded: $(cat "$scratch"/record/*.clva | wc -c) bytes in $(ls "$scratch/record" | wc -l) files"
}

# A reduce and a broadcast each two milliseconds, the naps a little less; what the thread took stands in the file.
drained() { # iterations nap-ms: calls, cells, dropped, run and thread in ns
    rm -rf "$scratch/drain"
    # shellcheck disable=SC2086
    run 16 --mca mpi_yield_when_idle 1 --mca coll_clv_record "$scratch/drain" \
        "$CLV_BUILD/tests/mpi/iterations" balanced "$1" 8 "$2" 0 bcast >/dev/null
    "$CLV_BUILD/apps/tools/clv-view" --json "$scratch/drain" | tr -d '\n' |
        sed -n 's/.*"calls":\([0-9]*\),"cells":\([0-9]*\),.*"dropped":\([0-9]*\),"run_ns":\([0-9]*\),.*"thread_ns":\([0-9]*\).*/\1 \2 \3 \4 \5/p'
    echo # sed leaves out what it was not given
}
measure_drain() {
    { drained 3 100; drained "${CLV_CALLS:-10000}" 1.75; } |
        awk 'NR == 1 { start = $5; next }
             { printf "drain: %d calls of 16 ranks in %.1f s, %.0f a second, %d dropped: the thread took %.4f %% of a core, %.0f ns a call and rank; at 1,000 a second %.4f %%\n",
                   $1, $4 / 1e9, $1 / ($4 / 1e9), $3, 100 * $5 / $4, $5 / $2, 100 * $5 / $1 / 1e6
               printf "drain: of that %.2f ms at the start; the rest is %.0f ns a call and rank, at 1,000 a second %.4f %%\n",
                   start / 1e6, ($5 - start) / $2, 100 * ($5 - start) / $1 / 1e6 }'
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

[ $# -gt 0 ] || set -- calls idle latency blocks below init record drain
for part in "$@"; do
    case $part in
    calls)
        locked measure_calls
        echo 'on two hosts:'
        locked measure_calls_apart ;;
    idle) measure_idle ;; # nearly idle itself: no lock
    latency)
        for hosts in 4 8 16; do
            locked measure_latency $hosts
        done ;;
    blocks)
        measure_blocks pingpong
        measure_blocks reduce ;;
    below) measure_below ;;
    record) measure_record ;;
    drain) locked measure_drain ;;
    init) locked measure_init "${CLV_RUNS:-20}" ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
    esac
done
