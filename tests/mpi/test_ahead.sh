# SPDX-License-Identifier: BSD-3-Clause
#
# The plan is made before the call: in an iterative program (16 ranks, 10 ms of work) at least
# 99 % of the calls find theirs ready, and the exchange's counters tell of it. A program that never makes
# an eligible call has no exchange at all. Whether the thread gets a processor in time is up to the
# machine, so that one figure has three tries. Where ranks run free some forecasts never come, and calls go on
# with what the stream held to.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup

counter() { printf '%s\n' "$output" | sed -n "s/.*[ ,]$1=\([0-9]*\).*/\1/p"; }
# Waiting ranks yield, as one must with more ranks than cores.
iterate() {
    output=$(mpi_run -np 16 --mca mpi_yield_when_idle 1 --mca coll clv \
        --mca coll_clv_reduce_algorithm clairvoyant "$CLV_BUILD/tests/mpi/coll_probe" 40000 200 10)
    status=$?
    ahead=$(counter plans_ahead)
    forecasts=$(counter exchange_forecasts)
}
nearly_all_ahead() { [ "${ahead:-0}" -ge 198 ]; }

tap_tries iterate nearly_all_ahead
tap_point $status 'an iterative program with 16 ranks ends well'
tap_has 'its sums are right' 'sums right' "$output"
tap_figure "at least 198 of 200 plans were made ahead: ${ahead:-none}" nearly_all_ahead
tap_ok "at least 198 of 200 calls had a forecast: ${forecasts:-none}" test "${forecasts:-0}" -ge 198
tap_has 'the thread says what it used' 'exchange_thread_cpu_ns=' "$output"

small=$(mpi_run -np 3 --mca coll clv "$CLV_BUILD/tests/mpi/coll_probe" 100 5)
tap_has 'small reduces reach the component' 'calls=15 calls_reduce=15 ran_previous=15' "$small"
tap_lacks 'and start nothing: no exchange' 'exchange_calls' "$small"
tap_lacks 'and no thread' 'exchange_thread' "$small"
# Of rank 0's calls behind the first decision that held: those without a forecast, and how many of them ran something else.
unforeseen() {
    sed -n 's/.*: rank 0, call [0-9]*: reduce of 131072 .*COMM_WORLD: \([a-z_]*\), because \(.*\)/\1 \2/p' | awk '
        /there is no prediction yet/ { if (held != "") { n++; other += $1 != held }; next }
        !/it is on trial/ && ($1 == "rank_chain" || $1 == "previous") { held = $1 }
        END { print n + 0, other + 0 }'
}
run_free() {
    free=$(mpi_run -np 8 --mca mpi_yield_when_idle 1 --mca coll clv --mca coll_clv_collectives reduce \
        --mca coll_clv_verbose 30 "$CLV_BUILD/tests/mpi/iterations" uniform 60 1048576 5 30 none 2>&1 | unforeseen)
}
some_never_came() { [ "${free% *}" -gt 0 ]; }
tap_tries run_free some_never_came
tap_figure "where ranks run free some forecasts never come: ${free% *}" some_never_came
tap_ok 'and those calls go on with what held' test 0 = "${free#* }"

printf '# %s\n' "$(printf '%s\n' "$output" | grep '^probe')"
tap_end
