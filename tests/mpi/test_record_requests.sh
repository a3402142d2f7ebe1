#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Nonblocking and persistent collectives under coll_clv_record: results are right, every start and
# completion is in the files, and page and summaries name them as not planned. About 4 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
program=$CLV_BUILD/tests/mpi/record_requests
view=$CLV_BUILD/apps/tools/clv-view
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

run() { # RANKS OPTIONS-AND-PROGRAM...
    local ranks=$1
    shift
    mpi_run -np "$ranks" --mca mpi_yield_when_idle 1 "$@" >"$output"
}
are() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

run 4 --mca coll_clv_record "$work/all" "$program" 3 2 40
tap_report $? 'a program runs under the recorder'
tap_has 'its results are right' '400 right, 0 wrong' "$(<"$output")"
"$view" --json "$work/all" >"$work/json"
# Streams made in one way, by calls; Open MPI's own, when communicators are made, are allreduces of integers.
# Those that Open MPI refuses to free or to cancel, and one that is never started, have sizes of their own.
of_bytes() { grep '^{"stream"' "$work/json" | grep "\"how\":\"$1\"" | grep "\"bytes\":$2,"; }
made() {
    grep '^{"stream"' "$work/json" | grep "\"how\":\"$1\"" | grep -v '"type":"integer"' |
        grep -vE '"bytes":(88|104|136),'
}
value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^],}\"]*\).*/\1/p"; }
for how in nonblocking persistent; do
    tap_ok "each $how operation is there" are "$(made $how | value op | sort -u | wc -l)" 16
    # The barrier of the late rank is one more each round.
    tap_ok 'with all calls' are "$(made $how | value calls | sort -u | xargs)" "$([ $how = persistent ] && echo 3 || echo 3 6)"
    tap_ok 'of all ranks' are "$(made $how | value incomplete | sort -u)" 0
    tap_ok 'and nobody waits in them' are "$(made $how | value wait_ns | sort -u)" 0
done
# 16 and one of pairs.
tap_ok 'persistent ones are told apart by their requests' are "$(made persistent | wc -l)" 17
tap_ok 'none dropped' are "$(value dropped <"$work/json" | sort -u)" 0

tap_ok 'a request that could not be freed is recorded on' are "$(of_bytes persistent 88 | value calls)" 2
tap_ok 'one that could not be cancelled, too' are "$(of_bytes nonblocking 104 | value calls)" 1

late=$(made nonblocking | grep '"op":"barrier"' | value stream)
"$view" --export jsonl --stream "$late" "$work/all" | grep '"rank"' >"$work/lines"
spans() { # of ranks whose lines have this: how many lasted 30 ms from start to completion
    grep -E "$1" "$work/lines" | awk -F'[:,]' '{ for (i = 1; i < NF; i++) { if ($i ~ /"arrival_ns"/) a = $(i + 1); if ($i ~ /"exit_ns"/) x = $(i + 1) }
        n += x - a >= 30e6 } END { print n + 0 }'
}
tap_ok 'who started early completes when the late rank has come' test "$(spans '"rank":[013],')" -ge 9
tap_ok 'and that one at once' test "$(spans '"rank":2,')" -le 1
tap_ok 'it is the last' test "$(grep -c '"rank":2,.*"last":1' "$work/lines")" -ge 3

"$view" "$work/all" >"$output"
tap_ok 'the summary says that clv plans none' grep -qE '^beside these [0-9]+ nonblocking and persistent calls in [0-9]+ streams: clv plans none' "$output"
"$view" --stream "$late" "$work/all" >"$output"
tap_has 'and the stream' 'ibarrier on MPI_COMM_WORLD, not planned' "$(<"$output")"
"$view" -o "$work/page.html" "$work/all"
tap_ok 'so does the page' grep -q 'allreduce_init 16 B on MPI_COMM_WORLD, not planned' "$work/page.html"
pairs() { "$view" --export chrome "$work/all" | grep -c "\"ph\":\"$1\",\"cat\":\"persistent\",\"name\":\"scan_init\""; }
tap_ok 'Chrome has begin and end of each' are "$(pairs b) $(pairs e)" '12 12'

run 4 --mca coll_clv_record "$work/some" --mca coll_clv_record_ops allreduce --mca coll_clv_record_every 2 "$program" 4
"$view" --json "$work/some" >"$work/json"
tap_ok 'operations and every second call can be chosen' are "$(made persistent | value calls | xargs)" '2 2'

run 2 --mca coll clv --mca coll_clv_collectives allreduce --mca coll_clv_print summary --mca coll_clv_record "$work/threads" "$program" 300 threads
tap_has 'two threads: results are right' '8 right, 0 wrong' "$(<"$output")"
"$view" --json "$work/threads" >"$work/json"
if grep -q 'no threads here' "$output"; then
    tap_skip 'calls of two threads' 'this MPI has none'
else
    # 300 of each thread, and 4 blocking ones beside each. A thread that loses its core with the ring in its hand
    # makes the other drop its calls, which is counted.
    there() { { made persistent; grep '"how":"blocking"' "$work/json" | grep '"bytes":8,'; } | value calls | awk '{ n += $1 } END { print n + 0 }'; }
    dropped() { value dropped <"$work/json" | head -n 1; }
    tap_ok "all calls are there ($(there)) but for those that were dropped ($(dropped))" test $((3000 - $(there))) -le "$(dropped)"
    tap_ok 'these are few' test "$(dropped)" -lt 300
    # A request that the other thread completes while its callback is being set is lost: few.
    tap_ok 'of nonblocking ones nearly all' test "$(made nonblocking | value incomplete | sort -n | tail -n 1)" -le 10
    tap_has 'and what both call at once is counted' '"allreduce":{"calls":2400,' "$(<"$output")"
fi

run 2 --mca coll clv --mca coll_clv_print summary "$program" 2
tap_has 'coll_clv_print summary names them, without a record' 'not planned: ' "$(<"$output")"
counted() { sed -n 's/.*"nonblocking":\([0-9]*\),"persistent":\([0-9]*\),.*/\1 \2/p' "$output"; }
# 16 a round and the pairs; Open MPI makes some when communicators are made.
tap_ok "also as JSON: $(counted)" awk -v both="$(counted)" 'BEGIN { split(both, n, " "); exit !(n[1] >= 34 && n[2] == 19) }'
tap_end
