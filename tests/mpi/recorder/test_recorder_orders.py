"""P(i) and C(i) of kernels whose orders are worked out by hand, for compilers and MPI libraries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imbrex.potential.model_file import load_model

HERE = Path(__file__).resolve().parent
N, ROWS = 24, 8
FORWARD = list(range(N))
REVERSE = FORWARD[::-1]


def positions(elements: list[int]) -> list[int]:
    """The position of every element in the order in which `elements` names them."""
    result = [0] * len(elements)
    for position, element in enumerate(elements):
        result[element] = position
    return result


EVENS, ODDS = FORWARD[::2], FORWARD[1::2]
LIST = [i * 7 % N for i in range(N)]
# The block is rows 2 to 4 and columns 5 to 8: element 4 * row + column of it.
BY_COLUMN = positions([4 * row + column for column in range(4) for row in range(3)])
HALF = N // 2
PRODUCED = {
    1: FORWARD,
    2: REVERSE,
    3: positions(EVENS + ODDS),
    4: list(range(ROWS)),
    5: BY_COLUMN,
    6: FORWARD,
    7: FORWARD,
    8: positions(LIST),
    9: FORWARD,
    10: positions(FORWARD[HALF:] + FORWARD[:HALF]),
    11: FORWARD,
    12: FORWARD,
    13: positions(FORWARD[HALF:] + FORWARD[:HALF]),
    14: REVERSE,
    15: FORWARD,
    # Element i is element LIST[i] of an array that is written backwards.
    16: [N - 1 - place for place in LIST],
    17: FORWARD,
}
CONSUMED = {
    **dict.fromkeys(PRODUCED, FORWARD),
    2: REVERSE,
    3: positions(ODDS + EVENS),
    4: list(range(ROWS))[::-1],
    5: list(range(12)),
    8: positions(LIST),
    13: positions(EVENS + ODDS),
    16: LIST,
}
SEEN = {9: HALF, 13: HALF}
FORTRAN_N = 16


class Result:
    """messages.json and elements.npy of one recording."""

    def __init__(self, folder: Path, document: dict[str, Any]) -> None:
        self.folder = folder
        self.document = document
        self.table = np.load(folder / "elements.npy")

    def message(self, rank: int, kind: str, tag: int) -> tuple[dict[str, Any], Any]:
        """The one message of this tag, and its rows in the order of the elements."""
        messages = self.document["ranks"][rank]["messages"]
        found = [(i, m) for i, m in enumerate(messages) if (m["kind"], m["tag"]) == (kind, tag)]
        assert len(found) == 1
        index, message = found[0]
        rows = self.table[(self.table["rank"] == rank) & (self.table["message"] == index)]
        return message, rows


def imbrex(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "imbrex.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def recorded(mpi: Any, folder: Path, language: str, compiler: str, source: Path, *flags: str,
             **environment: str) -> Result:  # fmt: skip

    plain, program = folder / "plain", folder / "recorded"
    words = [str(source), *flags, "-o"]
    subprocess.run(
        [compiler, "-w", *words, str(plain)], check=True, env={**os.environ, **environment}
    )
    imbrex(language, f"--compiler={compiler}", "-w", *words, str(program), **environment)
    text = imbrex(
        *("record", "--json", "--plain", str(plain), "-o", str(folder / "result")),
        *("--", mpi.mpirun, "-n", "2", str(program)),
    )
    return Result(folder / "result", json.loads(text))


@pytest.fixture(scope="module", params=["gcc -O2", "gcc -O0", "clang -O3"])
def kernels(
    request: pytest.FixtureRequest, mpi: Any, tmp_path_factory: pytest.TempPathFactory
) -> Result:
    """The C kernels, recorded with one compiler and MPI."""
    compiler, level = request.param.split()
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    folder = tmp_path_factory.mktemp("kernels")
    environment = {"OMPI_CC": compiler, "MPICH_CC": compiler}
    return recorded(mpi, folder, "cc", mpi.mpicc, HERE / "kernels.c", level, **environment)


def check(
    result: Result, tag: int, produced: list[int], consumed: list[int], seen: int | None = None
) -> None:
    for rank in (0, 1):
        send, sent = result.message(rank, "send", tag)
        assert send["seen"] == len(produced)
        assert sent["position"].tolist() == produced
        receive, received = result.message(rank, "receive", tag)
        assert receive["seen"] == (len(consumed) if seen is None else seen)
        assert received["position"].tolist() == consumed


@pytest.mark.parametrize("tag", sorted(PRODUCED))
def test_orders_are_exact(kernels: Result, tag: int) -> None:
    check(kernels, tag, PRODUCED[tag], CONSUMED[tag], SEEN.get(tag))


def test_boundary_first_leaves_the_interior_as_independent_work(kernels: Result) -> None:
    """Accesses between the boundary and the communication: those of the other rows, or none."""
    for rank in (0, 1):
        first, last = (kernels.message(rank, "send", tag)[1]["accesses"] for tag in (6, 7))
        assert first.min() - last.min() == (ROWS - 1) * N
        # Each row's reads are followed by the write of their sum.
        first, last = (kernels.message(rank, "receive", tag)[1]["accesses"] for tag in (6, 7))
        assert first.min() == 1
        assert last.min() == 1 + (ROWS - 1) * (N + 1)


def test_the_second_send_of_a_buffer_has_the_same_producers(kernels: Result) -> None:
    for rank in (0, 1):
        first = kernels.message(rank, "send", 11)[1]["accesses"]
        second = kernels.message(rank, "send", 12)[1]["accesses"]
        assert len(set((second - first).tolist())) == 1


def test_copies_are_named(kernels: Result) -> None:
    for rank in (0, 1):
        for kind in ("send", "receive"):
            copied = {
                tag for tag in PRODUCED if kernels.message(rank, kind, tag)[0]["through_copy"]
            }
            # In 8 nothing is unpacked; not every compiler reads and writes side by side there.
            assert {16} <= copied <= ({8, 16} if kind == "send" else {16})


def test_predict_reads_the_model(kernels: Result) -> None:
    program = load_model(kernels.folder / "model.toml").programs[0]
    assert len(program.messages) == len(PRODUCED)
    by_tag = {int(m.name.rsplit("tag ", 1)[1]): m for m in program.messages}
    for tag, message in by_tag.items():
        assert message.produced_at.tolist() == PRODUCED[tag]
        assert message.consumed_at.tolist() == CONSUMED[tag]
        assert message.element_bytes == 8
        assert "kernels.c:" in message.name
    imbrex("predict", str(kernels.folder / "model.toml"))


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def fortran(
    request: pytest.FixtureRequest, mpi: Any, tmp_path_factory: pytest.TempPathFactory
) -> Result:
    compiler = f"mpifort.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    folder = tmp_path_factory.mktemp("fortran")
    return recorded(mpi, folder, "fc", compiler, HERE / "kernels.f90", request.param)


def test_fortran_orders_are_exact(fortran: Result) -> None:
    forward = list(range(FORTRAN_N))
    check(fortran, 1, forward, forward[::-1])
    check(fortran, 2, forward, forward)
    check(fortran, 3, forward[::-1], forward)


def test_orders_through_mpi_f08_are_exact(mpi: Any, tmp_path: Path) -> None:
    compiler = f"mpifort.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    result = recorded(mpi, tmp_path, "fc", compiler, HERE / "kernels_f08.f90", "-O1")
    forward = list(range(FORTRAN_N))
    check(result, 1, forward[::-1], forward)
    check(result, 2, forward, forward[::-1])
    check(result, 3, forward, forward[::-1])
    # What the compiler's own library reads and writes is not seen, and said.
    blind = [Path(image).name for image in result.document["not_recorded"]]
    assert any(name.startswith("libgfortran") for name in blind)
    assert not any("mpi" in name for name in blind)


def test_buffers_of_collectives_have_orders_too(mpi: Any, tmp_path: Path) -> None:
    """And handles that were copied still stand for their messages."""
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "collectives.c", "-O1")
    count = 12
    forward, both = list(range(count)), list(range(2 * count))
    expected = {
        ("MPI_Alltoall", "send"): both[::-1],
        ("MPI_Alltoall", "receive"): both,
        ("MPI_Iallgatherv", "send"): forward,
        # The message begins with the block that lies, and is read, behind the other.
        ("MPI_Iallgatherv", "receive"): both[count:] + both[:count],
        ("MPI_Allreduce", "send"): forward[::-1],
        ("MPI_Allreduce", "receive"): forward[::-1],
    }
    for rank in (0, 1):
        entry = result.document["ranks"][rank]
        found = {}
        for number, buffer in enumerate(entry["collectives"], len(entry["messages"])):
            rows = result.table[
                (result.table["rank"] == rank) & (result.table["message"] == number)
            ]
            found[buffer["operation"], buffer["kind"]] = rows["position"].tolist()
        bcast = ("MPI_Bcast", "send" if rank == 0 else "receive")
        assert found == {**expected, bcast: forward}
        assert [m["calls"] for m in entry["messages"]] == [6] * 4
        for tag in (0, 1):
            _, received = result.message(rank, "receive", tag)
            assert received["position"].tolist() == forward


def test_a_program_without_instrumentation_is_named(
    mpi: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = tmp_path / "plain"
    subprocess.run([mpi.mpicc, "-w", str(HERE / "kernels.c"), "-o", str(plain)], check=True)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "imbrex.cli", "record", "--plain", str(plain)),
            *("-o", str(tmp_path / "result"), "--", mpi.mpirun, "-n", "2", str(plain)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "imbrex cc" in done.stderr
