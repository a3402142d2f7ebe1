#!/bin/bash
# clv-clock as a user runs it: methods, judges, files, exit codes. TAP on stdout.
#
# Ranks share this machine, hence its clock: a pretended hour and 50 ppm are made per host, so here
# they are common to all. That the tool tells hosts apart is checked in the emulated cluster
# (docs/design/clocks.md), which needs root.
set -u
tool=$CLV_BUILD/apps/tools/clv-clock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
n=0

echo 1..16
check() { # name status
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' "$out/log"
    fi
}
run() { # ranks arguments...
    local ranks=$1
    shift
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 \
        timeout "${CLV_LIMIT:-300}" mpirun --oversubscribe -np "$ranks" "$tool" "$@" >"$out/log" 2>&1
}

command -v mpirun >/dev/null && [ -x "$tool" ] || { # no MPI here
    for name in a b c d e f g h i j k l m n o; do n=$((n + 1)); echo "ok $n # SKIP no mpirun or no clv-clock"; done
    exit 0
}

run 3 --wait 0.1 --truth realtime --pretend 3600 --drift-ppm 50 --json "$out/a.json" \
    --plot "$out/a.png" skampi/20 netgauge/20 jk/10 hca/10 hca2/10 hca3/10/skampi/10 \
    hca3/10/mean-rtt/10/recompute h2hca/10 h3hca/10
check 'nine methods in one go' $?
[ "$(grep -c '^[a-z].*/' "$out/log")" -ge 18 ]
check 'the table has a row per method and wait' $?
judge() { # whether every line is of the dialect, and says what each other does
    python3 - "$out/a.json" <<'END' >>"$out/log" 2>&1
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) == 18 and len({row["algorithm"] for row in rows}) == 9, len(rows)
for row in rows:
    assert (row["program"], row["record"], row["ranks"], row["nodes"]) == ("clv-clock", "clock", 3, 1), row
    offsets = row["rank_offset_ns"]
    assert len(offsets) == len(row["rank_offset_error_ns"]) == 3 and offsets[0] == 0, row
    assert max(abs(offset) for offset in offsets) == row["max_ns"], row
    assert 0 <= row["true_max_ns"] < 1e9 and row["wait_ns"] in (0, 1e8) and "binding" in row and row["time"], row
END
}
judge
check 'the json is json, a line per check, with a true error' $?
if command -v gnuplot >/dev/null; then
    [ -s "$out/a.png" ] && ! grep -qi warning "$out/log"
else
    [ -s "$out/a.png.gnuplot" ]
fi
check 'the picture, or what it would be drawn from; gnuplot has nothing to say' $?
run 5 --reference 3 --wait 0.1,0.2 --runs 2 hca3/10
check 'any reference, several waits and runs' $?
[ "$(grep -c '^hca3/10 ' "$out/log")" -eq 6 ]
check 'rows for 2 runs x 3 checks' $?
# The cycle counter, which each process calibrates for itself, is one clock for a host.
if grep -qw constant_tsc /proc/cpuinfo && grep -qw nonstop_tsc /proc/cpuinfo; then
    run 3 --clock tsc --wait 0.5 --truth realtime --json "$out/tsc.json" prop h2hca/20 h3hca/20 &&
        [ "$(grep -c '"checked":2,"covered":2' "$out/tsc.json")" -eq 6 ]
    check 'copies of the cycle counter are covered' $?
else
    n=$((n + 1)); echo "ok $n - copies of the cycle counter # SKIP none that is invariant"
fi
# Checked in part: rank 0, the reference, and some of the others; the rest is null.
run 6 --sample 50 --wait 0.1 --json "$out/part.json" skampi/10 &&
    python3 - "$out/part.json" <<'END' >>"$out/log" 2>&1 && run 2 --clock monotonic --calibrations 2 --wait 0.1
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
known = [[r for r, v in enumerate(row["rank_offset_ns"]) if v is not None] for row in rows]
assert len(rows) == 2 and known[0] == known[1] and 0 in known[0] and 1 < len(known[0]) < 6 and rows[0]["sample_percent"] == 50, rows
END
[ $? -eq 1 ] && grep -q 'clock monotonic counts no cycles' "$out/log" &&
    { ! grep -qw constant_tsc /proc/cpuinfo || { run 2 --clock tsc --calibrations 3 --round-trips 20 --json "$out/cal.json" --wait 0.1 skampi/5 &&
        grep -q '^# 3 calibrations \[MHz\]: least [0-9.]*, median' "$out/log" && grep -Eq '"record":"calibration".*"frequency_hz":\[[0-9.]+,[0-9.]+,[0-9.]+\]' "$out/cal.json" &&
        grep -q '^# 20 round trips \[us\]: least [0-9.]*, median' "$out/log" && grep -Eq '"record":"round-trips".*"round_trip_ns":\[([0-9.]+,){19}[0-9.]+\]' "$out/cal.json"; }; }
