"""What a progress thread does for mpi4py, two ranks: as helped.f90 beside this."""

import time

import numpy as np
from mpi4py import MPI

WORDS = 1 << 20
PATIENCE_S = 20

comm = MPI.COMM_WORLD
other = 1 - comm.rank
sent = [np.arange(WORDS, dtype=np.int32) + 1000003 * (rank + 1) for rank in range(2)]
found = np.full(WORDS, -1, dtype=np.int32)
comm.Barrier()
requests = [comm.Irecv(found, other), comm.Isend(sent[comm.rank], other)]
give_up = time.monotonic() + PATIENCE_S
while found[-1] == -1 and time.monotonic() < give_up:
    pass
moved = bool(found[-1] != -1)
MPI.Request.Waitall(requests)
right = MPI.Query_thread() == MPI.THREAD_MULTIPLE and np.array_equal(found, sent[other])
moved, right = comm.allreduce(moved, MPI.LAND), comm.allreduce(right, MPI.LAND)
if comm.rank == 0:
    print("moved" if moved else "not moved")
    print("right" if right else "wrong")
