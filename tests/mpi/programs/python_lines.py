"""Calls of MPI at lines that it prints, from functions, threads, generators and made code."""

import sys
import threading

import mpi4py

mpi4py.rc.threads = "threads" in sys.argv
from mpi4py import MPI  # noqa: E402

comm = MPI.COMM_WORLD
other = comm.size - 1 - comm.rank
lines = set()


def here():
    frame = sys._getframe(1)
    lines.add((frame.f_lineno, frame.f_code.co_qualname))
    return other


class Exchange:
    def both(self, tag):
        comm.sendrecv(None, here(), tag, None, other, tag)


def stages(tag):
    for _ in range(3):
        yield comm.sendrecv(None, here(), tag, None, other, tag)


for i in range(5):
    Exchange().both(1)
    list(stages(1))
    (lambda tag: comm.sendrecv(None, here(), tag, None, other, tag))(2)
    # Code that is made and dropped: the next may lie where this one did.
    exec("\n" * i + "comm.barrier()")
if "threads" in sys.argv:
    threads = [threading.Thread(target=Exchange().both, args=(10 + i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
if comm.rank == 0:
    for line, function in sorted(lines):
        print(line, function)
