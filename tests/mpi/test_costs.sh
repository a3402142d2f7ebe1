#!/bin/bash
# What the component costs, with limits that only a mistake exceeds (a lock, a system call or a spin
# where none belongs): figures come from tests/quality/costs.sh. 5 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
costs=$CLV_BUILD/tests/mpi/costs
clv=(--mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_min_ranks 2)

# field NAME: the number after the name in the last output
field() { sed -n "s/.*$1 *\([0-9.]*\).*/\1/p" <<<"$output"; }
below() { awk -v a="${1:-none}" -v b="$2" 'BEGIN { exit !(a != "none" && a + 0 < b + 0) }'; }

# A call without a record takes no system call: tens of nanoseconds. One with it takes at most one.
measure_calls() { output=$(mpi_run -np 2 "${clv[@]}" "$costs" calls 10000 0); }
lookup_is_short() { below "$(field 'without .*median')" 2; }
record_is_short() { below "$(field 'with record .*median')" 100; }
calls_are_cheap() { lookup_is_short && record_is_short; }
tap_tries measure_calls calls_are_cheap
printf '%s\n' "$output" | sed 's/^/# /'
tap_has 'both kinds of calls are measured' 'with record' "$output"
tap_figure 'looking for the plan takes less than 2 us' lookup_is_short
tap_figure 'with a record less than 100 us' record_is_short

measure_idle() { output=$(mpi_run -np 2 "${clv[@]}" "$costs" idle 2); }
thread_sleeps() { below "$(field 'busiest thread')" 0.1; }
tap_tries measure_idle thread_sleeps
printf '# %s\n' "$output"
tap_figure 'with nothing to do the thread takes less than 0.1 % of a core' thread_sleeps
tap_ok 'but there was one' below 0.05 "$(field 'it had used')"
tap_end
