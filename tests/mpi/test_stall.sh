#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rank that waits tells where it is: tools at any time, the user once per call when it lasts. In each place that
# a call can wait in: for a segment, for a peer to take one, for a forecast. TAP.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup

# stalled KIND SECONDS-LATE STALL-SECONDS OPTIONS...
stalled() {
    said=$(mpi_run -np 3 --mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_collectives reduce,bcast \
        --mca coll_clv_stall_seconds "$3" "${@:4}" "$CLV_BUILD/tests/mpi/stall" "$2" "$1")
}
told() { grep -c "waiting for .*rank $1 of MPI_COMM_WORLD" <<<"$said"; }
sees() { grep -qE "^stall: $1" <<<"$said" || { echo "$said"; false; }; } # pattern of the tool's line
chain=(--mca coll_clv_exchange 0 --mca coll_clv_reduce_algorithm chain --mca coll_clv_bcast_algorithm out_chain)

stalled receive 3 1 "${chain[@]}"
tap_ok 'a tool sees what the root waits for, from whom, and for how long' \
    sees 'for=2 receives=[1-9][0-9]* receive_rank=2 receive_segment=0 .* ns_ok=1'
tap_has 'after the call nothing waits' 'stall: after for=0' "$said"
tap_has 'the user is told after coll_clv_stall_seconds' 'waiting for 1 s: rank 0' "$said"
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
tap_ok 'in words' grep -qE 'waiting for 1 s: rank 2 of MPI_COMM_WORLD in call [0-9]+ of its kind for forecast [0-9]+' <<<"$said"
tap_ok 'told once' test "$(told 2)" -eq 1
tap_has 'and the program goes on when the process does' 'stall: after for=0' "$said"
tap_end
