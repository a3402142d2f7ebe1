#!/bin/bash
# apps/bench/results and apps/bench/loop without measuring: what is in the folder becomes tables and a list of
# losses, a page gets them between its marks, a run that was stopped goes on, wrong use is one clear line. TAP. No
# MPI; 5 s.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
results=$CLV_TOP/apps/bench/results
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
. "$CLV_TOP/tests/support/tap.sh"

line() { # algorithm values usable in_mpi ratio_first ratio_bound
    echo "{\"mpi\":\"Any MPI\",\"processors\":2,\"load\":$((${#1} - 6)).5,\"ranks\":8,\"bytes\":2097152,\"pattern\":\"uniform\",\"delay_ns\":50000000,\"algorithm\":\"$1\",\"in_mpi_mean_median_ns\":$4,\"ratio_first\":$5,\"ratio_bound\":$6,\"calls\":5,\"right\":5,\"after_ns\":[$2],\"usable\":[$3],\"network_bound\":true}"
}
{ line default 120000000,140000000,100000000,110000000,999000000 1,1,1,1,0 50000000 1 3
  line pipeline 42000000,42000000,42000000,42000000,42000000 1,1,1,1,1 36000000 0.4 1
  line clv+hint 41000000,42000000,43000000,44000000,45000000 1,1,1,1,1 40000000 0.4 null; } >"$work/8-uniform.json"

"$results" --print --hosts 8 --folder "$work" >"$output" 2>&1 &&
    grep -qF '| default | 115.0 | 107.5 - 125.0 | 3.00 | 1.00 | 50.0 |' "$output" &&
    grep -qF '| clv+hint | 43.0 | 42.0 - 44.0 | - | 0.40 | 40.0 |' "$output" &&
    grep -qF '| uniform | 3.00 | 1.00 | - | 50.0 | 36.0 | 40.0 |' "$output" && grep -q '1 calls started late' "$output" &&
    grep -q '; 2 processors, load with this run 1.5 to 2.5' "$output"
tap_report $? "medians, quartiles and ratios of the usable calls; a dash where there is nothing"

grep -qxF -- '- uniform: clv+hint in MPI 1.11 x pipeline' "$output"
tap_report $? "where clv loses is listed"

printf 'before\n<!-- results 8 -->\nold\n<!-- end -->\nbetween\n<!-- results 16 -->\n<!-- end -->\nafter\n' >"$work/page"
"$results" --print --hosts 8,16 --folder "$work" --page "$work/page" >"$output" 2>&1 && cp "$work/page" "$work/once" &&
    "$results" --print --hosts 8,16 --folder "$work" --page "$work/page" >"$output" 2>&1 && cmp -s "$work/page" "$work/once" &&
    ! grep -q old "$work/page" && grep -q '^| clv+hint' "$work/page" && grep -q 'Not measured yet' "$work/page" &&
    [ "$(grep -c '^before$\|^between$\|^after$' "$work/page")" -eq 3 ]
tap_report $? "a page gets its tables between the marks, twice the same"

# The same script beside a pretended cluster, which notes its runs and leaves a result or fails.
mkdir -p "$work/top/apps/bench" "$work/build/apps/bench" "$work/build/component"
cp -r "$results" "$CLV_TOP/apps/bench/page" "$work/top/apps/bench"
cp -r "$CLV_TOP/apps/cli" "$work/top/apps"
cat >"$work/top/apps/bench/cluster" <<END
#!/bin/sh
echo run >>"$work/runs"
[ ! -e "$work/broken" ] || exit 1
for file; do :; done
cp "$work/8-uniform.json" "\$file"
END
printf '#!/bin/sh\n' | tee "$work/top/clv" "$work/build/apps/bench/clv-bench" >"$work/build/component/mca_coll_clv.so"
chmod +x "$work/top/clv" "$work/top/apps/bench/cluster" "$work/build/apps/bench/clv-bench"
go_on() { # status runs options ...: exit status, and how many runs there have been
    local status=$1 runs=$2
    shift 2
    CLV_BUILD=$work/build "$work/top/apps/bench/results" --folder "$work/new" --hosts 8 "$@" >"$output" 2>&1
    [ $? -eq "$status" ] && [ "$(wc -l <"$work/runs")" -eq "$runs" ]
}
: >"$work/runs"
go_on 0 0 --plan && grep -q '8 parts to measure, 0 are there' "$output" && grep -q '8 parts of [0-9]* s' "$output" &&
    go_on 0 1 --patterns uniform && grep -q 'part 1 of 1: 8, uniform' "$output" &&
    SECONDS=60 go_on 1 1 --patterns uniform,repeated --minutes 1 && grep -q 'run again to go on' "$output" &&
    go_on 0 2 --patterns uniform,repeated && grep -q '1 parts to measure, 1 are there' "$output" &&
    : >"$work/broken" && go_on 1 4 --patterns uniform,sudden && grep -q 'failed; see' "$output" && grep -q '^| uniform' "$output"
