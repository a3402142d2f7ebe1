#!/bin/bash
# clv-bench-compare on made-up results with known answers: the filter, the median of each mpirun, the
# test, the interval, pictures, commands in shuffled order, and wrong input. TAP. No MPI; 2 s.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
compare=$CLV_BUILD/bench/clv-bench-compare
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
. "$CLV_TOP/tests/support/tap.sh"

line() { # algorithm values usable [delay_ns]
    echo "{\"collective\":\"reduce\",\"ranks\":8,\"bytes\":1024,\"pattern\":\"uniform\",\"delay_ns\":${4:-5000000},\"algorithm\":\"$1\",\"after_ns\":[$2],\"run_ns\":[$2],\"in_mpi_mean_ns\":[$2],\"usable\":[$3],\"overlap_benefit\":0.5,\"network_bound\":true}"
}
refuses() { # text options ...
    local text=$1
    shift
    "$compare" "$@" >"$output" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$output")" -eq 1 ] && grep -q -- "$text" "$output"
}

echo 1..12
# Medians of a: 10, 11, 12, 13, 14 ms (999 is an outlier, the last value unusable); of b 20 ms more.
for i in 0 1 2 3 4; do
    a=1$i b=3$i
    { line a "${a}000000,${a}000000,${a}100000,${a}000000,${a}000000,999000000,1" 1,1,1,1,1,1,0
      line b "${b}000000,${b}000000,${b}100000,${b}000000,${b}000000" 1,1,1,1,1; } >"$work/$i.json"
done
"$compare" --baseline b "$work"/[0-4].json >"$output" 2>&1 &&
    grep -Eq '^a +5 +25 +12\.000 +10\.000 +14\.000 +0\.375 +0\.004\*\* +1\.00 +-20\.000 \[-23\.000, -17\.000\]' "$output"
tap_report $? "filter, medians, ratio, exact one-sided p, wins, shift and interval"

"$compare" --baseline b "$work"/[01].json >"$output" 2>&1 && grep -q 'too few mpiruns' "$output"
tap_report $? "too few mpiruns are told"

# Loops: blocks of one file belong together, so what both have in common cancels. Limits as R has them.
loop_line() { # algorithm couple blocks first_blocks [compute]
    echo "{\"mode\":\"loop\",\"collective\":\"reduce\",\"ranks\":8,\"bytes\":1024,\"pattern\":\"uniform\",\"delay\":\"1x\",\"delay_ns\":$RANDOM,\"couple\":\"$2\",\"compute\":\"${5:-1x}\",\"algorithm\":\"$1\",\"iteration_ns\":[$3],\"first_iteration_ns\":[$4],\"ahead_calls\":[3.0,4.0,5.0],\"network_bound\":true}"
}
{ loop_line default none 100e6,200e6,100e6,300e6,100e6,100e6,500e6 100e6
  loop_line clv none 95e6,182e6,92e6,279e6,94e6,90e6,480e6 120e6
  loop_line default bcast 100e6,100e6 100e6
  loop_line clv bcast 90e6,110e6 120e6; } >"$work/loops.json"
"$compare" --paired table "$work/loops.json" >"$output" 2>&1 &&
    grep -q 'computing 1x, coupled by none; iteration in ms' "$output" && grep -Eq '^default +7 +100\.000  \(baseline\)' "$output" &&
    grep -Eq '^clv +7 +95\.000 +0\.930 \[0\.910, 0\.950\]' "$output" && grep -Eq '^clv +2 +100\.000 +0\.995  too few pairs' "$output"
tap_report $? "loops: ratios in pairs of blocks, couplings apart, a delay in parts of a call is one delay"
"$compare" --paired csv --baseline clv "$work/loops.json" >"$output" 2>&1 &&
    grep -Eqx 'reduce,8,1024,uniform,1x,1x,none,,default,clv,7,100000000.0,1.0754.,1.05263,1.09897,0' "$output" &&
    grep -Eqx 'reduce,8,1024,uniform,1x,1x,bcast,,default,clv,2,100000000.0,1.00504,nan,nan,0' "$output"
tap_report $? "and as lines for programs, against any baseline"
# A second mpirun in which the baseline has a block less: no pairs, since nobody knows which is missing.
{ loop_line default none 100e6,100e6 100e6; loop_line clv none 90e6,91e6,92e6 120e6; } >"$work/loops2.json"
"$compare" --paired csv "$work/loops2.json" >"$output" 2>&1 && grep -q ',clv,default,0,91000000.0,nan,nan,nan,0' "$output" &&
    "$compare" --metric ahead_calls "$work/loops.json" >"$output" 2>&1 && grep -Eq '^clv +1 +3 +4\.000 ' "$output" &&
    "$compare" "$work/loops.json" >"$output" 2>&1 && grep -Eq '^clv +1 +[67] +9[45]\.' "$output"
tap_report $? "what has no partner is in no pair; other metrics of loops; iteration is theirs by default"

