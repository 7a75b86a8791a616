"""The call log holds the blocks of v and w collectives as they are (programs/blocks.c, .f90)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.block_sizes import block_sizes
from imbrex.profile.call_log import Kind, read_call_log

pytestmark = pytest.mark.untimed

RANKS = 3
KEEP = {"IMBREX_KEEP_LOG": "1"}


def block(a: int, b: int) -> int:
    return 0 if b == (a + 2) % RANKS else 1 + 3 * a + 7 * b


def symmetric(a: int, b: int) -> int:
    return 1 + min(a, b) + 5 * max(a, b)


def wide(a: int, b: int) -> int:
    return 8 if (a + b) % 2 else 2


def sent(size: Callable[[int, int], int]) -> list[list[int]]:
    return [[size(rank, peer) for peer in range(RANKS)] for rank in range(RANKS)]


def known_to(one: int) -> list[list[int]]:
    return [[4 * (2 + k * k) for k in range(RANKS)] if r == one else [] for r in range(RANKS)]


NONE: list[list[int]] = [[]] * RANKS
CASES = {
    "alltoallv": sent(lambda a, b: 4 * block(a, b)),
    "derived": sent(lambda a, b: 6 * block(a, b)),
    "ialltoallv": sent(lambda a, b: 4 * block(a, b)),
    "inplace": sent(lambda a, b: 4 * symmetric(a, b)),
    "alltoallw": sent(lambda a, b: wide(a, b) * block(a, b)),
    "winplace": sent(lambda a, b: 8 * symmetric(a, b)),
    "allgatherv": known_to(0),
    "gatherv": known_to(1),
    "scatterv": known_to(1),
    "equal": NONE,
    "groups": NONE,
}


def told(folder: Path) -> list[list[list[int]]]:
    """Of each rank the blocks of its collectives, in their order."""
    ranks = []
    for rank in range(RANKS):
        log = read_call_log(folder / "log" / f"rank-{rank}.log")
        assert not np.isin(log.calls["kind"], Kind.BLOCKS).any()
        found = block_sizes(log.blocks)
        for comm, sequence, persistent in found:
            assert not persistent
            whole = log.calls[(log.calls["comm"] == comm) & (log.calls["sequence"] == sequence)]
            assert len(whole) == 1
        rows = [found[key].bytes.astype(int).tolist() for key in sorted(found)]
        assert all(not any(row[RANKS:]) for row in rows)
        ranks.append([row[:RANKS] for row in rows])
    return ranks


@pytest.mark.parametrize("case", CASES)
def test_blocks_as_they_are_sent(
    compiled: Callable[..., Path], measured: Callable[..., Any], case: str
) -> None:
    run = measured(compiled("blocks"), case, ranks=RANKS, environment=KEEP)
    assert told(run.folder) == [[row] if row else [] for row in CASES[case]]


def test_those_of_a_persistent_collective_stand_once(
    mpi: Any, compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    run = measured(compiled("blocks"), "persistent", ranks=RANKS, environment=KEEP)
    log = read_call_log(run.folder / "log" / "rank-1.log")
    starts = log.calls[log.calls["kind"] == Kind.ALL]
    if not len(starts):
        pytest.skip(f"{mpi.name} has no persistent collectives")
    assert starts["sequence"].tolist() == [1, 1]
    found = block_sizes(log.blocks)
    assert list(found) == [(int(starts["comm"][0]), 1, True)]
    own = next(iter(found.values()))
    assert run.operations[own.operation] == "MPI_Alltoallv_init"
    assert own.bytes.tolist() == [4.0 * block(1, b) for b in range(RANKS)] + [0]


def test_a_log_of_which_half_is_used_up_says_that_they_are_not_told(
    compiled: Callable[..., Path], measured: Callable[..., Any]
) -> None:
    small = {"IMBREX_LOG": "256K"}
    run = measured(compiled("blocks"), "many", ranks=RANKS, environment=KEEP | small)
    log = read_call_log(run.folder / "log" / "rank-0.log")
    sizes = [len(own.bytes) for own in block_sizes(log.blocks).values()]
    assert (sizes[0], sizes[-1]) == (4, 0)
    assert set(sizes) == {0, 4}


def test_fortran(compiled_fortran: Callable[..., Path], measured: Callable[..., Any]) -> None:
    program = compiled_fortran("blocks", "mpi", "-fallow-argument-mismatch")
    run = measured(program, ranks=RANKS, environment=KEEP)
    first = sent(lambda a, b: 4 * block(a, b))
    second = sent(lambda a, b: wide(a, b) * block(a, b))
    assert told(run.folder) == [list(both) for both in zip(first, second, strict=True)]
