#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training: a small network learns from batches that are spread over the ranks.

Each rank computes the gradient of its own batch, MPI_Allreduce adds the gradients up (2 MiB with the
defaults), and every rank takes the same step: plain mpi4py and numpy, nothing of clv. The last rank has a
larger batch, always: a lasting straggler, as real loaders and heterogeneous nodes make them.

Checked: all ranks end with the same parameters, bit by bit, since MPI gives all the same sums; the loss
falls; and rank 0, alone over all batches, comes to the same losses up to rounding.

    mpirun -n 8 python3 train.py [--steps 40] [--width 512] [--batch 4] [--uneven 4] [--pace 0]

--pace lets a rank sleep so many us per sample, in place of the work that one costs in a larger network.
The first half of the steps does not count in times. Prints one line, exit 1 when a check fails.
"""
import argparse
import sys
import time

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD


class Network:
    """x to tanh(x W) v: W is learnt, v is given."""

    def __init__(self, width):
        draw = numpy.random.default_rng(1)
        self.weights = draw.standard_normal((width, width)) / width**0.5
        self.teacher = draw.standard_normal((width, width)) / width**0.5
        self.out = draw.standard_normal(width) / width**0.5

    def samples(self, step, rank, n):
        """Those of a rank at a step, the same whoever asks."""
        inputs = numpy.random.default_rng((step, rank)).standard_normal((n, len(self.out)))
        return inputs, numpy.tanh(inputs @ self.teacher) @ self.out

    def gradient(self, step, rank, n, gradient):
        """Adds that of a batch to gradient; returns its summed loss."""
        inputs, wanted = self.samples(step, rank, n)
        hidden = numpy.tanh(inputs @ self.weights)
        error = hidden @ self.out - wanted
        gradient += inputs.T @ (error[:, None] * self.out * (1 - hidden**2))
        return float(error @ error) / 2

    def learn(self, gradient, n_samples):
        self.weights -= gradient / (len(self.out) + n_samples)


def batch_of(options, rank):
    return options.batch * (options.uneven if comm.size > 1 and rank == comm.size - 1 else 1)


def train(options):
    """Over all ranks; the network, the losses of this rank's batches and what steps took, s."""
    network, losses, times = Network(options.width), [], []
    gradient = numpy.empty_like(network.weights)
    mine = batch_of(options, comm.rank)
    n_samples = sum(batch_of(options, rank) for rank in range(comm.size))
    for step in range(options.steps):
        began = time.perf_counter()
        gradient[:] = 0
        losses.append(network.gradient(step, comm.rank, mine, gradient))
        time.sleep(options.pace * mine * 1e-6)
        called = time.perf_counter()
        comm.Allreduce(MPI.IN_PLACE, gradient)
        network.learn(gradient, n_samples)
        times.append((time.perf_counter() - began, time.perf_counter() - called))
    return network, losses, times


def train_alone(options):
    """The same by one process: the losses of all steps."""
    network, losses = Network(options.width), []
    batches = [batch_of(options, rank) for rank in range(comm.size)]
    for step in range(options.steps):
        gradient = numpy.zeros_like(network.weights)
        losses.append(sum(network.gradient(step, rank, n, gradient) for rank, n in enumerate(batches)))
        network.learn(gradient, sum(batches))
    return losses


def is_right(options, network, losses):
    """On all ranks."""
    bits = numpy.frombuffer(network.weights.tobytes(), dtype=numpy.uint64)
    others = bits.copy()
    comm.Bcast(others, root=0)
    right = bool((bits == others).all())
    losses = comm.reduce(numpy.array(losses), root=0)
    if comm.rank == 0:
        right &= numpy.allclose(losses, train_alone(options), rtol=1e-6)
        right &= bool(losses[options.steps // 2 :].mean() < losses[: options.steps // 2].mean())
    return comm.allreduce(right, op=MPI.LAND), losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("steps", 40), ("width", 512), ("batch", 4), ("uneven", 4), ("pace", 0)):
        parser.add_argument("--" + name, type=int, default=value)
    options = parser.parse_args()
    network, losses, times = train(options)
    right, losses = is_right(options, network, losses)
    steps, calls = numpy.array(times[options.steps // 2 :]).mean(axis=0)
    slowest = comm.reduce(steps, op=MPI.MAX, root=0)
    calls = comm.reduce(calls, root=0)
    if comm.rank == 0:
        print(f"train-result ranks={comm.size} steps={options.steps} bytes={network.weights.nbytes} "
              f"step_ms={1e3 * slowest:.1f} in_call_ms={1e3 * calls / comm.size:.1f} "
              f"loss={losses[-1]:.6g} check={'ok' if right else 'failed'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
