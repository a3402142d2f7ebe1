#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every performance variable counts: each, and each element of arrays, becomes non-zero in one of these
# runs, read through MPI_T; those that a small healthy job cannot move are listed with the test that does. And the counts of
# calls agree with each other.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
on=(--mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_min_ranks 2)

# run OPTIONS...: its counters are added to $seen
seen=
run() {
    said=$(mpi_run "$@")
    seen="$seen $(grep -a 'sums right' <<<"$said")"
}
counter() { sed -n "s/.*[ ,]$1=\(-\{0,1\}[0-9]*\).*/\1/p" <<<"$said"; }

run -np 4 "${on[@]}" "$probe" 40000 20 5 odd
calls=$(counter calls)
reasons=$(grep -ao 'fell_back_[a-z_]*=[0-9]*' <<<"$said" | awk -F= '{ n += $2 } END { print n + 0 }')
ran=$(grep -ao 'ran_[a-z_]*=[0-9]*' <<<"$said" | awk -F= '{ n += $2 } END { print n + 0 }')
tap_ok "all calls ran something: $ran of ${calls:-no}" test "$ran" -eq "${calls:-0}" -a "$ran" -ge 21
tap_ok "each call of the previous reduce has one reason: $reasons" \
    test "$reasons" -eq "$(counter ran_previous)"

# Odd ranks sleep 8 ms longer, so one of them is last most often, also where a rank waits for a processor.
run -np 4 "${on[@]}" --mca coll_clv_print summary "$probe" 20000 25 64
# What has no variable of its own is in the summary's JSON.
json() { sed -n "s/.*\"$1\":\(-\{0,1\}[0-9]*\).*/\1/p" <<<"$said"; }
tap_ok "the late rank: $(counter exchange_late_rank), $(json late_calls) of $(json late_of_calls)" \
    test "$(($(counter exchange_late_rank) % 2))" -eq 1 -a "$(json late_calls)" -ge 3 -a \
    "$(json late_of_calls)" -ge "$(json late_calls)"
tap_ok 'mean error = sum of errors / judged calls' test "$(counter exchange_mean_error_ns)" -eq \
    $(($(json judged_error_ns) / $(json judged)))

for algorithm in clairvoyant latest_first chain rank_chain host_chains binomial rabenseifner ring previous; do
    run -np 2 "${on[@]}" --mca coll_clv_reduce_algorithm $algorithm "$probe" 20000 3
done
for algorithm in plain_ring cut_ring helper_trees; do
    run -np 2 "${on[@]}" --mca coll_clv_collectives reduce,allreduce,bcast \
        --mca coll_clv_allreduce_algorithm $algorithm --mca coll_clv_bcast_algorithm out_chain \
        "$probe" 20000 3 0 others
done
run -np 2 "${on[@]}" --mca coll_clv_reduce_algorithm rabenseifner "$probe" 1 1
run -np 2 "${on[@]}" --mca coll_clv_reduce_algorithm chain --mca coll_clv_ahead_bytes 64m \
    "$probe" 20000 3
# Each call brings a word here. A look that finds none makes progress, which may give the core away.
run -np 2 "${on[@]}" --mca coll_clv_reduce_algorithm chain --mca coll_clv_ahead_bytes 1m \
    "$probe" 20000 40
tap_ok "with credit words are not looked for: $(counter ahead_looks) of 40 calls" \
    test "$(counter ahead_looks)" -le 20
run -np 2 "${on[@]}" --mca coll_clv_reduce_algorithm chain --mca coll_clv_ahead_bytes 10000 \
    "$probe" 20000 5
tap_ok 'without it one does' test "$(counter ahead_looks)" -gt 0
run -np 2 "${on[@]}" "$probe" 10 1
run -np 2 "${on[@]}" --mca coll_clv_exchange 0 "$probe" 20000 1
run -np 2 "${on[@]}" --mca coll_clv_reproducible always "$probe" 20000 1
run -np 2 "${on[@]}" --mca coll_clv_shared_processors yes "$probe" 20000 1
run -np 4 "${on[@]}" --mca coll_clv_wait sleep "$probe" 20000 40 5
run -np 2 "${on[@]}" --mca coll_clv_interface nosuch0 "$probe" 20000 1
tap_has 'no interface of that name: all go without, and why is told' \
    'no usable network interface nosuch0; those with an address are: lo' "$said"
