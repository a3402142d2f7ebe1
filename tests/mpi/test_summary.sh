#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What rank 0 says at the end: the verdict, last, in words with its figure or with the reason why there is none; and
# large calls of collectives that clv was not told to take. Figures of gains: tests/choose/test_choose_verdict.c.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
clv=(--mca coll clv --mca coll_clv_min_ranks 2)
summary=(--mca coll_clv_print summary)

run() { said=$(mpi_run -np 3 "${clv[@]}" "$@"); }
last_line() { grep -a 'coll:clv: ' <<<"$said" | tail -1; }
verdict() { # NAME WORDS
    tap_has "$1: the verdict is the last line" "coll:clv: verdict: $2" "$(last_line)"
}
by_hand='; run once with --mca coll ^clv and compare'

# ---- calls that are not taken: a reduce to each rank a round, and as many allreduces and broadcasts as rounds
both='20 allreduces and 20 bcasts of 64 KiB or more not taken: coll_clv_collectives is reduce'
run "${summary[@]}" "$probe" 20000 20 0 others
tap_ok 'large allreduces and broadcasts are told, once' test 1 -eq "$(grep -c "coll:clv: $both\$" <<<"$said")"
tap_ok 'in a summary of at most 13 lines' test "$(grep -c 'coll:clv: ' <<<"$said")" -le 13
tap_has 'the calls that clv takes are no fewer' '"reduce":{"calls":60,' "$said"
tap_has 'and the others none of its own' '"allreduce":{"calls":0,' "$said"
run --mca coll_clv_verbose 10 "$probe" 20000 20 0 others
tap_ok 'they are told at verbose 10, too' test 1 -eq "$(grep -c "coll:clv: $both\$" <<<"$said")"
run "$probe" 20000 3 0 others
tap_lacks 'not where nobody asks' 'not taken' "$said"
run "${summary[@]}" "$probe" 20 3 0 others
tap_lacks 'nor where they are small' 'not taken' "$said"
verdict 'small calls alone' \
    'no faster and no slower: the previous function ran in all 9 calls, mostly because the vector is below its min_bytes'
run "${summary[@]}" --mca coll_clv_collectives allreduce "$probe" 20000 3 0 others
tap_has 'nor what is taken' '9 reduces and 3 bcasts of 64 KiB or more not taken: coll_clv_collectives is allreduce' "$said"
run "${summary[@]}" --mca coll_clv_collectives bcast "$probe" 20000 3
tap_has 'a program that clv has no call of is told, too' \
    '9 reduces of 64 KiB or more not taken: coll_clv_collectives is bcast' "$said"
verdict 'no call at all' 'no faster and no slower: clv took no call'

# ---- one of a kind
run "${summary[@]}" --mca coll_clv_collectives bcast "$probe" 20 1 0 others
tap_has 'one call is singular' 'coll:clv: bcast: 1 call'$'\n' "$said"
tap_has 'and one time' 'the previous function: 1 time the vector is below its min_bytes' "$said"
verdict 'one call' 'no faster and no slower: the previous function ran in the only call, because the vector'

# ---- more kinds of calls by turns than a communicator has places for: 18 powers of two
kinds='left alone: more than 16 kinds of calls (collective, bytes by powers of two) took turns on a communicator'
many=("${clv[@]}" --mca coll_clv_setup_bytes 0 --mca coll_clv_reduce_min_bytes 1 "$probe" 131072)
tap_ok 'more kinds of calls than are predicted are told once, whatever is printed' \
    test 1 -eq "$(mpi_run -np 3 "${many[@]}" 4 0 sizes | grep -c "coll:clv: $kinds: not predicted [0-9]* times")"
tap_lacks 'not where each kind came once' 'left alone' "$(mpi_run -np 3 "${many[@]}" 1 0 sizes)"

# ---- verdicts
run "${summary[@]}" --mca coll_clv_reduce_algorithm chain "$probe" 20000 3
verdict 'a forced algorithm' "unknown, because coll_clv_reduce_algorithm is chain, so nothing else was tried$by_hand"
run "${summary[@]}" "$probe" 20000 1
verdict 'too few calls' "unknown, because 3 calls are too few: trials begin after 20$by_hand"
run "${summary[@]}" --mca coll_clv_setup_bytes 0 "$probe" 20000 60 1
tap_ok "more of them: $(last_line | cut -d: -f4-)" \
    grep -qE 'verdict: (faster|slower|unknown|no faster)' <<<"$(last_line)"
tap_ok 'JSON has what it was made of' grep -qE \
    '"run_ns":[1-9][0-9]*,"compared_ns":[0-9]+,"compared_previous_ns":[0-9]+,"not_compared_ns":[0-9]+,"compared_calls":[0-9]+' <<<"$said"
tap_end
