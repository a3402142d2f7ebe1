#!/bin/bash
# Opt-in: the component's global clock over minutes, judged by the truth: emulated hosts whose
# monotonic clocks lie an hour apart and drift, an iterative program, a row a minute. The figures of
# docs/design/clocks.md come from here. Needs root and namespaces (apps/bench/cluster). Nearly idle.
#
#   tests/quality/clock_watch.sh [MINUTES [HOSTS [DRIFT_PPM [quiet]]]]     10 minutes, 8 hosts, 50 ppm
#
# quiet: after the first seconds no reduce concerns the component, and the thread has the clock only.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
export CLV_BUILD=${CLV_BUILD:-$top/build}
minutes=${1:-10} hosts=${2:-8} drift=${3:-50}
"$top/clv" build || exit 1
eval "$("$top/clv" env)"
# Ranks under SCHED_RR, so that other work of this machine does not delay them; the background
# thread, which is what is measured, stays what it always is.
exec "$top/apps/bench/cluster" with "$hosts" --rate 400mbit --realtime --timeout $((minutes * 60 + 120)) \
    --mca coll clv --mca coll_clv_setup_bytes 0 -- "$CLV_BUILD/tests/mpi/clock_watch" $((minutes * 60)) "$drift" 60 ${4:+"$4"}
