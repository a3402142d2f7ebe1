#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The background channel alone fails: its interface goes down on one host while MPI's network is fine. On
# the emulated cluster, whose hosts get a second network for the channel; skipped without root or namespaces.
#
#   test_channel.sh                        what belongs to every change; 40 s
#   test_channel.sh SECONDS ...            the table of docs/guide/failures.md: down for so long, Open MPI
#                                          alone beside clv; each takes as long, twice, and a quarter more
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"

host_2_loses_it() { # seconds
    on_host 2 ip link set eth1 down
    sleep "$1"
    on_host 2 ip link set eth1 up
}
clv=(--mca coll_clv_priority 50 --mca coll_clv_min_bytes 1 --mca coll_clv_interface eth1
    --mca coll_clv_reduce_algorithm clairvoyant)
bed_up 4 --rate 1gbit
second_network

if [ $# -gt 0 ]; then
    rows=()
    for down in "$@"; do
        row="| $down s |"
        for mode in stock clv; do
            options=(--mca coll '^clv')
            [ $mode = stock ] || options=("${clv[@]}")
            bed_job $((down + down / 4 + 6)) coupled "${options[@]}" -- host_2_loses_it "$down"
            tap_report $? "$mode, $down s down: the job ends right"
            row+=" $(number worst_ms) ms, $(number calls) calls, $(number wrong) wrong |"
        done
        rows+=("$row $(number forecasts), $(number late_forecasts) |")
    done
    printf '\n| down | Open MPI alone | clv | its calls on rank 0 with a forecast, and in the last fifth |\n|---|---|---|---|\n'
    printf '%s\n' "${rows[@]}"
    tap_end
fi

# Longest call in ms after all were in it; a little for the machine.
within() { [ "$(number worst_ms)" -le $(($1 + 250)) ]; }
for how in coupled free split; do
    bed_job 8 $how "${clv[@]}" -- host_2_loses_it 4
    tap_report $? "$how: host 2 loses the channel: the job ends, every sum is right"
    tap_ok "$how: no call is longer than coll_clv_channel_timeout_ms: $(number worst_ms) ms" within 2000
    tap_ok "$how: there were forecasts: $(number forecasts)" test "$(number forecasts)" -gt 20
done
bed_job 6 coupled "${clv[@]}" --mca coll_clv_channel_timeout_ms 400 -- host_2_loses_it 3
tap_report $? 'another time-out: the job ends, every sum is right'
tap_ok "no call is longer than that: $(number worst_ms) ms" within 400
tap_ok 'the stream goes on without forecasts' test "$(number late_forecasts)" -eq 0
tap_end
