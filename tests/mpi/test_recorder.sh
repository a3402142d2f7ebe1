#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# coll_clv_record: what programs do is in the files, whatever runs it, and what goes wrong with the
# record is nobody else's trouble. And clv-view on what there is then. About 15 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
program=$CLV_BUILD/tests/mpi/record_cases
view=$CLV_BUILD/apps/tools/clv-view
work=$(mktemp -d)
output=$work/output
trap 'rm -rf "$work"' EXIT

# recorded DIR RANKS OPTIONS-AND-PROGRAM...
recorded() {
    local folder=$1 ranks=$2
    shift 2
    mpi_run -np "$ranks" --mca mpi_yield_when_idle 1 --mca coll_clv_record "$work/$folder" "$@" >"$output"
}
# Of the JSON line of each stream of blocking calls, the value of a key.
values() { # folder key
    "$view" --json "$work/$1" 2>/dev/null | grep '"how":"blocking"' | sed -n "s/^{\"stream\".*\"$2\":\"\{0,1\}\([^,\"]*\).*/\1/p"
}
number() { # folder key: of the whole
    "$view" --json "$work/$1" 2>/dev/null | sed -n "1s/.*\"$2\":\([0-9-]*\).*/\1/p"
}
are() { [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }; }

# ---- everything, with every plan off; the recorder alone has clv loaded, and runs nothing of it
recorded all 4 --mca coll_clv_reduce_algorithm previous --mca coll_clv_exchange 0 "$program" 3
tap_report $? 'a program runs under the recorder, and only that is asked for'
# 16 operations on MPI_COMM_WORLD, two halves and their copies; one allgather that split makes
tap_ok 'each operation on each communicator is a stream' are "$(values all calls | wc -l)" 81
tap_ok 'with all its calls' are "$(values all calls | sort | uniq -c | xargs)" '1 1 80 3'
tap_ok 'of all ranks' are "$(values all incomplete | sort -u)" 0
tap_ok 'and all operations' are "$(values all op | sort -u | wc -l)" 16
tap_ok 'none dropped' are "$(number all dropped)" 0
summary() { "$view" "$work/all" >"$output" && [ "$(wc -l <"$output")" -le 40 ]; }
tap_ok 'the summary has at most 40 lines' summary
tap_ok 'and the file its end' are "$("$view" --json "$work/all" | grep -o '"ended":[01]')" '"ended":1'

# ---- who is late
stream() { "$view" --json "$work/$1" | sed -n 's/^{"stream":\([0-9]*\),"name":"allreduce 8.*/\1/p'; }
last() { # of rank 2: in how many calls it was last
    "$view" --json --stream "$(stream "$1")" "$work/$1" | sed -n 's/^{"rank":2,.*"last":\([0-9]*\),.*/\1/p'
}
record_late() { rm -rf "$work/late"; recorded late 4 "$program" 30 2 20 800; }
two_is_last() { test "$(last late)" -ge 27; }
tap_tries record_late two_is_last
tap_figure "the late rank is last in almost every call ($(last late) of 30)" two_is_last
own_ms() { # rank
    "$view" --json "$work/late" | sed -n "s/^{\"rank\":$1,.*\"own_ns\":\([0-9]*\)[0-9]\{6\},.*/\1/p"
}
tap_ok 'by its own doing' test "$(own_ms 2)" -ge 15
tap_ok 'and the others are not' test "0$(own_ms 1)" -lt 15
"$view" --stream "$(stream late)" --export trace "$work/late" >"$work/trace"
tap_ok 'clv-predict reads the trace of a stream' "$CLV_BUILD/apps/tools/clv-predict" "$work/trace"
tap_ok 'of all calls' are "$(grep -c '^call' "$work/trace")" 30
events() { "$view" --export chrome "$work/late" | grep -c '"name":"wait"'; }
tap_ok 'Chrome sees the waits' test "$(events)" -ge 90
cells() { "$view" --export jsonl --calls 5:9 --ranks 0,2-3 --stream "$(stream late)" "$work/late" | grep -c '"arrival_ns"'; }
tap_ok 'calls and ranks can be chosen' are "$(cells)" 15

# ---- what clv plans is recorded with choice and reason
recorded planned 4 --mca coll clv --mca coll_clv_collectives allreduce \
    --mca coll_clv_allreduce_algorithm plain_ring "$program" 5 0 1 800
forced() { "$view" --export jsonl "$work/planned" | grep -c '"choice":"plain_ring","reason":"forced"'; }
tap_ok 'a forced plan is named' are "$(forced)" 20
recorded alone 4 --mca coll clv --mca coll_clv_collectives allreduce "$program" 5 0 1 800
alone() { "$view" --export jsonl "$work/alone" | grep -c "$1"; }
tap_ok 'a call that is left alone for its size, too' are "$(alone '"choice":"previous","reason":"too_small"')" 20
tap_ok 'and no other' are "$(alone '"choice"')" 20
recorded measured 4 --mca coll clv --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo \
    "$CLV_BUILD/tests/mpi/iterations" one-late 30 262144 1 3 none
