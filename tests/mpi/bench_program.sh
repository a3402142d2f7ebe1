#!/bin/bash
# clv-bench on this machine's own transports: every collective gives right results, blocking and
# not; every pattern, clock and sync runs; output is there for people and programs; wrong use is one
# clear line and a non-zero exit. TAP. About 40 s. Figures are not looked at: shared memory.
set -u
: "${CLV_TOP:?}" "${CLV_BUILD:?}"
bench=$CLV_BUILD/apps/bench/clv-bench
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
output=$work/output
. "$CLV_TOP/tests/support/tap.sh"

run() { # ranks options ...; the limit is for a hang, not for a busy machine
    local ranks=$1
    shift
    timeout 300 mpirun --oversubscribe -n "$ranks" "$bench" "$@" >"$output" 2>&1
}
refuses() { # text options ...: exit 2 and exactly one line of our own
    local text=$1
    shift
    run 2 "$@"
    [ $? -eq 2 ] && [ "$(grep -c '^clv-bench: ' "$output")" -eq 1 ] && grep -q -- "$text" "$output"
}
# Two that start together would race for the folder of Open MPI's session (tests/support/bin/mpirun).
own_session() { timeout 300 mpirun --oversubscribe -n 1 printenv OMPI_MCA_orte_tmpdir_base >"$output" 2>/dev/null && cat "$output" >>"$work/sessions"; }
# A failing mpirun takes two seconds, nearly all of them asleep: six side by side. What failed is shown.
n_aside=0
aside() { # command ...
    n_aside=$((n_aside + 1))
    [ $n_aside -le 6 ] || wait -n
    (
        output=$work/aside.$BASHPID
        "$@" && exit
        { echo "failed: $*"; cat "$output"; } >>"$work/failed"
    ) &
}
all_aside() {
    wait
    n_aside=0
    mv "$work/failed" "$output" 2>/dev/null || return 0
    return 1
}
briefly='--warmup 1 --balanced-calls 1 --delay 1ms'
short="--iterations 2 $briefly"

echo 1..25
for _ in 1 2 3 4 5 6; do aside own_session; done
all_aside && [ "$(grep "^${TMPDIR:-/tmp}/" "$work/sessions" | sort -u | wc -l)" -eq 6 ]
tap_report $? "six mpiruns that start together have session folders of their own"
collectives='reduce allreduce bcast barrier alltoall allgather gather reduce_scatter scan exscan'
# shellcheck disable=SC2086
is_right() { # --nonblocking or nothing: of each collective a row for each of the two sizes
    local collective
    run 3 --collective "${collectives// /,}" --sizes 1000,0 --patterns uniform $short "$@" || return
    for collective in $collectives; do
        [ "$(awk -v want="$collective," '/^[a-z_]+, / { in_it = $1 == want || $1 == "i" want } in_it' "$output" | grep -c '[0-2]/2$')" -eq 2 ] || return
    done
}
aside is_right
aside is_right --nonblocking
all_aside
tap_report $? "every collective, blocking and nonblocking, is right"

# A reduce whose fourth call is wrong, in front of the library's: measured, repeated or before those.
is_caught() {
    "${MPICC:-mpicc}" -shared -fPIC -o "$work/broken.so" "$CLV_TOP/tests/mpi/broken_reduce.c" >"$output" 2>&1 || return
    LD_PRELOAD=$work/broken.so timeout 300 mpirun --oversubscribe -n 2 "$bench" --sizes 1000 --iterations 3 --warmup 5 \
        --balanced-calls 0 --patterns uniform --delay 1ms >"$output" 2>&1
    [ $? -eq 1 ] && grep -q 'calls\? gave a wrong result' "$output" && grep -q '[0-3]/2$' "$output"
}
is_caught
tap_report $? "a wrong result is caught, exit 1"

for kind in 'int32 --op max' 'int64 --op min' 'float --op sum' 'double --op max'; do
    # shellcheck disable=SC2086
    aside run 5 --type $kind --root 3 --sizes 40K --algorithms default,ring,radix-k,butterfly,linear,bound $short
done
# shellcheck disable=SC2086
aside run 6 --root 4 --sizes 4008 --algorithms radix-k,butterfly $short # groups of 6, and of 2 and 3
all_aside
tap_report $? "every type and operation, another root, our own ring, Radix-K and butterfly"

