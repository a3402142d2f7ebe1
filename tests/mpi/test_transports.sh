#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# On each PML that is there: right sums, and the largest message that leaves without its receiver is found, whatever the
# transport's own limit is. On the emulated cluster; skipped without root or namespaces. 25 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
. "$CLV_TOP/tests/support/bed.sh"

# over OPTIONS...: some reduces on a bed of those options.
over() {
    with "$@" --realtime --mca coll_clv_priority 50 --mca coll_clv_reduce_min_bytes 1 --mca coll_clv_min_ranks 2 \
        --mca coll_clv_reduce_algorithm chain --mca coll_clv_print plan -- "$CLV_BUILD/tests/mpi/coll_probe" 40000 3
}
leaves() { sed -n "s/.*complete without their receiver up to \([0-9]* bytes.*\)/\1/p" <<<"$said"; }
# finds NAME LIMIT SEGMENT: up to which size, and what follows; a rank that got no processor may find less.
finds() {
    tap_has "$1: right" 'sums right' "$said"
    tap_ok "$1: $2 leave early: $(leaves)" test "$(leaves)" = "$2; segments of long vectors have $3"
}
# has NAME...: whether Open MPI has a component, ours or not
has() { ompi_info --param "$1" "$2" --parsable 2>/dev/null | grep -q "^mca:$1:$2:"; }

can_with

over 4 --pml ob1
finds 'ob1, TCP' '32768 bytes' 32768
over 2 --pml ob1 --ranks-per-host 2
finds 'ob1, shared memory inside' '32768 bytes between hosts, 0 inside' 32768
over 2 --pml ob1 --mca coll_clv_early_bytes 4096
finds 'as the user says' '4096 bytes' 4096

if has pml ucx; then
    with 2 --pml ucx -- "$CLV_BUILD/tests/mpi/hooks_probe"
    tap_has 'UCX on the bed: no memory hooks, which rewrite munmap while another thread may be in it' \
        'munmap: as it was' "$said"
    over 4 --pml ucx --env UCX_RNDV_THRESH=16k
    finds 'UCX, limit 16k' '8192 bytes' 8192
    over 4 --pml ucx --env UCX_RNDV_THRESH=4k
    finds 'UCX, limit 4k' '0 bytes' 32768
    over 4 --pml ucx --env UCX_RNDV_THRESH=64k
    finds 'UCX, limit 64k' '32768 bytes' 32768
    over 4 --pml ucx --env UCX_RNDV_THRESH=1m
    finds 'UCX, limit 1m' '32768 bytes' 32768
    over 2 --pml ucx --ranks-per-host 2
    tap_has 'UCX, shared memory inside: right' 'sums right' "$said"
    tap_has 'and inside there is a limit, too' ' between hosts, ' "$(leaves)"
else
    tap_skip 'UCX' 'this Open MPI has no PML ucx'
fi
if has mtl ofi; then
    over 2 --pml cm
    tap_has 'OFI over TCP: right' 'sums right' "$said"
    tap_has 'its limit is told' ' bytes; segments of long vectors' "$(leaves)"
else
    tap_skip 'OFI' 'this Open MPI has no MTL ofi'
fi
tap_end
