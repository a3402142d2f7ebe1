#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Traces by liballprof: three ranks on three hosts whose clocks are 5 s and -2 s off and drift, all times known; and
# broken ones. CLV_SWEEP3D: the folder of the published trace of that name, if it is here. About 2 s.
. "$CLV_TOP/tests/support/tap.sh"
tools=$CLV_BUILD/apps/tools
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

# trace DIR: 20 times a send from 0 to 1, computing, of which rank 2 does 3 ms more, an allreduce of 800 B. Rank 1's
# clock is 5 s behind and loses 1 us in 10 ms, rank 2's is 2 s ahead.
trace() {
    mkdir -p "$1"
    local rank
    for rank in 0 1 2; do
        awk -v rank="$rank" '
            function local(us) { return sprintf("%.6f", 1.7e15 + (rank == 1 ? us - 5e6 - us / 10000 : rank == 2 ? us + 2e6 : us)) }
            BEGIN {
                print "# collprof 0.9 output file\n# host: h" rank
                printf "# Init clockdiff: %f\n\n", rank == 1 ? 5e6 : rank == 2 ? -2e6 : 0
                print "MPI_Init:-:1:2:" local(0)
                for (k = 0; k < 20; k++) {
                    at = 1000 + 10000 * k
                    if (rank == 0) print "MPI_Send:" local(at) ":1:100:11,8,8:1:7:0,0,3:" local(at + 5)
                    if (rank == 1) print "MPI_Recv:" local(at + 2) ":1:100:11,8,8:0:7:0,1,3:9:" local(at + 40)
                    print "MPI_Comm_rank:" local(at + 50) ":0," rank ",3:9:" local(at + 51)
                    print "MPI_Allreduce:" local(at + 1000 + (rank == 2) * 3000) ":1:2:100:11,8,8:3:0," rank ",3:" local(at + 4060)
                }
                printf "# Finalize clockdiff: %f\n", rank == 1 ? 5e6 + 30 : rank == 2 ? -2e6 : 0
                print "MPI_Finalize:" local(300000) ":-"
            }' >"$1/pmpi-trace-rank-$rank.txt"
    done
}
trace "$work/job"

# ---- clv-view
"$tools/clv-view" "$work/job" >"$work/summary" 2>"$output"
tap_report $? 'clv-view reads a folder of them'
tap_has 'all ranks, hosts and calls' '3 ranks on 3 hosts, 20 calls in ' "$(<"$work/summary")"
tap_has 'collectives that the offsets of the files put in order' \
    "reversed with the files' clock offsets: 0 of 20; without: 20 of 20 allreduce" "$(<"$work/summary")"
# Ranks 0 and 1 wait for 3 ms in each of 20 calls; rank 2 computes 3 ms more: 1 ms for each of three, so 2 ms less a call.
tap_ok 'waiting in processor seconds' grep -qE 'of that, 0.1(20|19)[0-9]* CPU s$' "$work/summary"
tap_ok 'what removing the imbalance would gain' grep -qE '^were every rank as fast as the mean: 0.15[0-9] s instead of 0.19[0-9] s' "$work/summary"
"$tools/clv-view" --json "$work/job" >"$work/json"
# Ranks 0 and 1 wait for 3 ms, as far as stamps of 1 us tell.
tap_ok 'lateness is that of the clock of rank 0' grep -qE '^\{"rank":2,"node":2,"calls":20,"last":20,"lateness_ns":(2999|3000)[0-9]{3},' "$work/json"
tap_ok 'that rank causes all of it' grep -qE '^ +2 +100.0 %' "$work/summary"
tap_ok 'calls go on to other tools' test "$("$tools/clv-view" --export trace "$work/job" | grep -c '^call')" -eq 20

