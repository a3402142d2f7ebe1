# SPDX-License-Identifier: BSD-3-Clause
#
# clv_hint_arrival and clv_hint_progress: taken where clv is, ignored where it is not, and what they
# are for: delays drawn afresh, which no average predicts, are known when they are announced.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
program=$CLV_BUILD/tests/mpi/hint_cases

# Median of what the forecasts say the newest prediction was off by, in us, without the first forecasts, which still learn.
median_error_us() {
    sed -n 's/.*the last one was off by \([0-9.]*\) ms.*/\1/p' | tail -n 10 | sort -n |
        awk '{ v[NR] = $1 } END { print NR ? int(v[int((NR + 1) / 2)] * 1000) : -1 }'
}

run_both() {
    hinted=$(mpi_run -np 3 --mca coll clv --mca coll_clv_print forecast "$program")
    hinted_status=$?
    silent=$(mpi_run -np 3 --mca coll clv --mca coll_clv_print forecast "$program" --silent)
    silent_status=$?
    reported=$(mpi_run -np 3 --mca coll clv --mca coll_clv_print forecast "$program" --progress)
    reported_status=$?
    with=$(printf '%s\n' "$hinted" | median_error_us)
    by_progress=$(printf '%s\n' "$reported" | median_error_us)
    ns=$(sed -n 's/.*a report takes \([0-9]*\).*/\1/p' <<<"$reported")
    without=$(printf '%s\n' "$silent" | median_error_us)
}
better() { [ "$with" -ge 0 ] && [ $((with * 4)) -lt "$without" ]; }
progress_is_better() { [ "$by_progress" -ge 0 ] && [ $((by_progress * 2)) -lt "$without" ]; }
is_cheap() { [ "$ns" -lt 100 ]; }
# On a machine so busy that the exchange is slower than the delays, clv does not wait for hints, rightly.
heard() { [[ $hinted == *'15 of 16 hints'* ]]; }
told() { [[ $reported == *'15 of 16 hints'* ]]; }
as_meant() { better && heard && told && progress_is_better && is_cheap; }

tap_tries run_both as_meant
tap_point $hinted_status 'a hinted run ends well'
tap_point $silent_status 'a silent run ends well'
tap_has 'its results are right' ' hints taken, 0 wrong' "$hinted"
tap_figure 'hints are taken from the second call on' heard
tap_has 'forecasts say that they are announced' 'announced from' "$hinted"
tap_lacks 'without hints none is announced' 'announced from' "$silent"
tap_figure "the error is under a quarter: $with us against $without us" better
tap_point $reported_status 'a run that reports its progress ends well'
tap_has 'with right results' ' hints taken, 0 wrong' "$reported"
tap_figure 'each call is announced once, by one of three threads' told
tap_has 'forecasts say that these are announced, too' 'announced from' "$reported"
tap_figure "the error is under a half: $by_progress us against $without us" progress_is_better
tap_figure "a report of progress takes less than 0.1 us: $ns ns" is_cheap

reports=$(mktemp)
mpi_run -np 3 --mca coll ^clv "$program" --progress >"$reports" &
plain=$(mpi_run -np 3 --mca coll ^clv "$program")
tap_point $? 'a run without clv ends well'
tap_has 'without clv nobody takes a hint' '0 of 16 hints taken, 0 wrong' "$plain"
wait
tap_has 'without clv nobody takes a report' '0 of 16 hints taken, 0 wrong' "$(<"$reports")"
rm "$reports"
tap_end
