#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The bits of allreduces: equal on all ranks in each call, whatever runs; and with
# coll_clv_reproducible the same in every call and every mpirun, under load, with other ranks late
# and without the background channel. Without it they vary, so the test can fail. TAP.
#
# CLV_TEST_RUNS: mpiruns instead of 6.
. "$CLV_TOP/tests/mpi/reduce_common.sh"
bits=$CLV_BUILD/tests/mpi/allreduce_bits
runs=${CLV_TEST_RUNS:-6}
clv=(--mca coll clv --mca coll_clv_collectives allreduce --mca coll_clv_setup_bytes 0)

# A busy loop beside the ranks, ended with the script; other tests go first.
busy_loop() { renice -n 19 $BASHPID >/dev/null; while :; do :; done; }
busy_loop &
load=$!
trap 'kill $load; rm -rf "$scratch"' EXIT

# run SEED OPTIONS...
run() {
    local lateness=$1
    shift
    launch 5 "${clv[@]}" "$@" "$bits" 60 "$lateness"
}
same_in_run() { has 'different 1, unequal on ranks 0'; }
first() { sed -n 's/^# first \([0-9a-f]*\),.*/\1/p' "$output"; }

run 1 && has 'unequal on ranks 0'
report $? 'each call: the same bits on all ranks'
run 1 --mca coll_clv_allreduce_algorithm cut_ring && ! same_in_run && has 'unequal on ranks 0'
report $? 'a cut ring: the same on all ranks, others from call to call'

wanted=
for ((k = 1; k <= runs; k++)); do
    how=(--mca coll_clv_reproducible float)
    case $((k % 3)) in
    1) how+=(--mca coll_clv_allreduce_algorithm cut_ring) ;;
    2) how+=(--mca coll_clv_exchange 0) ;;
    esac
    run "$k" "${how[@]}" && same_in_run && [ "${wanted:=$(first)}" = "$(first)" ]
    report $? "reproducible, run $k (${how[*]:4}): ${wanted:-none} in every call"
done
echo "1..$n"
