#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The background channel alone fails: its interface goes down on one host while MPI's network is fine. On
# the emulated cluster, whose hosts get a second network for the channel; skipped without root or namespaces.
#
#   test_channel.sh                        what belongs to every change; 15 s
#   test_channel.sh SECONDS ...            the table of docs/guide/failures.md: down for so long, Open MPI
#                                          alone beside clv; each takes as long, twice, and a quarter more
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
cluster=$CLV_TOP/bench/cluster
export CLV_CLUSTER_STATE
CLV_CLUSTER_STATE=$(mktemp -d) || exit 1
output=$CLV_CLUSTER_STATE/output
trap '"$cluster" down --all >/dev/null 2>&1; rm -rf "$CLV_CLUSTER_STATE"' EXIT
trap 'exit 130' INT TERM
hosts=4
bed=$CLV_CLUSTER_STATE/channel

# Commands on the head node, and there on host I: process ids in the bed's notes are those of the head.
on_head() { "$cluster" exec --name channel -- bash -c "$*" 2>>"$output"; }
on_host() { on_head "$bed/agent h$1 '${*:2}'"; }

# A second switch, and an eth1 on each host.
second_network() {
    on_head "set -e; ip link add eth1 type bridge; ip link set eth1 up
        for ((i = 0; i < $hosts; i++)); do
            read -r pid _ <$bed/host.\$i
            ip link add q\$i type veth peer name eth1 netns \$pid
            ip link set q\$i master eth1 up
            $bed/agent h\$i \"ip addr add 10.78.0.\$((i + 1))/24 dev eth1; ip link set eth1 up\"
        done"
}

# job SECONDS DOWN-SECONDS HOW OPTIONS...: after 2 s host 2's second network is away for so long.
job() {
    local seconds=$1 down=$2 how=$3 pid status
    shift 3
    "$cluster" run --name channel --timeout $((seconds + 60)) "$@" -- "$CLV_BUILD/tests/mpi/channel_down" \
        "$seconds" "$how" >"$output.job" 2>&1 </dev/null &
    pid=$!
    sleep 2
    on_host 2 ip link set eth1 down
    sleep "$down"
    on_host 2 ip link set eth1 up
    wait $pid
    status=$?
    said=$(cat "$output.job")
    cp "$output.job" "$output"
    return $status
}
number() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" <<<"$said"; }
clv=(--mca coll_clv_priority 50 --mca coll_clv_min_bytes 1 --mca coll_clv_interface eth1
    --mca coll_clv_reduce_algorithm clairvoyant)

"$cluster" up $hosts --name channel --rate 1gbit >"$output" 2>&1
[ $? -ne 4 ] || tap_skip_all "$(sed -n 's/^cluster: //p' "$output" | head -1)"
second_network >"$output" 2>&1 || tap_skip_all "no second network: $(head -1 "$output")"

if [ $# -gt 0 ]; then
    rows=()
    for down in "$@"; do
        row="| $down s |"
        for mode in stock clv; do
            options=(--mca coll '^clv')
            [ $mode = stock ] || options=("${clv[@]}")
            job $((down + down / 4 + 6)) "$down" coupled "${options[@]}"
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
    job 8 5 $how "${clv[@]}"
    tap_report $? "$how: host 2 loses the channel: the job ends, every sum is right"
    tap_ok "$how: no call is longer than coll_clv_channel_timeout_ms: $(number worst_ms) ms" within 2000
    tap_ok "$how: there were forecasts: $(number forecasts)" test "$(number forecasts)" -gt 50
done
job 6 3 coupled "${clv[@]}" --mca coll_clv_channel_timeout_ms 400
tap_report $? 'another time-out: the job ends, every sum is right'
tap_ok "no call is longer than that: $(number worst_ms) ms" within 400
tap_ok 'the stream goes on without forecasts' test "$(number late_forecasts)" -eq 0
tap_end
