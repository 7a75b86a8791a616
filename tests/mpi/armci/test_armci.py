"""ARMCI programs linked with Imbrex's wrappers: counts, bounds by hand, and the multigrid app."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.untimed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MS = 1_000_000
LO, HI, TAIL = 10 * MS, 40 * MS, 2 * MS
TABLE = "\n".join(
    f"collective {operation} 2 any intra-node\npoint 1048576 {LO} {HI} {TAIL} -1"
    for operation in ("MPI_Accumulate", "MPI_Get_accumulate")
)
# Debian's Open MPI 4.1 tries RDMA devices for windows that are not there.
ENVIRONMENT = {"OMPI_MCA_osc": "^rdma"}
Build = Callable[[str, bool], Path]


@pytest.fixture(scope="session")
def armci(mpi: Any, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build a program of this folder, with the wrappers or without them."""
    folder = tmp_path_factory.mktemp(f"armci-{mpi.name}")
    library = f"-larmci-{mpi.name}"
    check = [mpi.mpicc, "-shared", "-o", str(folder / "probe"), library]
    if subprocess.run(check, capture_output=True, check=False).returncode:
        pytest.skip(f"lib{library[2:]}.a is not installed (Debian: libarmci-mpi-dev)")

    def build(name: str, wrapped: bool = True) -> Path:
        program = folder / f"{name}-{wrapped}"
        wrappers = [str(ROOT / "runtime" / "transport" / "armci.c")] if wrapped else []
        include = [f"-I{ROOT / 'runtime' / 'include'}", f"-I{ROOT / 'tests/mpi/programs'}"]
        source = [str(HERE / f"{name}.c"), *wrappers]
        done = subprocess.run(
            [mpi.mpicc, "-g", "-O1", "-w", *include, "-o", str(program), *source, library, "-lm"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return program

    return build


def test_counts_and_bytes_of_every_call(armci: Build, measured: Any) -> None:
    """The program's own numbers, and none of the MPI calls that ARMCI makes inside."""
    run = measured(armci("counts"), environment=ENVIRONMENT)
    calls: Counter[tuple[int, str]] = Counter()
    transfers, bytes_ = calls.copy(), calls.copy()
    for file in run.folder.glob("expect.*"):
        for line in file.read_text().splitlines():
            _, rank, _, operation, made, moved, size = line.split()
            calls[int(rank), operation] += int(made)
            transfers[int(rank), operation] += int(moved)
            bytes_[int(rank), operation] += int(size)
    assert len(calls) == 2 * 33
    for rank, operation in calls:
        extra = 1 if operation == "ARMCI_Barrier" else 0  # the one before the data
        assert run.total(operation, "count", rank) == calls[rank, operation] + extra, operation
        assert run.total(operation, "transfers", rank) == transfers[rank, operation], operation
        assert run.total(operation, "bytes", rank) == bytes_[rank, operation], operation
    inside = {"MPI_Accumulate", "MPI_Get_accumulate", "MPI_Win_flush", "MPI_Comm_dup"}
    for operation in inside & set(run.operations):
        assert run.total(operation, "count") == 0, operation


def test_without_the_runtime_the_wrappers_only_forward(
    mpi: Any, armci: Build, tmp_path: Path
) -> None:
    done = subprocess.run(
        [mpi.mpirun, "-n", "2", str(armci("counts"))],
        env={**os.environ, **ENVIRONMENT, "IMBREX_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_the_wrappers_the_mpi_calls_are_counted(armci: Build, measured: Any) -> None:
    run = measured(armci("counts", False), environment=ENVIRONMENT)
    assert run.total("ARMCI_Put", "count") == 0
    assert run.total("MPI_Accumulate", "count") > 0  # what ARMCI-MPI makes of a put


@pytest.mark.parametrize(("direction", "slack"), [("put", TAIL), ("get", 0)])
def test_blocking(direction: str, slack: int, armci: Build, measured: Any) -> None:
    """C = 0, N the call's time; the data of a put may still be leaving, that of a get is there."""
    run = measured(armci("timing"), direction, table=TABLE, environment=ENVIRONMENT)
    operation = f"ARMCI_{direction.capitalize()}"
    call = run.total(operation, "call_ns", 0)
    contradicted = call + slack < LO
    assert run.total(operation, "contradicted", 0) == contradicted
    assert run.total(operation, "overlap_min_ns", 0) == max(0, LO - call - slack) * (
        not contradicted
    )
    assert run.total(operation, "overlap_max_ns", 0) == min(HI, slack)
    assert run.total(operation, "exposed_max_ns", 0) == min(HI, call + slack)


@pytest.mark.parametrize(
    ("scenario", "begin", "ends", "slack"),
    [
        ("wait", "ARMCI_NbPut", ["ARMCI_Wait"], TAIL),
        ("fence", "ARMCI_NbPut", ["ARMCI_Fence"], 0),
        ("nbget", "ARMCI_NbGet", ["ARMCI_Fence", "ARMCI_Wait"], 0),
        ("implicit", "ARMCI_NbPut", ["ARMCI_WaitAll"], TAIL),
    ],
)
def test_nonblocking(
    scenario: str, begin: str, ends: list[str], slack: int, armci: Build, measured: Any
) -> None:
    """C is at least 60 ms of work, N the time of the calls from the begin to the end."""
    run = measured(armci("timing"), scenario, table=TABLE, environment=ENVIRONMENT)
    calls = sum(run.total(name, "call_ns", 0) for name in (begin, *ends))
    assert run.total(begin, "overlap_min_ns", 0) == max(0, LO - calls - slack)
    assert run.total(begin, "overlap_max_ns", 0) == HI
    assert run.total(begin, "exposed_min_ns", 0) == 0
    assert run.total(begin, "exposed_max_ns", 0) == min(HI, calls + slack)
    # others may write here while the memory is shared
    assert run.total(begin, "wait_min_ns", 0) == 0


def test_multigrid_gives_the_same_bits_in_both_variants(mpi: Any, armci: Build) -> None:
    """On any number of ranks, and the error falls at every cycle."""
    folder = armci("counts").parent
    built = subprocess.run(
        [
            *("make", "-s", "-C", str(ROOT / "apps"), "mgarmci", f"MPICC={mpi.mpicc}"),
            *(f"BUILD={folder}", f"ARMCI=-larmci-{mpi.name}"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    values = set()
    for ranks in (1, 2, 4) if mpi.name == "openmpi" else (1, 2):  # Open MPI yields its core
        for variant in ("blocking", "nonblocking"):
            many = ["--oversubscribe"] if mpi.name == "openmpi" else []
            line = [mpi.mpirun, *many, "-n", str(ranks), str(folder / "mgarmci")]
            done = subprocess.run(
                [*line, "--n", "16", "--cycles", "4", "--variant", variant],
                env={**os.environ, **ENVIRONMENT},
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            found = re.search(r"verification: PASSED value=(\S+)", done.stdout)
            assert found, done.stdout
            values.add(found[1])
    assert len(values) == 1
