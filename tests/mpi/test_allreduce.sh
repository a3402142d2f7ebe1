#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# MPI_Allreduce through the component: every legal one under every algorithm that can be forced,
# results equal in bits on all ranks; reduces and allreduces of one communicator by turns; lists of
# collectives. TAP.
#
# CLV_TEST_RANKS: numbers of ranks instead of 2, 3, 5 and 8; CLV_TEST_COUNTS: element counts.
. "$CLV_TOP/tests/mpi/reduce_common.sh"
cases=$CLV_BUILD/tests/mpi/allreduce_cases
ranks=${CLV_TEST_RANKS:-2 3 5 8}
counts=${CLV_TEST_COUNTS:-1,2,7,1000,4099,65536}
# Open MPI 4.1.4's own ring writes past its buffers for types with gaps, with and without us, so the
# function before us is its recursive doubling.
clv="--mca coll clv --mca coll_clv_min_ranks 2 --mca coll_clv_reduce_min_bytes 1
    --mca coll_clv_allreduce_min_bytes 1
    --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 3"
both="$clv --mca coll_clv_collectives reduce,allreduce"

# shellcheck disable=SC2086
for algorithm in auto previous plain_ring cut_ring helper_trees; do
    for p in $ranks; do
        launch "$p" $both --mca coll_clv_allreduce_algorithm $algorithm --mca coll_clv_verbose 10 \
            "$cases" -i 6 -s "$counts" && has "$all_right" &&
            { [ $algorithm = auto ] || has ": $algorithm, because"; }
        report $? "$algorithm, $p ranks: right, and it is what ran"
    done
done

# Which collectives are ours: "what the list says|who runs allreduces|... reduces".
while IFS='|' read -r list allreduce reduce; do
    launch 3 $clv --mca coll_clv_collectives "$list" --mca coll_clv_verbose 10 "$cases" \
        -c reduces_and_allreduces && has "$all_right" &&
        { [ "$allreduce" = ours ] && has 'allreduce of' || ! has 'allreduce of'; } &&
        { [ "$reduce" = ours ] && grep -q 'coll:clv: rank [0-9]*, call [0-9]*: reduce of' "$output" ||
            ! grep -q ': reduce of' "$output"; }
    report $? "collectives $list: allreduce $allreduce, reduce $reduce"
done <<'LISTS'
reduce,allreduce|ours|ours
^reduce|ours|stock
reduce|stock|ours
LISTS
launch 3 --mca coll clv --mca coll_clv_verbose 10 "$cases" -c reduces_and_allreduces &&
    has "$all_right" && ! has 'allreduce of'
report $? 'by default allreduces are left alone'
echo "1..$n"
