#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What rank 0 says at the end: large calls of collectives that clv was not told to take.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
clv=(--mca coll clv --mca coll_clv_min_ranks 2)
summary=(--mca coll_clv_print summary)

run() { said=$(mpi_run -np 3 "${clv[@]}" "$@"); }
# ---- calls that are not taken: a reduce to each rank a round, and as many allreduces and broadcasts as rounds
both='20 allreduces and 20 bcasts of 64 KiB or more not taken: coll_clv_collectives is reduce'
run "${summary[@]}" "$probe" 20000 20 0 others
tap_ok 'large allreduces and broadcasts are told, once' test 1 -eq "$(grep -c "coll:clv: $both\$" <<<"$said")"
tap_ok 'in a summary of at most 12 lines' test "$(grep -c 'coll:clv: ' <<<"$said")" -le 12
tap_has 'the calls that clv takes are no fewer' '"reduce":{"calls":60,' "$said"
tap_has 'and the others none of its own' '"allreduce":{"calls":0,' "$said"
run --mca coll_clv_verbose 10 "$probe" 20000 20 0 others
tap_ok 'they are told at verbose 10, too' test 1 -eq "$(grep -c "coll:clv: $both\$" <<<"$said")"
run "$probe" 20000 3 0 others
tap_lacks 'not where nobody asks' 'not taken' "$said"
run "${summary[@]}" "$probe" 20 3 0 others
tap_lacks 'nor where they are small' 'not taken' "$said"
run "${summary[@]}" --mca coll_clv_collectives allreduce "$probe" 20000 3 0 others
tap_has 'nor what is taken' '9 reduces and 3 bcasts of 64 KiB or more not taken: coll_clv_collectives is allreduce' "$said"
run "${summary[@]}" --mca coll_clv_collectives bcast "$probe" 20000 3
tap_has 'a program that clv has no call of is told, too' \
    '9 reduces of 64 KiB or more not taken: coll_clv_collectives is bcast' "$said"

tap_end
