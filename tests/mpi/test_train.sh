#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The training example in mpi4py: the losses of a serial run and equal parameters on all ranks, without clv and with
# each of its allreduces; and that a wrong allreduce is noticed. TAP; skipped without mpi4py and numpy. 10 s.
. "$CLV_TOP/tests/support/tap.sh"
mpi_setup
python=$(for each in $(type -ap python3); do "$each" -c 'import mpi4py, numpy' 2>/dev/null && echo "$each" && break; done)
[ -n "$python" ] || tap_skip_all 'no Python with mpi4py and numpy'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

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
