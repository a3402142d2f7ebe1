#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# User operations that write whole structs, with padding, fields that the datatype leaves out, an alignment, a
# negative lower bound or extent: every algorithm gives them buffers with room for that. TAP.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
# Many segments, so that their ends are among the elements.
small=(--mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_collectives reduce,allreduce --mca coll_clv_min_ranks 2
    --mca coll_clv_min_bytes 1 --mca coll_clv_allreduce_min_bytes 1 --mca coll_clv_segment_bytes 1000)

is_clean() { # algorithm: it ran, in memory that is looked at
    local ran='[1-9][0-9]* of [0-9]* calls'
    grep -qE "^padded: $1: $ran ran it, 0 wrong, 0 overruns of [1-9][0-9]* blocks" <<<"$said" ||
        { printf '%s\n' "$said" && false; }
}
while read -r ranks collective algorithms; do
    # shellcheck disable=SC2086
    said=$(mpi_run -np "$ranks" "${small[@]}" "$CLV_BUILD/tests/mpi/padded_cases" "$collective" $algorithms)
    status=$?
    for algorithm in $algorithms; do
        tap_ok "$collective, $ranks ranks, $algorithm: right, and nothing is written beyond a buffer" is_clean "$algorithm"
    done
    tap_ok "$collective, $ranks ranks: the program ends" test $status -eq 0
done <<'END'
4 reduce ring chain rank_chain latest_first clairvoyant host_chains auto previous binomial rabenseifner
4 allreduce plain_ring cut_ring helper_trees auto previous
3 reduce ring
END
tap_end
