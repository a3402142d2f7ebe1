#!/bin/bash
# MPI_Reduce through the component: every legal reduce under every algorithm that can be forced,
# and under another point-to-point layer than ob1. TAP.
#
# CLV_TEST_RANKS: numbers of ranks instead of 5; CLV_TEST_COUNTS: element counts.
. "$CLV_TOP/tests/mpi/reduce_common.sh"
cases=$CLV_BUILD/tests/mpi/reduce_cases
ranks=${CLV_TEST_RANKS:-5}
counts=${CLV_TEST_COUNTS:-1,2,7,1000,4099,65536}
algorithms='auto previous clairvoyant latest_first chain rank_chain host_chains binomial rabenseifner ring'
pmls='tcp ucx cm'
clv="--mca coll clv --mca coll_clv_reduce_min_bytes 1 --mca coll_clv_min_ranks 2"

# shellcheck disable=SC2086
echo 1..$(($(set -- $algorithms; echo $#) * $(set -- $ranks; echo $#) + $(set -- $pmls; echo $#) + 2))
launch 1 $clv "$cases" -i 6 -s "$counts" && has "$all_right"
report $? "auto, 1 rank"
launch 2 $clv --mca coll_clv_reduce_algorithm clairvoyant "$cases" -i 6 -s "$counts" &&
    has "$all_right"
report $? "clairvoyant, 2 ranks"
for algorithm in $algorithms; do
    for p in $ranks; do
        launch "$p" $clv --mca coll_clv_reduce_algorithm $algorithm --mca coll_clv_verbose 10 \
            "$cases" -i 6 -s "$counts" && has "$all_right" &&
            { [ $algorithm = auto ] || has ": $algorithm, because"; }
        report $? "$algorithm, $p ranks: right, and it is what ran"
    done
done
for pml in $pmls; do
    if ! pml_works $pml; then
        skip "clairvoyant over $pml" "this Open MPI cannot start with it here"
        continue
    fi
    launch 4 $(pml_options $pml) $clv --mca coll_clv_reduce_algorithm clairvoyant "$cases" -i 4 \
        -s "$counts" && has "$all_right"
    report $? "clairvoyant over $pml"
done