# shellcheck disable=SC2086
run 4 --sizes 8K $short --algorithms default,bound --delay 1x \
    --patterns balanced,one-late:2,half-late,root-late,ascending,descending,uniform,exponential,repeated,alternating,periodic,drifting,sudden,disturbed &&
    [ "$(grep -c '^bound' "$output")" -eq 14 ]
tap_report $? "every pattern, the delay as a multiple of the balanced run"

printf 'clv-trace 1\nranks 3\ncall 0 | 0 1000000 2000000 | 9000000 9000000 9000000\n' >"$work/trace"
# shellcheck disable=SC2086
run 3 --patterns "trace:$work/trace" --sizes 8 $short
tap_report $? "arrivals from a trace"

for way in 'round-time --clock realtime' 'round-time --clock hca3' 'window --clock hca3' barrier dissemination compensated \
    multicast 'barrier --scheme ms2 --in-row 3' 'barrier --scheme ms3 --cache cold' 'round-time --clock skampi/cristian/20 --timer tsc@2GHz'; do
    # shellcheck disable=SC2086
    aside run 3 --sync $way --window 20000 --sizes 8 $short
done
all_aside
tap_report $? "every sync, every scheme, every clock; cold caches"

# Algorithm 5 of the HCA3 paper has no barrier: those there are belong to the set-up, however many rounds.
"${MPICC:-mpicc}" -shared -fPIC -o "$work/count.so" "$CLV_TOP/tests/mpi/count_barriers.c" >"$output" 2>&1
barriers() { # ROUNDS SYNC
    LD_PRELOAD=$work/count.so timeout 300 mpirun --oversubscribe -n 2 "$bench" --sync "$2" --sizes 64K --iterations "$1" --warmup 0 \
        --balanced-calls 0 --patterns uniform --delay 1ms >"$work/counted.$2.$1" 2>&1 && sed -n 's/^barriers //p' "$work/counted.$2.$1"
}
few=$(barriers 3 round-time) more=$(barriers 13 round-time) doubled=$(($(barriers 13 barrier) - $(barriers 3 barrier)))
echo "round-time: $few barriers with 3 rounds, $more with 13; barrier: $doubled for 10 rounds" >"$output"
[ -n "$few" ] && [ "$few" = "$more" ] && [ "$doubled" -ge 20 ]
tap_report $? "Round-Time has no barrier in its rounds, the barrier schemes have two"
# shellcheck disable=SC2086
run 3 --sync round-time --sizes 64K --iterations 20 --warmup 1 --balanced-calls 0 --patterns uniform --delay 1ms --json "$work/free" &&
    [ "$(grep -c '"sync":"round-time"' "$work/free")" -eq 1 ] && grep -q '"start_spread_ns":\[[0-9]' "$work/free" && grep -Eq '^starts by round-time: [0-9.]+ us apart, ' "$output" &&
    [ "$(sed -E 's/.*"usable":\[([0-9,]*)\].*/\1/' "$work/free" | grep -o 1 | wc -l)" -ge 10 ]
tap_report $? "and its calls count, with how far apart they started"

# A window that is found: calls of a millisecond and more fit, and the rule says what it took. In a row
# calls are timed together; two collectives, shuffled, are all measured; a counter that wanders is told.
# shellcheck disable=SC2086
found() {
    run 3 --sync window --window-rule $1 --collective allreduce --sizes 64K --iterations 30 --warmup 1 --balanced-calls 0 --patterns balanced --precision 0.5 \
        --json "$work/$1" && grep -q "^window by $1: [0-9.]* us, found in [0-9]* batches; [0-9]* calls of [0-9]* did not fit" "$output" &&
        grep -Eq "\"window_rule\":\"$1\",\"window_batches\":[0-9]+,\"window_calls\":[0-9]+,\"window_invalid\":[0-9]+," "$work/$1" && ! grep -q 'started late' "$output"
}
aside found skampi
aside found nbcbench
# shellcheck disable=SC2086
listed() {
    run 3 --collective bcast,scan --sizes 8,64 --shuffle --scheme ms2 --in-row 5 $short --json "$work/listed" &&
        [ "$(sed -E 's/.*"collective":"([a-z]*)".*"bytes":([0-9]*).*"shuffled":(true).*/\1 \2 \3/' "$work/listed" | sort | paste -sd,)" = 'bcast 64 true,bcast 8 true,scan 64 true,scan 8 true' ] &&
        [ "$(grep -c '"scheme":"ms2","in_row":5,"cache":"warm",' "$work/listed")" -eq 4 ]
}
aside listed
# shellcheck disable=SC2086
counted() { run 3 --timer tscp --sizes 8 $short --json "$work/counted" && { grep -q '^timer tscp: ranks are not bound' "$output" || grep -q '"binding":"[0-9]* ranks to 1 ' "$work/counted"; } && grep -q '"timer":"tscp"' "$work/counted"; }
grep -qw rdtscp /proc/cpuinfo && aside counted
all_aside
tap_report $? "windows by SKaMPI and NBCBench, several calls in a row, several collectives shuffled, a counter as timer"

