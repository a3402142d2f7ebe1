#!/bin/bash
# clv-correct on synthetic archives whose content is known: finds what is there, corrects it, keeps
# everything else, does so with threads and in little memory, and refuses what it must, in one line.
. "$CLV_TOP/tests/support/tap.sh"
correct=$CLV_BUILD/apps/tools/clv-correct make=$CLV_BUILD/tests/support/otf2_make
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
seed=${CLV_SEED:-1}
echo "# seed $seed"

read -r _ events _ messages _ reversed _ violated < <("$make" plain 8 2 3000 "$seed")
"$correct" plain/traces.otf2 -o out --latency 4000,800 --json out.jsonl >out.txt 2>&1
tap_ok 'a trace is corrected' [ $? -eq 0 ]
messages_of() { sed -n 's/.*"operation":"messages".*"messages":\([0-9]*\).*/\1/p' "$1"; }
field() { # OPERATION PATTERN: a number after it
    sed -n "s/.*\"operation\":\"$1\".*$2\([0-9]*\).*/\1/p" out.jsonl
}
same() { [ "$1" = "$2" ] || { echo "$1 instead of $2"; return 1; }; }
tap_ok 'with as many events as were written' same "$(sed -n 's/.*"events":\([0-9]*\).*/\1/p' out.jsonl)" "$events"
tap_ok 'as many logical messages' same "$(field all '"messages":')" "$messages"
tap_ok 'as many reversed ones' same "$(field all '"reversed_before":')" "$reversed"
tap_ok 'as many violated ones' same "$(field all '"violated_before":')" "$violated"
tap_ok 'some of them' [ "$violated" -gt 100 ]
means_agree() { # the mean of all reversed ones is that of the operations', and none is above the worst one
    awk '/"record":"operation"/ {
            match($0, /"operation":"[a-z_]+"/); name = substr($0, RSTART + 13, RLENGTH - 14)
            n = number("reversed_before"); mean = number("mean_before_ns"); bad += mean > number("worst_before_ns")
            if (name == "all") whole = n * mean; else sum += n * mean
        }
        function number(key) { match($0, "\"" key "\":[0-9.e+]+"); return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 }
        END { exit bad > 0 || whole <= 0 || whole / sum < 0.99999 || whole / sum > 1.00001 }' out.jsonl
}
tap_ok 'how early they are received: mean and worst by operation (Table 3)' means_agree
tap_has 'and in the table' 'mean [us]   worst [us]' "$(cat out.txt)"
tap_ok 'and none afterwards' same "$(field all '"violated_after":')" 0
"$correct" out/traces.otf2 --check --presync none --latency 4000,800 --quiet
tap_ok 'nor when it is read again' [ $? -eq 0 ]
"$correct" plain/traces.otf2 --check --latency 4000,800 --quiet
tap_ok '--check tells by status 3' [ $? -eq 3 ]

# ---- everything else is kept
if command -v otf2-print >/dev/null; then
    bare() { # ARCHIVE: events of each location without times, and definitions
        local location
        for location in 0 3 7; do
            otf2-print -L $location "$1/traces.otf2" |
                sed -E 's/^([A-Z_0-9]+ +[0-9]+ +)[0-9]+ ?/\1/; s/Stop Time: [0-9]+//'
        done
        otf2-print -G "$1/traces.otf2" | sed '/^CLOCK_PROPERTIES/d; /Time[Ss]tamp/d'
        otf2-marker "$1/traces.otf2" | sed -E 's/Time: [0-9]+//'
        otf2-print -A "$1/traces.otf2" | grep -aE 'CLV::TEST|otf2_make'
    }
    bare plain >plain.bare
    bare out >out.bare
    tap_ok 'events, definitions and markers are the same but for times' cmp plain.bare out.bare
    tap_ok 'all of them' [ "$(wc -l <plain.bare)" -gt 5000 ]
    tap_ok 'among them a marker' grep -q 'Text: "a marker"' out.bare
    tap_ok 'among them properties' grep -q 'CLV::TEST' out.bare
else
    tap_skip 'events, definitions and markers are the same but for times' 'there is no otf2-print'
