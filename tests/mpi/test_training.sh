#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The examples that train: k-means, and a network in mpi4py. The same centres, bit by bit, and the same losses as
# in a serial run, without clv and with each of its allreduces; and that a wrong allreduce is noticed. TAP; the second is
# skipped without mpi4py and numpy. 20 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
export OMPI_MCA_mpi_yield_when_idle=1

# ---- k-means
kmeans() { # ranks, words of mpirun -- of the program
    local ranks=$1 words=()
    shift
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    said=$(mpi_run -np "$ranks" "${words[@]}" "${program:-$CLV_BUILD/apps/examples/kmeans/kmeans}" \
        --iterations 20 --points 3 --clusters 63 --dimensions 256 "${@:2}")
}
kmeans 4 --
tap_has 'four ranks without clv' 'bytes=129528' "$said"
tap_has 'as in a serial run' 'check=ok' "$said"
kmeans 1 --
tap_has 'one rank' 'check=ok' "$said"
for algorithm in auto plain_ring cut_ring; do
    kmeans 5 --mca coll clv --mca coll_clv_collectives allreduce --mca coll_clv_allreduce_algorithm $algorithm -- --pace 200
    tap_has "five ranks with clv, $algorithm: as in a serial run" 'check=ok' "$said"
done
program=$CLV_BUILD/tests/mpi/kmeans_broken kmeans 3 --
tap_ok 'an allreduce that loses a part of one sum is noticed' test $? -ne 0
tap_has 'and told' 'check=failed' "$said"
kmeans 2 -- --clusters=0
tap_ok 'a bad value is refused' test $? -ne 0
tap_has 'by the name of its option and the range' 'clusters wants a whole number from 1' "$said"

# ---- the training example in mpi4py
python=$(for each in $(type -ap python3); do "$each" -c 'import mpi4py, numpy' 2>/dev/null && echo "$each" && break; done)
if [ -z "$python" ]; then
    tap_skip 'the training example' 'no Python with mpi4py and numpy'
    tap_end
    exit
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

train() { # ranks options...
    said=$(mpi_run -np "$1" "${@:2}" "$python" "$CLV_TOP/apps/examples/python/train.py" --width 128 --steps 20)
}
train 4
tap_has 'four ranks without clv' 'bytes=131072' "$said"
tap_has 'as in a serial run' 'check=ok' "$said"
for algorithm in auto cut_ring; do
    train 5 --mca coll clv --mca coll_clv_collectives allreduce,bcast --mca coll_clv_allreduce_algorithm $algorithm
    tap_has "five ranks with clv, $algorithm: as in a serial run" 'check=ok' "$said"
done
mpicc -shared -fPIC -o "$work/broken.so" "$CLV_TOP/tests/mpi/broken_allreduce.c" &&
    train 3 -x LD_PRELOAD="$work/broken.so"
tap_has 'an allreduce that loses a part of one sum is noticed' 'check=failed' "$said"
tap_end