# shellcheck disable=SC2086
run 3 --sizes 8 $short --algorithms default,tuned:5,free=^clv/coll_tuned_reduce_algorithm=1 --json "$work/lines" &&
    [ "$(grep -c '^{.*"after_ns":\[[0-9]*,[0-9]*\].*}$' "$work/lines")" -eq 3 ] && grep -q '"coll_tuned_reduce_algorithm":"5"' "$work/lines" &&
    python3 - "$work/lines" "$("$CLV_TOP/clv" version | cut -d' ' -f2)" <<'END' >"$output" 2>&1
import datetime, json, sys
def unique(pairs):
    assert len(dict(pairs)) == len(pairs), [key for key, _ in pairs]
    return dict(pairs)
rows = [json.loads(line, object_pairs_hook=unique) for line in open(sys.argv[1])]
assert len(rows) == 3
for row in rows:
    assert (row["program"], row["record"], row["version"]) == ("clv-bench", "calls", sys.argv[2]), row
    assert (row["ranks"], row["nodes"], row["processors"] >= 1) == (3, 1, True), row
    assert row["binding"] == "none" or " ranks to " in row["binding"], row
    written = datetime.datetime.strptime(row["time"], "%Y-%m-%dT%H:%M:%SZ")
    assert abs((datetime.datetime.utcnow() - written).total_seconds()) < 600, row
    assert "mpi_yield_when_idle=1" in row["parameters"] and "orte_" not in row["parameters"] and row["mpi"] and row["compiler"], row
    assert len(row["late_mean_ns"]) == 3 and min(row["late_mean_ns"]) >= 0, row
    assert not any(isinstance(value, dict) for value in row.values()), row
END
tap_report $? "JSON lines hold every call and every setting"

# Every rank's arrival and exit, out of which the metrics come again; the clock as the worst rank has it.
# shellcheck disable=SC2086
run 3 --per-rank --clock hca3/20/skampi/10 --sizes 8 $short --iterations 4 --patterns uniform --algorithms default,ring --json "$work/ranks" &&
    python3 - "$work/ranks" <<'END' >"$output" 2>&1
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) == 2
for row in rows:
    assert row["clock_error_ns"] > 0 and row["clock_found_error_ns"] > 0 and row["clock_holds"] is True, row
    arrivals, exits = row["rank_arrival_ns"], row["rank_exit_ns"]
    assert len(arrivals) == len(exits) == 12
    for call in range(4):
        a, e = arrivals[3 * call:3 * call + 3], exits[3 * call:3 * call + 3]
        assert min(a) == 0 and max(e) == row["run_ns"][call] and max(e) - max(a) == row["after_ns"][call], (a, e, row)
    assert row["after_least_ns"] == min(v for v, ok in zip(row["after_ns"], row["usable"]) if ok)
    assert row["after_least_ns"] <= row["after_mean_ns"] <= row["after_largest_ns"] <= max(row["after_ns"]), row
    times = [[exits[3 * c + r] - arrivals[3 * c + r] for c in range(4) if row["usable"][c]] for r in range(3)]
    means = [sum(t) / len(t) for t in times]
    near = lambda a, b: abs(a - b) <= 1e-6 * abs(b)
    assert near(row["ps6_least_ns"], max(map(min, times))) and near(row["ps7_largest_ns"], max(means)) and near(row["ps7_mean_ns"], sum(means) / 3), row
    assert near(row["ps8_mean_ns"], means[0]) and row["ps5_least_ns"] == min(map(min, times)), row
    assert row["message_ns"] > 0 and row["imbalance_factor"] > 0 and row["cpu"] and "compiler_flags" in row and row["last_cache_bytes"] > 0, row
