#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# MPI_Bcast through the component: random lengths, roots and datatypes that differ between ranks,
# reduces and allreduces between; and that it is left alone by default. TAP.
#
# CLV_TEST_RANKS: numbers of ranks instead of 2, 3, 5 and 8.
. "$CLV_TOP/tests/mpi/reduce_common.sh"
cases=$CLV_BUILD/tests/mpi/bcast_cases
ranks=${CLV_TEST_RANKS:-2 3 5 8}
clv="--mca coll clv --mca coll_clv_min_ranks 2 --mca coll_clv_bcast_min_bytes 1
    --mca coll_clv_collectives ^ --mca coll_clv_verbose 10"

# shellcheck disable=SC2086
for algorithm in auto previous out_chain; do
    for p in $ranks; do
        launch "$p" $clv --mca coll_clv_bcast_algorithm $algorithm "$cases" 300 "$p" &&
            has "$all_right" &&
            { [ $algorithm = auto ] || grep -q "bcast of .*: $algorithm, because" "$output"; }
        report $? "$algorithm, $p ranks: right, and it is what ran"
    done
done
launch 3 --mca coll clv --mca coll_clv_verbose 10 "$cases" && has "$all_right" && ! has 'bcast of'
report $? 'by default broadcasts are left alone'
echo "1..$n"
