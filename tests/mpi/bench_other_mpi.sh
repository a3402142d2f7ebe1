#!/bin/bash
# clv-bench with another MPI library: compiled and run with MPICH where that is installed (Debian:
# mpich libmpich-dev), where there are no control variables of Open MPI. TAP. 10 s, or none.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
compiler=${CLV_OTHER_MPICC:-mpicc.mpich} launcher=${CLV_OTHER_MPIRUN:-mpirun.mpich}
if ! command -v "$compiler" >/dev/null || ! command -v "$launcher" >/dev/null; then
    echo "1..0 # SKIP no other MPI library: $compiler and $launcher are not there"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
. "$CLV_TOP/tests/support/tap.sh"

run() { timeout 300 "$launcher" -n 3 "$work/clv-bench" "$@" >"$output" 2>&1; }
refuses() { # text options ...
    local text=$1
    shift
    run "$@"
    [ $? -eq 2 ] && [ "$(grep -c '^clv-bench: ' "$output")" -eq 1 ] && grep -q -- "$text" "$output"
}
short='--sizes 1000 --iterations 2 --warmup 1 --balanced-calls 1 --delay 1ms --patterns uniform'

echo 1..4
cd "$CLV_TOP" || exit 1
make -s -C "$CLV_BUILD" clv-bench-other CLV_OTHER_MPICC="$compiler" CLV_OTHER_PROGRAM="$work/clv-bench" >"$output" 2>&1
tap_report $? "it compiles with $compiler"

all_are_right() {
    local collective
    for collective in reduce allreduce bcast barrier alltoall allgather gather reduce_scatter scan exscan; do
        # shellcheck disable=SC2086
        run --collective $collective $short && grep -q ' [0-2]/2$' "$output" &&
            run --collective $collective --nonblocking $short && grep -q ' [0-2]/2$' "$output" || return
    done
    # shellcheck disable=SC2086
    run $short --algorithms default,ring,bound --json "$work/lines" && [ "$(grep -c ' [0-2]/2$' "$output")" -eq 3 ] &&
        [ "$(grep -c '"mpi":"MPICH' "$work/lines")" -eq 3 ]
}
all_are_right
tap_report $? "every collective is right, our own reduces too, and the lines name the library"

refuses "no control variable 'coll_tuned_reduce_algorithm'" --algorithms default,pipeline &&
    refuses "no coll component 'clv'" --algorithms default,clv
tap_report $? "what needs Open MPI's control variables is told in one line, exit 2"

# Two libraries in one table, shuffled mpirun by mpirun, with a test ("MPI Benchmarking Revisited", Figs. 25 to 28).
compared() {
    local here="--collective allreduce --sizes 1K --iterations 5 --warmup 1 --balanced-calls 0"
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$CLV_BUILD/apps/bench/clv-bench-compare" --runs 4 --folder "$work/both" --metric run --json "$work/table" \
        --run "one: timeout 100 mpirun --oversubscribe -np 2 $CLV_BUILD/apps/bench/clv-bench $here" \
        --run "other: timeout 100 $launcher -n 2 $work/clv-bench $here" --baseline one >"$output" 2>&1 &&
        grep '"label":"other"' "$work/table" | grep -qE '"runs":4,.*"p_value":[0-9.e-]+' && grep -q '"mpi":"MPICH' "$work"/both/other-run-1.json && grep -q '"mpi":"Open MPI' "$work"/both/one-run-1.json
}
compared
tap_report $? "both libraries in one table, with a test"
