#!/bin/bash
# clv-correct under mpirun: writes, event by event, and says what it does in one process, for any
# number of processes; each holds its part; and what goes wrong in one of them stops all. TAP. 35 s.
# Every N, every kind of trace and 1,000 random ones: tests/quality/replay.sh.
. "$CLV_TOP/tests/support/tap.sh"
. "$CLV_TOP/tests/support/replay.sh"
mpi_setup
correct=$CLV_BUILD/apps/tools/clv-correct make=$CLV_BUILD/tests/support/otf2_make
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
seed=${CLV_SEED:-1}
echo "# seed $seed"

"$make" plain 8 2 2000 "$seed" >/dev/null
for n in 1 3 11; do
    tap_ok "$n processes write and say what one does" agrees $n plain/traces.otf2
done
"$correct" several/traces.otf2 --check --quiet
tap_ok 'which has nothing left that is wrong' [ $? -eq 0 ]
"$correct" plain/traces.otf2 --check --json one.jsonl >one.txt
together 3 plain/traces.otf2 --check --json several.jsonl >several.txt 2>/dev/null
tap_ok '--check ends with 3, too' [ $? -eq 3 ]
tap_ok 'and says the same' diff <(told one.txt) <(told several.txt)
while read -r n arguments; do
    # shellcheck disable=SC2086
    tap_ok "with $arguments" agrees "$n" plain/traces.otf2 $arguments
done <<'END'
3 --latency 800,4000 --slope 0.1
4 --memory 16 --threads 2 --truth true_ns
2 --truth true_ns --presync none --clock-per process
END
tap_ok 'a timeline is drawn' agrees 3 plain/traces.otf2 --chrome drawn.json
mv drawn.json several.drawn
"$correct" plain/traces.otf2 -o alone --quiet --chrome drawn.json
tap_ok 'the same' cmp drawn.json several.drawn
while read -r n fault clock; do
    "$make" "made.$fault" 8 2 1500 "$seed" "$fault" >/dev/null
    tap_ok "a trace with $fault, a clock per $clock" agrees "$n" "made.$fault/traces.otf2" --clock-per "$clock"
done <<'END'
3 threads host
5 one-host process
4 lost-exit process
5 cycle process
3 cycle host
END
tap_has 'a cycle is broken' 'cycle broken' "$(cat several.txt)"
tap_ok '4 random traces' random_traces 4 "$seed"
archive=$CLV_TOP/../shared/traces/ten-hosts/traces.otf2
if [ -f "$archive" ]; then
    tap_ok 'a trace that nobody here made' agrees 3 "$archive"
else
    tap_skip 'a trace that nobody here made' 'it is not here'
fi

# ---- memory: what the largest of them needs above what MPI and the libraries do
cat >peak.py <<'EOF'
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
with open(sys.argv[1] + "." + os.environ.get("OMPI_COMM_WORLD_RANK", "0"), "w") as out:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=out)
sys.exit(status)
EOF
peak() { # N ARCHIVE: KiB
    rm -rf peaked peak.[0-9]*
    tap_limited mpirun --oversubscribe --allow-run-as-root -np "$1" python3 peak.py peak "$correct" "$2" -o peaked --quiet >/dev/null 2>&1
    sort -n peak.[0-9]* | tail -1
}
"$make" large 8 2 150000 "$seed" >/dev/null
"$make" small 8 2 100 "$seed" >/dev/null
memory_falls() {
    local small=$(peak 1 small/traces.otf2) one=$(peak 1 large/traces.otf2) four
    small4=$(peak 4 small/traces.otf2) four=$(peak 4 large/traces.otf2)
    echo "KiB: $((one - small)) in one process, $((four - small4)) in each of four"
    [ $((2 * (four - small4))) -lt $((one - small)) ]
}
memory_falls >memory.txt
tap_report_status=$?
output=memory.txt tap_report $tap_report_status 'each of four processes needs less than half of what one does'
sed 's/^/# /' memory.txt

# ---- what goes wrong in one of them: one line, its status, nothing left
refuses() { # STATUS WORDS ARGUMENTS...
    local status=$1 words=$2 got said
    shift 2
    said=$(together 4 "$@" 2>&1 >/dev/null)
    got=$?
    echo "status $got: $said"
    [ $got -eq "$status" ] && [[ $said == *"$words"* ]] && [ "$(grep -c '^clv-correct: ' <<<"$said")" -eq 1 ] &&
        [ ! -e none ] && [ -z "$(ls -d none.* 2>/dev/null)" ]
}
cp -r plain cut && truncate -s -2000 cut/traces/7.evt
tap_ok 'a truncated location stops all' refuses 2 'location 7' cut/traces.otf2 -o none
cp -r plain nodef && rm nodef/traces/3.def
tap_ok 'a missing .def, too' refuses 2 'location 3: its .def file is missing' nodef/traces.otf2 -o none
cp -r plain noevt && rm noevt/traces/5.evt
tap_ok 'and a missing .evt' refuses 2 'location 5: its .evt file is missing' noevt/traces.otf2 -o none
tap_ok 'a file that is not there' refuses 2 'No such file' nowhere.otf2 -o none
tap_ok 'an output that is' refuses 2 'plain exists' plain/traces.otf2 -o plain
full_disk() {
    local status
    mkdir -p small.disk && mount -t tmpfs -o size="$1" tmpfs small.disk || return 77
    said=$(together 3 plain/traces.otf2 -o small.disk/out --quiet 2>&1)
    status=$?
    left=$(find small.disk -mindepth 1)
    umount small.disk
    echo "status $status: $said; left: $left"
    [ $status -eq 1 ] && [ "$(grep -c '^clv-correct: ' <<<"$said")" -eq 1 ] && [ -z "$left" ]
}
if [ "$(id -u)" -eq 0 ] && mkdir -p probe && mount -t tmpfs tmpfs probe 2>/dev/null; then
    umount probe
    tap_ok 'a full disk: status 1, nothing left' full_disk 200k
else
    tap_skip 'a full disk' 'cannot mount a small one'
fi
not_beside() { # without the program that knows MPI
    cp "$correct" alone.bin && said=$(timeout 60 mpirun --oversubscribe --allow-run-as-root -np 2 ./alone.bin plain/traces.otf2 -o none 2>&1)
    echo "$said"
    [ "$(grep -c '^clv-correct: started by mpirun, but cannot start' <<<"$said")" -eq 1 ] && [ ! -e none ]
}
tap_ok 'without clv-correct-mpi it says so, once' not_beside
tap_none 'in one process it knows no MPI' sh -c "ldd '$correct' | grep -i libmpi"
tap_end