tap_report $? "a plan; a stopped run goes on; a part that fails twice does not stop the rest"

mkdir "$work/several"
for run in .run2 '' .run3; do
    line clv 4${#run}000000,4${#run}000000,4${#run}000000,4${#run}000000,4${#run}000000 1,1,1,1,1 2${#run}000000 0.4 1.${#run} >"$work/several/8-uniform$run.json"
    [ -n "$run" ] || line clv 99000000,99000000,99000000,99000000,99000000 1,1,1,1,1 9000000 0.4 9 >"$work/several/8-uniform.json"
done
"$results" --print --hosts 8 --folder "$work/several" >"$output" 2>&1 && grep -q '5 measured in each of 3 mpiruns' "$output" &&
    grep -qF '| clv | 45.0 | 45.0 - 99.0 | 45.0 - 99.0 | 1.50 | 0.40 | 25.0 |' "$output" && : >"$work/runs" && rm "$work/broken" &&
    go_on 0 3 --patterns exponential --runs 3 && grep -q '3 parts to measure' "$output" && [ -s "$work/new/8-exponential.run3.json" ] &&
    go_on 0 3 --patterns exponential --runs 3 && grep -q '0 parts to measure, 3 are there' "$output"
tap_report $? "several mpiruns of a part: the medians of their figures, and what is between them"

echo 'cluster with 8' >"$work/several/8.command"
mkdir "$work/kept"
"$results" --print --hosts 8 --folder "$work/several" --keep "$work/kept" >"$output" 2>&1 && cp "$output" "$work/once" &&
    "$results" --print --hosts 8 --folder "$work/kept" >"$output" 2>&1 && cmp "$work/once" "$output" && [ "$(ls "$work/kept")" = results-8.jsonl ] &&
    grep -q '^{"table":"results-8","command":"cluster with 8",' "$work/kept/results-8.jsonl" && ! grep -q collective "$work/kept/results-8.jsonl"
tap_report $? "what is kept of them is one file, and makes the same tables"
mkdir "$work/page_of_two"
{ echo '{"table":"results-80","old":1}'; echo '{"part":"80-a"}'; echo '{"table":"results-8","old":1}'; echo '{"part":"8-uniform"}'; echo '{"table":"loop-8"}'; echo '{"part":"8-b"}'; } \
    >"$work/page_of_two/page.jsonl"
"$results" --print --hosts 8 --folder "$work/several" --keep "$work/page_of_two" >"$output" 2>&1 && [ "$(ls "$work/page_of_two")" = page.jsonl ] &&
    cmp "$work/kept/results-8.jsonl" <(sed -n '3,/loop-8/{/loop-8/!p}' "$work/page_of_two/page.jsonl") &&
    [ "$(sed -n '1,2p' "$work/page_of_two/page.jsonl"; tail -n 2 "$work/page_of_two/page.jsonl")" = "$(printf '%s\n' '{"table":"results-80","old":1}' '{"part":"80-a"}' '{"table":"loop-8"}' '{"part":"8-b"}')" ] &&
    "$results" --print --hosts 8 --folder "$work/page_of_two" >"$output" 2>&1 && cmp "$work/once" "$output"
tap_report $? "or takes the place of the older one in the file of its page, whose other tables stay"
echo '{"algorithm":{"name":"clv"}}' >"$work/several/8-uniform.json"
"$results" --print --hosts 8 --folder "$work/several" --keep "$work/kept" >"$output" 2>&1
[ $? -eq 1 ] && grep -q '8-uniform.json: not a flat object' "$output"
tap_report $? "what is no flat object is not kept"

refuses() { # status text options ...
    local status=$1 text=$2
    shift 2
    "$results" "$@" >"$output" 2>&1
    [ $? -eq "$status" ] && grep -q -- "$text" "$output"
}
refuses 2 "must be of 8 16 48 4x4 .*, not '9'" --print --hosts 9 && refuses 2 'whole number' --minutes x && refuses 2 'cannot write' --print --page /nonexistent/page &&
    refuses 2 'unknown option' --what && refuses 2 'has no line' --print --hosts 48 --page "$work/page" &&
    (export CLV_BUILD=$work && refuses 4 'no clv-bench' --hosts 8)
tap_report $? "wrong use, and a build that is not there"

claims() { # ratio_bound of clv: exit status of the claims of apps/bench/show
    local row
    for row in repeated:large:2097152 uniform:large:2097152 balanced:large:2097152 balanced:small:8; do
        IFS=: read -r pattern part bytes <<<"$row"
        for algorithm in pipeline clv; do
            echo "{\"pattern\":\"$pattern\",\"part\":\"$part\",\"bytes\":$bytes,\"algorithm\":\"$algorithm\",\"in_mpi_mean_median_ns\":7,\"ratio_first\":0.4,\"ratio_bound\":$1}"
        done
    done | awk -f "$CLV_TOP/apps/bench/page/lines.awk" -f "$CLV_TOP/apps/bench/page/claims.awk" >"$output"
}
claims 1.1 && ! grep -q 'NOT HOLD' "$output" && ! claims 1.2 && ! claims null && [ "$(grep -c 'NOT HOLD' "$output")" -eq 1 ]
tap_report $? "a claim of apps/bench/show holds, or not; without its figure it does not"

# ---- apps/bench/loop: against the pipeline and with the first calls apart
loops=$work/loops
mkdir "$loops"
loop() { "$CLV_TOP/apps/bench/loop" --folder "$loops/parts" "$@" >"$output" 2>&1; }
loop_line() { # algorithm blocks in_call ahead worst median first
    echo "{\"mode\":\"loop\",\"mpi\":\"Any MPI v1, more\",\"system\":\"7.0\",\"processors\":2,\"load\":1.5,\"collective\":\"reduce\",\"ranks\":8,\"bytes\":1,\"pattern\":\"uniform\",\"delay_ns\":1,\"couple\":\"none\",\"compute\":\"50ms\",\"algorithm\":\"$1\",\"iteration_median_ns\":$6,\"iteration_q1_ns\":1e6,\"iteration_q3_ns\":2e6,\"first_median_ns\":$7,\"wrong\":0,\"iteration_ns\":[$2],\"in_call_ns\":[$3],\"worst_ns\":[$5],\"ahead_calls\":[$4],\"first_worst_ns\":[33e6],\"network_bound\":true}"
}
mkdir "$loops/parts"
{ loop_line pipeline 100e6,100e6,100e6,100e6,100e6,100e6,100e6 1e6,3e6,2e6 7.0,9.0 5e6,50e6,6e6 100e6 80e6
  loop_line clv 95e6,91e6,92e6,93e6,94e6,90e6,96e6 4e6,6e6 1.0,2.0,1.0 7e6 93e6 120e6; } >"$loops/parts/8-fresh-none.json"
echo 'apps/bench/cluster with 8' >"$loops/parts/8-fresh-none.command"
echo 2026-01-02 >"$loops/parts/8-fresh-none.date"
loop --print && grep -qxF '| fresh | pipeline | 100.0 | 100.0 - 100.0 | 1.00 | 1.00 - 1.00 | 80.0 | 1.00 | 2.0 | 8 | 50 | 33 |' "$output" &&
    grep -qxF '|  | clv | 93.0 | 91.5 - 94.5 | 0.93 | 0.91 - 0.95 | 120.0 | 1.50 | 5.0 | 1 | 7 | 33 |' "$output" && grep -q '^| by-rank | not measured yet' "$output" &&
    grep -q 'Any MPI v1; Linux 7.0; 2 processors, load with these runs 1.5 to 1.5. Every result was checked, 0 were wrong' "$output" && grep -q '^Measured 2026-01-02' "$output"
tap_report $? "ratios to the pipeline by block with their limits, first calls apart, the worst call, the factors"
# A second mpirun: ratios 0.93 and 0.97, together 0.95.
{ loop_line pipeline 100e6,100e6,100e6,100e6,100e6,100e6,100e6 1e6 7.0 5e6 100e6 80e6
  loop_line clv 99e6,95e6,96e6,97e6,98e6,94e6,100e6 4e6 1.0 9e6 97e6 160e6; } >"$loops/parts/8-fresh-none.2.json"
echo 'apps/bench/cluster with 8 --seed 2' >"$loops/parts/8-fresh-none.2.command"
loop --print && grep -qF '|  | clv | 95.0 | 93.2 - 96.8 | 0.95 |' "$output" && grep -qF ' (0.93, 0.97) | 140.0 | 1.75 | 4.0 | 1 | 9 | 33 |' "$output" &&
    grep -q '^Up to 2 mpiruns of a program, the others with --seed 2; ' "$output" && ! grep -q -- 'with 8 --seed 2$' "$output"
tap_report $? "several mpiruns: ratios of all together, and of each"
rm "$loops"/parts/8-fresh-none.2.*
{ loop_line default 120e6,120e6,120e6,120e6,120e6,120e6,120e6 1e6,3e6,2e6 7.0,9.0 5e6,50e6,6e6 120e6 90e6
  cat "$loops/parts/8-fresh-none.json"; } >"$loops/parts/rows-4x4-even-bcast.json"
echo 'apps/bench/cluster with 4 -- build/apps/bench/clv-bench --loop --patterns balanced --couple bcast' >"$loops/parts/rows-4x4-even-bcast.command"
echo 2026-01-02 >"$loops/parts/rows-4x4-even-bcast.date"
loop --print --set rows-4x4 && grep -qxF 'apps/bench/cluster with 4 -- build/apps/bench/clv-bench --loop --patterns PATTERN --couple COUPLING' "$output" && grep -qxF '| even | bcast | pipeline | 100.0 | 93.0 | 0.930 | 0.910 - 0.950 | 1.50 | 2.0 | 5.0 | 50 | 7 |' "$output" &&
    grep -q '^| repeated | none | not measured yet' "$output"
tap_report $? "a set of rows: one line each, clv against the best of the others"
cp "$output" "$loops/shown" && mkdir "$loops/kept" && loop --print --set rows-4x4 --keep "$loops/kept" &&
    "$CLV_TOP/apps/bench/loop" --print --set rows-4x4 --folder "$loops/kept" >"$output" 2>&1 && cmp "$loops/shown" "$output" && [ -z "$(ls "$loops/kept" | grep -vx loop-rows-4x4.jsonl)" ]
tap_report $? "what is kept of them makes the same tables"
printf 'before\n<!-- loop 8 -->\nold\n<!-- end -->\nafter\n' >"$loops/page.md"
loop --print --page "$loops/page.md" && ! grep -q '^old' "$loops/page.md" && grep -q '^|  | clv' "$loops/page.md" && [ "$(tail -n 1 "$loops/page.md")" = after ]
tap_report $? "a page gets the tables between its marks"
loop_refuses() { local text=$1; shift; loop "$@"; [ $? -eq 2 ] && grep -q "$text" "$output"; }
loop_refuses 'unknown option' --what && loop_refuses 'hosts must be' --hosts one && loop_refuses 'cannot write' --page /nowhere/page && loop_refuses 'has no line' --print --hosts 16 --page "$loops/page.md"
tap_report $? "wrong use is told, exit 2"
tap_end