what_if() { "$view" --what-if "$work/measured" >"$output" && grep -qE '^cost: [0-9.]+ Gb/s measured by clv, [0-9]+ us measured by clv, up to [1-9][0-9]* KiB of a pair early measured$' "$output"; }
tap_ok 'what clv measured of links and saw of connections is there, and the what-if uses it' what_if

# ---- what rank 0 says at the end
recorded predicted 4 --mca coll clv --mca coll_clv_collectives allreduce \
    --mca coll_clv_print summary "$program" 30 1 40 200000
predicted() { "$view" --export jsonl "$work/predicted" | grep -c '"predicted_ns"'; }
tap_ok 'predicted arrivals are there' test "$(predicted)" -ge 40
lines=$(grep -c 'coll:clv: ' "$output")
tap_ok "a summary of at most 12 lines ($lines)" test "$lines" -ge 4 -a "$lines" -le 12
tap_has 'calls by what they ran' 'allreduce: 30 calls; ' "$(<"$output")"
tap_has 'and as JSON' '"allreduce":{"calls":30,"planned_calls":' "$(<"$output")"

tap_ok 'the pace before and after' grep -qE 'allreduce: 30 calls; .*; from one call to the next [0-9.]+ ms in the first 20, [0-9.]+ in the newest' "$output"
tap_ok 'who was late most' grep -qE 'rank 1 of MPI_COMM_WORLD was last in [0-9]+ of [0-9]+ sampled calls' "$output"
paced() { sed -n 's/.*"allreduce":{[^}]*"first_pace_ns":\([0-9]*\),"newest_pace_ns":\([0-9]*\)}.*/\1 \2/p' "$output"; }
# Rank 1 sleeps 40 ms before each call, more than a busy machine delays the others; no pace is less.
tap_ok "also as JSON: $(paced) ns" awk -v both="$(paced)" 'BEGIN { split(both, ns, " "); exit !(ns[1] >= 4e7 && ns[2] >= 4e7) }'
tap_ok 'and the rank' grep -qE '"late_rank":1,"late_calls":[1-9][0-9]*,"late_of_calls":[1-9]' "$output"

timed() {
    sed -n 's/.*"allreduce":{"calls":30,"planned_calls":\([0-9]*\),"planned_ns":[0-9]*,"previous_calls":\([0-9]*\),.*/\1 + \2/p' "$output"
}
tap_ok "each of them timed: $(timed) by plan and previous" test "$(($(timed)))" -eq 30

# ---- less of it
recorded some 4 --mca coll_clv_record_ops barrier,scan --mca coll_clv_record_every 3 "$program" 4
tap_ok 'operations can be chosen' are "$(values some op | sort -u | xargs)" 'barrier scan'
tap_ok 'and every third call' are "$(values some calls | sort -u | xargs)" '1 2' # of 8 in turn
recorded large 4 --mca coll_clv_record_min_bytes 64 --mca coll_clv_record_ops allreduce,alltoallv,scan "$program" 2
tap_ok 'and a least size, where there is one' are "$(values large op | sort -u | xargs)" 'alltoallv scan'
recorded small 4 --mca coll_clv_record_max_mib 1 "$program" 200
tap_ok 'a file stays below its limit' test "$(cat "$work"/small/*.clva | wc -c)" -le 1048576
every() { "$view" --json "$work/small" | sed -n 's/.*"every":\([0-9]*\).*/\1/p'; }
tap_ok 'by keeping every second call and fewer' test "$(every)" -ge 2

# ---- trouble
recorded killed 4 "$program" 20 2 1 800 die
tap_ok 'of killed ranks what was drained can be read' are "$(number killed incomplete)" 0
tap_ok 'all of it' test "$(number killed calls)" -ge 20
"$view" "$work/killed" >/dev/null 2>"$output"
tap_has 'and it is said that it ends early' 'ends early' "$(<"$output")"
mpi_run -np 4 --mca coll_clv_record /proc/nowhere "$program" 1 >"$output"
tap_report $? 'an unwritable folder stops nobody'
tap_ok 'and is told once' are "$(grep -c 'cannot create the file' "$output")" 1
mpi_run -np 4 --mca coll_clv_record "$work/unequal" sh -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] ||
    export OMPI_MCA_coll_clv_record_every=2; exec "$0" 1' "$program" >"$output"
tap_report $? 'ranks that do not agree on what to record go without'
tap_has 'and it is said' 'coll_clv_record_every is 1 on rank 0' "$(<"$output")"

