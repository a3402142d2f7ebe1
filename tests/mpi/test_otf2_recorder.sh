#!/bin/bash
# The recorder for OTF2: what it writes of a program with every kind of message, completion and
# collective is whole; clv-correct leaves nothing out of it and finds nothing reversed on one host.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
recorder=$CLV_BUILD/.libs/otf2_recorder.so program=$CLV_BUILD/tests/mpi/otf2_program

said=$(mpi_run -np 4 -x LD_PRELOAD="$recorder" -x CLV_OTF2_DIR="$scratch/trace" \
    -x CLV_OTF2_TRUTH=1 "$program" 2>&1)
tap_ok 'a program is recorded' [ -f "$scratch/trace/traces.otf2" ]
tap_lacks 'without a word of the library' 'error' "$said"
report=$("$CLV_BUILD/apps/tools/clv-correct" "$scratch/trace/traces.otf2" -o "$scratch/out" \
    --truth true_ns --presync none --json "$scratch/report.jsonl" 2>&1)
tap_ok 'and corrected' [ $? -eq 0 ]
tap_lacks 'nothing is left out' 'left out' "$report"
for operation in messages barrier bcast reduce allreduce scan exscan gather scatter allgather \
    alltoall reduce_scatter_block gatherv scatterv allgatherv create; do
    tap_has "$operation is there" "\"operation\":\"$operation\"" "$(cat "$scratch/report.jsonl")"
done
# On one host there is one clock: what it shows is in order.
tap_ok 'no message is reversed' grep -q '"operation":"all".*"reversed_before":0,' "$scratch/report.jsonl"
# 20 rounds, on the world and on halves: 8 + 1 messages of each, and one of every even rank.
tap_ok 'as many messages as were sent' grep -q "\"operation\":\"messages\",\"messages\":$((20 * (4 * 9 + 2 + 4 * 9 + 2)))," "$scratch/report.jsonl"
tap_end
