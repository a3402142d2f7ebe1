#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the statistics of the benchmark against R on random samples that R draws, 200 for each seed, a
# quarter with ties, a quarter of 50 and more values: rank tests, intervals, quantiles, filter, t tests,
# Shapiro and Wilk, Kolmogorov and Smirnov, autocorrelation. TAP; 10 s.
#
#   tests/quality/stats_r.sh [SEED...]      without: one that nobody has chosen
#
# Needs a build and R, which it installs when it is missing and may (r-base-core). Leaves nothing behind.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CLV_BUILD:-$top/build}
export CLV_TOP=$top CLV_STATS_REFERENCE
command -v Rscript >/dev/null || apt-get install -y --no-install-recommends r-base-core >/dev/null 2>&1
command -v Rscript >/dev/null || { echo '1..0 # SKIP no R (Debian: r-base-core)'; exit 77; }
make -s -C "$build" tests/apps/test_bench_stats >/dev/null || exit 1
CLV_STATS_REFERENCE=$(mktemp) || exit 1
trap 'rm -f "$CLV_STATS_REFERENCE"' EXIT
[ $# -gt 0 ] || set -- $((RANDOM + 1))
echo "1..$#"
n=0 failed=0
for seed; do
    n=$((n + 1))
    said=$(Rscript "$top/tests/data/stats/make.R" "$seed" 2>&1 >"$CLV_STATS_REFERENCE" &&
        "$build/tests/apps/test_bench_stats" 2>&1) && ! grep -q '^not ok' <<<"$said" || { printf 'not '; failed=1; }
    echo "ok $n - seed $seed: $(wc -l <"$CLV_STATS_REFERENCE") cases are R's, to 1e-10; Shapiro's and Wilk's p to 1e-6, Kolmogorov's and Smirnov's to 1e-9"
    ! grep -q '^not ok' <<<"$said" || grep -A 3 '^not ok' <<<"$said" | sed 's/^/# /'
done
exit $failed
