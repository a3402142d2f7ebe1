#!/bin/bash
# The example program under the installed Open MPI, without clv: its self-check passes for odd and
# even rank counts, every root, tiny and uneven grids; it fails when the reduce below is wrong; bad
# options are told. TAP. About 10 s.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
program=$CLV_BUILD/apps/examples/transport/transport
broken=$CLV_BUILD/tests/mpi/transport_broken
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

output=$(mktemp) || exit 1
trap 'rm -f "$output" "$output.trace"' EXIT
. "$CLV_TOP/tests/support/tap.sh"

# run RANKS PROGRAM OPTIONS...: output and errors to $output, the exit status of mpirun
run() {
    ranks=$1
    shift
    timeout "${CLV_LIMIT:-300}" mpirun --oversubscribe -n "$ranks" "$@" >"$output" 2>&1
}

has() {
    grep -q -- "$1" "$output"
}

echo 1..14
run 4 "$program" --quiet --batches 8 --particles 50000
tap_report $? "four ranks: the self-check passes"
has '^transport-result ranks=4 batches=3 .* after_ms=unknown .* check=ok$'
tap_report $? "one line for programs"
run 1 "$program" --quiet --batches 2 --particles 20000 && has 'check=ok'
tap_report $? "one rank"
run 5 "$program" --quiet --batches 4 --root 3 --fresh --uneven 9 --particles 20000 --common-clock \
    && has 'check=ok' && has 'after_ms=[0-9]'
tap_report $? "five ranks, another root, shuffled strengths, common clock"
run 3 "$program" --quiet --batches 3 --cells-x=3 --cells-y 1 --cells-z 7 --scatter 0 && has 'check=ok'
tap_report $? "three ranks, a tiny grid of a pure absorber"
run 2 "$program" --batches 4 --warmup 1 --pace 20 --particles 200 && has 'sleeping stands in' \
    && has 'check=ok'
tap_report $? "--pace says what it does"
# Free, rank 0 has the weakest source and is ahead of the strongest, which needs 40 ms in any case.
run 4 "$program" --free --quiet --batches 9 --warmup 1 --pace 40 --uneven 3 --particles 400 \
    && has 'nobody waits' && has 'check=ok' \
    && sed -n 's/.* iteration_ms=\([0-9.]*\).*/\1/p' "$output" | awk '{ exit !($1 >= 39.9) }'
tap_report $? "--free: every rank counts for itself, and the slowest one's iterations are shown"
! run 2 "$broken" --quiet --batches 6 --particles 2000 && has 'differs from the serial' \
    && has 'check=failed'
tap_report $? "a reduce that loses one count is noticed"
! run 2 "$program" --batches 0 && has 'batches wants a whole number from 1'
tap_report $? "a bad value names the option and the range"
! run 2 "$program" --root 2 && has 'root is not one of the ranks'
tap_report $? "a root outside the ranks is refused"
run 3 "$program" --quiet --batches 6 --particles 2000 --common-clock --root 1 \
    --trace "$output.trace" && has 'check=ok' && grep -c '^call ' "$output.trace" | grep -qx 6
tap_report $? "--trace writes a line for every batch"
"$CLV_BUILD/apps/tools/clv-predict" --csv "$output.trace" >"$output" 2>&1 && has '^[^,]*,best,5,'
tap_report $? "clv-predict replays it"
! run 2 "$program" --batches 2 --trace "$output.trace" && has 'trace needs --common-clock'
tap_report $? "--trace without a common clock is refused"
! run 2 "$program" --batches 2 --common-clock --trace /nowhere/trace && has '/nowhere/trace: No such' \
    && ! has 'transport-result'
tap_report $? "a trace that cannot be written is told before the run"
