#!/bin/bash
# Opt-in: line coverage of the pure modules by the unit tests, as a table; fails when a module is below
# 90 % (CLV_COVERAGE_GATE). Builds in build-coverage/ without MPI. TAP; about 2 minutes.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/support/units.sh"
build=$top/build-coverage
gate=${CLV_COVERAGE_GATE:-90}
export CLV_SHARE=${CLV_SHARE:-0.05} # without optimisation; coverage needs few
modules='util schedule clocksync pap_predict record choose apps/trace apps/clc'

if [ -d "$build" ]; then
    find "$build" -name '*.gcda' -delete
fi
CLV_BUILD=$build CLV_CONFIGURE=--without-ompi CFLAGS='-O0 -g --coverage' \
    timeout 1800 "$top/clv" test "$unit_tests" >"$top/build-coverage.log" 2>&1
tests=$?
tail -n 1 "$top/build-coverage.log" | sed 's/^/# /'
rm -f "$top/build-coverage.log"

# One line per source file of a module: lines, covered lines, name. A file that no test program
# links has no counters; it counts with none of its lines covered.
coverage_of_module() {
    local notes
    for notes in "$build/$1"/*.gcno "$build/$1"/.libs/*.gcno; do
        [ -f "$notes" ] && (cd "$build" && gcov -n "$notes" 2>/dev/null)
    done | awk -v module="/$1/" '
        /^File / { name = "/" $2; gsub("\047", "", name) }
        /^Lines executed:/ && index(name, module) && name ~ /\.c$/ {
            split($0, part, /[:% ]+/)
            lines = part[5]; covered = int(part[3] * lines / 100 + 0.5)
            sub(".*" module, module, name)
            if (!(name in best) || covered > best[name]) { best[name] = covered; all[name] = lines }
        }
        END { for (name in best) print all[name], best[name], substr(name, 2) }' | sort -k3
}

echo 1..$(($(wc -w <<<"$modules") + 1))
n=1
[ $tests -eq 0 ] || printf 'not '
echo "ok 1 - unit tests pass with coverage counters"
failed=$tests
for module in $modules; do
    n=$((n + 1))
    table=$(coverage_of_module "$module")
    [ -z "$table" ] || echo "$table" | awk '{ printf "# %6.1f %%  %4d lines  %s\n", 100 * $2 / $1, $1, $3 }'
    if ! percent=$(echo "$table" | awk -v gate="$gate" '{ all += $1; hit += $2 }
        END { if (!all) { print "no lines"; exit 1 }
              printf "%.1f %% of %d lines", 100 * hit / all, all; exit 100 * hit < gate * all }'); then
        failed=1
        printf 'not '
    fi
    echo "ok $n - $module: $percent, at least $gate %"
done
exit $((failed != 0))
