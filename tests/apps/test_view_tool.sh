#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# clv-view on jobs that never ran, whose times are known: hosts with clocks an hour apart. About 2 s.
. "$CLV_TOP/tests/support/tap.sh"
view=$CLV_BUILD/apps/tools/clv-view
make=$CLV_BUILD/tests/support/clva-make
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

"$make" "$work/job" 4 3 50 ascending "$work/truth"
"$view" --export trace "$work/job" >"$work/trace" 2>"$output"
tap_report $? 'files of four nodes are read'

# Largest difference of a time, of the same call and rank, in ns.
difference() {
    grep -h '^call' "$work/truth" "$work/trace" | awk '{ for (i = 4; i <= NF; i++) if ($i != "|") {
        if (!(($2, i) in seen)) seen[$2, i] = $i; else { d = $i - seen[$2, i]; if (d < 0) d = -d; n++
            if (d > most) most = d } } } END { print n + 0, most + 0 }'
}
read -r times apart < <(difference)
tap_ok 'every time of every rank is there' test "$times" -eq $((50 * 12 * 2))
tap_ok "within 2 ns of the truth ($apart)" test "$apart" -le 2
tap_has 'the bound is that of the clock lines' '"worst_bound_ns":500,' "$("$view" --json "$work/job")"
tap_has 'the last rank of each call is known' '"named":50,' "$("$view" --json "$work/job")"
tap_has 'and is the last' '"rank":11,"node":3,"calls":50,"last":50,' "$("$view" --json "$work/job")"
"$view" "$work/job" >"$work/summary"
tap_ok 'the summary has at most 40 lines' test "$(wc -l <"$work/summary")" -le 40
tap_none 'of at most 100 columns' awk 'length > 100' <(grep -v █ "$work/summary")

# ---- a program far from here
long=$(printf 'folder/%.0s' 1 2 3 4 5 6 7 8 9)
cp -r "$work/job" "$work/far"
LC_ALL=C sed -i "1s|\"program\":\"clva-make\"|\"program\":\"/$long$(printf 'x%.0s' {1..50})\"|" "$work"/far/*.clva
tap_none 'a long name leaves 100 columns' awk 'length > 100' <("$view" "$work/far" | grep -v █)
tap_has 'and is the end of its path' 'xxxx: 12 ranks' "$("$view" "$work/far" | head -n 1)"

# ---- the page
"$view" -o "$work/page.html" "$work/job" >"$output" 2>&1
tap_report $? 'a page is made'
(cd "$work" && "$view" -o - job >dash.html) 2>"$output" && [ ! -e "$work/-" ] && tail -n 1 "$work/dash.html" | grep -q '</html>'
tap_report $? '- is standard output'
without_stamp() { sed -E '/^$/d; 1s/"time":"[0-9TZ:-]+",//'; } # of when it was written, the one thing that differs
sed -n '/id="numbers">/,/<\/script>/p' "$work/page.html" | sed 's/.*id="numbers">//; s/<\/script>.*//' | sed '/^$/d' | without_stamp >"$work/numbers"
"$view" --json "$work/job" | without_stamp | cmp -s - "$work/numbers"
tap_report $? 'its numbers are those of --json'
tap_none 'it names nothing outside itself' grep -noE '(src|href)="?[a-z]*:?//[^"]*|https?://[^"]*' <(grep -v 'http://www.w3.org/2000/svg' "$work/page.html")
"$make" "$work/large" 16 64 100 uniform
"$view" -o "$work/large.html" "$work/large"
tap_ok 'and of 1,024 ranks is below 3 MB' test "$(wc -c <"$work/large.html")" -lt 3000000

