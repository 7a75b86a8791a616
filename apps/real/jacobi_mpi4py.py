"""Jacobi iteration for Laplace's equation in a strip, rows divided among the ranks, with mpi4py.

Arrays travel as buffers (Isend, Irecv), a summary as pickled objects (gather). The boundary values
are those of a harmonic function, which the iteration must approach.

    mpirun -n 2 python jacobi_mpi4py.py --n 64 --iterations 6000
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI


def harmonic(x, y):
    """The exact solution: harmonic, and not symmetric in anything."""
    return np.exp(np.pi * (x - 1.0)) * np.sin(np.pi * y) + x * y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=32, help="points in each dimension")
    parser.add_argument("--iterations", type=int, default=1500)
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    rank, size, n = comm.rank, comm.size, options.n

    first, last = n * rank // size, n * (rank + 1) // size
    x = np.arange(first, last + 2)[:, None] / (n + 1)
    y = np.arange(n + 2)[None, :] / (n + 1)
    exact = harmonic(x, y)
    u = exact.copy()
    u[1:-1, 1:-1] = 0.0
    if rank > 0:
        u[0, 1:-1] = 0.0
    if rank < size - 1:
        u[-1, 1:-1] = 0.0
    above = rank - 1 if rank > 0 else MPI.PROC_NULL
    below = rank + 1 if rank < size - 1 else MPI.PROC_NULL

    start_error = comm.allreduce(float(np.abs(u - exact).max()), op=MPI.MAX)
    for _ in range(options.iterations):
        requests = [
            comm.Irecv([u[0], MPI.DOUBLE], above, 1),
            comm.Irecv([u[-1], MPI.DOUBLE], below, 2),
            comm.Isend([u[1].copy(), MPI.DOUBLE], above, 2),
            comm.Isend([u[-2].copy(), MPI.DOUBLE], below, 1),
        ]
        MPI.Request.Waitall(requests)
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

    error = comm.allreduce(float(np.abs(u - exact).max()), op=MPI.MAX)
    sums = comm.gather(float(np.sum(u[1:-1, 1:-1] ** 2)), root=0)
    # the slowest error shrinks by cos(pi / (n + 1)) in each iteration
    expected = 1.5 * start_error * np.cos(np.pi / (n + 1)) ** options.iterations + 4.0 / n**2
    passed = error < expected
    if rank == 0:
        verdict = "PASSED" if passed else "FAILED"
        print(f"jacobi: {n} x {n} points, {size} ranks, error {error:.3e}, allowed {expected:.3e}")
        print(f"verification: {verdict} value={np.sqrt(sum(sums)) / n:.15e}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
