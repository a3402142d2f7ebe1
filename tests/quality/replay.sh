#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: clv-correct under mpirun against one process: event by event on random traces, on every archive
# under tests/ and beside the project (shared/traces), on each kind of trace that otf2_make makes; and what it
# costs: memory of the largest process and time, by the number of processes, and --memory where the whole trace
# is larger.
#
#   tests/quality/replay.sh [TRACES [SEED]]     1000 and 1; 40 minutes on two cores, 3 GB of disk; TAP
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
