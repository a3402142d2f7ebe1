#!/bin/bash
# Opt-in: everything (component, tools, tests) compiles without a warning with gcc and with clang,
# and the unit tests pass when clang has built them. Builds in build-gcc/ and build-clang/. TAP;
# about 2 minutes.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/support/units.sh"

echo 1..2
n=0 failed=0
for compiler in gcc clang; do
    n=$((n + 1))
    if output=$(CLV_BUILD=$top/build-$compiler CLV_CONFIGURE=--enable-werror CC=$compiler \
        timeout 1800 "$top/clv" test "$unit_tests" 2>&1); then
        echo "$output" | tail -n 1 | sed 's/^/# /'
        echo "ok $n - $compiler: no warnings, unit tests pass"
    else
        echo "$output" | sed 's/^/# /'
        echo "not ok $n - $compiler: no warnings, unit tests pass"
        failed=1
    fi
done
exit $failed
