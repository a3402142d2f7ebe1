#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: clv-correct under mpirun against one process: event by event on random traces, on every archive
# under tests/ and beside the project (shared/traces), on each kind of trace that otf2_make makes; and what it
# costs: memory of the largest process and time, by the number of processes, and --memory where the whole trace
# is larger.
#
#   tests/quality/replay.sh [TRACES [SEED]]     1000 and 1; 40 minutes on two cores, 3 GB of disk; TAP
#   tests/quality/replay.sh simulate [PROCESSES...]     16 64 256; a minute; 512: two minutes, 4 GB
#
# simulate: the same sources built with smpicc and run under SimGrid (Debian: libsimgrid-dev), each process on a
# host of its own, links of 100 Gb/s and 1 us, collectives as Open MPI's. A trace has as many ranks as there are
# processes, each with 400 operations, so time should grow no faster than the trees of collectives. Time that
# processes compute is taken from this machine's clock, while all run in one process of it and spoil each other's
# caches; waiting processes do not poll. Prints the forward and backward pass without reading and writing, whose
# files are all on this machine's disk.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
. "$top/tests/support/tap.sh"
. "$top/tests/support/replay.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
correct=$build/apps/tools/clv-correct make=$build/tests/support/otf2_make
n_traces=${1:-1000} seed=${2:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
# ---- simulated
build_simulated() {
    local file object
    # In SimGrid a wait advances the others, a poll costs an event, and processes share stdout.
    cat >simulated.h <<'H'
#include <mpi.h>
#include <smpi/smpi_helpers.h>
#undef sleep
#include <stdio.h>
#define freopen(a, b, c) (c)
#define MPI_Ibarrier(c, r) (*(r) = MPI_REQUEST_NULL, MPI_Barrier(c))
#define MPI_Testall(n, r, f, s) (*(f) = 1, MPI_Waitall(n, r, s))
H
    for file in $(make -s -C "$build" show-replay-files); do
        object=$(tr / _ <<<"${file%.c}").o
        [ "$file" = "${file%.c}" ] || [ -e "$object" ] && continue
        smpicc -c -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -DSMPI_NO_OVERRIDE_MALLOC -w -include ./simulated.h \
            -I"$top" -I"$build" -I"$build/apps/tools/correct" "$top/$file" -o "$object" || return
    done
    # shellcheck disable=SC2046
    smpicc ./*.o "$build/.libs/libclvcore.a" \
        $(pkg-config --libs otf2 2>/dev/null || echo -lopen-trace-format2) -lhwloc -lm -lpthread -o simulated
}

simulate() { # processes, operations of each
    local n=$1 from=$SECONDS
    "$make" "weak$n" "$n" 1 "$2" "$seed" >/dev/null || return
    seq -f 'h%.0f' 0 $((n - 1)) >hosts
    cat >machine.xml <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="machine" routing="Full">
<cluster id="c" prefix="h" suffix="" radical="0-$((n - 1))" speed="10Gf" bw="12.5GBps" lat="1us" sharing_policy="FATPIPE"/>
</zone></platform>
END
    timeout -k 5 "${CLV_SIM_SECONDS:-600}" smpirun -np "$n" -platform machine.xml -hostfile hosts --log=root.thres:critical \
        --cfg=smpi/host-speed:10Gf --cfg=smpi/simulate-computation:yes --cfg=smpi/coll-selector:ompi --cfg=smpi/test:1e-6 \
        --cfg=smpi/iprobe:1e-6 --cfg=smpi/grow-injected-times:no --cfg=smpi/send-is-detached-thresh:0 \
        --cfg=network/crosstraffic:no --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 \
        ./simulated "weak$n/traces.otf2" -o "out$n" --quiet --json "told$n" >"said$n" 2>&1 ||
        { tail -3 "said$n" >&2; return 1; }
    "$correct" "weak$n/traces.otf2" -o "one$n" --quiet --json "one$n.json" && same_files "one$n" "out$n" || return
    python3 - "$n" "told$n" "one$n.json" $((SECONDS - from)) <<'PY'
import json, sys
several, one = (json.loads(open(name).readline()) for name in sys.argv[2:4])
print("| %s | %d | %.1f | %.1f | %s |" % (sys.argv[1], several["events"], several["correct_ns"] / 1e6, one["correct_ns"] / 1e6,
                                         sys.argv[4]))
PY
}

if [ "${1:-}" = simulate ]; then
    shift
    seed=1
    build_simulated || exit 1
    echo '| processes | events | corrected [ms], simulated | by one process here | took [s] |'
    echo '|---|---|---|---|---|'
    [ $# -gt 0 ] || set -- 16 64 256
    for n; do simulate "$n" 400 || exit 1; done
    exit
fi

exec 3>&1
export CLV_REPLAY_WATCH=1
echo "# seed $seed"

# ---- the same as one process
while read -r archive; do
    for n in 1 2 3 5 8; do
        tap_ok "$n processes, $(basename "$(dirname "$archive")")" agrees $n "$archive"
    done
done < <(find "$top/tests" "$top/../shared/traces" -name '*.otf2' 2>/dev/null)
for fault in none lost-receive lost-exit length cycle empty-location timer=19200000 names peers root one-host threads; do
    "$make" made 12 3 3000 "$seed" "$fault" >/dev/null
    for clock in host process; do
        agreed=
        for n in 1 2 3 5 8; do
            tap_ok "$n processes, $fault, a clock per $clock" agrees $n made/traces.otf2 --clock-per $clock
        done
    done
    rm -r made
done
tap_ok "$n_traces random traces" random_traces "$n_traces" "$seed"

# ---- what it costs
cat >peak.py <<'PY'
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open("peak." + rank, "w"))
sys.exit(status)
PY
cost() { # N ARCHIVE ARGUMENTS...: KiB of the largest process and seconds
    local n=$1 archive=$2
    shift 2
    rm -rf peaked peak.[0-9]*
    timeout -k 5 "$tap_limit" mpirun --oversubscribe --allow-run-as-root -np "$n" python3 peak.py "$correct" "$archive" \
        -o peaked --quiet --json cost.jsonl "$@" >/dev/null 2>cost.err || { cat cost.err >&2; return 1; }
    echo "$(sort -n peak.[0-9]* | tail -1) $(python3 -c '
import json
head = json.loads(open("cost.jsonl").readline())
print(*("%.2f" % (head[key] / 1e9) for key in ("read_ns", "correct_ns", "write_ns")), "%d" % (head["scratch_bytes"] >> 20), head["events"])')"
}
"$make" small 32 2 100 "$seed" >/dev/null
"$make" large 32 2 60000 "$seed" >/dev/null
table() {
    local n base peak read corrected write scratch events
    echo '| processes | memory of the largest [MiB] | above a small trace [MiB] | read, corrected, written [s] |'
    echo '|---|---|---|---|'
    for n in 1 2 4 8 16; do
        base=$(cost $n small/traces.otf2) && read -r peak read corrected write scratch events <<<"$(cost $n large/traces.otf2)" || return
        echo "| $n | $((peak / 1024)) | $(((peak - ${base%% *}) / 1024)) | $read, $corrected, $write |"
    done
    echo "$events events, load $(cut -d ' ' -f 1 /proc/loadavg)"
}
table >table.md
tap_report_status=$?
output=table.md tap_report $tap_report_status 'memory and time by processes'
sed 's/^/# /' table.md
read -r peak _ _ _ scratch events <<<"$(cost 4 large/traces.otf2 --memory 16)"
echo "# --memory 16, 4 processes, $events events: the largest has $((peak / 1024)) MiB, scratch files of all $scratch MiB"
tap_ok 'a trace larger than --memory of all processes' test "${scratch:-0}" -gt 0
rm -rf one several
"$correct" large/traces.otf2 -o one --quiet && together 4 large/traces.otf2 -o several --memory 16 --quiet 2>/dev/null
tap_ok 'and the same is written' same_files one several
tap_end
