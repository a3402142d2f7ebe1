#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Hosts with many network addresses, as container engines make them: bridges with the same addresses on every host,
# before the real interface in the kernel's order. The one network that hosts share is found, however many there
# are; where there is none, that is what users are told. On the emulated cluster; skipped without root or
# namespaces. 15 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"
on=(--mca coll_clv_priority 50 --mca coll_clv_min_bytes 1 --mca coll_clv_min_ranks 2 --mca coll_clv_print summary)
bed_up 2 --rate 1gbit

# Bridges FIRST to LAST of a host, with that address of a network of their own each, 10.151.0.0/16 and so on.
bridges() { # host first last address
    on_host "$1" "for k in \$(seq $2 $3); do
        ip link add b\$k type bridge && ip addr add 10.\$((150 + k)).0.$4/16 dev b\$k && ip link set b\$k up || exit 1
    done"
}
# Its interface anew, behind whatever there is.
real_last() { # host
    on_head "read -r pid _ <$bed/host.$1
        now=\$($bed/agent h$1 'ip -o link show dev eth0; ip -o -4 addr show dev eth0')
        word() { sed -n \"s|.* \$1 \([^ ]*\).*|\1|p\" <<<\"\$now\"; }
        ip link del p$1 && ip link add p$1 type veth peer name eth0 netns \$pid &&
            ip link set p$1 mtu \$(word mtu) master eth0 up &&
            $bed/agent h$1 \"ip link set eth0 mtu \$(word mtu) address \$(word link/ether) up &&
                ip addr add \$(word inet) dev eth0\""
}
is_last() { [[ $(on_host "$1" ip -o -4 addr show | tail -n 1) == *' eth0 '* ]]; }
finds_it() { # name options...
    bed_job 3 coupled "${on[@]}" "${@:2}"
    tap_report $? "$1: the job ends, every sum is right"
    tap_ok "$1: there are predictions: $(number forecasts)" test "$(number forecasts)" -gt 20
}

for host in 0 1; do
    bridges $host 1 8 1 && real_last $host || tap_skip_all "no bridges: $(head -n 1 "$output")"
done
tap_ok 'the real interface is the last' is_last 1
record=$CLV_CLUSTER_STATE/record
finds_it 'eight bridges of equal addresses' --mca coll_clv_record "$record"
tap_ok 'the recorder has both hosts' test "$(ls "$record"/*.clva | wc -l)" -eq 2
# Twenty of the others are other addresses of the same networks: they could be the ones.
for host in 0 1; do bridges $host 9 40 1 && bridges $host 41 60 $((host + 1)) && real_last $host; done
finds_it 'sixty bridges, twenty of which might be reached and cannot'

# Its own network names the bridges alone, which all have.
bed_job 2 coupled "${on[@]}" --mca coll_clv_interface 10.151.0.0/16
tap_report $? 'no shared network: the job ends, every sum is right'
tap_has 'no shared network: that is told' 'none of the 1 network addresses of host 0 can be reached from host 1' "$(<"$output")"
tap_has 'and the parameter that helps' 'with coll_clv_interface' "$(<"$output")"
tap_has 'and the summary says it' 'times a host has no network address that another could reach' "$(<"$output")"
tap_end
