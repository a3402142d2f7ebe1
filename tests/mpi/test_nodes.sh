#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Several ranks on a host: who shares a link and what links take is known, and shown. On the emulated cluster; skipped
# without root or namespaces.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"
probe=$CLV_BUILD/tests/mpi/coll_probe
counter() { sed -n "s/.*[ ,]$1=\(-\{0,1\}[0-9]*\).*/\1/p" <<<"$said"; }
use=(--mca coll_clv_priority 50 --mca coll_clv_reduce_min_bytes 1)
show=("${use[@]}" --mca coll_clv_reduce_algorithm chain --mca coll_clv_print plan)

can_with

with 2 --rate 50mbit --ranks-per-host 2 --no-shm --mca btl_base_verbose 30 "${show[@]}" -- "$probe" 40000 3
tap_has 'two ranks on each of two hosts reduce right' 'sums right' "$said"
by_memory() { grep -Eq 'component (vader|sm) returned success' <<<"$said"; }
by_tcp() { ! by_memory && grep -q 'component tcp returned success' <<<"$said"; }
tap_ok 'over TCP inside hosts, too, where that was asked for' by_tcp
tap_has 'the plan names the node beside the rank' '2@1' "$said"
tap_has 'links and hosts are told' '4 ranks on 2 hosts; a message takes' "$said"
for number in latency_ns_far byte_ps_far latency_ns_near byte_ps_near combine_ps gap_ns early_bytes_far early_bytes_near; do
    tap_has "link_$number is measured" " link_$number=" "$said"
done
slower_between() { [ "$(counter link_byte_ps_far)" -gt "$((2 * $(counter link_byte_ps_near)))" ]; }
tap_ok "a byte takes longer between hosts than inside: $(counter link_byte_ps_far) ps, $(counter link_byte_ps_near)" \
    slower_between
with 2 --ranks-per-host 2 "${show[@]}" -- "$probe" 40000 3 1
leaves() { grep -ao '@[01] [0-9]*@[01]' <<<"$said" | awk -F'[@ ]' '$2 != $4 { print $2 }' | sort -u; }
one_link() { [ "$(leaves)" = 1 ]; }
tap_ok "to rank 0 only the other node's link is used" one_link
with 2 --ranks-per-host 2 --by-node --mca btl_base_verbose 30 "${show[@]}" -- "$probe" 40000 3
tap_has 'and mapped by node' '2@0' "$said"
tap_has "over shared memory inside hosts: right" "sums right" "$said"
tap_ok 'and shared memory it was' by_memory

# Before its links are measured, too: in the order of ranks each of these would be crossed twice.
with 2 --ranks-per-host 2 --by-node "${use[@]}" --mca coll_clv_setup_bytes 3604480 --mca coll_clv_print plan -- \
    "$probe" 40000 3 1
tap_lacks 'a communicator that is not set up has measured nothing' 'a message takes' "$said"
tap_has 'it names nodes all the same' '3@1 0@0' "$said"
tap_ok 'and uses only the link it must' one_link

# Nodes of 3, 3 and 1 ranks; communicators that cut them, any root, every legal reduce.
for run in auto 'chain --by-node' latest_first 'clairvoyant --by-node' rank_chain host_chains 'host_chains --by-node'; do
    set -- $run
    with 3 --ranks-per-host 3 --np 7 ${2:-} "${use[@]}" --mca coll_clv_reduce_algorithm "$1" -- \
        "$CLV_BUILD/tests/mpi/reduce_cases" -i 10
    tap_has "unequal nodes, $run: every legal reduce is right" 'reduce_cases: all right' "$said"
done

spawned=(-- "$CLV_BUILD/tests/mpi/reduce_cases" -c spawned_and_merged)
# Where it cannot, Open MPI 5 waits on.
if [[ $(timeout -k 5 60 "$cluster" with 3 --ranks-per-host 3 --np 4 --mca coll ^clv "${spawned[@]}" 2>&1) == *'all right'* ]]; then
    with 3 --ranks-per-host 3 --np 4 "${use[@]}" --mca coll_clv_min_ranks 2 --mca coll_clv_reduce_algorithm chain \
        --mca coll_clv_print summary "${spawned[@]}"
    tap_has 'spawned processes that share nodes with their parents: right' 'reduce_cases: all right' "$said"
    tap_has 'and planned' '10 ran a plan' "$said"
else
    tap_skip 'spawned processes that share nodes with their parents' 'Open MPI alone cannot do that here within a minute'
fi

# What links cost is measured once for the same processes, places or not.
known='first 1
duplicate 0
longer vector 1
turned 1
turned again 0
after many others 1
right'
knows() { # NAME
    tap_ok "$1: communicators over the same processes measure their links once" \
        test "$(sed -n 's/^known_links: //p' <<<"$said")" = "$known"
}
with 2 --ranks-per-host 2 "${use[@]}" --mca coll_clv_min_ranks 2 -- "$CLV_BUILD/tests/mpi/known_links"
knows 'two hosts of two'
with 4 "${use[@]}" --mca coll_clv_min_ranks 2 --mca coll_clv_verbos 10 -- "$CLV_BUILD/tests/mpi/known_links"
tap_ok 'a misspelt parameter is told once a job, not once a host' \
    test 1 -eq "$(grep -c 'coll_clv_verbos is not a parameter of clv; did you mean coll_clv_verbose?' <<<"$said")"
knows 'four hosts'

with 3 "${show[@]}" -- "$probe" 40000 3
no_places() { grep -q 'clv: 0 [0-2] [0-2] 0' <<<"$said" && ! grep -q '[0-9]@[0-9]' <<<"$said"; }
tap_ok 'one rank on each host: no nodes are named' no_places
tap_end