END
tap_report $? "JSON lines hold every rank's arrival and exit, the worst rank's clock, the least and the mean"

# The same as XDR, read by another program.
if run 1 --xdr /dev/null --sizes 8 $short; then
    run 3 --xdr "$work/xdr" --per-rank --sizes 8,1K $short --iterations 4 --patterns uniform,one-late:1 --algorithms default,ring --json "$work/same" &&
        python3 "$CLV_TOP/tests/mpi/read_xdr.py" "$work/xdr" "$work/same" >"$output" 2>&1 && grep -qx '8 series' "$output" &&
        run 2 --xdr "$work/xdr" --sizes 8 $short --json "$work/less" && ! grep -q rank_arrival_ns "$work/less"
    tap_report $? "XDR holds every rank's start and end, as the JSON lines do"
else
    refuses 'this build has no XDR' --xdr "$work/xdr" && [ ! -e "$work/xdr" ]
    tap_report $? "a build without XDR says so"
fi

# A window that is over before the call is.
# shellcheck disable=SC2086
run 3 --sync window --window 20 --collective allreduce --sizes 1M $short --patterns balanced &&
    grep -q -- '--window 20 is too small, calls took up to [0-9]* us$' "$output" && ! grep -q 'nan' "$output" &&
    run 3 --sync window --window 50000 --sizes 8 $short --patterns balanced && ! grep -q 'too small' "$output"
tap_report $? "a window that is too small is told, and nothing else is"

# shellcheck disable=SC2086
run 3 --sizes 64K $short --patterns balanced,one-late --delay 20ms && awk '/^default/ { print $13, $14 }' "$output" >"$work/overlaps" &&
    [ "$(head -n 1 "$work/overlaps")" = '- -' ] && grep -Eqx '[0-9.-]+ [0-9.-]+' "$work/overlaps"
tap_report $? "balanced calls have no delay to overlap with"

if [ -e "$CLV_BUILD/component/mca_coll_clv.so" ]; then
    clv_environment
    # An announcement is missed where a rank lacks a processor for long.
    announce() {
        rm -f "$work/hinted"
        OMPI_MCA_coll_clv_setup_bytes=0 OMPI_MCA_coll_clv_print=forecast run 4 --sizes 64K --patterns uniform --delay 20ms --iterations 4 --warmup 8 \
            --balanced-calls 0 --algorithms clv,clv+hint,clv:clairvoyant:sma,clv:clairvoyant+hint --json "$work/hinted"
        status=$?
    }
    all_announced() {
        [ $status -eq 0 ] && [ "$(grep -c '[0-4]/4$' "$output")" -eq 4 ] && [ "$(grep -c 'announced in 4 calls of 4' "$output")" -eq 2 ] &&
            grep -q "announced from" "$output" && grep -q "coll_clv_predictor\":\"sma" "$work/hinted" && [ "$(grep -c '"announced":4,' "$work/hinted")" -eq 2 ]
    }
    tap_tries announce all_announced
    all_announced
    tap_report $? "ranks announce their arrivals to clv, and its forecasts say so; a predictor is forced"
else
    tap_skip "ranks announce their arrivals" "no component in this build"
fi

loop='--loop --compute 2ms --delay 2ms --blocks 2 --block-calls 5 --lead-calls 2 --warmup 0 --sizes 8K --seconds 100'
# shellcheck disable=SC2086
is_looping() { run 4 $loop --patterns uniform --algorithms default,ring,linear --couple $1 && [ "$(grep -cE '^(default|ring|linear) .* 0$' "$output")" -eq 3 ]; }
for coupling in none bcast barrier allreduce; do aside is_looping $coupling; done
aside run 3 $loop --collective allreduce --nonblocking --spin --compute 1x --balanced-calls 2 --starts 3
all_aside
tap_report $? "loops under every coupling, spinning, with computing in parts of the balanced run"

