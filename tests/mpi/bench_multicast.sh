#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Starts by a datagram to all ranks on emulated hosts, whose switch carries it: how far apart ranks start is
# in the output; where the switch does not carry it to a host, and where it stops, that is told. Figures are
# not looked at. Skipped without root or namespaces.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"
bench=$CLV_BUILD/apps/bench/clv-bench
[ -x "$bench" ] || tap_skip_all 'no clv-bench in this build'
lines=$CLV_CLUSTER_STATE/lines
short=(--sizes 8 --warmup 1 --balanced-calls 0 --patterns uniform --delay 1ms)
run() {
    "$cluster" run --name tests --timeout 120 -- "$bench" --sync multicast "${short[@]}" "$@" >"$output.run" 2>&1 </dev/null
    local status=$?
    said=$(tr -d '\0' <"$output.run")
    return $status
}
field() { sed -nE "s/.*\"$1\":([^,]*|\[[^]]*\]),\".*/\1/p" "$lines"; }

bed_up 3 --ranks-per-host 2
run --iterations 20 --algorithms default,ring --json "$lines"
tap_ok 'six ranks on three hosts start by datagrams' test $? -eq 0
tap_has 'and how far apart is told' 'starts by multicast on eth0: ' "$said"
of_calls() { # 20 spreads of each of two algorithms, none negative, and what they come to
    [ "$(grep -c '"sync":"multicast"' "$lines")" -eq 2 ] && [ "$(field start_spread_ns | grep -o '[0-9]\+' | wc -l)" -eq 40 ] &&
        [ "$(field start_spread_median_ns | grep -c '^[1-9][0-9.]*$')" -eq 2 ]
}
tap_ok 'call by call in JSON lines' of_calls
counted() { [ "$(field usable | grep -o 1 | wc -l)" -ge 20 ]; }
tap_ok 'most were heard by all' counted
run --loop --compute 1ms --blocks 2 --block-calls 4 --lead-calls 1
tap_has 'blocks of a loop start by datagrams, too' 'loop of' "$said"

# A switch that carries multicast no more, in the middle of it: those calls do not count.
stop_carrying() { # once it is under way, a minute at most
    for _ in $(seq 600); do
        ! grep -aq ' rounds$' "$output.run" || break
        sleep 0.1
    done
    on_head 'bridge link set dev p1 mcast_flood off'
}
: >"$output.run"
stop_carrying &
run --iterations 100000 --seconds 8
fewer_than_made() { # the last column: used/right
    sed -nE 's/^default .* ([0-9]+)\/([0-9]+)$/\1 \2/p' <<<"$said" | { read -r used made && [ "$used" -lt "$made" ]; }
}
tap_ok 'a datagram that is lost voids its call' fewer_than_made
wait
run --iterations 5
tap_ok 'a switch that does not carry it is refused' test $? -eq 2
tap_has 'with the network and the first rank without' \
    'clv-bench: no network carries multicast from rank 0 to all others: of eth0 (10.77.0.1) rank 2 heard nothing' "$said"
on_head 'bridge link set dev p1 mcast_flood on'

# No network at all.
said=$(OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_btl=self timeout 60 unshare --net "$bench" --sync multicast "${short[@]}" 2>&1 </dev/null)
tap_has 'nor does a host without a network' 'clv-bench: rank 0 has no network for multicast' "$said"
tap_end
