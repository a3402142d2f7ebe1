#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rank that waits tells where it is: tools at any time, the user once per call when it lasts. In each place that
# a call can wait in: for a segment, for a peer to take one, for a forecast, inside Open MPI. Where ranks wait because
# one of them passed another count, or root, both are named. TAP.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup

# stalled KIND SECONDS-LATE STALL-SECONDS OPTIONS...
stalled() {
    said=$(mpi_run -np 3 --mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_collectives reduce,bcast \
        --mca coll_clv_stall_seconds "$3" "${@:4}" "$CLV_BUILD/tests/mpi/stall" "$2" "$1")
}
told() { grep -c "waiting for .*rank $1 of MPI_COMM_WORLD" <<<"$said"; }
sees() { grep -qE "^stall: $1" <<<"$said" || { echo "$said"; false; }; } # pattern of the tool's line
soon='[123]' # seconds until a rank that waits says so, limit 1 s; it looks every 64 turns, long ones on a busy machine
chain=(--mca coll_clv_exchange 0 --mca coll_clv_reduce_algorithm chain --mca coll_clv_bcast_algorithm out_chain)

stalled receive 3 1 "${chain[@]}"
tap_ok 'a tool sees what the root waits for, from whom, and for how long' \
    sees 'for=2 receives=[1-9][0-9]* receive_rank=2 receive_segment=0 .* ns_ok=1'
tap_has 'after the call nothing waits' 'stall: after for=0' "$said"
tap_ok 'the user is told after coll_clv_stall_seconds' grep -q "waiting for $soon s: rank 0" <<<"$said"
tap_has 'with the segments that are missing' 'receives from rank 2 segment 0' "$said"
tap_ok 'once' test "$(told 0)" -eq 1
stalled receive 3 0 "${chain[@]}"
tap_has 'coll_clv_stall_seconds 0: the call ends' 'stall: after for=0' "$said"
tap_lacks 'and nothing is told' 'waiting for' "$said"

stalled send 3 1 "${chain[@]}" --mca coll_clv_ahead_bytes 0
tap_ok 'a peer that does not take what is sent: who and what' \
    sees 'for=2 receives=0 .* sends=[1-9][0-9]* send_rank=1 send_segment=[0-9]+ .* ns_ok=1'
tap_has 'in words' 'sends to rank 1 segment' "$said"
tap_ok 'told once' test "$(told 0)" -eq 1

# The whole process of rank 0 stands, with the thread that decides.
stalled forecast 4 1 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo --mca coll_clv_bcast_algorithm out_chain
tap_ok 'a forecast that does not come: which one' sees 'for=1 .* forecast=[1-9][0-9]* .* ns_ok=1'
tap_ok 'in words' grep -qE "waiting for $soon s: rank 2 of MPI_COMM_WORLD in call [0-9]+ of its kind for forecast [0-9]+" <<<"$said"
tap_ok 'told once' test "$(told 2)" -eq 1
tap_has 'and the program goes on when the process does' 'stall: after for=0' "$said"

# says PATTERN OPTIONS... -- ARGUMENTS...: wrong_count, which need not end, until it says so; all of it in $work/said.
says() {
    local pattern=$1 options=() pid end=$((SECONDS + 60))
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    timeout -k 5 "$tap_limit" mpirun --oversubscribe --mca mca_base_component_path "$OMPI_MCA_mca_base_component_path" \
        -np 4 --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo --mca coll clv \
        --mca coll_clv_collectives reduce,allreduce,bcast --mca coll_clv_stall_seconds 1 "${options[@]}" \
        "$CLV_BUILD/tests/mpi/wrong_count" "${@:2}" >"$work/said" 2>&1 </dev/null &
    pid=$!
    until grep -qE "$both$pattern" "$work/said"; do
        kill -0 $pid 2>/dev/null && [ $SECONDS -lt $end ] || break
        sleep 0.1
    done
    kill $pid 2>/dev/null
    wait $pid
    grep -qE "$both$pattern" "$work/said" || { cat "$work/said"; false; }
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
both='call 1 on MPI_COMM_WORLD is not the same on all ranks: '
tap_ok 'a broadcast that the root makes shorter: who waits in a plan names both counts' \
    says 'rank [123] has bcast of 20000 x 8 bytes from rank 0, rank 0 has bcast of 10000 x 8 bytes from rank 0; ' \
    --mca coll_clv_bcast_algorithm out_chain -- bcast 20000 0 10000
tap_ok 'one that a rank makes so short that clv leaves it alone there' \
    says 'rank [013] has bcast of 20000 x 8 bytes from rank 0, rank 2 has bcast of 10 x 8 bytes from rank 0; ' -- bcast 20000 2 10
tap_has 'a rank that waits inside Open MPI says with what' \
    'of MPI_COMM_WORLD in call 1, bcast of 20000 x 8 bytes from rank 0, inside Open MPI' "$(<"$work/said")"
tap_ok 'a reduce' \
    says 'rank [123] has reduce of 20000 x 8 bytes to rank 0, rank 0 has reduce of 10 x 8 bytes to rank 0; ' -- reduce 20000 0 10
tap_ok 'an allreduce' \
    says 'rank [013] has allreduce of 20000 x 8 bytes by all, rank 2 has allreduce of 10 x 8 bytes by all; ' -- allreduce 20000 2 10
tap_ok 'a message that is too long, before the error' \
    says 'rank 1 has bcast of 65536 x 8 bytes from rank 0, rank 0 has bcast of 65537 x 8 bytes from rank 0; ' \
    --mca coll_clv_bcast_algorithm out_chain --mca coll_clv_segment_bytes 1048576 -- bcast 65536 0 65537
tap_end
