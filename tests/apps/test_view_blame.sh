#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Which rank clv-view says causes the waiting, on jobs that never ran and whose truth is known: scripts of their calls
# (tests/support/clva_script.c), times in us. And on a record of LAMMPS (tests/suites/recorded.lammps, four ranks on two
# processors), whose truth is a sum over its single calls. About 1 s.
. "$CLV_TOP/tests/support/tap.sh"
view=$CLV_BUILD/apps/tools/clv-view
script=$CLV_BUILD/tests/support/clva-script
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

# What each rank causes, in us, and what of that because a call kept it; those that cause nothing are left out.
caused() { # options of clv-view
    "$view" --json "$@" "$work/job" | sed -n 's/^{"rank":\([0-9]*\),.*"caused_ns":\([0-9]*\),"kept_ns":\([0-9]*\),.*/\1 \2 \3/p' |
        awk '$2 { printf "%s%d:%d%s", n++ ? " " : "", $1, $2 / 1000 + .5, $3 ? " (kept " int($3 / 1000 + .5) ")" : "" }'
}
blame() { # nodes, ranks per node, bound in ns; the script on standard input
    rm -rf "$work/job"
    "$script" "$work/job" "$@" || echo 'no script'
}
causes() { # name truth
    tap_ok "$1: $2" test "$(caused)" = "$2"
    [ "$(caused)" = "$2" ] || echo "# it says $(caused)"
}

# ---- who is last: by cost, not by count
{
    for k in {1..9}; do echo "allreduce 0,1,2,3 $((1000 * k))-$((1000 * k + 30)) $((1000 * k))-$((1000 * k + 30)) $((1000 * k))-$((1000 * k + 30)) $((1000 * k + 20))-$((1000 * k + 30))"; done
    echo 'allreduce 0,1,2,3 20000-20010 10000-20010 10000-20010 10000-20010'
} | blame 2 2
causes 'nine times last by 20 us, once by 10 ms' '0:30000 3:540'
"$view" "$work/job" >"$output"
tap_has 'the headline names the one that costs' 'rank 0 causes 98.2 % of that waiting: it computes longer than others do' "$(<"$output")"
tap_ok 'and so does the first line of the ranks' awk '/^ rank/ { getline; exit !($1 == 0 && $2 == "98.2" && $4 == "30.0" && $5 == "10.0") }' "$output"
tap_has 'the most often last is told, too' ' 90.0 %' "$(grep '^    3 ' "$output")"

# ---- lateness that is passed on
blame 3 1 <<'E1'
allreduce 0,1   10000-10000 0-10000
allreduce 1,2   10100-10100 100-10100
E1
causes 'who waited for another is not to blame' '0:20000'
blame 4 1 <<'E1'
barrier   0,1,2,3  0-10 0-10 0-10 0-10
allreduce 0,1   5010-5020 1010-5020
allreduce 1,2   6020-6030 1010-6030
allreduce 2,3   7030-7040 1010-7040
E1
# 1 lies 5010 behind 2, of which it waited 4000 for 0; 2 lies 6020 behind 3, of which it waited 5010 for 1.
causes 'over two ranks; each keeps what it computed longer itself' '0:12000 1:2020 (kept 20) 2:1010 (kept 10)'
blame 3 1 <<'E1'
barrier   0,1,2  0-10 0-10 0-10
allreduce 0,1    9010-9020 1010-9020
allreduce 0,1    9030-9040 9031-9040
allreduce 1,2    9140-9150 1110-9150
E1
causes 'over calls in which nobody waited long' '0:16000 1:31 (kept 19)'
blame 3 1 <<'E1'
barrier   0,1,2  0-0 0-0 0-0
allreduce 0,1    9000-9000 1000-9000
allreduce 1,2    29000-29000 10000-29000
E1
# 1 computes 21 ms and waits 8, 2 computes 10: all of the 19 ms but 8 are rank 1's own.
causes 'in part' '0:16000 1:11000'
blame 4 1 <<'E1'
barrier   0,1,2,3  0-0 0-0 0-0 0-0
allreduce 0,1    9000-9000 1000-9000
allreduce 2,3    1000-5000 5000-5000
allreduce 1,2    12000-12000 6000-12000
E1
# Both waited, 1 for 8 ms and 2 for 4; both computed, 1 for 4 ms and 2 for 2.
causes 'less what the other waited meanwhile' '0:12000 1:2000 3:4000'

