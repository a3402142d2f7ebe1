#!/bin/bash
# clv-clock as a user runs it: methods, judges, files, exit codes. TAP on stdout.
#
# Ranks share this machine, hence its clock: a pretended hour and 50 ppm are made per host, so here
# they are common to all. That the tool tells hosts apart is checked in the emulated cluster
# (docs/design/clocks.md), which needs root.
set -u
tool=$CLV_BUILD/tools/clv-clock
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
n=0

echo 1..11
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
    for name in a b c d e f g h i j k; do n=$((n + 1)); echo "ok $n # SKIP no mpirun or no clv-clock"; done
    exit 0
}

run 3 --wait 0.1 --truth realtime --pretend 3600 --drift-ppm 50 --json "$out/a.json" \
    --plot "$out/a.png" skampi/20 netgauge/20 jk/10 hca/10 hca2/10 hca3/10/skampi/10 \
    hca3/10/mean-rtt/10/recompute h2hca/10 h3hca/10
check 'nine methods in one go' $?
[ "$(grep -c '^[a-z].*/' "$out/log")" -ge 18 ]
check 'the table has a row per method and wait' $?
[ "$(grep -c '"method"' "$out/a.json")" -eq 9 ] && grep -q '"true_max_us": [0-9]' "$out/a.json" &&
    ! grep -qi 'nan' "$out/a.json" &&
    { ! command -v python3 >/dev/null || python3 -m json.tool "$out/a.json" >/dev/null; }
check 'the json is json, with a true error per check' $?
if command -v gnuplot >/dev/null; then
    [ -s "$out/a.png" ] && [ -s "$out/a.png.gp" ]
else
    [ -s "$out/a.png.gp" ]
fi
check 'the picture, and what it was drawn from' $?
run 5 --reference 3 --wait 0.1,0.2 --runs 2 hca3/10
check 'any reference, several waits and runs' $?
[ "$(grep -c '^hca3/10 ' "$out/log")" -eq 6 ]
check 'rows for 2 runs x 3 checks' $?
run 2 --clock sundial
[ $? -eq 1 ] && grep -q 'clock sundial' "$out/log"
check 'an unusable clock is said, and is exit 1' $?
run 2 hca4
[ $? -eq 2 ] && grep -q usage "$out/log"
check 'an unknown method is exit 2' $?

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
        grep -q '"n_hosts": 2' "$out/b.json" &&
        ! grep -qE '"true_max_us": [0-9.]*(e\+|[0-9]{7})' "$out/b.json" # seconds, of an hour
    check 'two time namespaces on one kernel are two hosts' $?
    run_two_hours --wait 0.1 --truth realtime prop
    [ $? -eq 1 ] && grep -q 'FAILED RANKS' "$out/log"
    check 'a copy across time namespaces is refused' $?
else
    for name in measured refused; do n=$((n + 1)); echo "ok $n # SKIP cannot make a time namespace"; done
fi
"$tool" --list >"$out/log" 2>&1 && grep -q '^hca3 .*Algorithm 1' "$out/log"
check 'the list names the sections' $?
