#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Opt-in: the choice under conditions that no table has, drawn at random: links, hosts, coupling, sizes and computing
# times. Each against the best algorithm forced in the same program.
#
#   tests/quality/held_out.sh [--programs 100] [--bed 0] [--first 1] [--data FILE] [--page FILE]
#
# --programs: of the closed loop (tests/support/choose_held_out.c), a second each; --bed: on emulated hosts, one to ten
# minutes each, which needs root and a quiet machine. --first: the first seed; each line has its own. --data: JSON lines,
# a line a program; lines of programs that are not run now are kept. --page: writes the table of all that is in the data
# between the page's marks.
# TAP: at most 1.03 times the best forced algorithm in the median, and 1.10 in the worst.
set -u
export LC_ALL=C CLV_TOP=${CLV_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
export CLV_BUILD=${CLV_BUILD:-$CLV_TOP/build}
. "$CLV_TOP/tests/support/tap.sh"
. "$CLV_TOP/apps/cli/options.sh" || exit 4
. "$CLV_TOP/apps/bench/page/pages.sh" || exit 4
programs=100 bed=0 first=1 data='' page=''
usage() { sed -n '7,15s/^# \{0,1\}//p' "$0"; }
say() { printf 'held_out: %s\n' "$*" >&2; }
options_split "$@"
set -- "${options[@]}"
while [ $# -gt 0 ]; do
    case $1 in
        --programs | --bed | --first | --data | --page)
            options_value "$@"
            declare "${1#--}=$2"; shift ;;
        *) options_other "$1" ;;
    esac
    shift
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
new=$work/new
: >"$new"

# ---- the closed loop
loop() {
    local flags=(-O2 -march=native -std=gnu11 -D_GNU_SOURCE -DHAVE_CONFIG_H "-I$CLV_BUILD" "-I$CLV_TOP")
    (cd "$CLV_TOP" && gcc "${flags[@]}" tests/support/choose_{held_out,loop,programs}.c "$CLV_BUILD"/libclv{trace,read}.a \
        "$CLV_BUILD/.libs/libclvcore.a" -lhwloc -lpthread -lm -lcmocka -o "$work/held_out") &&
        "$work/held_out" "$first" "$programs" >"$work/loop" &&
        awk -F'|' '{ printf "{\"place\":\"loop\",\"seed\":%d,\"ratio\":%s,\"first_half\":%s,\"program\":\"%s, %d ranks, %d a host, %d KiB, %s Gb/s, %s us, %d calls ahead, %s, %s, %s ms and %s more, %s noise\"}\n",
            $1, $14, $15, $2, $3, $4, $5, $6, $7, $8, $9, ($10 ? "coupled every " $10 : "free"), $11, $12, $13 }' "$work/loop" >>"$new"
}

# ---- emulated hosts
# Options of apps/bench/cluster | options of clv-bench | algorithms beside clv.
draw() { # seed
    awk -v seed="$1" '
        function any(low, high) { return low * exp(log(high / low) * rand()) }
        function one_of(n, list,  word) { split(list, word, " "); return word[1 + int(n * rand())] }
        BEGIN {
            srand(seed); rand()
            each = one_of(3, "1 1 2"); hosts = each == 1 ? 4 + int(5 * rand()) : 3 + int(2 * rand())
            rate = int(any(100, 800)); kib = 4 * int(any(64, 4096) / 4); vector_ms = kib * 8.192 / rate
            compute = any(1, 3) * vector_ms; more = any(0.1, 2) * vector_ms
            if (compute + more > 80) { scale = 80 / (compute + more); compute *= scale; more *= scale }
            printf "%d --rate %dmbit --ranks-per-host %d --pml %s|--sizes %dK --compute %dus --delay %dus --patterns %s --couple %s|%s\n",
                hosts, rate, each, one_of(2, "ob1 ucx"), kib, 1000 * compute, 1000 * more,
                one_of(5, "uniform repeated one-late balanced root-late"), one_of(3, "none none bcast"),
                "clv:rank_chain,clv:chain,clv:latest_first" (each > 1 ? ",clv:host_chains" : "") ",pipeline,default" }'
}
on_bed() { # seed
    local hosts options algorithms
    IFS='|' read -r hosts options algorithms < <(draw "$1")
    rm -f "$work/bed"
    # shellcheck disable=SC2086
    "$CLV_TOP/apps/bench/cluster" with $hosts --no-shm --realtime --timeout 900 -- "$CLV_BUILD/apps/bench/clv-bench" --loop $options --blocks 6 \
        --block-calls 25 --lead-calls 12 --warmup 80 --warm-learners --algorithms "clv,$algorithms" --json "$work/bed" >"$work/log" 2>&1 ||
        { say "seed $1 failed: $(grep -a '^clv-bench: ' "$work/log" | tail -1)"; return 1; }
    local words
    words=$(sed -E 's/^([0-9]+) --rate ([0-9]+)mbit --ranks-per-host ([0-9]) --pml ([a-z0-9]+)\|--sizes ([0-9]+)K --compute ([0-9]+)us --delay ([0-9]+)us --patterns ([a-z-]+) --couple ([a-z]+)$/\1 hosts of \3, \2 Mb\/s, \4, \5 KiB, \8, coupled by a \9, \6 us and \7 more/
        s/coupled by a none/free/; s/a bcast/a broadcast/' <<<"$hosts|$options")
    awk -v seed="$1" -v program="$words" '
        match($0, /"algorithm":"[^"]*"/) { name = substr($0, RSTART + 13, RLENGTH - 14)
            match($0, /"iteration_median_ns":[0-9.]+/); ns[name] = substr($0, RSTART + 22, RLENGTH - 22) + 0
            if (name != "clv" && (best == "" || ns[name] < ns[best])) best = name }
        END { if (!ns["clv"] || !ns[best]) exit 1
            printf "{\"place\":\"bed\",\"seed\":%d,\"ratio\":%.4f,\"best\":\"%s\",\"program\":\"%s\"}\n", seed, ns["clv"] / ns[best], best, program }' "$work/bed" >>"$new"
}

