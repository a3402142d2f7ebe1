#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: hours of collectives of all kinds mixed with reduces (tests/mpi/soak.c), one mpirun after the
# other, each with ranks, threads, algorithm, hosts and other load drawn anew. TAP: a point per mpirun.
#
#   tests/mpi/soak.sh [--minutes N] [--each SECONDS] [--seed N] [--pause FILE] [--preempt US] [--record]
#   tests/mpi/soak.sh --list N --seed N
#   tests/mpi/soak.sh --sum
#   tests/mpi/soak.sh --watch-dog | --crash
#
# --minutes N      how long in all; 10
# --each SECONDS   how long one mpirun takes calls; 40
# --seed N         of what is drawn; the time without it. Printed.
# --list N         prints the first N draws, and runs nothing
# --pause FILE     no mpirun begins while FILE exists; waiting for that does not count
# --preempt US     threads stand still for up to so long at any place, so that races come to light sooner; not with
#                  --record: no program is like that
# --record         adds a row to docs/results/data/soak.csv, where hours add up; --sum prints the sums
# --watch-dog      whether the watchdog tells what it should: one mpirun in which a rank stands still
# --crash          whether a crash is told: one mpirun in which a rank breaks its communicator
# An mpirun fails with a wrong result, when clv was not in it, when it ends by a signal, and when nothing moves for
# CLV_SOAK_STALL seconds (60). In the latter two the program tells what each thread is in, and after a signal what Open MPI has
# of each communicator; the stacks of all ranks are taken if there is a gdb. Logs of failed runs stay in build/soak.
# Several may run side by side, each with hosts of its own (seeds further apart than there are mpiruns); a row says how many
# did, and the priority: idle under `chrt -i 0`.
set -u
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
page=$CLV_TOP/docs/results/data/soak.csv
sums() {
    awk -F, 'NR > 1 { minutes += $7; runs += $8; calls += $9; bad += $10 }
        END { printf "%.1f hours, %d mpiruns, %.0f calls, %d failed\n", minutes / 60, runs, calls, bad }' "$page"
}
minutes=10 each=40 seed=$EPOCHSECONDS pause= preempt=0 list=0 record= stand=0 break=0 trial=
stall=${CLV_SOAK_STALL:-60}
while [ $# -gt 0 ]; do
    case $1 in
    --minutes | --each | --seed | --pause | --preempt | --list) declare "${1#--}=${2:?}"; shift ;;
    --record) record=yes ;;
    --watch-dog) trial=watch_dog stall=8 stand=5 ;;
    --crash) trial=crash break=5 ;;
    --sum) sums; exit ;;
    *) sed -n '4,26p' "$0" >&2; exit 2 ;;
    esac
    shift
done
[ "$preempt" -eq 0 ] || record=
[ "$list" -gt 0 ] || mpi_setup
limit=$((each + 2 * stall + 120)) # of an mpirun
export CLV_CLUSTER_STATE
folder=$(mktemp -d) CLV_CLUSTER_STATE=$folder/state # hosts that nobody else takes down
RANDOM=$((seed % 32768))
echo "# seed $seed, $minutes minutes"