check 'a sample of the ranks is checked; calibrations are told' $?
# The same code over a simulated network of more ranks than any machine here has.
sim=$CLV_BUILD/tests/sim/sim_clocks
"$sim" --ranks 2000 --ranks-per-host 16 --runs 1 --wait 0,5 --sample 10 --json "$out/sim.json" h2hca/20/skampi/5 >"$out/log" 2>&1 &&
    "$sim" --ranks 4 --series 20 --wander-ppb 0 --json "$out/sim.json" >>"$out/log" 2>&1 &&
    python3 - "$out/sim.json" <<'END' >>"$out/log" 2>&1
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
clocks = [row for row in rows if row["record"] == "clock"]
assert len(clocks) == 2 and all(row["covered"] == row["checked"] == 1999 and 100 < row["sampled"] < 300 for row in clocks), clocks
assert 7 <= clocks[0]["rounds"] <= 12 and clocks[0]["true_max_ns"] < 1e5, clocks
pieces = [row for row in rows if row["record"] == "pieces"]
assert [row["piece_ns"] for row in pieces] == [5e9, 10e9, 20e9] and min(row["r_squared_min"] for row in pieces) > 0.999, pieces
assert sum(row["record"] == "drift" and len(row["offset_ns"]) == 20 for row in rows) == 3
END
check '2000 simulated ranks, bounds held; clocks without wander are straight' $?
# The middle level by hwloc: ranks on a processor each of a pretended machine. Only that level measures.
pings() { # MACHINE PART: how many the middle level sent
    rm -f "$out/level.json"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 timeout "${CLV_LIMIT:-300}" \
        mpirun --oversubscribe --bind-to none -np 2 -x HWLOC_SYNTHETIC="$1" sh -c 'unset HWLOC_COMPONENTS; taskset -c "$OMPI_COMM_WORLD_RANK" "$@"' sh \
        "$tool" --wait 0.1 --json "$out/level.json" "top/prop/middle$2/jk/5/skampi/5/bottom/prop" >"$out/log" 2>&1 || return
    sed -n '1s/.*"pings":\([0-9]*\).*/\1/p' "$out/level.json"
}
sockets='package:2 [numa] core:1 pu:1' domains='package:1 group:2 [numa] core:1 pu:1' caches='package:1 [numa] l3:2 core:2 pu:1'
if [ "$(nproc)" -lt 2 ] || ! taskset -c 0,1 true || ! ldd "$tool" | grep -q hwloc; then
    n=$((n + 1)); echo "ok $n - sockets, NUMA domains and caches # SKIP no two processors to bind to, or built without hwloc"
else
    told="$(pings "$sockets" '') $(pings "$domains" '') $(pings "$domains" @numa) $(pings "$caches" @numa) $(pings 'package:1 [numa] core:2 pu:1' @cache)"
    echo "pings of the middle level: $told" >>"$out/log"
    awk '{ exit !(NF == 5 && $1 > 0 && $2 == 0 && $3 > 0 && $4 == 0 && $5 == 0) }' <<<"$told"
    check 'the middle level is between sockets, or NUMA domains or caches where the label says so' $?
fi
run 2 --clock sundial --wait 0.1
[ $? -eq 2 ] && grep -q "clock must be one of monotonic, .*, not 'sundial'" "$out/log"
check 'a clock that there is not is refused, with those that there are' $?
run 2 --clock tsc@2GHz --wait 0.1
[ $? -ne 2 ] && grep -q 'clock tsc@2GHz$' "$out/log" && run 2 --clock tsc@2 --wait 0.1
[ $? -eq 2 ] && run 2 --clock realtime@2GHz --wait 0.1
[ $? -eq 2 ]
check 'a frequency may stand behind a counter, and behind no other clock' $?
run 2 hca4
[ $? -eq 2 ] && grep -q "^clv-clock: 'hca4' is not a method" "$out/log" && run 2 --wait 0
[ $? -eq 2 ] && [ "$(grep -c '^clv-clock: --wait must be rising numbers.*, not .0.$' "$out/log")" -eq 1 ]
check 'an unknown method or a wrong value is exit 2, and one line says what is wrong' $?

# Rank 1 in a time namespace of its own: the same kernel, the same host name, another hour.
# By rank and not by "A : B", at which the mpirun of Debian 13 (5.0.7) crashes.
by_rank='[ "$OMPI_COMM_WORLD_RANK" = 0 ] || set -- unshare --time --monotonic 3600 --fork "$@"
    exec "$@"'
run_two_hours() {
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 \
        timeout "${CLV_LIMIT:-300}" mpirun --oversubscribe -np 2 sh -c "$by_rank" sh "$tool" "$@" >"$out/log" 2>&1
}
if unshare --time --monotonic 3600 --fork true 2>"$out/log"; then
    run_two_hours --wait 0.1 --truth realtime --json "$out/b.json" h2hca/20 &&
        grep -q '2 ranks on 2 hosts' "$out/log" &&
        ! grep -qE '"true_max_ns":[0-9.]*(e\+|[0-9]{10})' "$out/b.json" # seconds, of an hour
    check 'two time namespaces on one kernel are two hosts' $?
    run_two_hours --wait 0.1 --truth realtime prop
    [ $? -eq 1 ] && grep -q 'FAILED RANKS' "$out/log"
    check 'a copy across time namespaces is refused' $?
else
    for name in measured refused; do n=$((n + 1)); echo "ok $n # SKIP cannot make a time namespace"; done
fi
"$tool" --list >"$out/log" 2>&1 && grep -q '^hca3 .*Algorithm 1' "$out/log"
check 'the list names the sections' $?
