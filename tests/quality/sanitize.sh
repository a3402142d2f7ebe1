#!/bin/bash
# Opt-in: the unit tests under AddressSanitizer + UndefinedBehaviorSanitizer, then under
# ThreadSanitizer. Builds in build-address/ and build-thread/, without MPI: the sanitizers do not
# know Open MPI's own memory. TAP; about 2 minutes.
#
#   tests/quality/sanitize.sh [address] [thread]
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -gt 0 ] || set -- address thread

flags_of() {
    case $1 in
    address) echo '-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all' ;;
    thread) echo '-O1 -g -fno-omit-frame-pointer -fsanitize=thread' ;;
    *) echo "sanitize: address or thread, not $1" >&2; exit 2 ;;
    esac
}

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1

echo "1..$#"
n=0 failed=0
for kind in "$@"; do
    n=$((n + 1))
    flags=$(flags_of "$kind") || exit 2
    output=$(CLV_BUILD=$top/build-$kind CLV_CONFIGURE=--without-ompi CFLAGS=$flags \
        timeout 1800 "$top/clv" test tests/unit/ 2>&1)
    status=$?
    echo "$output" | sed 's/^/# /'
    if [ $status -eq 0 ]; then
        echo "ok $n - unit tests, $kind sanitizer"
    else
        echo "not ok $n - unit tests, $kind sanitizer"
        failed=1
    fi
done
exit $failed
