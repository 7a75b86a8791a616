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
from imbrex.replay.evaluate import IDEAL, Replayer
from imbrex.replay.from_log import schedule_from_log
from imbrex.replay.run_log import read_run_log

# Fields of a log's header.
BUDGET_AT, END_AT, COMMON_START_AT, COMMON_END_AT = 16, 64, 144, 152


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


def of_three_chunks() -> bytes:
    long = Rank()
    for k in range(130):
        long.add(100 * k, 100 * k + 50, "MPI_Barrier", ALL, site=7)
    return log_bytes(1, long, {1: range(2)}, end_ns=23_100)


def cut_off(file: Path) -> None:
    """Two of three chunks of a log, as a copy that broke off has them."""
    file.write_bytes(of_three_chunks()[:-4096])


def cut_in_half(file: Path) -> None:
    whole = of_three_chunks()
    file.write_bytes(whole[: len(whole) // 2])


def cut_off_at_once(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:1000])


def of_another(file: Path) -> None:
    file.write_bytes((file.parent / "rank-0.log").read_bytes())


def empty(file: Path) -> None:
    file.write_bytes(log_bytes(1, Rank(), {1: range(2)}, end_ns=23_100))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (Path.unlink, "the log of rank 1 of 2 is missing; run again with --keep-log"),
        (partial, "the log of rank 1 covers "),
        (cut_off, "the file has 12,288 of the 16,384 bytes of the log of rank 1: copy the run"),
        (cut_in_half, "the file has 8,192 of the 16,384 bytes of the log of rank 1: copy the run"),
        (cut_off_at_once, "the file has 1,000 of the 8,192 bytes of the log of rank 1: copy the"),
        (of_another, "this is the log of rank 0, not of 1: copy the run directory again"),
        (empty, "rank 1 has no logged call, but others communicate with it: the log is empty"),
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


def test_how_much_memory_a_whole_log_takes_is_told(tmp_path: Path) -> None:
    """At level 3 one of eight windows was kept."""
    folder = write_logged_run(tmp_path / "run", ranks())
    file = folder / "log" / "rank-0.log"
    content = bytearray(log_bytes(0, ranks()[0], {1: range(2)}, end_ns=23_100, level=3))
    struct.pack_into("<Q", content, BUDGET_AT, 64 << 20)
    file.write_bytes(content)
    partial(folder / "log" / "rank-1.log")
    with pytest.raises(ImbrexError, match=r"rank-0.log: .* run again with --keep-log --log 513M"):
        read_run_log(load_run(folder))


def test_how_many_logs_are_missing_is_told(tmp_path: Path) -> None:
    folder = write_logged_run(tmp_path / "run", ranks())
    for rank in (0, 1):
        (folder / "log" / f"rank-{rank}.log").unlink()
    with pytest.raises(ImbrexError, match="the logs of rank 0 and 1 more of 2 are missing"):
        read_run_log(load_run(folder))


def test_a_rank_that_never_communicates_has_nothing_to_replay(tmp_path: Path) -> None:
    first, second, idle = ranks()[0], ranks()[1], Rank()
    folder = write_logged_run(tmp_path / "run", [first, second, idle], comms={1: range(2)})
    log = read_run_log(load_run(folder))
    made = schedule_from_log(log)
    assert made.schedule.streams == 2 and made.schedule.ranks == 3
    ends = Replayer(made.schedule).run(IDEAL).end_ns
    assert len(ends) == 2 and (ends > 0).all()


def test_ranks_that_all_never_communicate_are_refused(tmp_path: Path) -> None:
    folder = write_logged_run(tmp_path / "run", [Rank(), Rank()])
    with pytest.raises(ImbrexError, match="no rank called anything that communicates"):
        read_run_log(load_run(folder))


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
