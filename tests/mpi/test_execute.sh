#!/bin/bash
# The executor called directly, without the component: plans of every generator, every legal
# reduce, over shared memory, TCP, UCX and cm; and random plans of the four goals. TAP.
# CLV_ROUNDS: random jobs of each (600; 20000 is the figure of docs/design/schedule.md).
. "$CLV_TOP/tests/mpi/reduce_common.sh"
cases=$CLV_BUILD/tests/mpi/execute_cases
if [ ! -x "$cases" ]; then
    echo '1..0 # SKIP built without the headers of Open MPI'
    exit 0
fi
goals=${cases%_cases}_goals
jobs=${CLV_ROUNDS:-600}
ranks=${CLV_TEST_RANKS:-1 3 8}
pmls='tcp ucx cm'

# shellcheck disable=SC2086
echo 1..$(($(set -- $ranks $ranks $ranks $ranks $pmls; echo $#) + 3))
for p in $ranks; do
    launch "$p" $(pml_options ob1) "$cases" -i 10 && has "$all_right"
    report $? "$p ranks, ob1 in shared memory"
    launch "$p" $(pml_options ob1) "$goals" "$jobs" && has "$all_right"
    report $? "$p ranks, random jobs of the four goals"
    for bytes in 700 60000; do
        launch "$p" $(pml_options ob1) "$goals" "$jobs" $RANDOM $bytes && has "$all_right"
        report $? "$p ranks, the same with $bytes bytes to be sent ahead"
    done
done
for pml in $pmls; do
    if ! pml_works $pml; then
        skip "4 ranks, $pml" "this Open MPI cannot start with it here"
        continue
    fi
    launch 4 $(pml_options $pml) "$cases" -i 3 && has "$all_right"
    report $? "4 ranks, $pml"
done
launch 4 "$cases" -c flood_of_a_late_root && has "$all_right"
report $? "2000 reduces of 64 KiB with the root 1 s late: its memory is bounded"
launch 1 $(pml_options ob1) "${cases%_cases}_errors" && has "$all_right"
report $? "bad arguments, no memory, a message that does not fit"

# Who sends inside its host offers its processor to the others, where Open MPI's waits do, while the
# first five eighths of its segments leave.
yields() { # 0|1: how often the ranks did, and how many segments they sent
    launch 2 $(pml_options tcp) --mca mpi_yield_when_idle "$1" -x LD_PRELOAD="$scratch/yields.so" "$cases" -c flood_of_a_late_root &&
        has "$all_right" && awk '/^yields: / { n += $2 } /^# sends: / { sends += $3 } END { print n + 0, sends + 0 }' "$output"
}
gcc -Wall -Werror -shared -fPIC -x c -o "$scratch/yields.so" - <<'END' 2>"$output" &&
#include <stdio.h>
#include <threads.h>
static int n;
void thrd_yield(void) { n++; }
__attribute__((destructor)) static void tell(void) { fprintf(stderr, "yields: %d\n", n); }
END
    read -r gave sends < <(yields 0) && [ "$gave" -eq 0 ] && [ "$sends" -gt 0 ] &&
    read -r gave sends < <(yields 1) && [ $((8 * gave)) -ge $((5 * sends)) ] && [ $((4 * gave)) -le $((3 * sends)) ]
report $? "2 ranks of a host: with mpi_yield_when_idle who sends makes way for five eighths of its segments, else not"
