#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rank that waits tells where it is: tools at any time, the user once per call when it lasts.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup

# stalled SECONDS-LATE STALL-SECONDS
stalled() {
    mpi_run -np 3 --mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_exchange 0 \
        --mca coll_clv_reduce_algorithm chain --mca coll_clv_stall_seconds "$2" \
        "$CLV_BUILD/tests/mpi/stall" "$1"
}
lines() { printf '%s\n' "$1" | grep -c "rank 0 of MPI_COMM_WORLD"; }

said=$(stalled 3 1)
tap_has 'a tool sees what the root waits for and from whom' \
    'stall: for=2 receive_rank=2 ns_ok=1' "$said"
tap_has 'after the call nothing waits' 'stall: after for=0' "$said"
tap_has 'the user is told after coll_clv_stall_seconds' 'waiting for 1 s: rank 0' "$said"
tap_has 'with the segments that are missing' 'receives from rank 2 segment 0' "$said"
tap_ok 'once' test "$(lines "$said")" -eq 1
said=$(stalled 3 0)
tap_has 'coll_clv_stall_seconds 0: the call ends' 'stall: after for=0' "$said"
tap_lacks 'and nothing is told' 'waiting for' "$said"
tap_end
