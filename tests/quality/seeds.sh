#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: every unit test that draws at random, with many seeds (CLV_SEED), each of them a run of the test.
# What fails is told with its seed. A run draws a fiftieth (CLV_SHARE) of what it draws in ./clv test, as the
# seeds are many: 1000 of them are twenty times its draws. Cases that take as long as all others of their test
# come with every tenth seed, programs of test_choose_loop with every nineteenth. With CLV_SHARE=1 each run is
# whole. TAP, a point for each test, with the number of seeds that it ran.
#
#   tests/quality/seeds.sh [N [FILTER...]]     N seeds, from 1 on (25); tests whose names match
#   CLV_SEEDS_FOLDER=DIR                       keep there which seeds are done: a run that was stopped goes on
#
# All tests take 25 seeds in turn, and a run that is stopped tells what it has; what is done is kept in steps of 25.
# Builds first; leaves nothing else behind. 25 seeds take 2 minutes of a processor, 1000 an hour.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
n_seeds=${1:-25}
[[ $n_seeds =~ ^[1-9][0-9]{0,5}$ ]] || { echo "seeds: N must be a whole number, not '$n_seeds'" >&2; exit 2; }
shift $(($# > 0))
filter=$(printf '%s|' "$@")
export CLV_TOP=$top CLV_BUILD=$build
export CLV_SHARE=${CLV_SHARE:-0.02} CLV_FUZZ_RUNS=${CLV_FUZZ_RUNS:-4000}

"$top/clv" build >/dev/null || exit 1

# Those whose source takes the seed.
seeded() {
    local test
    make -s -C "$build" list-unit-tests | while read -r test; do
        ! grep -qE 'CLV_SEED|seed_from_environment' "$top/$test.c" || echo "$test"
    done
}

mapfile -t tests < <(seeded | grep -E "${filter%|}")
[ ${#tests[@]} -gt 0 ] || { echo "seeds: no seeded test of that name in $build" >&2; exit 2; }
make -s -C "$build" "${tests[@]}" >/dev/null 2>&1 || { echo "seeds: the tests do not build: ./clv build" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
folder=${CLV_SEEDS_FOLDER:-$work}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) && cd "$build" || exit 2

done_of() { # test: its last seed
    local last=0
    { read -r last <"$folder/${1##*/}.done"; } 2>/dev/null
    echo "$last"
}

# test seed: a failure is noted, and what it said. No process but the test: they are many.
run_seed() {
    CLV_SEED=$2 timeout 600 "./$1" >"$work/said" 2>&1 && return
    {
        echo "CLV_SEED=$2 $1"
        grep -E -A 4 '^not ok [0-9]+ - |Segmentation|Assert' "$work/said" | head -n 6
    } >>"$folder/${1##*/}.bad"
}
run_up_to() { # test last: what is done is written whole, and once for all
    local seed first=$(($(done_of "$1") + 1))
    [ "$first" -le "$2" ] || return
    for ((seed = first; seed <= $2; seed++)); do run_seed "$1" "$seed"; done
    echo "$2" >"$folder/${1##*/}.part" && mv "$folder/${1##*/}.part" "$folder/${1##*/}.done"
}

tell() {
    local n=0 test failed=0
    trap '' INT TERM
    echo "1..${#tests[@]}"
    for test in "${tests[@]}"; do
        n=$((n + 1))
        [ ! -s "$folder/${test##*/}.bad" ] || { printf 'not '; failed=1; }
        echo "ok $n - ${test##*/}: $(done_of "$test") seeds"
        sed 's/^/# /' "$folder/${test##*/}.bad" 2>/dev/null
    done
    exit $failed
}
trap tell INT TERM
for ((last = 25; last < n_seeds + 25; last += 25)); do
    for test in "${tests[@]}"; do run_up_to "$test" $((last < n_seeds ? last : n_seeds)); done
done
tell