if [ -x "$tools/clv-correct" ]; then
    "$tools/clv-view" --export otf2 -o "$work/archive" "$work/job"
    tap_has 'clv-correct knows no latency inside a host where no two ranks share one' ' us between hosts, none inside,' \
        "$("$tools/clv-correct" "$work/archive/traces.otf2" --check)"
    # Each of three ranks of an allreduce waits for two others on other hosts: 120 logical messages.
    tap_ok 'clv-correct reads the folder, and by its offsets nothing is reversed' \
        grep -qE '^  allreduce  +120  +0 ' <("$tools/clv-correct" "$work/job" --check)
    tap_ok 'by the hosts own clocks one of each two between a pair of hosts is' \
        grep -qE '^  allreduce  +120  +60 ' <("$tools/clv-correct" "$work/job" --check --presync none 2>/dev/null)
    TMPDIR=$work "$tools/clv-correct" "$work/job" -o "$work/corrected" --json "$work/told" --quiet
    tap_ok 'and writes an archive' test -s "$work/corrected/traces.otf2"
    tap_has 'the report names the folder' "\"trace\":\"$work/job\"" "$(<"$work/told")"
    tap_none 'the archive in between is gone' find "$work" -maxdepth 1 -name '*clv-correct-*'
fi

# ---- clv-predict
"$tools/clv-predict" --csv "$work/job" >"$work/table" 2>"$output"
tap_report $? 'clv-predict reads it, too'
tap_ok 'and predicts what is the same each time' grep -qE '^allreduce,last,19,0\.0,' "$work/table"
tap_lacks 'messages are no collectives' send "$(<"$work/table")"

# Rank 1's file has a call of two ranks more.
cp -r "$work/job" "$work/others"
sed -i '7s/^MPI_Comm_rank:\([0-9.]*\):.*/&\nMPI_Allreduce:\1:1:2:100:11,8,8:3:7,0,2:\1/' "$work/others/pmpi-trace-rank-1.txt"
for tool in clv-view clv-predict; do
    tap_has "$tool tells calls of smaller communicators that it leaves out" "$tool: 1 call of smaller communicators is left out" \
        "$("$tools/$tool" "$work/others" 2>&1 >/dev/null)"
done

