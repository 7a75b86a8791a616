"""The call log on real ranks: programs whose every call is known (programs/logged.c and .f90)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.profile.call_log import (
    ANY,
    END_UNSEEN,
    NOBODY,
    OPEN,
    PROC_NULL,
    CallLog,
    Flag,
    Kind,
    read_call_log,
)
from imbrex.profile.call_log import SHARED as LOCK_SHARED
from imbrex.profile.part import read_part

pytestmark = pytest.mark.untimed

Build = Callable[..., Path]
Run = Callable[..., Any]

KEEP = {"IMBREX_KEEP_LOG": "1"}
SHARED = "its own request, or one that the library shares between what completes at once"

WORLD, TWIN, HALF, CROSS, SECOND, WINDOW, IDUP = "W", "twin", "half", "cross", "second", "win", "i"


def _steps(rank: int) -> list[tuple[Any, ...]]:
    """operation, kind, bytes, peer, tag, sequence, communicator; of completions how many ended."""
    other = 1 - rank
    send = [
        ("MPI_Send", Kind.SEND, 100, 1, 7, 1, WORLD),
        ("MPI_Ssend", Kind.SYNC_SEND, 100, 1, 7, 2, WORLD),
        ("MPI_Send", Kind.SEND, 0, 1, 8, 1, WORLD),
    ]
    receive = [
        ("MPI_Recv", Kind.RECV, 100, 0, 7, 1, WORLD),
        ("MPI_Recv", Kind.RECV, 100, 0, 7, 2, WORLD),
        ("MPI_Recv", Kind.RECV, 0, 0, 8, 1, WORLD),
    ]

    def done(operation: str) -> tuple[Any, ...]:
        return (operation, Kind.COMPLETION, 0, NOBODY, 0, 0, None)

    def everybody(operation: str, number: int, comm: str = WORLD, size: int = 0) -> tuple[Any, ...]:
        return (operation, Kind.ALL, size, NOBODY, 0, number, comm)

    def epoch(
        operation: str, peer: int = NOBODY, number: int = 0, lock: int = 0
    ) -> tuple[Any, ...]:
        return (operation, Kind.EPOCH, 0, peer, lock, number, WINDOW)

    started = [
        ("MPI_Startall", Kind.SEND, 256, other, 11),
        ("MPI_Startall", Kind.RECV, 256, other, 11),
    ]
    steps: list[tuple[Any, ...]] = [
        *(send if rank == 0 else receive),
        ("MPI_Irecv", Kind.RECV, 1 << 16, other, 1, 1, WORLD),
        ("MPI_Irecv", Kind.RECV, 1000, other, 2, 1, WORLD),
        ("MPI_Isend", Kind.SEND, 1 << 16, other, 1, 1, WORLD),
        ("MPI_Isend", Kind.SEND, 1000, other, 2, 1, WORLD),
        done("MPI_Waitall"),
        ("MPI_Irecv", Kind.RECV, 10, other, 3, 1, WORLD),
        ("MPI_Irecv", Kind.RECV, 10, PROC_NULL, 3, 0, WORLD),
        ("MPI_Send", Kind.SEND, 10, other, 3, 1, WORLD),
        done("MPI_Wait"),
        done("MPI_Wait"),
        ("MPI_Sendrecv", Kind.SEND, 11, other, 4, 1, WORLD),
        ("MPI_Sendrecv", Kind.RECV, 11, other, 4, 1, WORLD),
        ("MPI_Irecv", Kind.RECV, 5, other, 5, 1, WORLD),
        ("MPI_Irecv", Kind.RECV, 6, other, 6, 1, WORLD),
        ("MPI_Ssend", Kind.SYNC_SEND, 1, PROC_NULL, 5, 0, WORLD),
        ("MPI_Send", Kind.SEND, 5, other, 5, 1, WORLD),
        ("MPI_Send", Kind.SEND, 6, other, 6, 1, WORLD),
        done("MPI_Waitany"),
        done("MPI_Waitsome"),
        ("MPI_Irecv", Kind.RECV, 9, other, 9, 1, WORLD),
        everybody("MPI_Barrier", 1),
        everybody("MPI_Barrier", 2),
        ("MPI_Send", Kind.SEND, 9, other, 9, 1, WORLD),
        done("MPI_Test"),
        ("MPI_Irecv", Kind.RECV, 10, other, 99, 1, WORLD),
        done("MPI_Wait"),
        *((*step, number, WORLD) for number in (1,) for step in started),
        done("MPI_Waitall"),
        *((*step, 2, WORLD) for step in started),
        done("MPI_Waitall"),
        *(("MPI_Bsend", Kind.BUFFERED_SEND, 12 + i, other, 12, 1 + i, WORLD) for i in range(3)),
        ("MPI_Probe", Kind.PROBE, 12, other, 12, 0, WORLD),
        ("MPI_Mprobe", Kind.PROBE, 12, other, 12, 1, WORLD),
        ("MPI_Mrecv", Kind.RECV, 12, other, 12, 1, WORLD),
        ("MPI_Mprobe", Kind.PROBE, 13, other, 12, 2, WORLD),
        ("MPI_Imrecv", Kind.RECV, 13, other, 12, 2, WORLD),
        ("MPI_Recv", Kind.RECV, 14, other, 12, 3, WORLD),
        done("MPI_Wait"),
        # the barrier while measuring was paused is the third
        everybody("MPI_Comm_dup", 4),
        everybody("MPI_Comm_split", 5),
        everybody("MPI_Allreduce", 1, TWIN, 4),
        ("MPI_Bcast", Kind.FROM_ROOT, 300, 1, 0, 2, TWIN),
        ("MPI_Reduce", Kind.TO_ROOT, 4, 0, 0, 6, WORLD),
        ("MPI_Scan", Kind.SCAN, 4, NOBODY, 0, 7, WORLD),
        everybody("MPI_Ialltoall", 8, WORLD, 100),
        done("MPI_Wait"),
        everybody("MPI_Ibarrier", 3, TWIN),
        done("MPI_Wait"),
        everybody("MPI_Comm_idup", 1, HALF),
        done("MPI_Wait"),
        everybody("MPI_Barrier", 1, IDUP),
        everybody("MPI_Intercomm_create", 2, HALF),
        ("MPI_Send", Kind.SEND, 14, 0, 14, 1, CROSS)
        if rank == 0
        else ("MPI_Recv", Kind.RECV, 14, 0, 14, 1, CROSS),
        everybody("MPI_Comm_dup", 9),
        everybody("MPI_Barrier", 1, SECOND),
        everybody("MPI_Win_create", 10),
        epoch("MPI_Win_fence", number=1),
        ("MPI_Put", Kind.PUT, 40, other, 0, 0, WINDOW),
        epoch("MPI_Win_fence", number=2),
        epoch("MPI_Win_lock", other, lock=LOCK_SHARED),
        ("MPI_Get", Kind.GET, 30, other, 0, 0, WINDOW),
        epoch("MPI_Win_flush", other),
        ("MPI_Rput", Kind.PUT, 20, other, 0, 0, WINDOW),
        done("MPI_Wait"),
        epoch("MPI_Win_unlock", other),
        ("MPI_Win_free", Kind.ALL, 0, NOBODY, 0, 3, WINDOW),
        everybody("MPI_Barrier", 11),
    ]
    return steps


def _numbers(log: CallLog, steps: list[tuple[Any, ...]]) -> dict[str, int]:
    """Communicators of the steps by their numbers: as they are met first."""
    found: dict[str, int] = {}
    for step, call in zip(steps, log.calls, strict=False):
        if step[6] is not None:
            found.setdefault(step[6], int(call["comm"]))
    return found


def _check_steps(log: CallLog, operations: list[str], rank: int) -> dict[str, int]:
    steps = _steps(rank)
    numbers = _numbers(log, steps)
    found = [
        (
            operations[call["operation"]],
            Kind(call["kind"]),
            int(call["bytes"]),
            int(call["peer"]),
            int(call["tag"]),
            int(call["sequence"]),
            next((n for n, number in numbers.items() if number == call["comm"]), None),
        )
        for call in log.calls
    ]
    assert found == steps
    assert len(set(numbers.values())) == len(numbers)
    assert log.complete
    return numbers


def _check_times(log: CallLog) -> None:
    calls = log.calls
    assert (calls["exit_ns"] > calls["enter_ns"]).all()
    first = (calls["flags"] & Flag.FIRST) != 0
    assert (np.diff(calls["enter_ns"][first]) > 0).all()
    lasted = calls["exit_ns"] - calls["enter_ns"]
    # Call time before a call holds at least that of the logged calls before it.
    before = np.concatenate([[0], np.cumsum(lasted[first])[:-1]])
    assert (calls["call_before_ns"][first] >= before).all()


def _ends(log: CallLog, operation: int) -> list[int]:
    """Positions of the records that end what calls of an operation begin; -1: none."""
    at = {int(id_): i for i, id_ in enumerate(log.calls["id"])}
    chosen = log.calls[log.calls["operation"] == operation]
    return [at.get(int(end), -1) for end in chosen["end_call"]]


def _check_ends(log: CallLog, operations: list[str]) -> None:
    names = [operations[o] for o in log.calls["operation"]]
    waits = [i for i, name in enumerate(names) if name.startswith(("MPI_Wait", "MPI_Test"))]
    receives = _ends(log, operations.index("MPI_Irecv"))
    null = names.index("MPI_Irecv", names.index("MPI_Waitall"))
    assert receives[:3] == [waits[0], waits[0], waits[1]]
    assert receives[3] in {null + 1, waits[2]}, SHARED
    assert sorted(receives[4:6]) == waits[3:5]
    assert receives[6:] == [waits[5], waits[6]]
    cancelled = log.calls[waits[6] - 1]
    assert cancelled["flags"] & Flag.CANCELLED
    starts = _ends(log, operations.index("MPI_Startall"))
    assert starts == [waits[7]] * 2 + [waits[8]] * 2
    assert _ends(log, operations.index("MPI_Rput"))[0] in {waits[-1], waits[-1] - 1}, SHARED
    assert _ends(log, operations.index("MPI_Put")) == [-1]
    assert log.calls["end_call"][names.index("MPI_Put")] == OPEN
    # Only the second fence ends an epoch, and so waits for all; Win_free need not.
    fences = [i for i, name in enumerate(names) if name in ("MPI_Win_fence", "MPI_Win_free")]
    need_not = (log.calls["flags"][fences] & Flag.VARYING) != 0
    assert need_not.tolist() == [True, False, True]
    wildcards = log.calls[(log.calls["flags"] & Flag.WILDCARD) != 0]
    assert len(wildcards) in {3, 4}
    assert (wildcards["peer"] != ANY).all()
    paused = np.flatnonzero(log.calls["flags"] & Flag.AFTER_PAUSE)
    assert [names[i] for i in paused] == ["MPI_Bsend"]


def _check_communicators(logs: list[CallLog], numbers: list[dict[str, int]]) -> None:
    for name in (WORLD, TWIN, CROSS, SECOND, WINDOW):
        assert numbers[0][name] == numbers[1][name], name
    for name in (HALF, IDUP):
        assert numbers[0][name] != numbers[1][name], name
    for rank, log in enumerate(logs):
        own = {name: log.communicators[number] for name, number in numbers[rank].items()}
        assert not any(c.met or c.foreign for c in own.values())
        assert own[WORLD].peers == own[TWIN].peers == own[WINDOW].peers == [0, 1]
        assert own[HALF].peers == [rank]
        assert own[CROSS].inter
        assert own[CROSS].peers == [1 - rank]
        assert own[WINDOW].window
        assert own[WORLD].rank == rank


def test_log_holds_exactly_the_calls_also_of_a_killed_rank(
    compiled: Build, measured: Run, tmp_path: Path
) -> None:
    run = measured(compiled("logged"), "kill", check=False)
    files = [run.folder / "parts" / f"rank-{rank}.part" for rank in (0, 1)]
    # The launcher ends the other rank when one is killed, perhaps within the last barrier.
    logs = [read_call_log(file) for file in files]
    operations = read_part(files[0]).operations
    whole = [len(log.calls) == len(_steps(0)) for log in logs]
    assert any(whole)
    numbers = [_check_steps(log, operations, rank) for rank, log in enumerate(logs) if whole[rank]]
    for log, complete in zip(logs, whole, strict=True):
        _check_times(log)
        if complete:
            _check_ends(log, operations)
    if all(whole):
        _check_communicators(logs, numbers)


def test_kept_log_of_a_run_that_ended_well(compiled: Build, measured: Run) -> None:
    run = measured(compiled("logged"), "steps", environment=KEEP)
    logs = [read_call_log(run.folder / "log" / f"rank-{rank}.log") for rank in (0, 1)]
    numbers = [_check_steps(log, run.operations, rank) for rank, log in enumerate(logs)]
    _check_communicators(logs, numbers)
    sites = json.loads((run.folder / "sites.json").read_text())["sites"]
    for log in logs:
        _check_times(log)
        _check_ends(log, run.operations)
        assert log.common_numbers
        assert log.end_ns > log.calls["exit_ns"].max()
        assert set(log.calls["site"]) <= {site["id"] for site in sites} - {0}
    # The last barrier: nobody leaves it before the other entered it.
    last = [log.calls[-1:] for log in logs]
    enter = [log.common_ns(call["enter_ns"])[0] for log, call in zip(logs, last, strict=True)]
    leave = [log.common_ns(call["exit_ns"])[0] for log, call in zip(logs, last, strict=True)]
    assert max(enter) <= min(leave) + 50_000


def test_threads(compiled: Build, measured: Run) -> None:
    run = measured(compiled("logged"), "threads", environment=KEEP, check=False)
    if run.process.returncode == 77:
        pytest.skip("this library has no MPI_THREAD_MULTIPLE")
    assert run.process.returncode == 0, run.process.stderr
    for rank in (0, 1):
        calls = read_call_log(run.folder / "log" / f"rank-{rank}.log").calls
        assert len(calls) == 2 * 3 * 500
        for tag in (100, 101):
            for kind in (Kind.SEND, Kind.RECV):
                stream = calls[(calls["tag"] == tag) & (calls["kind"] == kind)]
                assert len(set(stream["thread"])) == 1
                assert list(stream["sequence"]) == list(range(1, 501))
                assert list(stream["bytes"]) == list(range(1, 501))
                ends = np.isin(stream["end_call"], calls["id"])
                assert ends.all()


def test_budget_of_a_few_calls(compiled: Build, measured: Run) -> None:
    small = {**KEEP, "IMBREX_LOG": "256K"}
    run = measured(compiled("logged"), "threads", environment=small, check=False)
    if run.process.returncode == 77:
        pytest.skip("this library has no MPI_THREAD_MULTIPLE")
    for rank in (0, 1):
        log = read_call_log(run.folder / "log" / f"rank-{rank}.log")
        assert log.budget_bytes == 256 << 10
        assert len(log.calls) < 4096
        assert log.covered_ns(log.end_ns) <= log.end_ns
        seen = log.calls[log.calls["kind"] == Kind.RECV]
        ended = (seen["end_call"] != END_UNSEEN) & (seen["end_call"] != OPEN)
        assert (seen["sequence"][ended] == seen["bytes"][ended]).all()


@pytest.mark.parametrize(("value", "line"), [("off", ""), ("nonsense", "IMBREX_LOG=nonsense")])
def test_no_log(compiled: Build, measured: Run, value: str, line: str) -> None:
    run = measured(compiled("logged"), "steps", environment={**KEEP, "IMBREX_LOG": value})
    assert not (run.folder / "log").exists()
    assert line in run.process.stderr
    assert run.total("MPI_Barrier", "count") > 0


@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
def test_fortran(mpi: Any, measured: Run, tmp_path: Path, module: str) -> None:
    compiler = shutil.which(f"mpif90.{mpi.name}")
    if compiler is None:
        pytest.skip(f"mpif90.{mpi.name} is not installed")
    program = tmp_path / "logged-fortran"
    source = Path(__file__).parent / "programs" / "logged.f90"
    flags = ["-cpp", "-ffree-line-length-none", *(["-DF08"] if module == "mpi_f08" else [])]
    command = [compiler, *flags, "-w", "-o", str(program), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        pytest.skip(f"{compiler} has no module {module}")
    run = measured(program, environment=KEEP)
    for rank in (0, 1):
        log = read_call_log(run.folder / "log" / f"rank-{rank}.log")
        other = 1 - rank
        found = [
            (Kind(c["kind"]).name, int(c["bytes"]), int(c["peer"]), int(c["tag"]))
            for c in log.calls
        ]
        exchanges = [
            step
            for i in (1, 2, 3)
            for step in (
                ("RECV", 80 * i, other, 40 + i),
                ("SEND", 80 * i, other, 40 + i),
                ("COMPLETION", 0, NOBODY, 0),
            )
        ]
        assert found == [
            *exchanges,
            ("ALL", 0, NOBODY, 0),
            ("SEND" if rank == 0 else "RECV", 56, other, 50),
            ("FROM_ROOT", 160, 1, 0),
            ("ALL", 0, NOBODY, 0),
        ]
        twin = set(log.calls["comm"][-3:-1])
        assert len(twin) == 1
        assert log.communicators[int(twin.pop())].peers == [0, 1]
