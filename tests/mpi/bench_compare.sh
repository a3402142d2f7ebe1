#!/bin/bash
# clv-bench-compare on made-up results with known answers: the filter, the median of each mpirun, the
# test, the interval, pictures, commands in shuffled order, and wrong input. TAP. No MPI; 2 s.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
compare=$CLV_BUILD/apps/bench/clv-bench-compare
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

echo 1..23
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
check() { echo "{\"record\":\"clock\",\"ranks\":4,\"algorithm\":\"$1\",\"failed_ranks\":$2,\"duration_ns\":$3e9,\"wait_ns\":$4e9,\"max_ns\":9000,\"mean_ns\":1000,\"true_max_ns\":$5}"; }
sync() { check "$1" "$2" "$3" 0 "$4"; check "$1" "$2" "$3" 10 "$5"; }
{ sync hca3 0 0.5 2e3 20e3; sync hca3 0 0.7 4e3 40e3; sync hca3 1 0.1 99e3 99e3; sync jk 0 2 null 7e3; } >"$work/clock.json"
"$compare" "$work/clock.json" >"$output" 2>&1 &&
    grep -q '^clock, 4 ranks, 10 s after; clock_error in us' "$output" && grep -Eq '^hca3 +2 +2 +3\.000 +2\.000 +4\.000 ' "$output" &&
    grep -Eq '^hca3 +2 +2 +30\.000 +20\.000 +40\.000 ' "$output" && grep -Eq '^jk +1 +1 +9\.000 ' "$output" && grep -Eq '^jk +1 +1 +7\.000 ' "$output" &&
    "$compare" --metric mean "$work/clock.json" >"$output" 2>&1 && grep -Eq '^jk +1 +1 +1\.000 ' "$output"
tap_report $? "clocks: the true error where it is known, per method and check, without failed synchronisations"