tap_ok 'once, not by each rank' test "$(grep -c 'no usable network interface' <<<"$said")" -eq 1
tap_has 'and counted' 'fell_back_no_channel=2' "$said"
# Of its ports each process takes one; here is only one for two processes.
run -np 2 "${on[@]}" --mca coll_clv_port_min 47811 --mca coll_clv_port_range 1 "$probe" 20000 1
tap_has 'no port left: all go without, and why is told' 'none of the 1 ports from 47811 on is free' "$said"
tap_has 'and counted' 'fell_back_no_channel=2' "$said"
run -np 2 "${on[@]}" sh -c 'export OMPI_MCA_coll_clv_reduce_min_bytes=$((OMPI_COMM_WORLD_RANK + 1))
    exec "$@"' sh "$probe" 20000 1

# Bytes and clocks need two nodes: processes of different process namespaces are.
apart=(unshare --pid --fork --kill-child --mount-proc)
if "${apart[@]}" true 2>/dev/null; then
    run -np 2 "${on[@]}" --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo \
        --mca coll_clv_port_min 47820 "${apart[@]}" "$probe" 20000 40 5
    tap_has 'two nodes exchange bytes over ports of a range' 'exchange_sent_bytes=' "$said"
    nodes=''
else
    nodes='exchange_sent_bytes exchange_received_bytes exchange_clock_offset_ns
        exchange_clock_error_ns'
    tap_skip 'two nodes exchange bytes' 'no process namespaces here'
fi

run -np 4 "${on[@]}" --mca coll_clv_setup_bytes 100000000 --mca coll_clv_reduce_min_bytes 1 "$probe" 100 2

# What else moves the others; predicted to no_plan: the decider's own tests (tests/choose/test_choose.c).
elsewhere="$nodes
    ran_two_levels            mpi/test_levels
    fell_back_many_ranks      4096 ranks
    fell_back_empty           Open MPI returns before it asks a component
    fell_back_no_table        unit/test_pap_hostile
    fell_back_no_memory       mpi/test_limits
    fell_back_no_address      mpi/test_bridges
    fell_back_devices         mpi/test_devices
    fell_back_lost            unit/test_pap_group
    late_wakes late_wakes_ns  mpi/test_wait, where the machine is busy
    expected_wait_ns          mpi/test_wait; bound to a communicator
    exchange_lost_groups      unit/test_pap_group
    exchange_void_record_sets unit/test_pap_patience
    exchange_rejected         unit/test_pap_hostile
    link_latency_ns_near link_byte_ps_near link_combine_ps link_early_bytes_near    mpi/test_nodes
    wait_for_what wait_ns wait_receive_rank   mpi/test_stall; the rest of the same look:
    wait_forecast wait_receives wait_sends wait_receive_segment wait_send_rank wait_send_segment
    wait_steps
    fell_back_no_forecast fell_back_trying regret_ns fell_back_predicted fell_back_kept fell_back_no_gain fell_back_no_plan
    previous_calls_reduce previous_ns_reduce previous_calls_allreduce previous_ns_allreduce previous_calls_bcast
    previous_ns_bcast         as the decider decides; mpi/test_recorder adds them to the planned ones
    exchange_forecast_wait_ns exchange_forecast_wait_max_ns
    exchange_clock_offset_ns"
for name in $("$CLV_BUILD/tests/layout/params_doc" --pvars); do
    case " $(echo $elsewhere) " in
    *" ${name#coll_clv_} "*) continue ;;
    esac
    tap_has "$name counts" " ${name#coll_clv_}=" "$seen"
done
n_variables=$(grep -cE '^. `coll_clv_[a-z_]*` . (counter|level) . ' "$CLV_TOP/docs/guide/params.md")
tap_ok "no more variables than somebody reads: $n_variables" test "$n_variables" -gt 30 -a "$n_variables" -le 40
tap_end
