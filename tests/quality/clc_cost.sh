#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: what clv-correct costs: events a second for read, correct and write, with one thread and with two,
# in turns; and the most memory it ever has of its own under --memory 256, with 40 million events.
#
#   tests/quality/clc_cost.sh [--realtime] [TRACE.otf2]     8 minutes, 6 GB of disk; a quiet machine
#
# TRACE: whose speed is measured; a synthetic one of 16 ranks without it. --realtime: on a machine with other
# work, it goes first (chrt), as root.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
turns=5 first=
[ "${1:-}" != --realtime ] || { first='chrt -r 1'; shift; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python3 - "$build" "$scratch" "$turns" "$first" "${1:-}" <<'PY'
import json, os, resource, shutil, statistics, subprocess, sys
build, scratch, turns, first, trace = sys.argv[1:]
turns = int(turns)

def make(name, ranks, ops):
    subprocess.run([build + "/tests/support/otf2_make", scratch + "/" + name, str(ranks), "2", str(ops), "5"],
                   check=True, stdout=subprocess.DEVNULL)
    return scratch + "/" + name + "/traces.otf2"

def correct(path, *options, first=first):
    report = scratch + "/report"
    shutil.rmtree(scratch + "/out", ignore_errors=True)
    child = subprocess.Popen([*first.split(), build + "/apps/tools/clv-correct", path, "-o", scratch + "/out", "--quiet",
                              "--json", report, *options])
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit("clv-correct failed")
    head = json.loads(open(report).readline())
    return head, used

own = trace or make("speed", 16, 400000)
wall, cpu = {1: [], 2: []}, {1: [], 2: []}
for turn in range(turns):
    for threads in (1, 2):
        head, used = correct(own, "--threads", str(threads))
        wall[threads].append((head["read_ns"] + head["correct_ns"] + head["write_ns"]) / 1e9)
        cpu[threads].append(used.ru_utime + used.ru_stime)
one, two = statistics.median(wall[1]), statistics.median(wall[2])
print("%d events: one thread %.2f s, %.2f million a second (%.2f s of processor); two %.2f s (%.2f s); %.2f times as fast"
      % (head["events"], one, head["events"] / one / 1e6, statistics.median(cpu[1]), two,
         statistics.median(cpu[2]), one / two))
shutil.rmtree(scratch + "/speed", ignore_errors=True)

large = make("large", 16, 2750000)
for threads in ("1", "2"):
    head, used = correct(large, "--threads", threads, "--memory", "256", first="")
    print("%d events, --memory 256, %s threads: %.0f MiB at most, %.0f MiB in the scratch file, %.1f s of processor"
          % (head["events"], threads, used.ru_maxrss / 1024, head["scratch_bytes"] / 2**20, used.ru_utime + used.ru_stime))
    if used.ru_maxrss > 256 * 1024:
        sys.exit("more than was allowed")
PY