fi
times_rise() {
    otf2-print -L 3 out/traces.otf2 |
        awk '/^[A-Z_]+ +3 +[0-9]+/ { if ($3 < last) bad++; last = $3; n++ } END { exit bad > 0 || n < 500 }'
}
command -v otf2-print >/dev/null && tap_ok 'times of a location do not fall' times_rise

# ---- threads, memory
hash_of() { cat "$1"/traces/*.evt | cksum; }
"$correct" plain/traces.otf2 -o two --latency 4000,800 --threads 3 --quiet &&
    tap_ok 'three threads write the same' same "$(hash_of two)" "$(hash_of out)"
"$make" large 8 2 60000 "$seed" >/dev/null
"$correct" large/traces.otf2 -o much --quiet &&
    "$correct" large/traces.otf2 -o little --memory 16 --json little.jsonl --quiet
tap_ok 'little memory writes the same' same "$(hash_of little)" "$(hash_of much)"
tap_ok 'out of a scratch file' grep -qE '"scratch_bytes":[1-9]' little.jsonl
tap_ok 'which is gone' same "$(find . -name '.clv-correct*')" ''

# ---- lines and reports
tap_has 'the table names the paper' 'Table 4' "$(cat out.txt)"
tap_ok 'JSON lines are JSON' python3 -c 'import json; [json.loads(l) for l in open("out.jsonl")]'
"$correct" plain/traces.otf2 -o drawn --quiet --chrome drawn.json
tap_ok 'a timeline is JSON' python3 -c 'import json; assert len(json.load(open("drawn.json"))["traceEvents"]) > 1000'
"$correct" plain/traces.otf2 -o auto --truth true_ns >auto.txt
tap_has 'latencies are found' 'from the trace' "$(cat auto.txt)"
tap_has 'the messages of the trace refine clocks' 'refined by the trace' "$(cat auto.txt)"
tap_ok 'which brings them nearer to the truth' awk '
    /^truth, presync/ { before = $8 } /^truth, refined/ { after = $8 }
    END { print before, after; exit !(after < before / 5) }' auto.txt
"$correct" plain/traces.otf2 -o measured --presync measured >measured.txt
tap_lacks 'unless what was measured is to stay' 'refined by' "$(cat measured.txt)"
tap_ok 'truth judges: better than before' awk '
    /^truth, presync/ { before = $8 } /^truth, corrected/ { after = $8 }
    END { print before, after; exit !(after < before / 5) }' auto.txt

"$correct" plain/traces.otf2 -o hours --presync none >hours.txt
tap_has 'what is left at the end calls for a second pass' 'gamma 0.9999 (second pass)' "$(cat hours.txt)"

# ---- every kind of record has a row, or the tool is not built
row_is_needed() {
    local headers=() header tools=$CLV_TOP/apps/tools/correct
    for header in EvtReader GlobalDefReader DefReader; do
        headers+=("$(sed -n 's/^OTF2_INCLUDE = //p' "$CLV_BUILD/Makefile")/otf2/OTF2_${header}Callbacks.h")
    done
    awk -f "$tools/otf2_records.awk" "$tools/otf2_records.txt" "${headers[@]}" >made.inc || return 1
    grep -v ' MpiSend ' "$tools/otf2_records.txt" >otf2_records.txt
    ! awk -f "$tools/otf2_records.awk" otf2_records.txt "${headers[@]}" 2>told >/dev/null && grep MpiSend told
}
tap_ok 'a kind of record without a row stops the build' row_is_needed

# ---- recorded clocks
clocks() { # BOOT FIRST LAST: the offsets of the archive again, as a recorder would have it
    for h in 0 1 2 3; do
        ahead=$((h * 1000000000000))
        echo "{\"clv_clock\":1,\"host\":\"n$h\",\"boot_id\":\"$1\",\"clock\":\"monotonic\",\"round_trip_ns\":10000}"
        echo "{\"local_ns\":$(($2 + ahead)),\"offset_ns\":$ahead,\"bound_ns\":900}"
        echo "{\"local_ns\":$(($3 + ahead)),\"offset_ns\":$ahead,\"bound_ns\":900}"
    done
}
clocks b 49999999999000 100000000000000 >clocks.jsonl
"$correct" plain/traces.otf2 -o recorded --clocks clocks.jsonl >recorded.txt
tap_has 'recorded clocks are used' 'recorded clocks, piecewise' "$(cat recorded.txt)"
tap_has 'and half their least round trip' '5.000 us between hosts' "$(cat recorded.txt)"

# ---- what is left out
"$make" lost 8 2 3000 "$seed" lost-receive >/dev/null
"$correct" lost/traces.otf2 -o lost.out >lost.txt
tap_has 'a channel that lacks a receive is listed' 'counts differ' "$(cat lost.txt)"
tap_ok 'and nothing is violated in the rest' grep -qE '^  all .* 0 +0$' lost.txt
"$make" length 8 2 3000 "$seed" length >/dev/null
"$correct" length/traces.otf2 -o length.out >length.txt
tap_has 'so is one with another length' 'lengths differ' "$(cat length.txt)"
"$make" exit 8 2 3000 "$seed" lost-exit >/dev/null
"$correct" exit/traces.otf2 -o exit.out >exit.txt
tap_has 'and a collective that a member lacks' 'a member has none' "$(cat exit.txt)"
"$make" cycle 8 2 3000 "$seed" cycle >/dev/null
"$correct" cycle/traces.otf2 -o cycle.out >cycle.txt
tap_ok 'a trace that waits for itself is corrected all the same' [ $? -eq 0 ]
tap_has 'and it is said where' 'cycle broken at location' "$(cat cycle.txt)"

"$make" peers 8 2 3000 "$seed" peers >/dev/null
"$correct" peers/traces.otf2 -o peers.out --json peers.jsonl >peers.txt
missing=$(($(messages_of out.jsonl) / 5)) # of messages 0, 1, ... those that leave 2
tap_ok 'messages with ranks that there are not are counted' grep -qE "^left out: ($missing|$((missing + 1))) sends to ranks" peers.txt
tap_ok 'their receives, too' grep -qE "^left out: ($missing|$((missing + 1))) receives from ranks" peers.txt
tap_ok 'in the JSON' test "$(grep -c '"record":"left_out".*"what":"events","left":' peers.jsonl)" -eq 2
"$make" root 8 2 3000 "$seed" root >/dev/null
tap_has 'so are collectives with such a root' 'collectives with a root that their communicator does not have' "$("$correct" root/traces.otf2 --check)"
tap_lacks 'nothing of a whole trace is left out' 'left out' "$(cat out.txt)"

# ---- ranks of one host that do not share a clock
"$make" one-host 8 2 3000 "$seed" one-host >/dev/null
"$correct" one-host/traces.otf2 -o one-host.out >one-host.txt
tap_has 'what stays reversed inside a host is counted' 'messages stay reversed inside a host' "$(cat one-host.txt)"
tap_has 'with the option that helps' '--clock-per process' "$(cat one-host.txt)"
tap_has 'as --check says, too' 'messages are reversed inside a host' "$("$correct" one-host/traces.otf2 --check)"
"$correct" one-host/traces.otf2 -o processes.out --clock-per process >processes.txt
tap_ok 'which it does' grep -qE '^  all .* 0 +0$' processes.txt
tap_lacks 'and is named no more' '--clock-per' "$(cat processes.txt)"

# ---- the result passes its own check, though another latency would be found in it
for name in out auto measured peers.out one-host.out processes.out; do
    "$correct" $name/traces.otf2 --check >check.txt
    status=$?
    case $name in one-host.out) wanted=3 ;; *) wanted=0 ;; esac
    tap_ok "$name: --check ends with $wanted" same $status $wanted
    tap_has 'by the latencies of the correction' 'from the archive, which was corrected with them' "$(cat check.txt)"
done
"$correct" out/traces.otf2 --check --quiet --latency 20000,800
tap_ok 'unless others are given' same $? 3

# ---- timers below 1 GHz: of gettimeofday, of ARM. Stamps of 1 us leave times off by half of one.
for timer in 1000000 19200000 100000000; do
    "$make" slow$timer 8 2 3000 "$seed" timer=$timer >/dev/null
    "$correct" slow$timer/traces.otf2 -o slow$timer.out --truth true_ns >slow.txt
    result=$((timer * ((1000000000 + timer - 1) / timer)))
    tap_ok "a timer of $timer Hz: nothing is violated afterwards" grep -qE '^  all .* 0 +0$' slow.txt
    tap_lacks 'and nothing left out' 'left out' "$(cat slow.txt)"
    tap_has 'the result has a faster one' "timer: $timer Hz, $result Hz in the result" "$(cat slow.txt)"
    tap_ok 'times are right to a tick of the timer' awk -v most="$(awk "BEGIN { print 1e6 / $timer + 0.1 }")" '
        /^truth, corrected/ { seen = 1; off = $8 } END { print off, most; exit !(seen && off < most) }' slow.txt
    "$correct" slow$timer.out/traces.otf2 --check --quiet
    tap_ok 'and pass their own check' same $? 0
done
if command -v otf2-print >/dev/null; then
    # Both are the new timer's: its rate, and where the trace begins.
    begin() { otf2-print -G "$1/traces.otf2" | sed -n 's/^CLOCK_PROPERTIES.* Seconds: \([0-9]*\), Global Offset: \([0-9]*\),.*/\1 \2/p'; }
    same_begin() {
        awk '{ hz[NR] = $1; at[NR] = $2 / $1 } END { print at[1], at[2]; d = at[1] - at[2]
            exit !(hz[1] == 1000000000 && hz[2] == 1017600000 && d < 1e-4 && d > -1e-4) }' <(begin out) <(begin slow19200000.out)
    }
    tap_ok 'which its clock properties name' same_begin
