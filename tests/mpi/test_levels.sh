#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Two levels of communicators on emulated hosts: every legal reduce, allreduce and broadcast is right, any root,
# ranks in any order; made, used and freed without a leak; by all ranks or by none; over each component below; forecasts
# are those of the leaders' communicator; the trial against the previous function. Skipped where no bed can be. TAP.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"
probe=$CLV_BUILD/tests/mpi/coll_probe
cases=$CLV_BUILD/tests/mpi/levels_cases
use=(--mca coll_clv_priority 50 --mca coll_clv_min_ranks 2 --mca coll_clv_collectives reduce,allreduce,bcast
    --mca coll_clv_reduce_min_bytes 1 --mca coll_clv_allreduce_min_bytes 1 --mca coll_clv_bcast_min_bytes 1
    --mca coll_clv_setup_bytes 0)
forced=("${use[@]}")
for collective in reduce allreduce bcast; do forced+=(--mca coll_clv_${collective}_algorithm two_levels); done
# Open MPI 4.1.4's own ring writes past its buffers for types with gaps (tests/mpi/test_allreduce.sh).
doubling=(--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 3)
counter() { sed -n "s/.*[ ,]$1=\(-\{0,1\}[0-9]*\).*/\1/p" <<<"$said"; }
can_with

# ---- right: a host of one rank, ranks round the hosts, communicators that cut hosts, types with gaps, user operations
while read -r hosts options; do
    for program in 'reduce_cases -i 4' 'allreduce_cases -i 3 -s 1,2,7,1000,4099,65536' 'bcast_cases 60 3'; do
        set -- $program
        with $hosts $options "${forced[@]}" "${doubling[@]}" -- "$CLV_BUILD/tests/mpi/$1" "${@:2}"
        tap_has "$1 on $hosts hosts${options:+, $options}: all right" 'reduce_cases: all right' "$said"
    done
done <<'END'
2 --ranks-per-host 2
3 --ranks-per-host 3 --np 7
3 --ranks-per-host 3 --np 7 --by-node
END
for collective in reduce allreduce; do
    with 2 --ranks-per-host 2 "${forced[@]}" "${doubling[@]}" -- "$CLV_BUILD/tests/mpi/padded_cases" "$collective" two_levels
    tap_ok "whole structs, $collective: right, and nothing is written beyond a buffer" \
        grep -qE '^padded: two_levels: [1-9][0-9]* of .* ran it, 0 wrong, 0 overruns of [1-9]' <<<"$said"
done
with 2 --ranks-per-host 2 "${forced[@]}" --mca coll_clv_wait sleep -- "$CLV_BUILD/tests/mpi/life_cases" multiple
tap_has 'two threads on two communicators, waits that sleep' 'life_cases: all right' "$said"

# ---- made and freed, by all ranks or by none
with 2 --ranks-per-host 3 --np 5 "${forced[@]}" -- "$cases" 40
tap_has '80 communicators come and go: right' 'levels_cases: all right' "$said"
# A free list of Open MPI grows by 0.8 MB once; a life that leaks takes 0.1.
tap_ok "and are freed: over 20 of them the heap grew by $(counter grown) bytes" test "$(counter grown)" -lt 1500000
tap_ok "by two levels ran $(counter two_levels) calls" test "$(counter two_levels)" -gt 1000
with 2 --ranks-per-host 3 --np 5 "${forced[@]}" -- "$cases" 2 1
tap_has 'a rank cannot make them: no rank uses them, and all is right' 'all right, two_levels=0 ' "$said"

# ---- nothing of clv is called again by what is below it: the program's calls are counted, and no others
over() {
    with 2 --ranks-per-host 2 "${forced[@]}" "${@:2}" -- "$probe" 9000 4 0 others
    tap_has "over $1: results are right" 'probe: sums right' "$said"
    tap_has "over $1: the program's calls, and no others" 'calls_reduce=16 calls_allreduce=5 calls_bcast=4 ' "$said"
    tap_ok "over $1: by two levels" test "$(counter ran_two_levels)" = 25
}
over basic --mca coll 'clv,basic,libnbc,self,inter'
over adapt --mca coll 'clv,adapt,basic,libnbc,self,inter' --mca coll_adapt_priority 40
over han --mca coll 'clv,han,tuned,basic,libnbc,self,inter' --mca coll_han_priority 35
# Alone, Open MPI 4.1.4's han fails in an allreduce in place; and of one rank on each host it hands over to tuned.
with 3 "${use[@]}" --mca coll 'clv,han,tuned,basic,libnbc,self,inter' --mca coll_han_priority 35 \
    --mca coll_clv_reduce_algorithm previous -- "$probe" 9000 4
