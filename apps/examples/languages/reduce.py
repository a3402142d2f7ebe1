#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program of reduce.c in Python, with mpi4py and numpy."""
import sys
import time

import numpy
from mpi4py import MPI

CALLS, DOUBLES = int(sys.argv[1]) if len(sys.argv) > 1 else 60, 262144
comm = MPI.COMM_WORLD
rank, n_ranks = comm.Get_rank(), comm.Get_size()
mine, total = numpy.zeros(DOUBLES), numpy.zeros(DOUBLES)
in_reduce, is_right = 0.0, True

started = MPI.Wtime()
for call in range(CALLS):
    time.sleep((5 + 35 * (5 * rank % n_ranks) / max(n_ranks - 1, 1)) / 1e3)
    mine[call] = rank + call
    entered = MPI.Wtime()
    comm.Reduce(mine, total, op=MPI.SUM, root=0)
    in_reduce += MPI.Wtime() - entered
    is_right &= rank > 0 or abs(total[call] - n_ranks * (n_ranks - 1) / 2 - n_ranks * call) < 0.5
comm.Barrier()
took = MPI.Wtime() - started
mean = comm.reduce(in_reduce, op=MPI.SUM, root=0)
if rank == 0:
    print(f"reduce-result run_s={took:.3f} in_reduce_ms={1e3 * mean / n_ranks / CALLS:.1f} check={'ok' if is_right else 'failed'}")
sys.exit(not is_right)
