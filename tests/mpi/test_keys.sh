#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Roots that rotate share one stream: forecasts are learned once for all of them, and each root gets
# a plan of its own after about as many calls as a loop of one root needs.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe
n_calls=80

# run WORD OPTIONS...: a loop of 10 ms each, 4 ranks.
run() {
    word=$1
    shift
    said=$(mpi_run -np 4 --mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_min_ranks 2 "$@" \
        "$probe" 40000 $n_calls 10 "$word")
}
counter() { sed -n "s/.*[ ,]$1=\([0-9]*\).*/\1/p" <<<"$said" | grep . || echo 0; }

# Calls without a plan of their own that was made ahead.
forced=(--mca coll_clv_reduce_algorithm clairvoyant --mca coll_clv_print forecast)
both() {
    run one "${forced[@]}"
    one=$((n_calls - $(counter plans_ahead)))
    run rotate "${forced[@]}"
    rotating=$((n_calls - $(counter plans_ahead)))
}
soon() { [ "$one" -ge 1 ] && [ "$rotating" -ge 4 ] && [ "$rotating" -le $((one + 4)) ]; }
tap_tries both soon
tap_has 'sums are right by plans of rotating roots' 'sums right' "$said"
tap_ok "four roots have plans after $rotating calls, one root after $one" soon
# A stream of its own would have a forecast per call of its root at most.
newest() { sed -n "s/.*to rank $1, forecast \([0-9]*\):.*/\1/p" <<<"$said" | tail -n 1 | grep . || echo 0; }
for root in 0 1 2 3; do
    forecast=$(newest $root)
    tap_ok "root $root uses the forecasts of all: $forecast" test "$forecast" -gt $((n_calls / 4))
done

run rotate
tap_has 'sums are right as chosen for rotating roots' 'sums right' "$said"
tap_end
