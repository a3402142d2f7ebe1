#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What docs/guide/memory.md says: how much a process grows for a vector of 64 MiB, and how much others can send
# to one that is late. TAP. 12 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
slack=6144 # KiB that Open MPI and the allocator take meanwhile

run() { # collective algorithm options... -- arguments
    local collective=$1 algorithm=$2 options=()
    shift 2
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    said=$(mpi_run -np 4 --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo \
        --mca coll clv --mca coll_clv_collectives reduce,allreduce,bcast --mca coll_clv_exchange 0 \
        --mca "coll_clv_${collective}_algorithm" "$algorithm" "${options[@]}" \
        "$CLV_BUILD/tests/mpi/memory_cases" "$collective" "${@:2}")
}
number() { sed -n "s/^memory: .*$1=\([0-9]*\).*/\1/p" <<<"$said"; }
at_most() { [[ $said == *'wrong=0'* ]] && [ "$(number "$1")" -le "$2" ]; } # word KiB

# Segments of 1 MiB: a window of eight, and where a rank has no result one for each segment it receives.
vector=$((64 << 20)) window=$((9 * 1024))
while read -r collective algorithm kib; do
    run "$collective" "$algorithm" --mca coll_clv_segment_bytes 1048576 -- "$vector" 2
    tap_ok "$collective of 64 MiB, $algorithm: $(number grown_kib) KiB, at most $kib" at_most grown_kib $((kib + slack))
done <<END
allreduce cut_ring $window
bcast out_chain $window
reduce chain $((window + 65536))
END

# What is sent ahead to a rank that comes a second late, in many calls where a collective lets others go on.
while read -r budget collective algorithm bytes calls; do
    run "$collective" "$algorithm" --mca coll_clv_ahead_bytes "$budget" -- "$bytes" "$calls" 1
    tap_ok "$calls $algorithm of $bytes bytes, coll_clv_ahead_bytes $budget: the late one holds $(number late_kib) KiB" \
        at_most late_kib $((budget / 1024 + 2048))
done <<'END'
1048576 bcast out_chain 65536 500
8388608 bcast out_chain 65536 500
1048576 allreduce cut_ring 2097152 4
END
tap_end
