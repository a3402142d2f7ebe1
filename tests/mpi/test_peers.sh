#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every rank or none: where some ranks lack the component or have other parameters, the job ends,
# its sums are right, nobody uses the component, and one message names what differs.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
on=OMPI_MCA_coll_clv_priority=40

# unequal SETTING-OF-RANK-0 SETTING-OF-THE-OTHERS: three ranks, 64 KiB
by_rank='[ "$OMPI_COMM_WORLD_RANK" = 0 ] || shift; export "$1"; exec "$PROBE" 8192 3'
unequal() {
    mpi_run --mca mpi_yield_when_idle 1 -np 3 env $on PROBE="$probe" \
        sh -c "$by_rank" sh "$1" "$2"
}

# what|rank 0 has|the others have|what the message must say
while IFS='|' read -r what first others words; do
    said=$(unequal "$first" "$others")
    tap_has "$what: every sum is right" 'sums right' "$said"
    tap_lacks "$what: nobody uses the component" 'exchange_calls' "$said"
    tap_has "$what: the message names it" "$words" "$said"
done <<'CASES'
min_bytes differs|A=1|OMPI_MCA_coll_clv_reduce_min_bytes=1|coll_clv_reduce_min_bytes is 65536 on rank 0 of MPI_COMM_WORLD and 1 on rank 1
an algorithm on some ranks|A=1|OMPI_MCA_coll_clv_reduce_algorithm=ring|coll_clv_reduce_algorithm is auto on rank 0 of MPI_COMM_WORLD and ring on rank 1
no exchange on rank 0|OMPI_MCA_coll_clv_exchange=0|A=1|coll_clv_exchange is 0 on rank 0 of MPI_COMM_WORLD and 1 on rank
some ranks sleep|A=1|OMPI_MCA_coll_clv_wait=sleep|coll_clv_wait is spin on rank 0 of MPI_COMM_WORLD and sleep on rank 1
a refused value on some ranks|A=1|OMPI_MCA_coll_clv_sma_window=0|rank 1 of MPI_COMM_WORLD does not use clv, rank 0 does
rank 0 without it|OMPI_MCA_coll=^clv|A=1|rank 0 of MPI_COMM_WORLD does not use clv, rank 1 does
CASES
tap_ok 'one message, not one per rank' test "$(grep -c 'does not use clv' <<<"$said")" -eq 1
tap_has 'calls are counted with the reason' 'fell_back_unequal=' \
    "$(unequal A=1 OMPI_MCA_coll_clv_min_ranks=2)"
said=$(unequal OMPI_MCA_coll_clv_verbose=5 OMPI_MCA_coll_clv_print=none)
tap_has 'what a process may have alone is no difference' 'exchange_calls=' "$said"

# A component of other sources on some hosts, as after an update that is not through yet.
older=$(mktemp -d) || exit 1
trap 'rm -rf "$older"' EXIT
made_of=$(sed -n 's/.*"\([0-9]\{10\}\)".*/\1/p' "$CLV_BUILD/coll_clv_made_of.h")
LC_ALL=C sed "s/$made_of/${made_of//[0-9]/7}/" "$CLV_BUILD/component/mca_coll_clv.so" >"$older/mca_coll_clv.so"
said=$(unequal A=1 "OMPI_MCA_mca_base_component_path=${OMPI_MCA_mca_base_component_path/"$CLV_BUILD/component"/"$older"}")
tap_has 'older sources on some ranks: every sum is right' 'sums right' "$said"
tap_lacks 'older sources on some ranks: nobody uses the component' 'exchange_calls' "$said"
tap_has 'older sources on some ranks: the message names it' \
    'of MPI_COMM_WORLD has another version of clv than rank' "$said"

# Spawned processes do not get what only the environment of their parents says.
cases=$CLV_BUILD/tests/mpi/reduce_cases
said=$(mpi_run --mca mpi_yield_when_idle 1 --mca btl_tcp_if_include lo -np 2 env $on \
    OMPI_MCA_coll_clv_min_ranks=2 OMPI_MCA_coll_clv_reduce_min_bytes=1 "$cases" -c spawned_and_merged)
tap_has 'spawned processes without it: right' 'all right' "$said"
tap_end
