"""The overlap figures that other benchmarks quote, from our own exchanges. All times in one unit.

pure: the exchange without work; cpu: the work alone; overall: both; each formula as in its
benchmark's source.
"""

from __future__ import annotations


def osu_percent(pure: float, cpu: float, overall: float, test: float = 0.0) -> float:
    """OSU micro-benchmarks, nonblocking collectives; `test` is the time spent in MPI_Test."""
    return max(0.0, 100 - (overall - (cpu - test)) / pure * 100)


def imb_percent(pure: float, cpu: float, overall: float, *, smaller: bool = False) -> float:
    """Intel MPI Benchmarks: IMB-NBC divides by the larger, its I/O suite by the smaller time."""
    divisor = min(pure, cpu) if smaller else max(pure, cpu)
    return 100 * min(1.0, max(0.0, (pure + cpu - overall) / divisor))


def smb_availability(pure: float, cpu: float, overall: float) -> float:
    """Sandia SMB: the share of the exchange's time that was left for work."""
    return 1 - (overall - cpu) / pure


def madmpi_ratio(pure: float, cpu: float, overall: float) -> float:
    """MadMPI's benchmark: 0 is full overlap, 1 none."""
    return (overall - pure) / cpu if cpu < pure else (overall - cpu) / pure
