#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# coll_clv_reproducible float on emulated hosts: the same bits in every call of every mpirun, between allreduces of
# integers, which follow predictions; beside a busy loop, with other ranks late, with other parameters of what is
# learnt, and with the background channel cut in the middle. Without it the bits differ, so the test can fail. TAP;
# skipped without root or namespaces. 15 s.
#
#   test_bits_cut.sh [MPIRUNS]    2; 20 take 3 minutes
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"
runs=${1:-2}
bits=$CLV_BUILD/tests/mpi/allreduce_bits
busy_loop() { renice -n 19 $BASHPID >/dev/null; while :; do :; done; } # other tests go first
busy_loop &
load=$!
trap 'kill $load; "$cluster" down --all >/dev/null 2>&1; rm -rf "$CLV_CLUSTER_STATE"' EXIT

# What may change from run to run and must not show; the first two are those of the channel.
ways=('--mca coll_clv_channel_timeout_ms 400' '--mca coll_clv_predictor last'
    '--mca coll_clv_exchange 0' '--mca coll_clv_allreduce_algorithm cut_ring' '--mca coll_clv_objective after')

# Host 2 loses the channel for two seconds, once a tenth of the calls are done.
cut_the_channel() {
    until grep -q 'under way' "$output.job" || ! kill -0 "$1" 2>/dev/null; do sleep 0.1; done
    on_host 2 ip link set eth1 down
    sleep 2
    on_host 2 ip link set eth1 up
}
# run SEED cut|whole OPTIONS...
run() {
    : >"$output.job"
    "$cluster" run --name tests --timeout "$tap_limit" --mca coll_clv_priority 50 --mca coll_clv_collectives allreduce \
        --mca coll_clv_interface eth1 "${@:3}" -- "$bits" 300 "$1" integers >"$output.job" 2>&1 </dev/null &
    local pid=$!
    [ "$2" = whole ] || cut_the_channel $pid
    wait $pid
    local status=$?
    cp "$output.job" "$output"
    return $status
}
first() { sed -n 's/^# first \([0-9a-f]*\),.*/\1/p' "$output"; }
equal_on_ranks() { grep -q 'unequal on ranks 0' "$output"; }
was_cut() { [ "$1" = whole ] || grep -q ', lost [1-9]' "$output"; }
same_in_run() { grep -q 'different 1, unequal on ranks 0' "$output"; }

bed_up 4 --rate 1gbit
second_network
run 1 whole --mca coll_clv_allreduce_algorithm cut_ring && equal_on_ranks && ! same_in_run
tap_report $? 'a cut ring: the same bits on all ranks, others from call to call'
wanted=
for ((k = 1; k <= runs; k++)); do
    way=${ways[(k - 1) % 5]} what=whole
    [ $((k % 3)) -ne 1 ] || [ "$way" = '--mca coll_clv_exchange 0' ] || what=cut # without exchange there is none
    # shellcheck disable=SC2086 # words
    run "$k" $what --mca coll_clv_reproducible float $way && same_in_run && [ "${wanted:=$(first)}" = "$(first)" ] && was_cut $what
    tap_report $? "run $k, the channel $what, ${way#--mca }: ${wanted:-none} in every call"
done
tap_end
