#!/bin/bash
# bench/results without measuring: what is in the folder becomes tables, a page gets them between its
# marks, and wrong use is one clear line. TAP. No MPI; 1 s.
set -u
: "${CLV_TOP:?}"
results=$CLV_TOP/bench/results
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
n=0

report() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' "$output"; fi
}
line() { # algorithm values usable in_mpi ratio_first ratio_bound
    echo "{\"mpi\":\"Any MPI\",\"ranks\":8,\"bytes\":2097152,\"pattern\":\"uniform\",\"delay_ns\":50000000,\"algorithm\":\"$1\",\"in_mpi_mean_median_ns\":$4,\"ratio_first\":$5,\"ratio_bound\":$6,\"calls\":5,\"right\":5,\"after_ns\":[$2],\"usable\":[$3],\"network_bound\":true}"
}
echo 1..3
{ line default 120000000,140000000,100000000,110000000,999000000 1,1,1,1,0 50000000 1 3
  line clv+hint 41000000,42000000,43000000,44000000,45000000 1,1,1,1,1 40000000 0.4 null; } >"$work/8-uniform.json"

"$results" --print --hosts 8 --folder "$work" >"$output" 2>&1 &&
    grep -qF '| default | 115.0 | 107.5 - 125.0 | 3.00 | 1.00 | 50.0 |' "$output" &&
    grep -qF '| clv+hint | 43.0 | 42.0 - 44.0 | - | 0.40 | 40.0 |' "$output" &&
    grep -qF '| uniform | 3.00 | - | - | - | 50.0 | - | - | 40.0 |' "$output" && grep -q '1 calls started late' "$output"
report $? "medians, quartiles and ratios of the usable calls; a dash where there is nothing"

printf 'before\n<!-- results 8 -->\nold\n<!-- end -->\nbetween\n<!-- results 16 -->\n<!-- end -->\nafter\n' >"$work/page"
"$results" --print --hosts 8,16 --folder "$work" --page "$work/page" >"$output" 2>&1 && cp "$work/page" "$work/once" &&
    "$results" --print --hosts 8,16 --folder "$work" --page "$work/page" >"$output" 2>&1 && cmp -s "$work/page" "$work/once" &&
    ! grep -q old "$work/page" && grep -q '^| clv+hint' "$work/page" && grep -q 'Not measured yet' "$work/page" &&
    [ "$(grep -c '^before$\|^between$\|^after$' "$work/page")" -eq 3 ]
report $? "a page gets its tables between the marks, twice the same"

refuses() { # status text options ...
    local status=$1 text=$2
    shift 2
    "$results" "$@" >"$output" 2>&1
    [ $? -eq "$status" ] && grep -q -- "$text" "$output"
}
refuses 2 "must be of 8, 16, 48, not '9'" --print --hosts 9 && refuses 2 'whole number' --minutes x && refuses 2 'cannot write' --print --page /nonexistent/page &&
    refuses 2 usage: --what && refuses 2 'has no line' --print --hosts 48 --page "$work/page"
status=$?
[ $status -ne 0 ] || CLV_BUILD=$work refuses 4 'no clv-bench' --hosts 8
report $? "wrong use, and a build that is not there"
