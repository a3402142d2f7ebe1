#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Whatever is installed below clv, nothing of clv is called again by what it calls: over each component, and
# each algorithm that one can be forced to, with all three collectives taken over from the first byte on,
# results are right and clv counts the program's calls and no others. TAP.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
on=(-np 3 --mca mpi_yield_when_idle 1 --mca coll_clv_min_ranks 2 --mca coll_clv_reduce_min_bytes 1
    --mca coll_clv_allreduce_min_bytes 1 --mca coll_clv_bcast_min_bytes 1
    --mca coll_clv_collectives 'reduce,allreduce,bcast')
basic=(--mca coll 'clv,basic,libnbc,self,inter')

# 12 reduces, 4 allreduces and one of its verdict, 4 broadcasts
counted='calls_reduce=12 calls_allreduce=5 calls_bcast=4 '
# over NAME OPTIONS...
over() {
    said=$(mpi_run "${on[@]}" "${@:2}" "$probe" 9000 4 0 others)
    tap_has "over $1: results are right" 'probe: sums right' "$said"
    tap_has "over $1: the program's calls are counted, and no others" "$counted" "$said"
}

over basic "${basic[@]}"
tap_has 'with a communicator that was set up' ' calibrations=1 ' "$said"
over 'basic, where what was there before is asked for' "${basic[@]}" \
    --mca coll_clv_reduce_algorithm previous --mca coll_clv_allreduce_algorithm previous
over 'basic, where a set-up is far off' "${basic[@]}" --mca coll_clv_setup_bytes 100m
over adapt --mca coll 'clv,adapt,basic,libnbc,self,inter' --mca coll_adapt_priority 40
over han --mca coll 'clv,han,tuned,basic,libnbc,self,inter' --mca coll_han_priority 35
for n in 1 2 3 4 5 6; do
    forced=(--mca coll clv --mca coll_tuned_use_dynamic_rules 1)
    for collective in allgather allgatherv allreduce alltoall barrier bcast gather reduce scatter; do
        forced+=(--mca "coll_tuned_${collective}_algorithm" $n)
    done
    over "tuned, each algorithm forced to its number $n" "${forced[@]}"
done

# adapt above clv never releases what it replaced: clv's module is not told that its communicator ends. Operations that
# do not commute go through it.
for operation in '' ordered; do
    said=$(mpi_run -np 3 --mca coll 'clv,adapt,basic,libnbc,self,inter' --mca coll_adapt_priority 90 \
        --mca coll_clv_min_ranks 2 --mca coll_clv_collectives reduce \
        "$CLV_BUILD/tests/mpi/life_cases" copies 10000 $operation)
    tap_has "under adapt, communicators come and go${operation:+, calls that go through it}" \
        'life_cases: all right' "$said"
done

# Calls that are not taken are counted on rank 0 alone: what basic makes of them must go one way on all ranks.
said=$(mpi_run "${on[@]:0:${#on[@]} - 1}" reduce "${basic[@]}" --mca coll_clv_reduce_algorithm chain \
    --mca coll_clv_print summary "$probe" 9000 4 0 others)
tap_has 'over basic, with a summary of what is not taken: results are right' 'probe: sums right' "$said"

# Other collectives may be built from ours, too.
tap_ok 'other collectives, and communicators that are made, over basic' \
    mpi_run "${on[@]}" "${basic[@]}" "$CLV_BUILD/tests/mpi/coll_others"
said=$(mpi_run "${on[@]}" "${basic[@]}" "$CLV_BUILD/tests/mpi/life_cases" multiple)
tap_has 'two threads on two communicators over basic' 'life_cases: all right' "$said"

# The recorder starts with a set-up of its own, inside MPI_Init.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
over 'basic, recorded' "${basic[@]}" --mca coll_clv_record "$folder"
tap_ok 'and there is a file' test -n "$(find "$folder" -name '*.clva' -size +0)"

program=$CLV_BUILD/tests/mpi/gather_cases
if [ -x "$program" ]; then
    said=$(mpi_run -np 7 --mca mpi_yield_when_idle 1 "$program")
    tap_has 'what ranks tell each other, on 1 to 7 of them' 'all right' "$said"
else
    tap_skip 'what ranks tell each other' 'built without the headers of Open MPI'
fi
tap_end
