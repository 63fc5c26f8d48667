"""The rivals `pickle` and `pickle5` of `ferry bench bundle`: containers of numpy arrays as mpi4py moves them.

A rank of a job of its own. The environment tells what to move (see programs.c); the names to measure are the
arguments. Rank 0 prints "ferry-bench NAME SECONDS" for each timed round, and at the end "ferry-bench NAME verified"
when all that arrived in the last round was what the sender had, else "ferry-bench NAME wrong". Nothing is verified
before, since the memory that this takes changes what malloc does in later rounds; a job without timed rounds comes
first.
"""
import os
import sys
import time

import numpy
from mpi4py import MPI
from mpi4py.util import pkl5

COUNT, ROWS, COLUMNS, SMALL, ROUNDS = (int(os.environ['BENCH_' + name]) for name in
                                       ('COUNT', 'ROWS', 'COLUMNS', 'SMALL', 'ROUNDS'))
BCAST = os.environ['BENCH_OP'] == 'bcast'
LEAF, SECTION, STRING, TAG = 20, 200, 20, 7
world = MPI.COMM_WORLD
RECEIVER = world.rank != 0 if BCAST else world.rank == 1


def matrix(k, rows, columns, turn):
    return (numpy.arange(rows * columns, dtype=float) * 0.1 + (k + turn)).reshape(rows, columns)


def entry(k, turn):
    """The key and the value of a small entry: of four, two scalars, a string and a matrix."""
    if k % 4 < 2:
        return 'x%d' % k, k * 0.1 + turn
    if k % 4 == 2:
        return 's%d' % k, '%0*d' % (STRING, k * 1000 + turn)
    return 'm%d' % k, matrix(k, 3, 3, turn)


def make(turn):
    if not SMALL:
        return {'m%d' % k: matrix(k, ROWS, COLUMNS, turn) for k in range(COUNT)}
    top = {}
    for k in range(SMALL):
        key, value = entry(k, turn)
        section = top.setdefault('g%d' % (k // SECTION), {})
        section.setdefault('l%d' % (k % SECTION // LEAF), {})[key] = value
    return top


def equal(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, numpy.ndarray):
        return isinstance(b, numpy.ndarray) and a.shape == b.shape and bool((a == b).all())
    return type(a) is type(b) and a == b


def move(comm, data):
    if BCAST:
        return comm.bcast(data, root=0)
    if world.rank == 0:
        comm.send(data, dest=1, tag=TAG)
    elif world.rank == 1:
        return comm.recv(source=0, tag=TAG)
    return None


def start():
    """A start in common, which lies ahead for all ranks."""
    moment = world.allreduce(time.monotonic(), op=MPI.MAX) + 300e-6
    time.sleep(max(0, moment - time.monotonic() - 100e-6))
    while time.monotonic() < moment:
        pass


def one_round(comm, turn):
    """Seconds from the first start to the last end, and what this rank got."""
    data = make(turn) if world.rank == 0 else None
    start()
    begin = time.monotonic()
    got = move(comm, data)
    end = time.monotonic()
    return world.allreduce(end, op=MPI.MAX) - world.allreduce(begin, op=MPI.MIN), got


def measure(name, comm):
    right = True
    for turn in range(ROUNDS + 1):  # the first one is not timed
        seconds, got = one_round(comm, turn)
        if RECEIVER and turn == ROUNDS:
            right = equal(make(turn), got)
        if world.rank == 0 and turn > 0:
            print('ferry-bench %s %.9g' % (name, seconds))
        del got
    right = world.allreduce(right, op=MPI.LAND)
    if world.rank == 0:
        print('ferry-bench %s %s' % (name, 'verified' if right else 'wrong'))


for wanted in sys.argv[1:]:
    measure(wanted, pkl5.Intracomm(world) if wanted == 'pickle5' else world)
