#!/bin/bash
# What goes wrong around a reduce: a rank that stops for two seconds, one that is killed, a root
# that is late while the others flood it, processes that are spawned and merged. No orphan, no
# leftover in /dev/shm. TAP.
. "$CLV_TOP/tests/mpi/reduce_common.sh"
cases=$CLV_BUILD/tests/mpi/reduce_cases
clv="--mca coll clv --mca coll_clv_reduce_min_bytes 1 --mca coll_clv_min_ranks 2"
forced="$clv --mca coll_clv_reduce_algorithm clairvoyant"

# launch_behind RANKS ARGUMENTS...: the same in the background; sets $runner.
launch_behind() {
    : >"$output"
    launch "$@" &
    runner=$!
}

pids() { # of all ranks, or of one
    sed -n "s/^.*# rank ${1:-[0-9]*} is pid \([0-9]*\)$/\1/p" "$output"
}

# all_run: waits until every rank has told its process id, as long as there is a run. Then each has
# reduced once and all go on for a while; what they have in /dev/shm is noted.
all_run() {
    until [ "$(pids | wc -l)" -eq 4 ]; do
        kill -0 $runner 2>/dev/null || return
        sleep 0.1
    done
    sleep 0.5
    local pid
    for pid in $(pids); do
        sed -n 's|^.* \(/dev/shm/[^ ]*\)$|\1|p' "/proc/$pid/maps"
    done 2>/dev/null | sort -u >>"$scratch/shm"
}

# is_alive PID: runs or sleeps; a zombie that init has not collected does not count.
is_alive() {
    [ -r "/proc/$1/stat" ] && ! grep -q ') [ZX] ' "/proc/$1/stat" 2>/dev/null
}

# Nobody of the run is left after at most a minute.
nobody_left() {
    local pid
    for pid in $(pids); do
        for _ in $(seq 600); do
            is_alive "$pid" || continue 2
            sleep 0.1
        done
        echo "process $pid is left" >>"$output"
        return 1
    done
}

# By name: other jobs of this machine have files there, too.
nothing_in_shm() {
    local file left=0
    sort -u "$scratch/shm" >"$output"
    while read -r file; do
        [ ! -e "$file" ] || { echo "$file is left"; left=1; }
    done <"$output" >"$scratch/left"
    cat "$scratch/left" >>"$output"
    return $left
}

echo 1..19

launch_behind 4 $forced "$cases" -c long_run -i 30
all_run
kill -STOP "$(pids 2)" && sleep 2 && kill -CONT "$(pids 2)"
wait $runner && has "$all_right"
report $? "a rank stopped for two seconds: every result is right"

launch_behind 4 $forced "$cases" -c long_run -i 300
all_run
kill -KILL "$(pids 2)"
! wait $runner && has 'signal 9' && nobody_left
report $? "a rank killed in the middle: the job ends, says so, and leaves nobody"

launch_behind 4 $forced "$cases" -c long_run -i 300
all_run
kill -KILL "$(pids 0)"
! wait $runner && nobody_left
report $? "rank 0 killed in the middle: the same"

all_have_errors() { [ "$(grep -c 'broken_call: rank [0-3]: error class 1[56] after [0-3][.]' "$output")" -eq 4 ]; }
launch 4 $clv --mca coll_clv_reduce_algorithm rank_chain --mca coll_clv_segment_bytes 1048576 "$CLV_BUILD/tests/mpi/broken_call" && all_have_errors &&
    has 'broken_call: the others go on'
report $? "a call that fails on one rank: all have an error within 4 s, other communicators go on"

nothing_in_shm
report $? "nothing is left in /dev/shm"

launch 4 $forced "$cases" -c flood_of_a_late_root && has "$all_right"
report $? "2000 reduces of 64 KiB with the root 1 s late: its memory is bounded"

launch 4 $clv "$cases" -c flood_of_a_late_root && has "$all_right"
report $? "the same when the component chooses"

# Of plans whose ranks leave before the root is there: clairvoyant has the root send, too, and bounds itself.
# Without credits a rank takes in 60 to 160 MiB.
for bytes in 0 1048576 8388608 67108864; do
    for algorithm in chain latest_first; do
        launch 4 $clv --mca coll_clv_reduce_algorithm $algorithm --mca coll_clv_ahead_bytes $bytes \
            --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include lo "$cases" \
            -c flood_of_a_late_root -m $((bytes > 0 ? bytes / 1024 : 4096)) && has "$all_right"
        report $? "coll_clv_ahead_bytes $bytes, $algorithm: the memory of each rank stays below that"
    done
done

# Communicators by the dozen, freed while the words of their last calls are on the way.
for bytes in 1 65536 1048576; do
    launch 4 $forced --mca coll_clv_ahead_bytes $bytes "$cases" -i 3 && has "$all_right"
    report $? "coll_clv_ahead_bytes $bytes: every reduce on communicators that come and go"
done

# Open MPI 5 connects spawned processes by TCP only, and pairs interfaces by itself not everywhere.
launch 2 $clv --mca btl_tcp_if_include lo "$cases" -c spawned_and_merged && has "$all_right"
report $? "spawned processes reduce in the merged communicator"
