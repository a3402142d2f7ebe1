# SPDX-License-Identifier: BSD-3-Clause
"""clv.h for mpi4py: tells clv when this rank will arrive at its next reduce, allreduce or broadcast,
or how far the work before it is, and asks how long it will wait there.

    from clv_hint import hint_arrival
    hint_arrival(comm, 25_000_000)      # in 25 ms; before the work whose end is announced
    work()                              # or in it: hint_progress(comm, done, total)
    comm.Reduce(mine, total, root=0)

    from clv_hint import expected_wait_ns
    expected_wait_ns(comm)              # None: not known

All do nothing where clv is absent. The rest as clv.h says.
"""
import ctypes

from mpi4py import MPI

_library = ctypes.CDLL(None)
_take_arrival = getattr(_library, "coll_clv_hint_arrival", None)
_take_progress = getattr(_library, "coll_clv_hint_progress", None)
_tell = getattr(_library, "coll_clv_expected_wait_ns", None)
if _tell is not None:
    _tell.restype = ctypes.c_longlong


def _handle(comm):
    return ctypes.c_void_p.from_address(MPI._addressof(comm))


def hint_arrival(comm, ns_from_now):
    """Whether clv took it."""
    if _take_arrival is None:
        return False
    return bool(_take_arrival(_handle(comm), ctypes.c_longlong(ns_from_now)))


def hint_progress(comm, done, total):
    """Whether this report announced the arrival."""
    if _take_progress is None:
        return False
    return bool(_take_progress(_handle(comm), ctypes.c_double(done), ctypes.c_double(total)))


def expected_wait_ns(comm):
    """How long this rank is expected to wait for others; None: not known."""
    ns = -1 if _tell is None else _tell(_handle(comm))
    return None if ns < 0 else ns
