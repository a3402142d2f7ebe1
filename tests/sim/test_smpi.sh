#!/bin/bash
# 48 simulated ranks: plans of ours over SimGrid's MPI, right sums (clv-sim checks every one), never
# below the bound, and the order of algorithms that docs/results/simulation.md reports. Simulated
# times are the same on every machine, so the limits can be tight. TAP, about 15 s.
. "$CLV_TOP/tests/support/tap.sh"
for tool in smpicc smpirun; do
    command -v $tool >/dev/null || tap_skip_all "no $tool (Debian: libsimgrid-dev)"
done
sim=$CLV_TOP/apps/bench/sim/run
export LC_ALL=C

# Milliseconds after the last arrival, the median of three calls; nothing when the run failed. One call, where all
# arrive at once and calls are alike, or where what is told apart is two and more times as long.
after() {
    "$sim" --once 48 --calls $calls "${run_options[@]}" -- --floats 524288 "$@" |
        sed -nE 's/.*"after_ns":\[([0-9]+).*/\1/p' | sort -n | awk -v n=$calls '2 * NR == n + 1 {print $1 / 1e6}'
}
run_options=() calls=3
holds() { awk "BEGIN {exit !($1)}"; }

bound=$(after --algorithm bound)
spread=$(after --algorithm bitset)
latest=$(after --algorithm latest-first-rns)
chain=$(after --algorithm chain)
clipped=$(after --algorithm bitset --delay-ms 500 --error 50 --clip 1)
calls=1
balanced=$(after --algorithm bitset --delay-ms 0 --segments 32)
segtree=$(after --algorithm segtree --delay-ms 0 --segments 32)
ahead=$(after --algorithm bitset --segments 32 --recv-window 8)
wrong=$(after --algorithm bitset --delay-ms 500 --error 50)
doubted=$(after --algorithm bitset --delay-ms 500 --error 50 --clip 0.1)
radix=$(after --algorithm radix-k)
run_options=(--network fat-tree)
fast=(--algorithm bitset --segments 32 --delay-ms 0.5 --recv-window 16 --source-window 8 --send-window 4)
quick=$(after "${fast[@]}")
rounds=$(after "${fast[@]}" --rounds)
run_options=(--reduce ompi)
facts() { "$sim" --once 16 --calls 1 --early "$1" -- --algorithm latest-first-rns | grep -oE '"(early_bytes|segments)":[0-9]+' | xargs; }
none=$(facts 0) some=$(facts 8193)
library=$(after --algorithm library)

tap_ok "2 MiB take 16.8 to 18.5 ms of a 1 Gb/s link ($bound)" holds "$bound > 16.77 && $bound < 18.5"
# N - 1 + ceil(log2 P) = 37 rounds of 1/32 of the vector, each 3 to 10 % longer than its share of the bound.
tap_ok "Clairvoyant, balanced: its 37 rounds and no more ($balanced)" \
    holds "$balanced > 37 / 32 * $bound && $balanced < 37 / 32 * $bound * 1.1"
tap_ok "the segment tree's plan takes the same time ($segtree)" holds "$segtree == $balanced"
for each in "Clairvoyant $spread" "latest-first $latest" "chain $chain"; do
    tap_ok "${each% *}, uniform 50 ms: within 1.35 times the bound (${each#* })" \
        holds "${each#* } >= $bound && ${each#* } < 1.35 * $bound"
done
tap_ok "Open MPI's reduce takes four times the longest of them ($library)" \
    holds "$library > 4 * $spread"
tap_ok "receives posted ahead cost twice the time on shared links ($ahead)" \
    holds "$ahead > 2 * $spread"
tap_ok "at 100 Gb/s waiting for earlier rounds costs a quarter more ($quick, $rounds)" holds "$rounds > 1.25 * $quick"
tap_ok "a prediction that is half wrong is a disaster ($wrong), the clip rule a remedy ($clipped)" \
    holds "$wrong > 10 * $bound && $clipped > $bound && $clipped < 2 * $bound"
tap_ok "which a tenth of the true deviation is not ($doubted)" holds "$doubted > 2 * $clipped"
# 47 of 48 parts leave each rank before the gather, and 47 of 48 reach the root after it.
tap_ok "Radix-K, which is no pipeline, sends every vector twice ($radix)" \
    holds "$radix > 1.9 * $bound && $radix < 2.3 * $bound"

json=$(mktemp -d)
trap 'rm -rf "$json"' EXIT
table=$("$sim" --figure fig11 --columns 4,8 --rows 'Clairvoyant|bound' --calls 2 --json "$json/sim")
tap_has 'a figure is a markdown table' '| ranks | 4 | 8 |' "$table"
tap_ok 'with a row for each algorithm asked for' \
    test "$(grep -cE '^\| (Clairvoyant|bound) \| [0-9.]+ / [0-9.]+ \| [0-9.]+ / [0-9.]+ \|$' <<<"$table")" -eq 2
tap_ok 'clv-bench-compare reads its calls' \
    "$CLV_BUILD/apps/bench/clv-bench-compare" --metric run --baseline bound "$json/sim.1.json" "$json/sim.2.json"

one_line() { # words command...: fails, and says why in one line
    local words=$1 said status
    shift
    said=$("$@" 2>&1 >/dev/null)
    status=$?
    printf '%s\n' "$said"
    [ $status -ne 0 ] && [ "$(wc -l <<<"$said")" -eq 1 ] && [[ $said == *"$words"* ]]
}
tap_ok "simulated ranks measure what leaves early, and cut vectors accordingly ($none, $some)" \
    test "$none; $some" = 'early_bytes:0 segments:64; early_bytes:8192 segments:256'
tap_ok 'unknown algorithm' one_line "unknown algorithm 'x'" "$sim" --once 4 -- --algorithm x
tap_ok 'unknown pattern' one_line "unknown pattern 'x'" "$sim" --once 4 -- --pattern x
tap_ok 'unknown error' one_line "unknown error 'x'" "$sim" --once 4 -- --error x
tap_ok 'unknown network' one_line "unknown network 'x'" "$sim" --once 4 --network x
tap_ok 'unknown figure' one_line "unknown figure 'x'" "$sim" --figure x
tap_ok 'unknown metric' one_line "unknown metric in 'x'" "$sim" --figure fig10 --metrics x
tap_ok 'ranks where they are the columns' one_line "are ranks" "$sim" --figure fig11 --ranks 4
tap_ok 'unknown reduce' one_line "no algorithm 'x'" "$sim" --once 4 --reduce x -- --algorithm library
tap_end