# Rank 2 computes 40 ms, the others 10: coupled, its iteration time is everybody's.
printf 'clv-trace 1\nranks 3\ncall 0 | 0 0 30000000 | 0 0 30000000\n' >"$work/lasting"
# shellcheck disable=SC2086
run 3 $loop --compute 10ms --patterns "trace:$work/lasting" --couple allreduce --block-calls 8 --json "$work/loops" &&
    sed -n 's/.*"iteration_median_ns":\([0-9]*\).*/\1/p' "$work/loops" | awk '{ exit !($1 >= 39.9e6 && $1 < 4e8) }' &&
    grep -q '"mode":"loop".*"couple":"allreduce","compute":"10ms","compute_ns":10000000,.*"rank_pace_ns":\[[0-9]*,[0-9]*,[0-9]*\],.*"network_bound":' "$work/loops" &&
    grep -qE '"iteration_ns":\[[0-9.]+,[0-9.]+\],.*"ahead_calls":\[0\.0,0\.0\],.*"first_iteration_ns":\[[0-9.]+\],' "$work/loops"
tap_report $? "a coupled loop is as fast as its slowest rank computes; JSON lines hold every block"

checks() { # COLLECTIVE BASELINE OPTIONS...: a verdict in words, over which PML, and the limit
    run 4 --check --collective "$1" --sizes 64K --compute 1ms --delay 1ms --block-calls 25 "${@:3}" &&
        grep -qE "^check: an iteration takes [0-9.]+ ms with clv, [0-9.]+ with (default|$2) \(the strongest" "$output" &&
        grep -qE '^verdict: (clv is (faster|slower|as fast) here|cannot be told)' "$output" &&
        grep -qE 'over PML [a-z0-9]+: nonblocking sends complete without their receiver up to [0-9]+ bytes' "$output"
}
if [ -e "$CLV_BUILD/component/mca_coll_clv.so" ]; then
    checks reduce pipeline && checks bcast tuned:3:32768 --couple barrier
    tap_report $? "--check says in words whether clv helps, and what it found out about the path"
else
    tap_skip '--check' 'no component in this build'
fi

run 3 --sizes 8 --seconds 1 --iterations 100000 --warmup 0 --patterns balanced
tap_report $? "a time limit ends a configuration"

