#!/bin/bash
# Test driver for automake: runs one test through the TAP driver and prints one line about it,
# where the TAP driver alone would print one line per test point.
#
# Automake passes: --test-name NAME --log-file LOG --trs-file TRS ... -- COMMAND.
# TRS afterwards has one ":test-result:" line per point, which ./clv adds up, ":clv-seconds:" (by the
# wall clock) and ":clv-cpu-seconds:" (of all processes that the test waited for).
#
# Tests run side by side. Each has a TMPDIR of its own, removed afterwards; an mpirun that gives each
# job a session folder of its own (bin/mpirun); and beds of its own (bed.sh).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)

name='' trs=''
arguments=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    --test-name) name=$2 ;;
    --trs-file) trs=$2 ;;
    esac
    arguments+=("$1" "$2")
    shift 2
done
shift

# cmocka says "not ok" of a case that is skipped, which the TAP driver takes for a failure.
# shellcheck disable=SC2016
run='set -o pipefail; "$@" | sed -u "s/^not ok \([0-9]*\) # SKIP/ok \1 # SKIP/"'

TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/clv.XXXXXX") || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR PATH="$top/tests/support/bin:$PATH"
# Tests start 40,000 programs, and each would read a locale from 26 files.
export LC_ALL=C
# A make that a test starts is none of the make that runs the tests: it would look for that one's job server.
unset MAKEFLAGS MFLAGS MAKELEVEL

# Seconds, user and system, of all children that have ended.
cpu_seconds() {
    times >"$TMPDIR/times" # not in a pipe: a subshell has no children yet
    awk -F'[ms ]' 'NR == 2 { printf "%.1f", 60 * ($1 + $4) + $2 + $5 }' "$TMPDIR/times"
}

started=$SECONDS
sh "$top/build-aux/tap-driver.sh" "${arguments[@]}" -- bash -c "$run" run "$@" >/dev/null
status=$?
seconds=$((SECONDS - started))
{
    echo ":clv-seconds: $seconds"
    printf ':clv-cpu-seconds: '
    cpu_seconds
    echo
} >>"$trs"

count() { grep -cE "^:test-result: ($1)" "$trs"; }
passed=$(count 'PASS|XFAIL') skipped=$(count SKIP) failed=$(count 'FAIL|ERROR|XPASS')
verdict=pass
[ "$failed" -eq 0 ] || verdict=FAIL
line="$verdict $name: $passed passed"
[ "$failed" -eq 0 ] || line="$line, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
[ $seconds -le 2 ] || line="$line, $seconds s"
echo "  $line"
exit $status