# ---- what clv was not told to take
told() { LC_ALL=C sed -i "1s/\"parameters\":\"[^\"]*\"/\"parameters\":\"$1\"/" "$work"/job/*.clva; "$view" "$work/job"; }
not_taken='50 allreduces of 4 KiB or more not taken: coll_clv_collectives is'
tap_lacks 'small allreduces are not spoken of' 'not taken' "$(<"$work/summary")"
tap_has 'large ones are' "$not_taken reduce" "$(told 'allreduce_min_bytes=4096')"
tap_has 'in JSON, which the page has, too' "\"not_taken\":\"$not_taken reduce\"" "$("$view" --json "$work/job")"
tap_has 'whatever the job took' "$not_taken bcast" "$(told 'collectives=bcast allreduce_min_bytes=4096')"
tap_lacks 'not those that it took' 'not taken' "$(told 'collectives=reduce,allreduce allreduce_min_bytes=4096')"
tap_lacks 'nor among too few ranks' 'not taken' "$(told 'min_ranks=13 allreduce_min_bytes=4096')"

# ---- what if
no_network() { "$view" --what-if "$work/job"; }
tap_has 'where clv plans nothing there is no what-if' 'no what-if: no reduces, allreduces or broadcasts of 64 KiB or more' "$(no_network)"
"$make" "$work/reduces" 4 1 50 ascending "$work/truth" 2097152
"$view" --gbit 0.4 --latency-us 60 "$work/reduces" >"$work/summary"
tap_report $? 'reduces are replayed'
tap_has 'the cost is told, and whence' 'cost: 0.400 Gb/s given, 60 us given, up to 8192 KiB of a pair early taken' "$(<"$work/summary")"
tap_ok 'the summary has at most 40 lines with it, too' test "$(wc -l <"$work/summary")" -le 40
tap_none 'of at most 100 columns' awk 'length > 100' <(grep -v █ "$work/summary")
# No model of a tree of 2 MiB says 0.1 ms after the last arrival.
tap_ok 'what the model does not meet is only indicative' grep -q '^indicative only: .*after (outside 0.8 to 1.25)$' "$work/summary"
"$view" --json --gbit 0.4 --early-kib 0 --ran pipeline "$work/reduces" | tr -d '\n' >"$work/json"
tap_has 'the words are those that were given' '"ran":"pipeline","planned":50,"planned_calls":"50 reduces","left_out":0,"gbit":0.400000,"gbit_from":"given","latency_ns":50000,"latency_from":"taken","early_bytes":0,"early_from":"given",' "$(<"$work/json")"
for way in default pipeline clv known bound; do
    tap_ok "and $way is there" grep -q "{\"way\":\"$way\",\"meaning\":\"[^\"]*\",\"model\":{\"run_ns\":[1-9][0-9]*,\"pace_ns\":[1-9]" "$work/json"
done
scaled() { sed -n "s/.*\"way\":\"$1\",[^}]*},\"scaled\":{\"run_ns\":\([0-9]*\),.*/\1/p" "$work/json"; }
measured=$(sed -n 's/.*"measured":{"run_ns":\([0-9]*\),.*/\1/p' "$work/json")
tap_ok 'what ran is scaled to what was measured' test "$(($(scaled pipeline) - measured))" -lt 2 -a "$(($(scaled pipeline) - measured))" -gt -2
tap_ok 'the bound is least' test "$(scaled bound)" -le "$(scaled known)"
"$view" --what-if "$work/reduces" >"$work/curve"
tap_ok 'a curve for each' test "$(grep -cE '^(default|pipeline|clv|known|bound) +[^ ]*[▁▂▃▄▅▆▇█]$' "$work/curve")" -eq 5
tap_ok 'lines of calls say first who wrote them' grep -q '^{"program":"clv-view","record":"recording","version":"[0-9.]*",' <("$view" --export jsonl "$work/reduces" | head -n 1)
"$view" --ran known "$work/reduces" >"$output" 2>&1
tap_ok 'what cannot have run is refused' test $? -eq 2

# The same arrivals, the last of 4 ranks 20 ms late: an allreduce ends for nobody before it comes, a broadcast waits for
# rank 0, which comes first, only.
for op in allreduce bcast; do
    "$make" "$work/$op" 4 1 50 ascending "$work/truth" 2097152 0 0 $op
    "$view" --gbit 0.4 --latency-us 60 "$work/$op" >"$work/summary"
    words=$([ $op = bcast ] && echo broadcasts || echo allreduces)
    tap_has "$words are replayed" "replayed otherwise: 50 $words; default ran" "$(<"$work/summary")"
    "$view" --json --gbit 0.4 --latency-us 60 "$work/$op" | tr -d '\n' >"$work/json"
    tap_has 'and counted' "\"planned\":50,\"planned_calls\":\"50 $words\"," "$(<"$work/json")"
    tap_ok "$words by clv are faster than by default" test "$(scaled clv)" -lt "$(scaled default)"
    tap_ok "and no faster than the bound of $words" test "$(scaled bound)" -le "$(scaled known)"
done
"$make" "$work/costly" 4 1 20 ascending "$work/truth" 2097152 16000
tap_ok 'what clv measured is used' grep -q '^cost: 0.500 Gb/s measured by clv, 70 us measured by clv,' <("$view" "$work/costly")
tap_ok 'from message to message, too' grep -q '"gap_ns":90000,' <("$view" --json "$work/costly")
tap_ok 'not for a network with another rate' grep -q '"gap_ns":0,' <("$view" --json --gbit 0.25 "$work/costly")
# Ranks 0 to 3: a buffer of 1 MiB, windows of 1 to 4.
tap_ok 'so is what connections took unread, the median of ranks' grep -q 'up to 4096 KiB of a pair early measured$' <("$view" "$work/costly")
tap_ok 'and unread of a larger message' grep -q '"early_bytes":4194304,"early_from":"measured","flight_bytes":1048576,' <("$view" --json "$work/costly")
tap_ok 'unless another is given' grep -q '^cost: 0.250 Gb/s given, 70 us measured by clv,' <("$view" --gbit 0.25 "$work/costly")

# ---- as many streams as a rank can have (docs/guide/arrivals.md), and no two ranks one in common but that of the
# calls; how long they are looked for: tests/apps/test_view_index.c
"$make" "$work/many" 2 4 20 one-late "$work/truth" 2097152 0 4094
"$view" --json "$work/many" >"$work/json" 2>"$output"
tap_report $? '32,753 streams are read'
tap_ok 'each of them' test "$(grep -c '^{"stream"' "$work/json")" -eq $((8 * 4094 + 1))
tap_ok 'and one has the calls' test "$(grep '^{"stream"' "$work/json" | grep -vc '"calls":0,')" -eq 1
tap_ok 'the summary has at most 40 lines with them, too' test "$("$view" "$work/many" | wc -l)" -le 40

# ---- OTF2, where there is one: read by clv-correct, and by OTF2's own tool if that is there
"$view" --export otf2 "$work/reduces" >"$output" 2>&1
tap_ok 'an archive needs a folder' test $? -eq 2
if [ -x "$CLV_BUILD/apps/tools/clv-correct" ]; then
    "$view" --export otf2 -o "$work/archive" "$work/reduces" >"$output" 2>&1
    tap_report $? 'an OTF2 archive is written'
    "$CLV_BUILD/apps/tools/clv-correct" "$work/archive/traces.otf2" --check --latency 1,1 --json "$work/check" >"$output" 2>&1
    tap_report $? 'clv-correct reads it, and nothing in it runs backwards'
    # 50 reduces of 4 ranks: enter, begin, end and leave of each
    tap_ok 'with every call of every rank' grep -q '"events":800,' "$work/check"
    if command -v otf2-print >/dev/null; then
        tap_ok 'so does otf2-print' test "$(otf2-print "$work/archive/traces.otf2" | grep -c '^MPI_COLLECTIVE_END.*REDUCE')" -eq 200
    else
        tap_skip 'otf2-print' 'not here'
    fi
    "$view" --export otf2 -o "$work/archive" "$work/reduces" >"$output" 2>&1
    tap_ok 'an archive that is there is not written over' test $? -eq 1
else
    tap_skip 'an OTF2 archive' 'built without OTF2'
fi

# ---- names of any bytes, as programs give them: no UTF-8, the end of a script, what a terminal obeys
"$make" "$work/names" 2 2 10
LC_ALL=C sed -i 's/MPI_COMM_WORLD/Mx\xff<\/script>\n\x1b/; s/"host0"/"h\xc3st0"/; s/"program":"clva/"program":"\xfelva/' "$work"/names/*.clva
is_utf8() { python3 -c 'import sys; sys.stdin.buffer.read().decode("utf-8")'; }
is_json() { python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read().decode("utf-8"))'; }
"$view" -o "$work/names.html" "$work/names"
tap_ok 'a page of such names is UTF-8' is_utf8 <"$work/names.html"
tap_ok 'and no name ends its script' test "$(grep -c '</script>' "$work/names.html")" -eq "$(grep -c '</script>' "$work/page.html")"
tap_ok '--json is JSON' is_json < <("$view" --json "$work/names")
tap_ok 'so is what Chrome reads' is_json < <("$view" --export chrome "$work/names")
"$view" "$work/names" >"$work/summary"
tap_ok 'the summary is UTF-8' is_utf8 <"$work/summary"
tap_none 'without control characters' grep -nP '[\x00-\x1f\x7f]' "$work/summary"
tap_ok 'of which one line names the stream' grep -q 'on Mx?</script>  $' "$work/summary"

# ---- one of a kind
"$make" "$work/one" 1 2 1
tap_has 'one host and one call are singular' '2 ranks on 1 host, 1 call in' "$("$view" "$work/one")"
"$make" "$work/one-left" 2 2 1
rm "$work/one-left/made.1.clva"
tap_has 'one call lacks ranks' '0 calls of ranks dropped; 1 call lacks ranks' "$("$view" "$work/one-left" 2>&1)"

# ---- what is no record: told at once, not waited for
mkdir -p "$work/fifo" "$work/folder/made.0.clva"
mkfifo "$work/fifo/made.0.clva"
refuses() { # WORDS ARGUMENTS...
    local words=$1
    shift
    timeout 20 "$view" "$@" >"$output" 2>"$work/errors"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/errors")" -eq 1 ] && grep -qF -- "$words" "$work/errors" || { cat "$output" "$work/errors"; return 1; }
}
tap_ok 'a FIFO is refused' refuses 'a FIFO or a device' "$work/fifo"
tap_ok 'so is a folder of such a name' refuses 'a folder, not a file' "$work/folder"
tap_ok 'a file is no folder' refuses 'truth: Not a directory' "$work/truth"
while read -r printed; do # words of arguments
    # shellcheck disable=SC2086
    tap_ok "-o is refused beside $printed" refuses "-o is for a page or --export otf2, not $printed, which goes to standard output (> FILE)" -o "$work/not" $printed "$work/job"
done <<'END'
--export jsonl
--export chrome
--json
--what-if
--live
END
tap_ok 'and writes nothing' test ! -e "$work/not"
tap_ok 'what is no format stays that' refuses 'one of jsonl, trace, chrome, otf2' -o "$work/not" --export jsonlines "$work/job"
tap_ok 'a folder is no page' refuses 'clv-view: /: Is a directory' -o / "$work/job"

# ---- choices of nothing
for ranks in '' 0- 0, 0,,1 ' 0' +1 1-0 99999999999999999999 0-12 x; do
    tap_ok "--ranks '$ranks' is refused" refuses "--ranks must be ranks of this job, 0 to 11, such as 0,4-7, not '$ranks'" --ranks "$ranks" "$work/job"
done
tap_ok 'one rank is not late' refuses 'at least two ranks' --ranks 3 "$work/job"
tap_ok 'two are' test "$("$view" --ranks 3,5-5 --json "$work/job" | grep -c '"calls":50,"cells":100,')" -eq 1
for calls in '' : 1: :1 ' 0:1' +0:1 -1:2 1:2:3 1.5:2; do
    tap_ok "--calls '$calls' is refused" refuses "--calls must be A:B, two numbers of calls, not '$calls'" --calls "$calls" "$work/job"
done
tap_ok '--calls 5:3 is told which is the smaller' refuses "--calls must be A:B with A at most B, not '5:3'" --calls 5:3 "$work/job"
tap_ok 'and how large B can be' refuses "--calls must be A:B with B at most 4294967295, not '0:4294967296'" --calls 0:4294967296 "$work/job"
tap_ok 'calls that there are not, too' refuses 'no recorded call fits' --calls 50:60 "$work/job"
tap_ok 'in every format' refuses 'no recorded call fits' --export jsonl --calls 50:60 "$work/job"

for to in full closed; do
    case $to in full) "$view" "$work/job" >/dev/full 2>"$work/errors" ;; *) "$view" "$work/job" >&- 2>"$work/errors" ;; esac
    tap_ok "standard output that is $to is an error" test $? -eq 1
    tap_has 'in a line' 'clv-view: standard output: ' "$(<"$work/errors")"
done

# ---- while a job runs: files that come, grow, and end within a record
mkdir "$work/growing"
: >"$output"
until_it_says() { for _ in $(seq 300); do grep -q "$1" "$output" && break; sleep 0.1; done; }
(
    until_it_says waiting
    for node in 0 1 2 3; do head -c 2000 "$work/job/made.$node.clva" >"$work/growing/made.$node.clva"; done
    until_it_says ' calls in'
    cp "$work"/job/*.clva "$work/growing"
    until_it_says ' 50 calls in'
    printf q
) | timeout 60 "$view" --live "$work/growing" >"$output" 2>"$work/errors"
tap_ok 'q ends the live summary' test "${PIPESTATUS[1]}" -eq 0
tap_ok 'it waits for files' grep -q 'no .clva files in .*; waiting' "$output"
tap_ok 'shows what there is, and more later' test "$(grep -o '[0-9]* calls in' "$output" | sort -u | wc -l)" -ge 2
tap_has 'at last all' '12 ranks on 4 hosts, 50 calls in' "$(<"$output")"
tap_none 'and says nothing of what is only half there' cat "$work/errors"

# ---- what is missing
rm "$work/job/made.2.clva"
"$view" --json "$work/job" >"$output" 2>"$work/errors"
tap_ok 'a missing node is a failure' test $? -eq 2
tap_ok 'of one line' test "$(wc -l <"$work/errors")" -eq 1
tap_has 'that says so' 'the file of host 2 is missing' "$(<"$work/errors")"
tap_has 'the rest is shown: calls lack ranks' '"incomplete":50,' "$(<"$output")"
"$view" -o "$work/half.html" "$work/job" 2>"$work/errors"
tap_ok 'in the page, too' grep -q '"missing":1,"name":"not recorded"' "$work/half.html"
mkdir "$work/cut"
for node in 0 1 2 3; do head -c -30 "$work/reduces/made.$node.clva" >"$work/cut/made.$node.clva"; done
"$view" --json "$work/cut" >"$output" 2>"$work/errors"
tap_ok 'so is a record that was cut' test $? -eq 2
tap_ok 'a line for each file' test "$(grep -c 'ends early, within a record' "$work/errors")" -eq 4 -a "$(wc -l <"$work/errors")" -eq 4
tap_has 'what is before it is shown' '"has_time":1,"calls":' "$(<"$output")"
for arguments in '' '--calls 5' '--calls 7:3' '--stream x' '--stream 9' '--ranks 0-99' '--export nothing' 'a b'; do
    # shellcheck disable=SC2086
    "$view" $arguments "$work/job" >"$output" 2>&1
    status=$?
    [ -n "$arguments" ] || { "$view" >"$output" 2>&1; status=$?; }
    tap_ok "wrong use: ${arguments:-nothing}" test $status -eq 2
done
tap_end
