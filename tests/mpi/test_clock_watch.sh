#!/bin/bash
# The component's global clock on three emulated hosts whose clocks lie an hour apart and drift by
# 50 ppm either way, for ten seconds: MPI_T shows it, and its bound covers the truth.
# tests/quality/clock_watch.sh is the same for minutes. Skipped without root or namespaces.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
export CLV_BUILD

watch_three_hosts() {
    output=$(tap_limited "$CLV_TOP/apps/bench/cluster" with 3 --realtime --timeout "$tap_limit" \
        --mca coll clv -- "$CLV_BUILD/tests/mpi/clock_watch" 10 50 2>&1)
    [ $? -ne 4 ] || tap_skip_all "$(sed -n 's/^cluster: //p' <<<"$output" | head -n 1)"
    worst=$(awk '$1 == "all" { print int($2) }' <<<"$output")
}
says() { [[ $output == *"$1"* ]]; }
# Without a common clock the hosts differ by an hour, without a fit by 50 us more each second.
error_is_small() { [ "${worst:-1000}" -lt 1000 ]; }
clocks_are_good() { says 'clocks are there' && says 'bounds hold' && error_is_small; }

# The background threads are ordinary ones: a busy machine may let them wait for seconds.
tap_tries watch_three_hosts clocks_are_good
printf '%s\n' "$output" | sed 's/^/# /'
tap_has 'three hosts are watched to the end' 'clock_watch: ' "$output"
tap_figure 'every host has a global clock' says 'clocks are there'
tap_figure 'its bound covers the truth' says 'bounds hold'
tap_figure "the largest true error is below a millisecond: ${worst:-none} us" error_is_small

# One host: its own clock is the global one, and nothing is known before the first eligible call.
output=$(mpi_run -np 3 --mca coll clv "$CLV_BUILD/tests/mpi/coll_probe" 10)
tap_has 'without an eligible call there is no clock' 'exchange_clock_error_ns=-1' "$output"
output=$(mpi_run -np 3 --mca coll clv "$CLV_BUILD/tests/mpi/coll_probe" 40000)
tap_has 'on one host the program ends well' 'sums right' "$output"
tap_lacks 'and the clock is exact' 'exchange_clock' "$output"
tap_end