# ---- calls that not everybody leaves after everybody has come
blame 4 1 <<'E1'
bcast:0 0,1,2,3  10000-10010 0-10020 0-10020 15000-15010
E1
causes 'a broadcast waits for its root, not for who comes later' '0:20000'
blame 4 1 <<'E1'
reduce:0 0,1,2,3  0-10010 5000-5600 6000-6010 10000-10010
E1
causes 'a reduce: only the root waits' '3:10000'
tap_has 'what is not known is told' 'others do; 5.7 % has no known cause' "$("$view" "$work/job")"
{
    echo 'barrier 0,1,2,3  0-0 0-0 0-0 0-0'
    echo 'allreduce 1,2    1000-11000 11000-11000'
    for k in 1 2 3; do echo "reduce:3 0,1,2,3  $((1000 * k))-$((1000 * k + 1)) $((11000 + 1000 * k))-$((11001 + 1000 * k)) $((11000 + 1000 * k))-$((11001 + 1000 * k)) $((1000 * k))-$((1000 * k + 1))"; done
    echo 'barrier 0,1,2,3  4000-15000 15000-15000 14990-15000 4000-15000'
} | blame 4 1
# Rank 1 is the last by 10 us; the 11 ms that it lies behind came from its wait for 2.
causes 'calls that nobody waits in pass it on' '1:2010 2:30000'
blame 3 1 <<'E1'
barrier  0,1,2  0-0 0-0 0-0
reduce:0 0,1,2  1000-9000 1000-1010 1000-1010
barrier  0,1,2  10000-10000 2010-10000 2010-10000
E1
causes 'a root that its reduce keeps' '0:15980 (kept 15980)'
tap_has 'and why' 'rank 0 causes 100.0 % of that waiting: it leaves the call before later than others do' "$("$view" "$work/job")"

# ---- clocks that are not that good, and parts of a run
blame 3 1 1000000 <<'E1'
allreduce 0,1,2  0-5000 900-5000 5000-5000
E1
causes 'where clocks tell' '2:9100'
blame 3 1 1000000 <<'E1'
allreduce 0,1,2  0-900 100-900 900-900
E1
causes 'where they do not, nobody' ''
tap_has 'and it says so' 'no rank is known to cause it: clocks are not that good' "$("$view" "$work/job")"
blame 4 1 <<'E1'
allreduce 0,1   10000-10001 1000-10001
allreduce 1,2   10101-10102 101-10102
allreduce 1,3   10200-10202 10202-10202
E1
tap_ok 'of one stream: what came before it is not known' test "$(caused --stream 1)" = 1:10000
tap_ok 'streams and ranks that are all zeros are folded' test "$("$view" --stream 1 "$work/job" | grep -c '^ *and 2 more, 2 of them all zeros$')" -eq 2
tap_has 'why there is no what-if' 'no what-if: no reduces, allreduces or broadcasts of 64 KiB or more' "$("$view" "$work/job")"

# ---- LAMMPS: rank 1 is last most often, rank 0 reads the input and writes the profile while the others wait
mkdir "$work/lammps"
gzip -dc "$CLV_TOP/tests/data/lammps.clva.gz" >"$work/lammps/lammps.0.clva"
# Of each call all waits to who was last: what each rank was last in and caused, in per cent.
"$view" --export jsonl "$work/lammps" | awk -F '[:,}]' '
    /"last"/ { call = $2 "," $4; wait[call] += $22; all += $22; if ($24) last[call] = $8 }
    END { for (call in last) { n[last[call]]++; calls++; caused[last[call]] += wait[call] }
          for (rank = 0; rank < 4; rank++) printf "%d %.1f %.1f\n", rank, 100 * n[rank] / calls, 100 * caused[rank] / all }' >"$work/truth"
tap_ok "rank, last, causes: $(xargs <"$work/truth")" grep -q '^1 38.8 0.7$' "$work/truth"
"$view" "$work/lammps" >"$output"
tap_has 'LAMMPS: the headline' "rank 0 causes $(awk '$1 == 0 { print $3 }' "$work/truth") % of that waiting: it computes longer than others do" "$(<"$output")"
tap_ok 'and the order of its ranks' test "$(awk '/^ rank/ { on = 1; next } /^$/ { on = 0 } on { printf "%s ", $1 }' "$output")" = "$(sort -k3,3gr "$work/truth" | awk '{ printf "%s ", $1 }')"
tap_end