# ---- what cannot be read is one line with file and line, exit status 2
# refused WHAT SUBSTITUTION PATTERN: rank 1's file after sed
refused() {
    rm -rf "$work/bad" && cp -r "$work/job" "$work/bad"
    LC_ALL=C sed -i "$2" "$work/bad/pmpi-trace-rank-1.txt"
    local tool
    for tool in clv-view clv-predict; do
        "$tools/$tool" "$work/bad" >/dev/null 2>"$output"
        tap_ok "$tool: $1" test $? -eq 2 -a "$(grep -vc '^errors\|^trace ' "$output")" -eq 1
        tap_ok "in words" grep -qE "^$tool: .*$3" "$output"
    done
}
refused 'a bad time' '8s/^MPI_Allreduce:[0-9]*/MPI_Allreduce:1x/' 'rank-1.txt, line 8: no such time'
refused 'a time beyond all' '8s/:[0-9.]*$/:99999999999999999999.0/' 'line 8: '
refused 'a call that ends before it begins' '8s/:[0-9.]*$/:1.0/' 'line 8: a call ends before it begins'
refused 'a count below 0' '8s/:100:11,8,8:/:-100:11,8,8:/' 'line 8: no such count and type'
refused 'a vector beyond all' '8s/:100:11,8,8:/:1099511627776:11,99999999999,8:/' 'line 8: no such count and type'
refused 'a rank that its communicator lacks' '8s/:0,1,3:/:0,7,3:/' 'line 8: no such communicator'
refused 'too few fields' '8s/:100:.*/:100/' 'line 8: '
refused 'a line that is none' '8s/.*/hello/' 'line 8: expected an MPI call'
refused 'a zero byte' '8s/1/\x00/' 'line 8: the line is cut, or has a zero byte'
refused 'a clock offset that is none' 's/^# Init clockdiff: .*/# Init clockdiff: nan/' 'line 3: no such clock offset'
refused 'a file that breaks off' '20,$d' 'rank-1.txt, line 19: cut: '
refused 'collectives that differ' '0,/Allreduce.*/s//MPI_Barrier:1700000000001000.0:0,1,3:1700000000001000.0/' 'rank-1.txt'
rm -rf "$work/bad" && cp -r "$work/job" "$work/bad" && rm "$work/bad/pmpi-trace-rank-1.txt"
"$tools/clv-view" "$work/bad" >/dev/null 2>"$output"
tap_ok 'a missing rank' test $? -eq 2 -a "$(grep -c 'the file of rank 1 is missing' "$output")" -eq 1
rm "$work/bad/pmpi-trace-rank-2.txt"
"$tools/clv-view" "$work/bad" >/dev/null 2>"$output"
tap_ok 'or the last ones' test $? -eq 2 -a "$(grep -c 'of 3 ranks, but the folder has 1 files' "$output")" -eq 1
cp "$work/job"/* "$work/bad" && cp "$work/job/pmpi-trace-rank-1.txt" "$work/bad/other-1.txt"
"$tools/clv-view" "$work/bad" >/dev/null 2>"$output"
tap_ok 'a rank that is there twice' test $? -eq 2 -a "$(grep -c 'rank 1 has two files' "$output")" -eq 1
trace "$work/names" && LC_ALL=C sed -i 's/# host: h1/# host: \xff\x1b[2J"/' "$work/names"/*.txt
"$tools/clv-view" --json "$work/names" >"$work/json"
tap_ok 'a name of any bytes is shown as UTF-8' python3 -c 'import json, sys; json.loads(open(sys.argv[1], "rb").read().decode())' "$work/json"

# ---- a published one
if [ -d "${CLV_SWEEP3D:-}" ]; then
    "$tools/clv-view" "$CLV_SWEEP3D" >"$work/summary"
    tap_has 'Sweep3D: waiting is nearly all' 'waiting for later ranks: 99.4 %' "$(<"$work/summary")"
    tap_has 'two of three allreduces are reversed without its offsets' ' offsets: 0 of 39; without: ' "$(<"$work/summary")"
    tap_has 'namely' '20 of 32 allreduce' "$(<"$work/summary")"
    tap_ok 'each predictor has its line' test "$("$tools/clv-predict" --csv "$CLV_SWEEP3D" | grep -c '^allreduce,[a-z_-]*,31,')" -ge 6
else
    tap_skip 'Sweep3D' 'CLV_SWEEP3D names no folder'
fi
# ---- a location of metrics
if [ -x "$tools/clv-correct" ]; then
    "$CLV_BUILD/tests/support/otf2_make" "$work/metric" 4 1 50 7 metric >/dev/null
    tap_has 'a location of metrics is no process' ' of 5 locations, 4 processes, ' "$("$tools/clv-correct" "$work/metric/traces.otf2" --check)"
    tap_has 'and shares no host' ' us between hosts, none inside,' "$("$tools/clv-correct" "$work/metric/traces.otf2" --check)"
fi
# ---- an archive of hosts whose clocks lie 143 h apart
if [ -r "${CLV_TEN_HOSTS:-}" ] && [ -x "$tools/clv-correct" ]; then
    tap_has 'clocks of the archive leave nothing' 'all                            5020          0 ' "$("$tools/clv-correct" "$CLV_TEN_HOSTS" --check)"
    tap_has 'without them a shift is longer than the trace' 'is longer than the trace' \
        "$("$tools/clv-correct" "$CLV_TEN_HOSTS" --check --presync none --quiet 2>&1)"
    tap_has 'in JSON, too' '"shift_too_long":1' "$("$tools/clv-correct" "$CLV_TEN_HOSTS" --check --presync none --json - 2>/dev/null)"
    tap_has 'where it is not' '"shift_too_long":0' "$("$tools/clv-correct" "$CLV_TEN_HOSTS" --check --json -)"
else
    tap_skip 'ten hosts' 'CLV_TEN_HOSTS names no archive'
fi
tap_end
