#!/bin/bash
# apps/bench/loop without measuring: what is in the folder becomes tables, against the pipeline and with the first
# calls apart, and a page gets them between its marks; wrong use is told. TAP. No MPI; 2 s.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
. "$CLV_TOP/tests/support/tap.sh"
loop() { "$CLV_TOP/apps/bench/loop" --folder "$work/parts" "$@" >"$output" 2>&1; }
line() { # algorithm blocks in_call ahead worst median first
    echo "{\"mode\":\"loop\",\"mpi\":\"Any MPI v1, more\",\"system\":\"7.0\",\"processors\":2,\"load\":1.5,\"collective\":\"reduce\",\"ranks\":8,\"bytes\":1,\"pattern\":\"uniform\",\"delay_ns\":1,\"couple\":\"none\",\"compute\":\"50ms\",\"algorithm\":\"$1\",\"iteration_median_ns\":$6,\"iteration_q1_ns\":1e6,\"iteration_q3_ns\":2e6,\"first_median_ns\":$7,\"wrong\":0,\"iteration_ns\":[$2],\"in_call_ns\":[$3],\"worst_ns\":[$5],\"ahead_calls\":[$4],\"first_worst_ns\":[33e6],\"network_bound\":true}"
}
mkdir "$work/parts"
{ line pipeline 100e6,100e6,100e6,100e6,100e6,100e6,100e6 1e6,3e6,2e6 7.0,9.0 5e6,50e6,6e6 100e6 80e6
  line clv 95e6,91e6,92e6,93e6,94e6,90e6,96e6 4e6,6e6 1.0,2.0,1.0 7e6 93e6 120e6; } >"$work/parts/8-fresh-none.json"
echo 'apps/bench/cluster with 8' >"$work/parts/8-fresh-none.command"
echo 2026-01-02 >"$work/parts/8-fresh-none.date"
loop --print && grep -qxF '| fresh | pipeline | 100.0 | 1.0 - 2.0 | 1.00 | 1.00 - 1.00 | 80.0 | 1.00 | 2.0 | 8 | 50 | 33 |' "$output" &&
    grep -qxF '|  | clv | 93.0 | 1.0 - 2.0 | 0.93 | 0.91 - 0.95 | 120.0 | 1.50 | 5.0 | 1 | 7 | 33 |' "$output" && grep -q '^| by-rank | not measured yet' "$output" &&
    grep -q 'Any MPI v1; Linux 7.0; 2 processors, load with these runs 1.5 to 1.5. Every result was checked, 0 were wrong' "$output" && grep -q '^Measured 2026-01-02' "$output"
tap_report $? "ratios to the pipeline by block with their limits, first calls apart, the worst call, the factors"
{ line default 120e6,120e6,120e6,120e6,120e6,120e6,120e6 1e6,3e6,2e6 7.0,9.0 5e6,50e6,6e6 120e6 90e6
  cat "$work/parts/8-fresh-none.json"; } >"$work/parts/rows-4x4-even-bcast.json"
echo 'apps/bench/cluster with 4 -- build/apps/bench/clv-bench --loop --patterns balanced --couple bcast' >"$work/parts/rows-4x4-even-bcast.command"
echo 2026-01-02 >"$work/parts/rows-4x4-even-bcast.date"
loop --print --set rows-4x4 && grep -qxF 'apps/bench/cluster with 4 -- build/apps/bench/clv-bench --loop --patterns PATTERN --couple COUPLING' "$output" && grep -qxF '| even | bcast | pipeline | 100.0 | 93.0 | 0.930 | 0.910 - 0.950 | 1.50 | 2.0 | 5.0 | 50 | 7 |' "$output" &&
    grep -q '^| repeated | none | not measured yet' "$output"
tap_report $? "a set of rows: one line each, clv against the best of the others"
cp "$output" "$work/shown" && mkdir "$work/kept" && loop --print --set rows-4x4 --keep "$work/kept" &&
    "$CLV_TOP/apps/bench/loop" --print --set rows-4x4 --folder "$work/kept" >"$output" 2>&1 && cmp "$work/shown" "$output" && [ -z "$(ls "$work/kept" | grep -vx loop-rows-4x4.jsonl)" ]
tap_report $? "what is kept of them makes the same tables"
printf 'before\n<!-- loop 8 -->\nold\n<!-- end -->\nafter\n' >"$work/page.md"
loop --print --page "$work/page.md" && ! grep -q '^old' "$work/page.md" && grep -q '^|  | clv' "$work/page.md" && [ "$(tail -n 1 "$work/page.md")" = after ]
tap_report $? "a page gets the tables between its marks"
refuses() { local text=$1; shift; loop "$@"; [ $? -eq 2 ] && grep -q "$text" "$output"; }
refuses 'unknown option' --what && refuses 'hosts must be' --hosts one && refuses 'cannot write' --page /nowhere/page && refuses 'has no line' --print --hosts 16 --page "$work/page.md"
tap_report $? "wrong use is told, exit 2"
tap_end