# Ctrl-C, as mpirun passes it on: what is whole is told, the mark in table and JSON. It is sent when there is
# something: at the first line of progress, after two seconds. mpirun waits so long before it ends ranks by force,
# and at a second signal, which timeout would send to its group, not at all.
# Background jobs of bash ignore it, which newer versions of timeout keep.
# From version 5 on, mpirun prints nothing more of its ranks' then: what --json names has it.
forwards() { mpirun --version | head -1 | grep -q ' [1-4][.]'; }
# Whether ranks hear of it: mpirun of 6.0.0rc2 kills them at once.
are_told() {
    env --default-signal=INT timeout --foreground 60 mpirun -n 1 bash -c 'trap "echo >$0.told; exit 1" INT TERM
        echo >$0; while :; do sleep 0.02; done' "$work/told" >/dev/null 2>&1 &
    local pid=$!
    until [ -e "$work/told" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    kill -INT $pid
    wait $pid
    [ -e "$work/told.told" ]
}
is_interrupted() { # NAME options ...: ends by itself, with a table and a JSON line that bear the mark
    local pid json=$work/$1.json
    shift
    OMPI_MCA_odls_base_sigkill_timeout=3 env --default-signal=INT timeout --foreground 300 mpirun --oversubscribe -n 3 "$bench" \
        --sizes 8,16 --balanced-calls 0 --warmup 0 --json "$json" "$@" >"$output" 2>&1 &
    pid=$!
    until [ "$(grep -c '^clv-bench: reduce, 8, balanced, [0-9]* of ' "$output")" -ge 1 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    kill -INT $pid
    wait $pid
    [ $? -ne 0 ] && [ "$(grep -c '"interrupted":true' "$json")" -eq 1 ] && [ "$(wc -l <"$json")" -eq 1 ] && { ! forwards ||
        { grep -q 'INTERRUPTED' "$output" && grep -Eq '^default +[0-9.]+ ' "$output" &&
            grep -q '^clv-bench: interrupted; 0 of 2 configurations are whole' "$output"; }; }
}
# Version 5 kills ranks half a second after the signal; on a busy machine they may need a second try.
interrupted() { is_interrupted "$@" || { ! forwards && is_interrupted "$@"; }; }
too_early() { # Ctrl-C in the balanced calls: no figures, and that is said
    local pid json=$work/early.json
    OMPI_MCA_odls_base_sigkill_timeout=3 env --default-signal=INT timeout --foreground 300 mpirun --oversubscribe -n 3 "$bench" \
        --sizes 8,16 --balanced-calls 1000000 --warmup 0 --json "$json" >"$output" 2>&1 &
    pid=$!
    until [ "$(grep -c '^clv-bench: reduce, 8, ' "$output")" -ge 1 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
    kill -INT $pid
    wait $pid
    [ $? -ne 0 ] && [ ! -s "$json" ] &&
        { ! forwards || grep -qx 'clv-bench: interrupted before the first configuration was measured; nothing to show' "$output"; } &&
        ! grep -q 'configurations are whole' "$output"
}
if forwards || are_told; then
    aside interrupted calls --iterations 100000
    aside interrupted loops --loop --compute 5ms --delay 1ms --blocks 10000 --block-calls 10 --lead-calls 2
    all_aside
    tap_report $? "Ctrl-C prints what it has, marked, also as JSON"
else
    tap_skip 'Ctrl-C prints what it has' 'mpirun ends ranks before they hear of it'
fi
# A full disk: told after the first configuration, not after the last.
# shellcheck disable=SC2086
is_full() { # options ...
    run 2 --sizes 8,16 $briefly --json /dev/full "$@"
    [ $? -eq 1 ] && grep -q '^clv-bench: results are lost: /dev/full: No space left on device$' "$output" && [ "$(grep -c '^reduce, \|^loop of' "$output")" -eq 1 ]
}
aside too_early
aside is_full --iterations 2
aside is_full --loop --compute 1ms --blocks 2 --block-calls 5 --lead-calls 2
all_aside
tap_report $? "Ctrl-C before there is anything is said; a full disk ends it after the first configuration"
# shellcheck disable=SC2086
run 2 --sizes 8 $short --json "$work/whole" && grep -q '"interrupted":false' "$work/whole" &&
    ! OMPI_MCA_btl=self "$bench" --sizes 8 $short >/dev/full 2>"$output" && grep -q 'standard output: No space left on device' "$output"
tap_report $? "what is whole says so, standard output may be full, too"

aside refuses 'unknown collective' --collective sing
aside refuses 'unknown pattern' --patterns late
aside refuses 'unknown algorithm' --algorithms fastest
aside refuses 'unknown algorithm' --collective bcast --algorithms ring
aside refuses 'unknown algorithm' --algorithms pipeline+hint
aside refuses 'there are 2 ranks' --patterns "trace:$work/trace"
aside refuses "no control variable 'coll_none_x'" --algorithms x=/coll_none_x=1
aside refuses "no coll component 'none'" --algorithms x=none
aside refuses 'not a delay' --delay 5
aside refuses 'not a size' --sizes 3Q
aside refuses 'no rank' --root 2
aside refuses 'unknown --sync' --sync never
aside refuses 'unknown --couple' --loop --couple never
aside refuses '--iterations is for single calls, not for --loop or --check' --loop --iterations 5
aside refuses '--blocks is for --loop and --check' --blocks 3
aside refuses '--check sets --patterns itself' --check --patterns balanced
aside refuses 'two more than' --loop --block-calls 4 --lead-calls 3
aside refuses 'not a delay' --loop --compute 5
aside refuses "no clock" --clock sundial
aside refuses "no clock" --clock realtime --timer tsc
aside refuses 'unknown --scheme' --scheme ms9
aside refuses 'unknown --window-rule' --window-rule mine
aside refuses 'needs --sync window' --window-rule skampi
if [ -e "$work/xdr" ]; then
    aside refuses '--xdr is for single calls' --xdr "$work/xdr" --loop
    aside refuses 'not for standard output' --xdr -
    aside refuses 'cannot write /nonexistent/xdr' --xdr /nonexistent/xdr
fi
aside refuses 'neither warm nor cold' --cache tepid
aside refuses 'cannot write /nonexistent/file: No such file or directory' --json /nonexistent/file
all_aside
tap_report $? "wrong use is told in one line, exit 2"

run 2 --help && grep -q 'pipeline' "$output" && grep -q 'one-late' "$output" && grep -q 'round-time' "$output" && grep -q '^    allreduce ' "$output"
tap_report $? "help lists algorithms, patterns and syncs"