# ---- what is there
# place from to file: programs, median, at most 1.03, 1.10, worst
summary() {
    sed -n "s/.*\"place\":\"$1\",\"seed\":\([0-9]*\),\"ratio\":\([0-9.]*\).*/\1 \2/p" "$4" |
        awk -v from="$2" -v to="$3" '$1 >= from && $1 <= to { print $2 }' | sort -n |
        awk '{ v[NR] = $1; a += $1 <= 1.03; b += $1 <= 1.10 } END { if (NR) printf "%d %.4f %d %d %.4f\n", NR, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, a, b, v[NR] }'
}
table() {
    local place from file=$1
    printf '| where | seeds | programs | median | at most 1.03 | at most 1.10 | worst |\n|---|---|---|---|---|---|---|\n'
    for place in loop bed; do
        for ((from = 1; from < 1000; from += 100)); do
            summary $place $from $((from + 99)) "$file" | awk -v place="$place" -v from=$from '{ printf "| %s | %d to %d | %d | %.3f | %d | %d | %.3f |\n",
                place == "loop" ? "closed loop" : "emulated hosts", from, from + 99, $1, $2, $3, $4, $5 }'
        done
    done
    printf '\nThe worst, and all of emulated hosts:\n\n| where | seed | clv / best forced | program |\n|---|---|---|---|\n'
    { grep '"place":"loop"' "$file" | sed 's/.*"seed":\([0-9]*\),"ratio":\([0-9.]*\).*"program":"\([^"]*\)".*/| closed loop | \1 | \2 | \3 |/' | sort -t'|' -k4,4gr | head -5
      grep '"place":"bed"' "$file" | sed 's/.*"seed":\([0-9]*\),"ratio":\([0-9.]*\),"best":"\([^"]*\)","program":"\([^"]*\)".*/| emulated hosts | \1 | \2 (\3) | \4 |/' | sort -t'|' -k3,3g; }
}
# A program that ran now takes the place of its line: after each, so that a run that is ended leaves what it had.
keep() {
    [ -n "$data" ] || return 0
    touch "$data"
    { grep -vFf <(grep -o '^{"place":"[a-z]*","seed":[0-9]*,' "$new") "$data"; cat "$new"; } >"$work/all"
    cat "$work/all" >"$data"
}
check() { # place
    local n median within ten worst
    read -r n median within ten worst < <(summary "$1" 0 1000000000 "$new")
    printf '# %s: %s programs, median %s, worst %s; %s at most 1.03, %s at most 1.10\n' "$1" "${n:-0}" "${median:-?}" "${worst:-?}" "${within:-0}" "${ten:-0}"
    tap_ok "$1: at most 1.03 in the median" awk "BEGIN { exit !(${n:-0} > 0 && ${median:-9} <= 1.03) }"
    tap_ok "$1: at most 1.10 in the worst" awk "BEGIN { exit !(${n:-0} > 0 && ${worst:-9} <= 1.10) }"
}

if [ "$programs" -gt 0 ]; then
    loop || tap_ok 'the closed loop is built and run' false
    keep
    check loop
fi
if [ "$bed" -gt 0 ]; then
    eval "$("$CLV_TOP/clv" env)"
    for ((seed = first; seed < first + bed; seed++)); do
        on_bed "$seed" && keep && tail -1 "$new" | sed 's/^/# /'
    done
    check bed
fi
[ -z "$data" ] || [ -z "$page" ] || put_between "$page" 'held out' table "$data"
tap_end