# Of one rank the component's memory is refused: what the recorder needs, by its size, and what comes first,
# a communicator's part.
cat >"$work/refuse.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
void *__libc_calloc(size_t n, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
static int is_refused(const char *what, const void *caller)
{
    const char *refused = getenv("REFUSED");
    Dl_info info;
    return refused != NULL && strcmp(refused, what) == 0 && dladdr(caller, &info) != 0 &&
           strstr(info.dli_fname, "mca_coll_clv") != NULL;
}
void *calloc(size_t n, size_t size)
{
    const int is_large = n == 1 && size > 262144 && size < 1048576;
    return is_large && is_refused("recorder", __builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    return is_refused("part", __builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
END
if gcc -Wall -Werror -shared -fPIC -o "$work/refuse.so" "$work/refuse.c" -ldl 2>"$output"; then
    for what in recorder part; do
        mpi_run -np 4 --mca coll_clv_record "$work/refused-$what" sh -c '[ "$OMPI_COMM_WORLD_RANK" != 2 ] ||
            export LD_PRELOAD="$1" REFUSED="$2"; exec "$0" 3' "$program" "$work/refuse.so" "$what" >"$output"
        tap_report $? "a rank without memory for its $what makes nobody wait"
        tap_ok 'that nothing is recorded is told once' are "$(grep -c 'arrivals are not recorded: a rank could not take part' "$output")" 1
        tap_ok 'and nothing is' are "$("$view" --json "$work/refused-$what" 2>/dev/null | sed -n 's/.*"calls":\([0-9]*\),"cells".*/\1/p')" ''
    done
else
    tap_skip 'a rank without memory' 'no compiler here'
fi

# ---- two nodes, by process namespaces, each with a file; clocks are compared over a connection
apart=(unshare --pid --fork --kill-child --mount-proc)
if "${apart[@]}" true 2>/dev/null; then
    record_nodes() {
        rm -rf "$work/nodes"
        recorded nodes 2 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo \
            "${apart[@]}" "$program" 30 1 20 800
        named=$("$view" --json "$work/nodes" | sed -n 's/^{"rank":1,.*"last":\([0-9]*\),.*/\1/p')
    }
    late_is_last() { test "$named" -ge 27; }
    tap_tries record_nodes late_is_last
    tap_ok 'two nodes, two files' are "$(ls "$work/nodes" | wc -l)" 2
    tap_ok 'that fit together' are "$(number nodes incomplete)" 0
    tap_figure "the late rank is last in almost every call ($named of 30)" late_is_last
    mkdir "$work/half"
    cp "$work"/nodes/*.1.clva "$work/half"
    "$view" "$work/half" >/dev/null 2>"$output"
    tap_ok 'one file of two can be read, but it is a failure' are $? 2
    tap_has 'and the other is missed' 'the file of host 0 is missing' "$(<"$output")"
else
    tap_skip 'two nodes' 'no process namespaces here'
fi

# ---- what clv-view refuses: one line, exit 2
# ---- ranks that wait for each other in MPI_Init give the processor away, or the ones that hold it under a
# real-time priority keep it for a tenth of a second each: 14 s
if chrt -r 1 true 2>/dev/null; then
    begun=$SECONDS
    recorded rush 12 --mca coll clv chrt -r 1 "$CLV_BUILD/tests/mpi/iterations" balanced 2 64 1 0 none
    tap_report $? 'ranks that keep their processors are recorded'
    tap_ok 'from a start that takes no time' [ $((SECONDS - begun)) -lt 8 ]
else
    tap_skip 'ranks that keep their processors are recorded' 'no real-time priority here'
fi

refuses() { # name words folder
    "$view" "$work/$3" >/dev/null 2>"$output"
    tap_ok "refused: $1" are $? 2
    tap_has 'with a line that says so' "$2" "$(<"$output")"
    tap_ok 'and only that' are "$(wc -l <"$output")" 1
}
mkdir "$work/none" "$work/two" "$work/newer" "$work/cut" "$work/bad"
refuses 'no files' 'no .clva files' none
refuses 'no folder' 'No such file' nowhere
cp "$work"/all/*.clva "$work"/late/*.clva "$work/two"
refuses 'files of two jobs' 'files of two jobs' two
sed '1s/{"clva":2/{"clva":3/' "$work"/all/*.clva >"$work/newer/a.clva"
refuses 'a newer format' 'newer format' newer
{ head -n 1 "$work"/all/*.clva; head -c 64 /dev/zero; } >"$work/bad/a.clva"
refuses 'damage' 'is damaged' bad
head -c -10 "$work"/all/*.clva >"$work/cut/a.clva"
"$view" "$work/cut" >/dev/null 2>"$output"
tap_ok 'a cut tail is a failure' are $? 2
tap_has 'and told' 'ends early' "$(<"$output")"
tap_end