tap_has 'one level over han, one rank on each host: results are right' 'probe: sums right' "$said"
for n in 1 2 4; do
    tuned=(--mca coll_tuned_use_dynamic_rules 1)
    for collective in allgather allgatherv allreduce alltoall barrier bcast gather reduce scatter; do
        tuned+=(--mca "coll_tuned_${collective}_algorithm" $n)
    done
    over "tuned, each algorithm forced to its number $n" "${tuned[@]}"
done
folder=$(mktemp -d)
over 'tuned, recorded' --mca coll_clv_record "$folder"
tap_ok 'and there is a file' test -n "$(find "$folder" -name '*.clva' -size +0)"
rm -r "$folder"

# ---- forecasts are of hosts, and hints reach them
# Odd ranks work 5 ms longer, and the fourth host has none: leaders 0 to 2 are late, and no host has a rank 2.
with 4 --ranks-per-host 2 --np 7 "${forced[@]}" --mca coll_clv_print forecast -- "$probe" 20000 30 40
of_hosts() {
    grep -q ': reduce .*, forecast [1-9]' <<<"$said" && grep -q ' rank 2 late by' <<<"$said" && ! grep -q ' rank [4-7] late by' <<<"$said"
}
tap_ok "the leaders' communicator predicts, of its four hosts" of_hosts
with 4 --ranks-per-host 2 "${forced[@]}" -- "$CLV_BUILD/tests/mpi/hint_cases"
tap_ok "hints are right, and taken: $(sed -n 's/.* \([0-9]*\) of 16 hints.*/\1/p' <<<"$said") of 16" \
    grep -qE '[1-9][0-9]* of 16 hints taken, 0 wrong' <<<"$said"

# ---- the trial, and what is told
tried() { # HOW
    with 2 --ranks-per-host 3 "${use[@]}" --mca coll_clv_two_level_ranks "$1" --mca coll_clv_verbose 10 "${@:2}" -- \
        "$probe" 20000 70 2
    tap_has "coll_clv_two_level_ranks $1: sums are right" 'probe: sums right' "$said"
}
tried 4
tap_has 'two levels are told' 'two levels on MPI_COMM_WORLD: 6 ranks on 2 hosts' "$said"
for way in two_levels previous; do
    tap_has "$way is on trial" "6 on MPI_COMM_WORLD: $way, because it is on trial" "$said"
done
tap_has 'the comparison is told' 'ms with two levels, ' "$said"
settled() {
    local last
    last=$(grep 'reduce of .* on MPI_COMM_WORLD: [a-z]' <<<"$said" | grep -v allreduce | tail -1)
    case $(grep -o 'call [0-9.]* ms with two levels, [0-9.]*' <<<"$said" | tail -1 |
        awk '{ sub(",", "", $6); print $2 <= $7 }') in
    1) [[ $last == *': two_levels, because the communicator has more ranks'* ]] ;;
    0) [[ $last != *two_levels* ]] ;;
    *) false ;;
    esac
}
tap_ok 'the slower way is not used again' settled
tried 6
tap_lacks 'no more ranks than that: one level' two_levels "$said"
tried 0
tap_lacks 'never: one level' two_levels "$said"
tried 4 --mca coll_clv_reduce_algorithm chain
tap_lacks 'another algorithm is forced: one level' 'MPI_COMM_WORLD: two_levels' "$(grep -v allreduce <<<"$said")"
with 3 "${forced[@]}" --mca coll_clv_verbose 10 -- "$probe" 9000 2
tap_has 'one rank on each host: there are no two levels' ' previous, because no plan could be made' "$said"
said=$(mpi_run -np 4 "${forced[@]}" "$probe" 9000 2)
tap_has 'nor on one host' 'fell_back_no_plan=' "$said"
tap_lacks 'which runs none' ran_two_levels "$said"
tap_end
