# SPDX-License-Identifier: BSD-3-Clause
"""clv.h for mpi4py: tells clv when this rank will arrive at its next reduce, allreduce or broadcast.

    from clv_hint import hint_arrival
    hint_arrival(comm, 25_000_000)      # in 25 ms; before the work whose end is announced
    work()
    comm.Reduce(mine, total, root=0)

Does nothing where clv is absent. The rest as clv.h says.
"""
import ctypes

from mpi4py import MPI

_take = getattr(ctypes.CDLL(None), "coll_clv_hint_arrival", None)


def hint_arrival(comm, ns_from_now):
    """Whether clv took it."""
    if _take is None:
        return False
    handle = ctypes.c_void_p.from_address(MPI._addressof(comm))
    return bool(_take(handle, ctypes.c_longlong(ns_from_now)))
