#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The background channel alone fails: its interface goes down on one host while MPI's network is fine. On
# the emulated cluster, whose hosts get a second network for the channel; skipped without root or namespaces.
#
#   test_channel.sh                        what belongs to every change; 40 s
#   test_channel.sh SECONDS ...            the table of docs/guide/failures.md: down for so long, Open MPI
#                                          alone beside clv; each takes as long, twice, and a quarter more
export CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"

host_2_loses_it() { # seconds
    on_host 2 ip link set eth1 down
    sleep "$1"
    on_host 2 ip link set eth1 up
}
on=(--mca coll_clv_priority 50 --mca coll_clv_reduce_min_bytes 1 --mca coll_clv_interface eth1)
clv=("${on[@]}" --mca coll_clv_reduce_algorithm clairvoyant)
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
    bed_job 5 $how "${clv[@]}" -- host_2_loses_it 2.2
    tap_report $? "$how: host 2 loses the channel: the job ends, every sum is right"
    tap_ok "$how: no call is longer than coll_clv_channel_timeout_ms: $(number worst_ms) ms" within 2000
    tap_ok "$how: there were forecasts: $(number forecasts)" test "$(number forecasts)" -gt 20
done
# The root's host loses it while the root is away for 3 s: the others need nothing of it and go on, and those
# who are through with all calls by then, and free the communicator, still answer when it is back and in doubt.
host_3_loses_both() {
    on_host 3 ip link set eth1 down
    on_host 3 'kill -USR1 $(pidof channel_down)'
    sleep 9
    on_host 3 ip link set eth1 up
}
bed_job 4 root3 "${on[@]}" --mca coll_clv_reduce_algorithm chain -- host_3_loses_both
tap_report $? 'its rank is away, too: the job ends, every sum is right'
tap_ok "it was away: $(number away)" test "$(number away)" -eq 1
tap_ok "nobody who may run ahead waits for it: $(number worst_ms) ms" within 2500
tap_ok "nor in MPI_Comm_free for longer than it is away, and the time-out: $(number free_ms) ms" test "$(number free_ms)" -le 5250

# A process on another host that has no key: it may connect, is told nothing, and is sent away.
cat >"$CLV_CLUSTER_STATE/stranger" <<'END'
exec 3<>"/dev/tcp/$1/$2" || exit 1
head -c 300 /dev/urandom >&3
timeout 5 cat <&3 2>/dev/null | wc -c
[ "${PIPESTATUS[0]}" -ne 124 ] # a reset is an end, too: not all that was sent need have been read
END
strangers_come() {
    local address
    for address in 10.78.0.1 $(on_host 0 ip -4 -o addr show eth0 | sed -n 's|.* inet \([0-9.]*\)/.*|\1|p'); do
        told+=" $(on_host 3 "bash $CLV_CLUSTER_STATE/stranger $address 47000") $?"
    done
}
told=
bed_job 5 coupled "${clv[@]}" --mca coll_clv_port_min 47000 --mca coll_clv_port_range 50 -- strangers_come
tap_report $? 'strangers from another host connect: the job ends, every sum is right'
tap_ok "by each network they hear no byte, and the connection ends:$told" test "$told" = ' 0 0 0 0'
tap_ok 'the job has its forecasts' test "$(number late_forecasts)" -gt 20

# A call fails on one rank, whose segments the others wait for: the channel tells them. In one segment: the
# vector with more numbers may be cut into smaller ones than the others', and nobody finds those too long.
all_have_errors() { [ "$(grep -c '^broken_call: rank [0-3]: error class 1[56] after [0-3][.]' "$output")" -eq 4 ]; }
break_call() { # options
    "$cluster" run --name tests --timeout 60 "$@" -- "$CLV_BUILD/tests/mpi/broken_call" >"$output" 2>&1 </dev/null
    tap_report $? 'a call fails on one rank: the job goes on without its communicator'
    tap_ok 'every rank has an error within 4 s' all_have_errors
    tap_has 'sums of other communicators are right' 'broken_call: the others go on' "$(cat "$output")"
}
break_call "${on[@]}" --mca coll_clv_reduce_algorithm rank_chain --mca coll_clv_segment_bytes 1048576

bed_job 6 coupled "${clv[@]}" --mca coll_clv_channel_timeout_ms 400 -- host_2_loses_it 3
tap_report $? 'another time-out: the job ends, every sum is right'
tap_ok "no call is longer than that: $(number worst_ms) ms" within 400
tap_ok 'the stream goes on without forecasts' test "$(number late_forecasts)" -eq 0
tap_end
