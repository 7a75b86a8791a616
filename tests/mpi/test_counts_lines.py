"""A scripted C and C++ program counts its calls per source line; the runtime must agree."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.profile.run import load_run
from imbrex.profile.summary import rows

pytestmark = pytest.mark.untimed

SOURCE = Path(__file__).resolve().parent / "counts" / "lines.c"
OUTSIDE = {"MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Finalize"}

Account = dict[tuple[int, str], tuple[int, int, int]]


def own_account(folder: Path) -> Account:
    """(line, operation) -> calls, transfers, bytes, summed over the ranks."""
    sums: defaultdict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for file in folder.glob("lines.*"):
        for line in file.read_text().splitlines():
            number, operation, *values = line.split()
            entry = sums[int(number), operation]
            for i, value in enumerate(values):
                entry[i] += int(value)
    return {key: (calls, transfers, moved) for key, (calls, transfers, moved) in sums.items()}


def measured_account(folder: Path) -> Account:
    """The same as the runtime has it, with call sites resolved."""
    sums: defaultdict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows(load_run(folder), "site"):
        if row.operation in OUTSIDE or row.site is None:
            continue
        assert Path(row.site.file or "?").name == SOURCE.name
        entry = sums[row.site.line or 0, row.operation or ""]
        for i, value in enumerate((row.sums.count, row.sums.transfers, row.sums.bytes)):
            entry[i] += value
    return {key: (calls, transfers, moved) for key, (calls, transfers, moved) in sums.items()}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_every_call_is_counted_once_at_its_line(
    language: str, level: str, mpi: Any, measured: Callable[..., Any], tmp_path: Path
) -> None:
    program = tmp_path / "lines"
    command = [mpi.mpicc, "-x", language, "-g", level, "-w", "-o", str(program), str(SOURCE)]
    command += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]  # the C++ bindings of MPI 2
    subprocess.run([*command, "-lstdc++"], check=True)
    # Open MPI 4.1.4 itself crashes in one-sided calls with its osc/rdma over shared memory.
    run = measured(program, environment={"OMPI_MCA_osc": "^rdma"})
    own, seen = own_account(run.folder), measured_account(run.folder)
    assert len(own) >= 40
    wrong = [
        f"{key}: measured {seen.get(key)}, done {own.get(key)}"
        for key in sorted(set(own) | set(seen))
        if own.get(key) != seen.get(key)
    ]
    assert not wrong, "\n".join(wrong)
