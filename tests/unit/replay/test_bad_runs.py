"""A run or a network that cannot be replayed is refused with one line: which file, which rank or
key, and what to do."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.analysis.jobs import ALL, RECV, SEND, Rank
from tests.unit.logs import log_bytes, write_logged_run

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import load_interconnects
from imbrex.profile.run import load_run
from imbrex.replay.run_log import read_run_log

# Fields of a log's header.
END_AT, COMMON_START_AT, COMMON_END_AT = 64, 144, 152


def ranks() -> list[Rank]:
    a, b = Rank(), Rank()
    a.add(5_000, 6_000, "MPI_Send", SEND, 50, 1, site=3, tag=7)
    a.add(12_000, 13_000, "MPI_Barrier", ALL, site=7)
    b.add(1_001, 6_100, "MPI_Recv", RECV, 50, 0, site=3, tag=7)
    b.add(10_000, 13_100, "MPI_Barrier", ALL, site=7)
    return [a, b]


def patched(at: int, value: int) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        content = bytearray(file.read_bytes())
        struct.pack_into("<q", content, at, value)
        file.write_bytes(content)

    return change


def partial(file: Path) -> None:
    file.write_bytes(log_bytes(1, ranks()[1], {1: range(2)}, end_ns=23_100, level=1))


def empty(file: Path) -> None:
    file.write_bytes(log_bytes(1, Rank(), {1: range(2)}, end_ns=23_100))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (Path.unlink, "the log of rank 1 of 2 is missing; run again with --keep-log"),
        (partial, "the log of rank 1 covers "),
        (empty, "rank 1 has no logged call: the log is empty"),
        (patched(END_AT, 0), "rank 1 did not come to MPI_Finalize: nothing to replay"),
        (patched(COMMON_END_AT, -5), "the clock of rank 1 was not compared with the others'"),
    ],
)
def test_a_log_that_cannot_be_replayed(
    damage: Callable[[Path], None], told: str, tmp_path: Path
) -> None:
    folder = write_logged_run(tmp_path / "run", ranks(), hosts=("node1", "node2"))
    assert read_run_log(load_run(folder)) is not None
    damage(folder / "log" / "rank-1.log")
    with pytest.raises(ImbrexError) as error:
        read_run_log(load_run(folder))
    assert str(error.value).startswith(f"{folder / 'log' / 'rank-1.log'}: {told}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "bandwidth_mb_per_s = 0",
        "bandwidth_mb_per_s = -5",
        "bandwidth_mb_per_s = nan",
        "bandwidth_mb_per_s = 1e300",
        "bandwidth_mb_per_s = 100\nlatency_ns = 5",
        "bandwidth_mb_per_s = 100\noverhead_us = -1",
        "bandwidth_mb_per_s = 100\neager_limit_bytes = -1",
        "bandwidth_mb_per_s = 100\nbandwith = 5",
        "bandwidth_mb_per_s = 1\n[[network]]\nname = 'x'\nlatency_us = 1\nbandwidth_mb_per_s = 1",
    ],
)
def test_a_network_with_nonsense(lines: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"[[network]]\nname = 'x'\nlatency_us = 1\n{lines}\n")
    with pytest.raises(ImbrexError) as error:
        load_interconnects(str(file))
    told = str(error.value)
    assert told.startswith(f"{file}:") and "\n" not in told
    # The line, and the key or the network.
    assert re.search(r"mine\.toml:\d+: .*'(x|\w+_\w+)'", told), told