for d in 0 1 2; do line a "1${d}000000,12000000" 1,1 $((d * 1000000)); done >"$work/5.json"
if command -v gnuplot >/dev/null; then
    status=0
    for figure in patterns delay ranks bytes fig10 fig11 overlap overlap-delay mpi-time clock-accuracy; do
        results=$work/5.json
        [ $figure != clock-accuracy ] || results=$work/clock.json
        { "$compare" --figure $figure --plot "$work/f.png" "$results" && [ "$(head -c 4 "$work/f.png" | tail -c 3)" = PNG ] &&
            "$compare" --figure $figure --plot="$work/f.svg" "$results" && grep -q '</svg>' "$work/f.svg" &&
            "$compare" --figure $figure --log --plot "$work/f.pdf" "$results" && [ "$(head -c 4 "$work/f.pdf")" = %PDF ] &&
            [ ! -e "$work/f.svg.gnuplot" ]; } 2>&1 >"$work/f.txt" | tee "$output"
        { [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$output" ]; } || { status=1; break; }
        rm "$work"/f.*
    done
    tap_report $status "every figure as PNG, SVG and PDF, and gnuplot has nothing to say"
    # The second mpirun has another size, and no overlap without a delay.
    sed 's/"bytes":1024/"bytes":2048/; /"delay_ns":0/s/"overlap_benefit":0.5/"overlap_benefit":null/' "$work/5.json" >"$work/6.json"
    { "$compare" --figure fig10 --plot "$work/f.svg" "$work/5.json" "$work/6.json" &&
        grep -q 'reduce, uniform, 8 processes<' "$work/f.svg" && grep -q 'a, 1 KiB<' "$work/f.svg" && grep -q 'a, 2 KiB<' "$work/f.svg" &&
        "$compare" --metric overlap_benefit "$work/6.json" | tee "$work/f.txt" && [ "$(grep -c '^a ' "$work/f.txt")" -eq 2 ]; } >"$output" 2>&1
    tap_report $? "a line for each size, what all have in common under the title; no value where there is none"
    # Three sizes, then three patterns, of four algorithms: an algorithm has one colour, no two lines of
    # a panel look the same, and panels look alike.
    for bytes in 1024 2048 4096; do
        for each in default pipeline clv bound; do
            for d in 1 2 3; do line $each 1${d}000000,12000000 1,1 ${d}000000; done | sed "s/1024/$bytes/"
        done
    done >"$work/sizes.json"
    sed 's/"bytes":1024/"bytes":8/; s/"bytes":2048,"pattern":"uniform"/"bytes":8,"pattern":"repeated"/
        s/"bytes":4096,"pattern":"uniform"/"bytes":8,"pattern":"one-late"/' "$work/sizes.json" >"$work/7.json"
    mkdir "$work/no-gnuplot"
    looks() { # RESULTS: of its lines, from the script that is kept without gnuplot
        PATH=$work/no-gnuplot "$compare" --figure delay --plot "$work/l.svg" "$1" >"$output" 2>&1
        grep -o "lc rgb '[^']*' dt [^ ]* pt [0-9]*  *title \"[^,\"]*" "$work/l.svg.gnuplot"
    }
    n_of() { sed "$1" | sort -u | wc -l; }
    looks "$work/sizes.json" >"$work/looks"
    [ "$(wc -l <"$work/looks")" -eq 12 ] && [ "$(n_of 's/ *title.*//' <"$work/looks")" -eq 12 ] &&
        [ "$(n_of "s/.*rgb '\([^']*\)'.*title/\1/" <"$work/looks")" -eq 4 ] && grep -q 'gnuplot is missing' "$output" &&
        looks "$work/7.json" >"$work/looks" && [ "$(wc -l <"$work/looks")" -eq 12 ] && [ "$(n_of '' <"$work/looks")" -eq 4 ]
    tap_report $? "twelve lines look different, an algorithm has its colour everywhere, a pattern has its panel"
    "$compare" --figure patterns --plot "$work/p.svg" "$work/7.json" >"$output" 2>&1 && grep -q '>one-late<' "$work/p.svg" &&
        grep -q '>pipeline, delay 1 ms<' "$work/p.svg"
    tap_report $? "patterns stand on the axis"
    # What the table says of its figures the picture says, in as many words.
    carries() { # CAVEAT JSON
        { line a 1,2,3 1,1,1; line b 1,2,3 1,1,1 | sed "s/\"network_bound\":true/$2/"; } >"$work/c.json"
        "$compare" --plot "$work/c.svg" "$work/c.json" >"$output" 2>&1 && grep -qx "$1: b" "$output" && grep -q ">$1: b<" "$work/c.svg" &&
            line a 1,2,3 1,1,1 >"$work/c.json" && "$compare" --plot "$work/c.svg" "$work/c.json" >"$output" 2>&1 &&
            ! grep -q "$1" "$output" "$work/c.svg"
    }
    carries 'NOT network-bound, so these say nothing about a network' '"network_bound":false' &&
        carries 'NOT timed on one clock, so do not trust these' '"network_bound":true,"clock_holds":false' &&
        carries 'INTERRUPTED, so of fewer calls than asked for' '"network_bound":true,"interrupted":true'
    tap_report $? "pictures carry what the table says of its figures"
else
    for point in "every figure" "a line for each size" "twelve lines" "patterns" "pictures carry"; do tap_skip "$point" "no gnuplot"; done
fi

cat >"$work/pretend" <<END
#!/bin/sh
echo "\$1" >>"$work/order"
cat "$work/\$2.json" >"\$4"
END
chmod +x "$work/pretend"
out=$work/out
"$compare" --folder "$out" --runs=5 --seed 3 --run "one: $work/pretend one 0" --run "two: $work/pretend two 1" \
    --baseline two >"$output" 2>&1 && [ "$(sort "$work/order" | uniq -c | tr -s ' \n' ' ')" = ' 5 one 5 two ' ] &&
    [ "$(uniq "$work/order" | wc -l)" -gt 2 ] && grep -Eq '^one: a +5 ' "$output" && [ -e "$out/two-run-5.json" ] &&
    grep -q '^clv-bench-compare: 0 of 10 mpiruns done; now ' "$output" && grep -q '^clv-bench-compare: 9 of 10 mpiruns done, about 0 min left; ' "$output"
tap_report $? "commands run in shuffled order and are compared by label"

sum_of() { cat "$out"/*.json | cksum; }
before=$(sum_of)
{ refuses 'is there already: --resume goes on' --folder "$out" --run "one: $work/pretend one 2" &&
    refuses 'results of another command' --folder "$out" --resume --run "one: $work/pretend one 2"; } && [ "$(sum_of)" = "$before" ]
tap_report $? "results that are there stay, and are not mixed with another command's"

# Of five mpiruns the second to be started fails, and leaves half a line.
cat >"$work/moody" <<END
#!/bin/sh
echo x >>"$work/count"
[ "\$(wc -l <"$work/count")" -ne 2 ] || { echo '{"coll' >"\$2"; exit 7; }
cat "$work/0.json" >"\$2"
END
chmod +x "$work/moody"
"$compare" --folder "$work/mood" --run "$work/moody" >"$output" 2>&1
[ $? -eq 1 ] && grep -Eq '^a +4 ' "$output" && grep -q "^clv-bench-compare: failed (exit 7): $work/moody --json" "$output" &&
    grep -q '^clv-bench-compare: 1 of 5 mpiruns failed; --resume repeats' "$output" && [ "$(ls "$work/mood"/*.json.failed-1 | wc -l)" -eq 1 ] &&
    "$compare" --folder "$work/mood" --run "$work/moody" --resume >"$output" 2>&1 && grep -Eq '^a +5 ' "$output" && [ "$(wc -l <"$work/count")" -eq 6 ] &&
    [ "$(ls "$work/mood"/*.failed-1 | wc -l)" -eq 1 ]
tap_report $? "a failed mpirun ends nothing: the others are compared, exit 1, and it is repeated later"

"$compare" --folder "$work/none" --run false >"$output" 2>&1
[ $? -eq 1 ] && grep -q 'no results: every mpirun failed' "$output"
tap_report $? "when all fail there is nothing to compare, exit 1"

"$compare" --folder "$work/var" --runs 1 --run "WHICH=0 OTHER=1 sh -c 'cat $work/\$WHICH.json >\"\$2\"' sh" >"$output" 2>&1 && grep -Eq '^a +1 ' "$output" &&
    refuses 'LABEL: COMMAND' --folder "$work/old" --run 'clv=mpirun --mca coll clv' &&
    refuses 'a label of its own' --folder "$work/old" --run 'true 1' --run 'true 2' && [ ! -e "$work/old" ]
tap_report $? "VARIABLE=VALUE before a command is the shell's; labels are told how to be written"

# %NAME% is filled in; a factor without a place becomes an option. Six mpiruns of 2 x 3 kinds, shuffled.
cat >"$work/vary" <<END
#!/bin/sh
echo "\$*" | sed 's/ --json .*//' >>"$work/varied"
cat "$work/\$1.json" >"\$5"
END
chmod +x "$work/vary"
"$compare" --folder "$work/cross" --runs 1 --factor which=0,1 --factor cache=warm,cold,x/y --run "$work/vary %which%" >"$output" 2>&1 &&
    [ "$(sort "$work/varied" | paste -sd,)" = '0 --cache cold,0 --cache warm,0 --cache x/y,1 --cache cold,1 --cache warm,1 --cache x/y' ] &&
    [ "$(paste -sd, <"$work/varied")" != "$(sort "$work/varied" | paste -sd,)" ] && grep -Eq '^which\.1-cache\.cold: a +1 ' "$output" &&
    [ -e "$work/cross/which.0-cache.x_y-run-1.json" ] && refuses 'two values at least' --factor cache=warm --run true &&
    refuses 'more than 32 combinations' --factor a=1,2,3,4,5,6 --factor b=1,2,3,4,5,6 --run true
tap_report $? "factors: each command in every combination of their values"

# Of 1..100 a sample of 50 has another median than all, the same for the same seed; smirnov is two-sided.
line a "$(seq -s, -f %.0f 1000000 1000000 100000000)" "$(yes 1 | head -100 | paste -sd,)" >"$work/long.json"
row_of() { "$compare" "$@" "$work/long.json" 2>&1 | grep '^a '; }
[ "$(row_of | awk '{ print $3 }')" = 100 ] && [ "$(row_of --sample 50 | awk '{ print $3 }')" = 50 ] && [ "$(row_of --sample 50)" = "$(row_of --sample 50)" ] &&
    [ "$(row_of --sample 50)" != "$(row_of --sample 50 --seed 2)" ] && [ "$(row_of --sample 200 | awk '{ print $3 }')" = 100 ] &&
    "$compare" --baseline b --test smirnov --json "$work/ks" "$work"/[0-4].json >"$output" 2>&1 && grep -q 'better:p  Kolmogorov-Smirnov over mpirun medians, two-sided' "$output" &&
    grep '"algorithm":"a"' "$work/ks" | grep -q '"p_value":0.0079.*"two_sided":true,"normal_p":0.9.*,"normal_ks_p":0\.9' &&
    "$compare" --baseline b --two-sided --json "$work/two" "$work"/[0-4].json >"$output" 2>&1 && grep -q ', two-sided' "$output" &&
    grep '"algorithm":"a"' "$work/two" | grep -q '"p_value":0.0079.*"test":"rank","two_sided":true'
tap_report $? "a sample of the calls; Kolmogorov and Smirnov's test; the rank test two-sided"

# Means of ten of these skewed times are not normal, those of thousands are; the same for the same seed.
line a "$(seq 1 60 | awk '{ printf "%s%.0f", (NR > 1 ? "," : ""), 1e6 * exp($1 / 12) }')" "$(yes 1 | head -60 | paste -sd,)" >"$work/skewed.json"
means_of() { "$compare" --means "$@" "$work/skewed.json" 2>&1; }
means_of 5,5000 --json "$work/means" >"$output" && grep -q ' 5 .* not normal' "$output" && grep -q ' 5000 .* may be normal' "$output" &&
    [ "$(grep -c '"record":"means"' "$work/means")" -eq 2 ] && [ "$(head -1 "$work/means" | grep -o '"sample_means_ns":.*' | tr ',' '\n' | wc -l)" -eq 500 ] &&
    [ "$(means_of 5)" = "$(means_of 5)" ] && [ "$(means_of 5)" != "$(means_of 5 --seed 2)" ] && refuses 'whole numbers' --means 0 "$work/skewed.json" &&
    refuses 'whole numbers' --means 3, "$work/skewed.json"
tap_report $? "of how many calls a mean must be to be normal"

# An interrupt ends all of it, once the mpirun has ended.
cat >"$work/slow" <<END
#!/bin/sh
cat "$work/0.json" >"\$2"
sleep 30
END
chmod +x "$work/slow"
set -m
"$compare" --folder "$work/slowly" --run "$work/slow" >"$output" 2>&1 &
pid=$!
for _ in $(seq 200); do ls "$work/slowly"/*.part >/dev/null 2>&1 && break; sleep 0.05; done
kill -INT -- -$pid
wait $pid
[ $? -eq 1 ] && grep -Eq 'interrupted with [01] of 5 mpiruns done; --resume' "$output"
tap_report $? "an interrupt stops it"
set +m

"$compare" --only b --json "$work/j" "$work"/[0-4].json >"$output" 2>&1 && ! grep -q '^a ' "$output" && grep -Eq '^b +5 ' "$output" &&
    "$compare" --baseline b --json - "$work"/[0-4].json >>"$work/j" && refuses 'no results of that name' --pattern none "$work/0.json" &&
    python3 - "$work/j" <<'END' >>"$output" 2>&1
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [(r["algorithm"], r["runs"]) for r in rows] == [("b", 5), ("a", 5), ("b", 5)], rows
assert rows[1]["record"] == "comparison" and rows[1]["ratio"] == 0.375 and rows[1]["median_ns"] == 12e6
assert rows[1]["shift_low_ns"] == -23e6 and rows[2]["ratio"] is None and rows[1]["baseline"] == "b"
END
tap_report $? "a choice of algorithms and patterns; the table as JSON lines"

echo '{"collective":"reduce"' >"$work/bad"
python=$CLV_TOP/apps/examples/python/clv_results.py
"$python" "$work"/[0-4].json >"$output" 2>&1 && grep -Eqx ' +8 +1024 +5\.000 - +uniform +a +5 12\.000' "$output" && grep -Eqx '.* uniform +b +5 32\.000' "$output" &&
    "$python" --csv --metric iteration "$work/loops.json" >"$output" 2>&1 && grep -q '^8,1024,[0-9]*,none,uniform,clv,0,95.0' "$output" && grep -q '^8,1024,[0-9]*,bcast,uniform,clv,0,100.0' "$output" &&
    ! "$python" "$work/bad" >"$output" 2>&1 && ! "$python" --metric speed "$work/0.json" >"$output" 2>&1 && grep -q 'has no speed_ns' "$output" &&
    { ! python3 -c 'import matplotlib' 2>/dev/null || { "$python" --plot "$work/m.pdf" "$work/7.json" && [ "$(head -c 4 "$work/m.pdf")" = %PDF ]; }; } >>"$output" 2>&1
[ $? -eq 0 ] && line b 1,2,3 1,1,1 | sed 's/"network_bound":true/"network_bound":false/' >"$work/c.json" &&
    "$python" "$work/c.json" "$work/7.json" >"$output" 2>&1 && [ "$(tail -n 1 "$output")" = 'NOT network-bound: b' ]
tap_report $? "the Python example reads them, says which to doubt, and draws where there is matplotlib"

: >"$work/empty"
for i in $(seq 65); do line "a$i" 1,2 1,1; done >"$work/many"
refuses 'not a line of clv-bench' "$work/bad" && refuses "$work/empty: the file is empty" "$work/empty" && refuses 'No such file' /nonexistent &&
    ! "$compare" --figure delay --plot "$work/m.svg" "$work/many" >"$output" 2>&1 &&
    grep -q '^clv-bench-compare: more than 64 lines' "$output" && refuses 'no such metric' --figure clock-accuracy --metric x "$work/clock.json" &&
    refuses 'no such metric' --metric speed "$work/0.json" && refuses 'no such metric' --metric '' "$work/0.json" &&
    refuses "--baseline names neither an algorithm nor a label here: 'zz'" --baseline zz "$work/0.json" && refuses '--runs must be' --runs 0 x &&
    refuses 'a figure (--help' --figure fig9 x && refuses '--paired must be' --paired x y && refuses 'unknown option' --what x y && refuses '.pdf file' --plot x.gif "$work/0.json" && refuses 'give result files'
tap_report $? "wrong use and wrong files are told in one line, exit 2"
