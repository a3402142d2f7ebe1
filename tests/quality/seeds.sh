#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: every unit test that draws at random, with many seeds (CLV_SEED), each of them a whole run of
# the test. What fails is told with its seed. Tests that do thousands of jobs in a run do fewer here, as
# the seeds are many. TAP, a point for each test.
#
#   tests/quality/seeds.sh [N [FILTER...]]     N seeds, from 1 on (25); tests whose names match
#
# Needs a build; leaves nothing behind. 25 seeds take about 10 minutes, 1000 a night.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
n_seeds=${1:-25}
[[ $n_seeds =~ ^[1-9][0-9]{0,5}$ ]] || { echo "seeds: N must be a whole number, not '$n_seeds'" >&2; exit 2; }
shift $(($# > 0))
filter=$(printf '%s|' "$@")
export CLV_TOP=$top CLV_BUILD=$build
export CLV_PAP_SIM_SEEDS=${CLV_PAP_SIM_SEEDS:-1000} CLV_SCHED_INSTANCES=${CLV_SCHED_INSTANCES:-0.05}

# Those whose source takes the seed.
seeded() {
    local test
    make -s -C "$build" list-unit-tests | while read -r test; do
        ! grep -qE 'CLV_SEED|seed_from_environment' "$top/$test.c" || echo "$test"
    done
}

mapfile -t tests < <(seeded | grep -E "${filter%|}")
[ ${#tests[@]} -gt 0 ] || { echo "seeds: no seeded test of that name in $build: run ./clv build" >&2; exit 2; }
make -s -C "$build" "${tests[@]}" >/dev/null 2>&1 || { echo "seeds: the tests do not build: ./clv build" >&2; exit 1; }
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT

# test: the seeds with which it fails, and what it said with each
bad_seeds() {
    local seed
    for ((seed = 1; seed <= n_seeds; seed++)); do
        (cd "$build" && CLV_SEED=$seed timeout 600 "./$1") >"$said" 2>&1 && ! grep -q '^not ok' "$said" && continue
        echo "CLV_SEED=$seed $1"
        grep -E -A 4 '^not ok|Segmentation|Assert' "$said" | head -n 6
    done
}

echo "1..${#tests[@]}"
n=0 failed=0
for test in "${tests[@]}"; do
    n=$((n + 1))
    bad=$(bad_seeds "$test")
    [ -z "$bad" ] || { printf 'not '; failed=1; }
    echo "ok $n - ${test##*/}: $n_seeds seeds"
    [ -z "$bad" ] || sed 's/^/# /' <<<"$bad"
done
exit $failed
