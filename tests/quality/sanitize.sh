#!/bin/bash
# Opt-in: the unit tests under AddressSanitizer + UndefinedBehaviorSanitizer, then under
# ThreadSanitizer; then MPI programs under the recorder (coll_clv_record), with the component and the
# programs built that way. Builds in build-address/ ...; the unit tests' without MPI. TAP; about 10 minutes.
#
#   tests/quality/sanitize.sh [address] [thread] [recorder-address] [recorder-thread]
#
# Open MPI itself is not built that way: what it leaks is not looked for, nor what libotf2 leaks where an archive is none or a disk is full,
# and of threads only what our own code does is judged (a race needs both accesses seen).
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/support/units.sh"
[ $# -gt 0 ] || set -- address thread recorder-address recorder-thread

flags_of() {
    case ${1#recorder-} in
    address) echo '-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all' ;;
    thread) echo '-O1 -g -fno-omit-frame-pointer -fsanitize=thread' ;;
    *) echo "sanitize: address or thread, not $1" >&2; exit 2 ;;
    esac
}

suppressions=$(mktemp) || exit 1
trap 'rm -f "$suppressions"' EXIT
echo 'leak:libopen-trace-format2' >"$suppressions"
export LSAN_OPTIONS=suppressions=$suppressions:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1

# Two of them take half an hour each under ThreadSanitizer.
unit_tests() { # kind
    CLV_BUILD=$top/build-$1 CLV_CONFIGURE=--without-ompi CFLAGS=$(flags_of "$1") MAKEFLAGS=CLV_TEST_SECONDS=3600 \
        timeout 5400 "$top/clv" test "$unit_tests"
}

# All operations blocking, nonblocking and persistent, two threads, these with clv's own counters, too; a finding
# ends the rank.
recorder() { # kind
    local build=$top/build-$1 folder status=0 line record
    folder=$(mktemp -d)
    CLV_BUILD=$build CFLAGS=$(flags_of "$1") timeout 1800 "$top/clv" build || return
    eval "$(CLV_BUILD=$build "$top/clv" env)"
    while IFS=: read -r options line; do
        record=$folder/${line// /-}${options:+-planned}
        # shellcheck disable=SC2086
        ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 \
            timeout -k 5 120 mpirun --oversubscribe -np 4 --mca mpi_yield_when_idle 1 \
            --mca coll_clv_record "$record" $options "$build"/tests/mpi/$line </dev/null || status=1
        "$build/apps/tools/clv-view" "$record" || status=1
    done <<'PROGRAMS'
:record_cases 20
:record_requests 5 2 20
:record_requests 500 threads
--mca coll clv --mca coll_clv_collectives allreduce --mca coll_clv_print summary:record_requests 500 threads
PROGRAMS
    rm -rf "$folder"
    return $status
}

echo "1..$#"
n=0 failed=0
for kind in "$@"; do
    n=$((n + 1))
    flags_of "$kind" >/dev/null || exit 2
    case $kind in
    recorder-*) what='programs under the recorder' output=$(recorder "$kind" 2>&1) ;;
    *) what='unit tests' output=$(unit_tests "$kind" 2>&1) ;;
    esac
    status=$?
    echo "$output" | sed 's/^/# /'
    if [ $status -eq 0 ]; then
        echo "ok $n - $what, $kind"
    else
        echo "not ok $n - $what, $kind"
        failed=1
    fi
done
exit $failed