# As clv-clock writes it; the third synchronisation failed and does not count.
check() { echo "{\"wait_s\": $1, \"max_us\": $2, \"mean_us\": 1, \"true_max_us\": $3, \"true_mean_us\": 0.5}"; }
sync() { echo "{\"method\": \"$1\", \"run\": 0, \"n_failed\": $2, \"duration_s\": $3, \"accuracy\": ["; check 0 "$4" "$5"; echo ,; check 10 "$4" "$6"; echo "]}$7"; }
{ echo '{ "n_ranks": 4, "has_truth": true,'; echo '"results": ['
  sync hca3 0 0.5 9 2 20 ,; sync hca3 0 0.7 9 4 40 ,; sync hca3 1 0.1 99 99 99 ,; sync jk 0 2 9 null 7 ''; echo ']}'; } >"$work/clock.json"
"$compare" --figure clock-accuracy "$work/clock.json" >"$output" 2>&1 &&
    grep -q '^clock, 4 ranks, 10 s after; clock_error in us' "$output" && grep -Eq '^hca3 +2 +2 +3\.000 +2\.000 +4\.000 ' "$output" &&
    grep -Eq '^hca3 +2 +2 +30\.000 +20\.000 +40\.000 ' "$output" && grep -Eq '^jk +1 +1 +9\.000 ' "$output" && grep -Eq '^jk +1 +1 +7\.000 ' "$output"
tap_report $? "clocks: the true error where it is known, per method and check, without failed synchronisations"

for d in 0 1 2; do line a "1${d}000000,12000000" 1,1 $((d * 1000000)); done >"$work/5.json"
if command -v gnuplot >/dev/null; then
    status=0
    for figure in delay ranks bytes fig10 fig11 overlap overlap-delay mpi-time clock-accuracy; do
        results=$work/5.json
        [ $figure != clock-accuracy ] || results=$work/clock.json
        { "$compare" --figure $figure --plot "$work/f.png" "$results" && [ "$(head -c 4 "$work/f.png" | tail -c 3)" = PNG ] &&
            "$compare" --figure $figure --plot "$work/f.svg" "$results" && grep -q '</svg>' "$work/f.svg" &&
            [ ! -e "$work/f.svg.gnuplot" ]; } >"$output" 2>&1 || { status=1; break; }
        rm "$work"/f.*
    done
    tap_report $status "every figure as PNG and SVG"
    # The second mpirun has another size, and no overlap without a delay.
    sed 's/"bytes":1024/"bytes":2048/; /"delay_ns":0/s/"overlap_benefit":0.5/"overlap_benefit":null/' "$work/5.json" >"$work/6.json"
    { "$compare" --figure fig10 --plot "$work/f.svg" "$work/5.json" "$work/6.json" &&
        grep -q 'reduce, uniform, 8 processes<' "$work/f.svg" && grep -q 'a, 1 KiB<' "$work/f.svg" && grep -q 'a, 2 KiB<' "$work/f.svg" &&
        "$compare" --metric overlap_benefit "$work/6.json" | tee "$work/f.txt" && [ "$(grep -c '^a ' "$work/f.txt")" -eq 2 ]; } >"$output" 2>&1
    tap_report $? "a line for each size, what all have in common under the title; no value where there is none"
    # gnuplot's colours repeat after eight: a second line behind eight points had the first's.
    for each in a b; do
        for d in 0 1 2 3 4 5 6 7; do line $each 10000000,12000000 1,1 ${d}000000; done
    done >"$work/7.json"
    "$compare" --figure delay --plot "$work/c.svg" "$work/7.json" >"$output" 2>&1 && grep -q 'rgb(213,  94,   0)' "$work/c.svg"
    tap_report $? "every line has its colour"
else
    for point in "every figure" "a line for each size" "colours"; do tap_skip "$point" "no gnuplot"; done
fi

cat >"$work/pretend" <<END
#!/bin/sh
echo "\$1" >>"$work/order"
cat "$work/\$2.json" >"\$4"
END
chmod +x "$work/pretend"
"$compare" --folder "$work/out" --runs 5 --seed 3 --run "one=$work/pretend one 0" --run "two=$work/pretend two 1" \
    --baseline two >"$output" 2>&1 && [ "$(sort "$work/order" | uniq -c | tr -s ' \n' ' ')" = ' 5 one 5 two ' ] &&
    [ "$(uniq "$work/order" | wc -l)" -gt 2 ] && grep -Eq '^one: a +5 ' "$output" && [ -e "$work/out/two-run-5.json" ]
tap_report $? "commands run in shuffled order and are compared by label"

"$compare" --run "x=false" --folder "$work/out" >"$output" 2>&1
[ $? -eq 1 ]
tap_report $? "a command that fails ends it, exit 1"

echo '{"collective":"reduce"' >"$work/bad"
: >"$work/empty"
refuses 'not a line of clv-bench' "$work/bad" && refuses 'not a line' "$work/empty" && refuses 'No such file' /nonexistent &&
    refuses 'not a file of clv-clock' --figure clock-accuracy "$work/0.json" && refuses 'no such metric' --figure clock-accuracy --metric x "$work/clock.json" &&
    refuses 'no such metric' --metric speed "$work/0.json" && refuses '--runs must be' --runs 0 x &&
    refuses 'unknown figure' --figure fig9 x && refuses 'paired must be' --paired x y && refuses 'unknown option' --what x y && refuses 'give result files'
tap_report $? "wrong use and wrong files are told in one line, exit 2"
