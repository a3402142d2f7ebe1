#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What others on the same host can reach of a job (SECURITY.md): another user nothing, the same user all,
# and a job on one host opens no port. Unauthenticated connections: tests/pap_predict/test_pap_hostile. 10 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || tap_skip_all 'needs root, to be two users'
output=$(mktemp)
trap 'rm -f "$output"' EXIT
timeout -k 5 60 mpirun --oversubscribe -n 3 --mca coll clv --mca coll_clv_reduce_min_bytes 1 --mca pml ob1 --mca btl ^tcp \
    --mca mpi_yield_when_idle 1 "$CLV_BUILD/tests/mpi/channel_down" 6 coupled >"$output" 2>&1 </dev/null &
job=$!
until grep -q 'under way' "$output" || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
pid=$(sed -n 's/.*rank 0 is process \([0-9]*\).*/\1/p' "$output" | head -n 1)
table=$(sed -n 's/^\([0-9a-f]*\)-.*memfd:clv.*/\1/p' "/proc/$pid/maps" | head -n 1)
other() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@" 2>/dev/null; }
same() { "$@" 2>/dev/null; }
reads_fds() { "$1" ls "/proc/$pid/fd" | grep -q .; }
reads_memory() { "$1" dd if="/proc/$pid/mem" bs=4096 count=1 skip=$((16#$table / 4096)) status=none | head -c 8 | grep -q cvtable; }
no() { ! "$@"; }

tap_ok 'the job has a table' test -n "$table"
tap_ok 'another user sees none of its descriptors' no reads_fds other
tap_ok 'the same user does' reads_fds same
tap_ok "another user cannot read the node's table" no reads_memory other
tap_ok 'the same user can: there is no border inside a user' reads_memory same
tap_none 'no file has a name in /dev/shm' find /dev/shm -name '*clv*'
# Ours is bound to all addresses, those of Open MPI's launcher to one.
listening() { ss -Htlnp 2>/dev/null | grep -F "pid=$pid," | awk '$4 ~ /^(\*|0\.0\.0\.0|\[::\]):/'; }
tap_none 'of clv a job on one host listens on no port' listening
wait $job
tap_ok 'and the job ends right' test $? -eq 0
tap_end