load=()
# Processes of other programs that want the processors.
start_load() { # how many
    local i
    for ((i = 0; i < $1; i++)); do
        (trap - EXIT; exec -a soak-load sh -c 'while :; do :; done') &
        load+=($!)
    done
}
stop_load() {
    [ ${#load[@]} -eq 0 ] || kill "${load[@]}" 2>/dev/null
    load=()
}
trap 'stop_load; "$CLV_TOP/apps/bench/cluster" down --all >/dev/null 2>&1; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# The log of a run that failed, where it stays.
keep() { # log
    mkdir -p "$CLV_BUILD/soak" && mv "$1" "$CLV_BUILD/soak/$((seed + n)).log" && echo "$CLV_BUILD/soak/$((seed + n)).log"
}

# Not in a subshell, which would draw from a seed of its own.
one_of() { # variable words: one of them
    local -n drawn=$1
    shift
    local which=$((1 + RANDOM % $#))
    drawn=${!which}
}

draw() {
    local min_bytes ahead_bytes collectives
    ranks=$((2 + RANDOM % 6))
    one_of threads 1 1 1 3
    one_of loads 0 0 2 4
    one_of where here hosts
    one_of algorithm auto auto auto chain latest_first clairvoyant ring
    one_of min_bytes 1 1024 32768
    one_of ahead_bytes 0 0 67108864
    one_of collectives reduce reduce,allreduce
    options=(--mca coll clv --mca coll_clv_reduce_algorithm "$algorithm" --mca coll_clv_stall_seconds $((stall / 2))
        --mca mpi_yield_when_idle 1 --mca coll_clv_reduce_min_bytes "$min_bytes" --mca coll_clv_ahead_bytes "$ahead_bytes"
        --mca coll_clv_collectives "$collectives")
    [ "$where" = here ] || one_of ranks 4 8
}

launch() { # log
    local program=("$CLV_BUILD/tests/mpi/soak" "$each" "$((seed + n))" "$threads" "$stall" 262144 "$stand" "$break" "$preempt")
    if [ "$where" = hosts ]; then
        timeout -k 5 "$limit" "$CLV_TOP/apps/bench/cluster" with 4 --ranks-per-host $((ranks / 4)) --rate 1gbit \
            --timeout $((limit - 30)) "${options[@]}" -- "${program[@]}" >>"$1" 2>&1 </dev/null
    else
        timeout -k 5 "$limit" mpirun --oversubscribe -np "$ranks" \
            --mca mca_base_component_path "$OMPI_MCA_mca_base_component_path" "${options[@]}" "${program[@]}" >>"$1" 2>&1 </dev/null
    fi
}

# The stacks of every soak process of ours, with what is in them, while the program gives us the time for it.
stacks() { # log
    local pid pids
    command -v gdb >/dev/null || { echo 'no gdb: no stacks' >>"$1"; return; }
    pids=$(pgrep -f "^$CLV_BUILD/tests/mpi/soak $each $((seed + n)) ")
    for pid in $pids; do
        timeout 55 gdb -p "$pid" -batch -ex 'thread apply all bt full 30' >"$folder/$pid.stacks" 2>/dev/null &
    done
    for pid in $pids; do
        while kill -0 "$pid" 2>/dev/null && ! grep -qF '[Inferior 1' "$folder/$pid.stacks"; do sleep 1; done
        echo "== $pid"
        cat "$folder/$pid.stacks"
    done >>"$1"
}

run() { # log
    local job
    launch "$1" &
    job=$!
    while kill -0 $job 2>/dev/null; do
        if grep -qE 'soak: (STALL|CRASH) pid' "$1" 2>/dev/null; then stacks "$1"; break; fi
        sleep 1
    done
    wait $job
}

# Ranks on hosts, so that there is a channel to tell of.
trial() { # threads
    log=$folder/0.log where=hosts ranks=4 threads=$1 algorithm=clairvoyant
    options=(--mca coll clv --mca coll_clv_reduce_algorithm clairvoyant --mca coll_clv_stall_seconds 4 --mca coll_clv_reduce_min_bytes 1)
    run "$log"
}
end_trial() {
    [ $tap_failed -eq 0 ] || echo "# $(keep "$log")"
    tap_end
}

watch_dog() {
    local log what
    trial 1
    for what in 'rank 1 thread 0: step' 'rank 0: calls=[1-9][0-9]* wait_for_what=[12] .* exchange_forecasts=.* exchange_received_bytes=[1-9]' 'pid [0-9]'; do
        tap_ok "told: $what" grep -qE "soak: STALL $what" "$log"
    done
    tap_ok 'the component tells once, where rank 0 waits' test "$(grep -c 'waiting for .*rank 0 of ' "$log")" -eq 1
    tap_ok 'the stack of the rank that stands' grep -q ' stand_still ' "$log"
    tap_ok 'the stack of one that waits for it' grep -qE ' (coll_clv_call|mca_coll_clv_|PMPI_|MPI_)' "$log"
    tap_ok 'and of the background thread' grep -q '"clv"' "$log"
    end_trial
}

crash() {
    local log what
    trial 3
    for what in 'rank 1: signal 11, code 1, address 0x[0-9a-f]+, at [0-9]+ ms' 'rank 1 registers: r8=.* rip=' 'rank 1 thread [0-2], this one: step [0-9]+, MPI_' \
        'rank 1 thread [0-2] (world|part .) 0x[0-9a-f]+: references [0-9]+, context [0-9]+, .* pml \(nil\), coll 0x' \
        'rank 1 thread [0-2] part 0 0x[0-9a-f]+: references [0-9]+, context [0-9]+, .* pml 0x' \
        'rank 1 at [0-9]+ ms: thread [0-2] made 0x[0-9a-f]+, context [0-9]+' 'stack of rank 1' 'pid [0-9]'; do
        tap_ok "told: $what" grep -qE "soak: CRASH $what" "$log"
    done
    tap_ok 'the stack names functions of Open MPI' grep -qE '^[^#].*mca_pml_ob1[^(]*\((mca_pml_ob1_[a-z_]*)?\+0x' "$log"
    tap_ok 'and that of the debugger is there, too' grep -q '<signal handler called>' "$log"
    tap_ok 'a seed draws the same again' test "$("$0" --list 5 --seed "$seed")" = "$("$0" --list 5 --seed "$seed")"
    tap_ok 'other ranks are where they were' test "$(grep -c '^== [0-9]' "$log")" -ge 4
    end_trial
}

# How many soaks there are at this moment, this one, too (a subshell has its script's command line); and
# how the kernel ranks this one.
beside() { pgrep -af '^([^ ]*/)?bash ([^ ]*/)?tests/mpi/soak\.sh( |$)' | cut -d' ' -f2- | sort -u | wc -l; }
priority() {
    case $(chrt -p $$) in
    *SCHED_IDLE*) echo idle ;;
    *) echo "nice $(nice)" ;;
    esac
}

n=0 n_failed=0 calls=0 most=1 taken=0
while [ $n -lt "$list" ]; do
    draw
    echo "$((seed + n)): $ranks ranks $where, $threads threads, $loads busy processes, ${options[*]}"
    n=$((n + 1))
done
[ "$list" -eq 0 ] || exit 0
[ -z "$trial" ] || "$trial"
while [ $taken -lt $((minutes * 60)) ]; do
    while [ -n "$pause" ] && [ -e "$pause" ]; do sleep 1; done
    began=$SECONDS
    draw
    log=$folder/$n.log
    start_load "$loads"
    run "$log"
    status=$?
    stop_load
    said=$(grep '^soak: .* calls, ' "$log")
    calls=$((calls + $(sed -n 's/.*: \([0-9]*\) calls.*/\1/p' <<<"$said" | grep . || echo 0)))
    grep -q '^soak: clv saw [1-9]' "$log" || said="without clv: ${said% wrong}"
    name="$ranks ranks $where, $threads threads, $algorithm, $loads busy processes: ${said##*: }"
    case $said in
    *' 0 wrong') tap_point 0 "$name"; rm -f "$log" ;;
    *) tap_point 1 "$name"; n_failed=$((n_failed + 1))
        printf '# %s\n' "${options[*]}" "$(keep "$log")"
        echo "# ended with $status after $((SECONDS - began)) s (124, 137: its limit of $limit s)"
        grep -A 30 'STALL\|CRASH\|WRONG\|coll:clv' "$log" | grep -v '^==' | head -n 120 | sed 's/^/# /' ;;
    esac
    n=$((n + 1)) taken=$((taken + SECONDS - began)) now=$(beside)
    most=$((now > most ? now : most))
done
echo "# $n mpiruns, $calls calls, $n_failed failed"
if [ -n "$record" ]; then
    mkdir -p "$(dirname "$page")"
    row="$(date -u +%F),$(git -C "$CLV_TOP" rev-parse --short HEAD),$(ompi_info --version | sed -n 's/^Open MPI v//p'),$seed"
    row+=",$most,$(priority),$(awk "BEGIN { printf \"%.1f\", $taken / 60 }"),$n,$calls,$n_failed"
    {
        flock 9
        [ -s "$page" ] || echo 'date,commit,mpi,seed,soaks beside,priority,minutes,mpiruns,calls,failed' >&9
        echo "$row" >&9
    } 9>>"$page"
fi
tap_end
