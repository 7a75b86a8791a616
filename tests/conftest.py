"""Fixtures for all tests: synthetic run directories, and the MPI libraries that are installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests import known_machine, left_behind, polling

from imbrex.profile.format import MEASURES_DTYPE, QUANTITIES, RANKS_DTYPE
from imbrex.transform import garbage

# Real ranks and networks share two cores with whatever else runs. What fails there gets two more
# tries, and the summary names it; a fault of ours fails each time.
TRIED_AGAIN = {"mpi", "network", "other_mpis"}

MOST_OF_A_REASON = 2000

# What takes longest begins first, so that at the end no worker waits for another.
LONGEST_FIRST = (
    "tests/simulated/",
    "tests/mpi/test_transform_random.py",
    "tests/other_mpis/",
    "tests/mpi/test_transform_apps.py",
    "tests/mpi/apps/",
    "tests/mpi/recorder/",
    "tests/mpi/guard/",
    "tests/mpi/test_transform_kernels.py",
    "tests/mpi/test_stuck.py",
    "tests/mpi/test_transform_cases.py",
    "tests/mpi/test_run_end_to_end.py",
    "tests/mpi/test_transform_guard.py",
    "tests/mpi/test_progress.py",
    "tests/mpi/psm2/",
    "tests/mpi/ucx/",
    "tests/mpi/test_production.py",
    "tests/mpi/armci/",
    "tests/mpi/test_run_endings.py",
    "tests/mpi/test_dying.py",
    "tests/mpi/test_traps.py",
    "tests/mpi/test_run_slurm.py",
    "tests/mpi/test_transform_measured.py",
    "tests/unit/core/test_reference.py",
    "tests/unit/formats/test_damaged_files.py",
)

# How long an example takes says nothing on such a machine.
settings.register_profile(
    "imbrex",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
    print_blob=True,
)
settings.load_profile("imbrex")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(config.rootpath).parts[1] in TRIED_AGAIN:
            item.add_marker(pytest.mark.flaky(reruns=2))
    if hasattr(config, "workerinput"):  # one of several workers
        items.sort(key=lambda item: place_of(item.path.relative_to(config.rootpath)))


def pytest_collection_finish() -> None:
    """A search over all tests, which are there until the end, takes longer than many a test."""
    garbage.leave_out()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    known_machine.give(item)
    polling.give(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that is over a limit of time leaves no ranks that spin beside all others."""
    outcome = yield
    raised = outcome.excinfo  # type: ignore[attr-defined]
    if raised is not None and issubclass(raised[0], subprocess.TimeoutExpired):
        left_behind.end(item.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a test was tried again: what passes later leaves no trace of it otherwise."""
    for report in terminalreporter.getreports("rerun"):
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message if crash else report.longreprtext
        terminalreporter.write_line(f"tried again: {report.nodeid}: {reason[:MOST_OF_A_REASON]}")


def place_of(file: Path) -> int:
    """The place of a file among those that take longest; behind them where it is none."""
    places = [n for n, name in enumerate(LONGEST_FIRST) if str(file).startswith(name)]
    return places[0] if places else len(LONGEST_FIRST)


@pytest.fixture(scope="session", autouse=True)
def _interrupts_arrive() -> None:
    """A shell's background jobs ignore SIGINT, and so would all that they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


OPERATIONS = ["MPI_Isend", "MPI_Recv", "MPI_Allreduce", "MPI_Barrier"]


@dataclass(frozen=True)
class Mpi:
    """One installed MPI: the commands of its own."""

    name: str
    mpicc: str
    mpirun: str


@pytest.fixture(scope="session", autouse=True)
def _root_may_run_mpi() -> Iterator[None]:
    """Open MPI refuses root unless both variables are set."""
    added = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    yield
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """Each of Debian's two MPI libraries; a missing one is a skip that says so."""
    name = request.param
    found = Mpi(name, f"mpicc.{name}", f"mpirun.{name}")
    for command in (found.mpicc, found.mpirun):
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed")
    return found


def measures_row(**values: Any) -> np.ndarray[Any, Any]:
    row = np.zeros(1, MEASURES_DTYPE)
    for name, value in values.items():
        row[name] = value
    return row


@pytest.fixture
def make_row() -> Callable[..., np.ndarray[Any, Any]]:
    """One row of measures.npy; fields not named are 0."""
    return measures_row


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Write a small run directory: two ranks, three sites, known sums."""

    def make(name: str = "run", **changes: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        rows = []
        for rank in range(2):
            rows += [
                measures_row(
                    **{"rank": rank, "site": 1, "operation": 0, "size_class": 16, "path": 2},
                    **{"count": 10, "transfers": 10, "bytes": 10 * 65536, "call_ns": 1_000_000},
                    **{"transfer_min_ns": 40_000_000, "transfer_max_ns": 50_000_000},
                    **{"overlap_min_ns": 20_000_000, "overlap_max_ns": 45_000_000},
                    **{"exposed_min_ns": 5_000_000, "exposed_max_ns": 25_000_000},
                    **{"wait_max_ns": 1_000_000},
                ),
                measures_row(
                    **{"rank": rank, "site": 2, "operation": 1, "size_class": 3, "path": 2},
                    **{"count": 4, "transfers": 4, "bytes": 32, "call_ns": 60_000_000},
                    **{"transfer_max_ns": 8_000, "exposed_max_ns": 8_000, "section": 1},
                    **{"wait_min_ns": 50_000_000, "wait_max_ns": 60_000_000, "undetermined": 1},
                ),
                measures_row(
                    **{"rank": rank, "site": 3, "operation": 3, "size_class": -1, "count": 2},
                    **{"call_ns": 3_000_000, "wait_min_ns": 3_000_000, "wait_max_ns": 3_000_000},
                ),
            ]
        ranks = np.zeros(2, RANKS_DTYPE)
        ranks["rank"] = [0, 1]
        ranks["host"] = b"node1"
        ranks["wall_ns"] = [200_000_000, 210_000_000]
        ranks["compute_ns"] = 136_000_000
        ranks["call_ns"] = 64_000_000
        ranks["calls"] = 16
        ranks["overhead_ns"] = 480
        np.save(folder / "measures.npy", changes.pop("measures", np.concatenate(rows)))
        np.save(folder / "ranks.npy", changes.pop("ranks", ranks))
        sites = [
            {"id": 0, "image": None, "build_id": None, "offset": "0x0"},
            {"id": 1, "image": "/x/app", "offset": "0x10", "file": "/x/app.c", "line": 12}
            | {"function": "exchange", "inlined_into": ["main (/x/app.c:40)"]},
            {"id": 2, "image": "/x/app", "offset": "0x20", "file": "/x/app.c", "line": 20}
            | {"function": "<solve> & co"},
            {"id": 3, "image": "/x/app", "offset": "0x30", "file": None, "line": None}
            | {"function": "main+0x30"},
        ]
        content = {"schema_version": 1, "sites": changes.pop("sites", sites)}
        (folder / "sites.json").write_text(json.dumps(content))
        job = {
            "schema_version": 1,
            "format": "imbrex-run",
            "command": ["mpirun", "-n", "2", "./app"],
            "ranks": 2,
            "hosts": ["node1"],
            "library": {"name": "Open MPI", "version": "4.1.4"},
            "events": {"intra-node": "call"},
            "machine": {"origin": "quick", "file": None, "created": "2026-01-01T00:00:00Z"},
            "operations": OPERATIONS,
            "sections": ["", "solver"],
            "paths": ["none", "self", "intra-node", "inter-node"],
        }
        (folder / "run.json").write_text(json.dumps(job | changes))
        return folder

    return make


@pytest.fixture
def make_part() -> Callable[..., bytes]:
    """A part file as the C runtime lays it out (runtime/core/part.h), written with struct."""

    def table(offset: int, size: int, used: int, capacity: int | None = None) -> bytes:
        return struct.pack("<QQQQ", offset, size, used if capacity is None else capacity, used)

    def make(
        rank: int,
        ranks: int,
        rows: list[dict[str, int]],
        sites: list[tuple[int, int]],
        images: list[tuple[str, str]],
        sections: list[str] = [""],  # noqa: B006
        operations: list[str] = OPERATIONS,
        ended: int = 3,
        version: int = 1,
        extra_entry_bytes: int = 0,
        stands: list[tuple[int, int, int, int]] | None = None,
        ending: tuple[int, int] = (0, 0),
    ) -> bytes:
        """`stands`: last_ns, address, key and state of each thread, which started at 1,000 ns and
        for the system's clock in 2027; images lie one behind the other in 4,096 bytes from 1 << 20
        on, so that site i is at the address of its image and its offset. `ending`: the call that
        ends MPI, and its address."""
        body = b""
        header_bytes = 8 + 4 + 4 + 8 + 4 + 4 + 256 + 144 + 5 * 32
        if stands is not None:
            header_bytes += 16 + 32 + 32 + 32
        tables = []

        def add(entries: list[bytes], size: int) -> None:
            nonlocal body
            padded = [e.ljust(size, b"\0") for e in entries]
            tables.append(table(header_bytes + len(body), size, len(entries)))
            body += b"".join(padded)

        bases = [(1 << 20) + 4096 * n for n in range(len(images))]
        packed_sites = [
            struct.pack("<QIIQ", o, i, 0, bases[i] + o if i < len(bases) else 0)
            for i, o in [(0xFFFFFFFF, 0), *((i, o) for o, i in sites)]
        ]
        packed_images = [
            p.encode().ljust(4056, b"\0")
            + b.encode().ljust(40, b"\0")
            + struct.pack("<QQQ", base, base, base + 4096)
            for (p, b), base in zip(images, bases, strict=True)
        ]
        if stands is None:  # of an earlier version
            packed_sites = [entry[:16] for entry in packed_sites]
            packed_images = [entry[:4096] for entry in packed_images]
        add(packed_sites, 16 if stands is None else 24)
        add(packed_images, 4096 if stands is None else 4120)
        add([s.encode() for s in sections], 128)
        add([o.encode() for o in operations], 48)
        row_bytes = 144 + extra_entry_bytes
        packed = b""
        for row in rows:
            key = [row.get(k, 0) for k in ("site", "operation", "section", "size_class", "path")]
            entry = struct.pack("<iiHHbBBB", rank, *key, 0, 0)
            entry += struct.pack("<16q", *(row.get(name, 0) for name in QUANTITIES))
            packed += entry.ljust(row_bytes, b"\xaa")
        packed += bytes(row_bytes)  # an unused row inside `used`
        row_table = table(header_bytes + len(body), row_bytes, len(rows) + 1, len(rows) + 9)
        body += packed
        thread = row_table + struct.pack("<4q", 7_000, 3_000, 5, 0)
        add([thread] * max(1, len(stands or ())), len(thread))
        if stands is not None:
            tables.append(bytes(16) + table(0, 0, 0))  # no call log, no call paths
            add([struct.pack("<qqqQQI", s[0], 0, 0, *s[1:]) for s in stands], 64)
            tables.append(
                struct.pack("<qqQII", 1_800_000_000 * 10**9, 1_000, ending[1], ending[0], 0)
            )
        host = b"node7".ljust(64, b"\0")
        rank_row = struct.pack("<iBBH64s9q", rank, ended, 1, 0, host, *([0] * 9))
        header = struct.pack("<8sIIQ", b"IMBREXP1", version, header_bytes, header_bytes + len(body))
        library = b"Open MPI v4.1.4, package: Debian"
        header += struct.pack("<iI256s", ranks, 0, library) + rank_row
        return header + b"".join(tables) + body

    return make