else
    tap_skip 'which its clock properties name' 'there is no otf2-print'
fi

# ---- names of any bytes
"$make" names 8 2 100 "$seed" names >/dev/null
"$correct" names/traces.otf2 -o names.out --chrome names.json --json names.jsonl >names.txt
is_json() { python3 -c 'import json, sys; [json.loads(l) for l in open("names.jsonl", encoding="utf-8")]; json.load(open("names.json", encoding="utf-8"))'; }
tap_ok 'names of any bytes become valid JSON' is_json
tap_ok 'and a table of whole lines without control characters' python3 -c '
text = open("names.txt", encoding="utf-8").read(); assert not [c for c in text if ord(c) < 32 and c != "\n"]'

# ---- where it is written
(cd one-host.out && "$correct" ../plain/traces.otf2 -o y1/ --quiet --json - >../stdout.jsonl)
tap_ok 'DIR/ is DIR' test -f one-host.out/y1/traces.otf2
tap_ok '--json - is standard output, and nothing else there' python3 -c 'import json; [json.loads(l) for l in open("stdout.jsonl")]'
for option in json chrome; do
    "$correct" plain/traces.otf2 -o "full.$option" --quiet --$option /dev/full 2>full.txt
    tap_ok "--$option on a full disk is an error" test $? -eq 1
    tap_ok 'in a line with the reason' grep -qx 'clv-correct: /dev/full: No space left on device' full.txt
