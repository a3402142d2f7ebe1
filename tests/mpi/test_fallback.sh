#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# coll_clv_fallback: what calls run that have no forecast or no plan; on ranks that do not agree on it, and for calls
# that an algorithm is not right for, the previous function. By counters. TAP. 5 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe

# fallback WORD OPTIONS... -- ARGUMENTS...: four ranks, 12 reduces of 160 kB, one to each root in turn
fallback() {
    local word=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    said=$(mpi_run -np 4 --mca coll clv --mca mpi_yield_when_idle 1 --mca coll_clv_fallback "$word" "${options[@]}" \
        "$probe" 20000 3 "${@:2}")
}
runs() { # WHAT COUNTER
    tap_ok "$1: the sums are right" grep -q 'sums right' <<<"$said"
    tap_has "$1: $2" " $2" "$said"
}

for word in binomial rabenseifner ring previous; do
    fallback $word --mca coll_clv_exchange 0 --
    runs "no exchange, $word" ran_$word=12
    fallback $word --mca coll_clv_setup_bytes 1000000000 --
    runs "nothing set up yet, $word" ran_$word=12
done
fallback auto --mca coll_clv_exchange 0 --
runs 'no exchange, auto: links were not measured' 'ran_previous=12'
fallback auto --mca coll_clv_setup_bytes 1000000000 --
runs 'nothing set up yet, auto' 'ran_rank_chain=12'
fallback ring --mca coll_clv_shared_processors yes --
runs 'shared processors' 'ran_ring=12'
fallback ring --mca coll_clv_port_min 47831 --mca coll_clv_port_range 1 --
runs 'no channel' 'ran_ring=12'

# The probe's last two calls are one of nothing and one whose operation does not commute.
fallback ring --mca coll_clv_exchange 0 --mca coll_clv_verbose 10 -- 0 odd
runs 'what a ring is not right for' 'ran_previous=1'
tap_has 'and why is told' 'the operation does not commute' "$said"
fallback ring --mca coll_clv_exchange 0 --mca coll_clv_collectives reduce,allreduce,bcast -- 0 others
runs 'of other collectives each takes the previous function' 'ran_ring=12'

said=$(mpi_run -np 4 --mca coll clv --mca coll_clv_exchange 0 sh -c 'OMPI_MCA_coll_clv_fallback=$((OMPI_COMM_WORLD_RANK % 2 + 3))
    export OMPI_MCA_coll_clv_fallback; exec "$@"' sh "$probe" 20000 3)
runs 'ranks that name different ones' 'fell_back_unequal=12'
tap_has 'and what differs is told' 'coll_clv_fallback is rabenseifner on rank 0' "$said"
tap_end
