#!/bin/bash
# Every way to ask for the component gets it, and the rest of MPI still works; without asking,
# nothing changes.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
probe=$CLV_BUILD/tests/mpi/coll_probe

while IFS='|' read -r way options; do
    # shellcheck disable=SC2086
    said=$(mpi_run -np 3 $options "$probe")
    tap_has "$way: every sum is right" 'sums right' "$said"
    tap_has "$way: the component has every call" 'calls=6 ' "$said"
done <<'WAYS'
literal|--mca coll clv
list|--mca coll clv,tuned,basic,libnbc,self,inter
priority|--mca coll_clv_priority 40
WAYS

while IFS='|' read -r way options; do
    # shellcheck disable=SC2086
    said=$(mpi_run -np 3 $options "$probe")
    tap_has "$way: every sum is right" 'sums right' "$said"
    tap_lacks "$way: the component stays out" 'calls=' "$said"
done <<'WAYS'
nothing asked|
excluded|--mca coll ^clv --mca coll_clv_priority 40
another list|--mca coll tuned,basic,libnbc,self,inter
named, but priority 0|--mca coll clv,tuned,basic,libnbc,self,inter --mca coll_clv_priority 0
WAYS

said=$(mpi_run -np 1 --mca coll clv "$probe")
tap_has 'a single rank works' 'sums right' "$said"
tap_lacks "and PMIx says nothing of our component, which is none of its own" 'bad prefix' "$said"
# The component sync of Open MPI 6.0.0rc2 crashes by itself when a communicator ends.
if mpi_run -np 3 --mca coll_sync_barrier_before 1 "$probe" >/dev/null; then
    said=$(mpi_run -np 3 --mca coll clv --mca coll_sync_barrier_before 1 "$probe")
    tap_has 'under a component that wraps: sums' 'sums right' "$said"
    tap_has 'under a component that wraps: calls' 'calls=6 ' "$said"
else
    tap_skip 'under a component that wraps' 'sync does not work in this Open MPI without us either'
fi

# Every collective of MPI has somebody when only we are named.
tap_ok 'communicators come and go, all other collectives run' \
    mpi_run -np 4 --mca coll clv "$CLV_BUILD/tests/mpi/coll_others"
tap_end