done
"$correct" out/traces.otf2 --check >/dev/full 2>full.txt
tap_ok 'a report that does not arrive is an error' same $? 1
tap_has 'in a line' 'clv-correct: standard output: No space' "$(cat full.txt)"
"$correct" plain/traces.otf2 -o closed.out --quiet >&- 2>&- <&- && "$correct" closed.out/traces.otf2 --check --quiet
tap_ok 'closed streams do no harm' same $? 0

# ---- what is refused: one line, the status, nothing left
refuses() { # STATUS WORDS ARGUMENTS...
    local status=$1 words=$2 got said
    shift 2
    said=$("$correct" "$@" 2>&1 >/dev/null)
    got=$?
    echo "status $got: $said"
    [ $got -eq "$status" ] && [[ $said == *"$words"* ]] && [ "$(wc -l <<<"$said")" -eq 1 ] &&
        [ ! -e none ] && [ -z "$(ls -d none.* 2>/dev/null)" ]
}
tap_ok 'refuses a file that is not there' refuses 2 'No such file' nowhere.otf2 -o none
echo nothing >empty.otf2
tap_ok 'refuses what is no archive' refuses 2 'not an OTF2 archive' empty.otf2 -o none
tap_ok 'refuses to write over something' refuses 2 'out exists' plain/traces.otf2 -o out
tap_ok 'with a slash behind it, too' refuses 2 'out exists' plain/traces.otf2 -o out/
tap_ok 'refuses a folder that cannot be' refuses 2 'cannot make none/y1: none: No such file' plain/traces.otf2 -o none/y1/
tap_ok 'and no name' refuses 2 'must be the name of a folder' plain/traces.otf2 -o ''
tap_ok 'refuses a report where none can be, before it works' refuses 2 'nowhere: No such file' plain/traces.otf2 -o none --json nowhere/x
mkfifo fifo.otf2
tap_ok 'refuses a FIFO' refuses 2 'a FIFO or a device' fifo.otf2 --check
tap_ok 'as clocks, too' refuses 2 'fifo.otf2: a FIFO or a device' plain/traces.otf2 --check --clocks fifo.otf2
tap_ok 'refuses a folder' refuses 2 'a folder: name the' plain --check
cp -r plain piped && rm piped/traces/4.evt && mkfifo piped/traces/4.evt
tap_ok 'refuses an archive with a FIFO in it' refuses 2 'location 4' piped/traces.otf2 -o none
tap_ok 'refuses a truth that the trace has not' refuses 2 'no such attribute' plain/traces.otf2 --check --truth fiction
cp -r plain cut && truncate -s -2000 cut/traces/3.evt
tap_ok 'refuses a truncated event file' refuses 2 'location 3' cut/traces.otf2 -o none
cp -r plain nodef && rm nodef/traces/2.def
tap_ok 'refuses a missing .def' refuses 2 'location 2: its .def file is missing' nodef/traces.otf2 -o none
cp -r plain noevt && rm noevt/traces/5.evt
tap_ok 'refuses a missing .evt' refuses 2 'location 5: its .evt file is missing' noevt/traces.otf2 -o none
"$make" snap 4 2 100 "$seed" snapshot >/dev/null
tap_ok 'refuses snapshots with a word' refuses 2 'otf2-snapshots' snap/traces.otf2 -o none
clocks b 900000000000000 900100000000000 >other.jsonl
printf '%s\n' '{"clv_clock":1,"host":"other"}' '{"local_ns":1,"offset_ns":0,"bound_ns":1}' >odd.jsonl
tap_ok 'names an odd host in one line' refuses 2 'no recorded clock of host n?' names/traces.otf2 --check --clocks odd.jsonl
tap_ok 'refuses clocks of another boot' refuses 2 'another boot' plain/traces.otf2 -o none --clocks other.jsonl
head -3 clocks.jsonl >one.jsonl
tap_ok 'refuses clocks of some hosts only' refuses 2 'no recorded clock of host n1' plain/traces.otf2 -o none --clocks one.jsonl
echo '{"clv_clock":7}' >version.jsonl
tap_ok 'refuses clocks it does not know' refuses 2 'line 1: a version' plain/traces.otf2 -o none --clocks version.jsonl
"$make" bare 4 2 200 "$seed" empty-location >/dev/null
"$correct" bare/traces.otf2 -o bare.out --quiet
tap_ok 'a location without events is kept' [ $? -eq 0 ]

full_disk() { # the output on a file system too small for it
    local status
    mkdir -p small && mount -t tmpfs -o size="$1" tmpfs small || return 77
    said=$("$correct" plain/traces.otf2 -o small/out --quiet 2>&1)
    status=$?
    left=$(find small -mindepth 1)
    umount small
    echo "status $status: $said; left: $left"
    [ $status -eq 1 ] && [ "$(grep -c . <<<"$said")" -eq 1 ] && [ -z "$left" ]
}
if [ "$(id -u)" -eq 0 ] && mkdir -p probe && mount -t tmpfs tmpfs probe 2>/dev/null; then
    umount probe
    for size in 40k 200k 400k; do
        tap_ok "a disk of $size is full: status 1, nothing left" full_disk $size
    done
else
    tap_skip 'a full disk' 'cannot mount a small one'
fi
tap_end
