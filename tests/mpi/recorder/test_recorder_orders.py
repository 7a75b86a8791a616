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
from tests import forked

from imbrex.model.model_file import load_model
from imbrex.network.interconnect import Interconnect
from imbrex.profile.recording import load_recording
from imbrex.profile.recording_format import ARRIVED
from imbrex.recorder.twins import twin_of
from imbrex.replay.prediction import predict_run
from imbrex.replay.schedule import COLLECTIVE, make_schedule

pytestmark = pytest.mark.untimed

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
    18: positions(LIST),
    19: list(range(HALF))[::-1],
    20: list(range(ROWS))[::-1],
    22: [N - 1 - place for place in LIST],
}
CONSUMED = {
    **dict.fromkeys(PRODUCED, FORWARD),
    2: REVERSE,
    3: positions(ODDS + EVENS),
    4: list(range(ROWS))[::-1],
    5: list(range(12)),
    8: positions(LIST),
    10: REVERSE,
    13: positions(EVENS + ODDS),
    16: LIST,
    18: positions(ODDS + EVENS),
    19: list(range(HALF)),
    20: positions([*range(0, ROWS, 2), *range(1, ROWS, 2)]),
}
SEEN = {9: HALF, 13: HALF}
FORTRAN_N = 16


class Result:
    """messages.json and elements.npy of one recording."""

    def __init__(self, folder: Path, document: dict[str, Any]) -> None:
        self.folder = folder
        self.compiler = ""
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
    done = forked.imbrex(arguments, env={**os.environ, **environment}, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def recorded(mpi: Any, folder: Path, language: str, compiler: str, source: Path, *flags: str,
             arguments: tuple[str, ...] = (), **environment: str) -> Result:  # fmt: skip

    program = folder / "recorded"
    words = [str(source), *flags, "-o", str(program)]
    imbrex(language, f"--compiler={compiler}", "-w", *words, **environment)
    text = imbrex(
        *("record", "--json", "--plain", str(twin_of(program)), "-o", str(folder / "result")),
        *("--", mpi.mpirun, "-n", "2", str(program), *arguments),
    )
    return Result(folder / "result", json.loads(text))


@pytest.fixture(scope="module", params=["gcc -O2", "gcc -O0", "clang -O3", "clang -O0"])
def kernels(
    request: pytest.FixtureRequest, mpi: Any, tmp_path_factory: pytest.TempPathFactory
) -> Result:
    """The C kernels, recorded with one compiler and MPI."""
    compiler, level = request.param.split()
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if mpi.name != "openmpi" and request.param != "gcc -O2":
        pytest.skip("what compilers do is the same for every MPI")
    folder = tmp_path_factory.mktemp("kernels")
    environment = {"OMPI_CC": compiler, "MPICH_CC": compiler}
    result = recorded(mpi, folder, "cc", mpi.mpicc, HERE / "kernels.c", level, **environment)
    result.compiler = request.param
    return result


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
        if kernels.compiler == "clang -O0":
            # Loop variables are accesses there too.
            assert first.min() - last.min() > (ROWS - 1) * N
            continue
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
            # In 8 nothing is unpacked, and of 10 half is set; not every compiler reads and writes
            # side by side in 8.
            surely = {16, 18, 19, 20} | ({22} if kind == "send" else set())
            perhaps = {8} if kind == "send" else {10}
            assert surely <= copied <= surely | perhaps
            assert kind == "send" or 10 in copied


def test_elements_that_nobody_was_seen_to_write_are_told(kernels: Result) -> None:
    for rank in (0, 1):
        unseen = {
            m["tag"]: m["written_unseen"] for m in kernels.document["ranks"][rank]["messages"]
            if m["kind"] == "send"
        }  # fmt: skip
        # From the second of six sends on they are others than before.
        assert {tag: count for tag, count in unseen.items() if count} == {21: 5 * N}
        assert kernels.message(rank, "send", 21)[0]["seen"] == 0


def test_predict_reads_the_model(kernels: Result) -> None:
    program = load_model(kernels.folder / "model.toml").programs[0]
    assert len(program.messages) == len(PRODUCED) + 1
    by_tag = {int(m.name.rsplit("tag ", 1)[1]): m for m in program.messages}
    del by_tag[21]
    for tag, message in by_tag.items():
        assert message.produced_at.tolist() == PRODUCED[tag]
        assert message.consumed_at.tolist() == CONSUMED[tag]
        assert message.element_bytes == (16 if tag == 19 else 8)
        assert "kernels.c:" in message.name
    imbrex("predict", str(kernels.folder / "model.toml"))


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def fortran(
    request: pytest.FixtureRequest, mpi: Any, tmp_path_factory: pytest.TempPathFactory
) -> Result:
    compiler = f"mpifort.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if mpi.name != "openmpi" and request.param != "-O2":
        pytest.skip("what compilers do is the same for every MPI")
    folder = tmp_path_factory.mktemp("fortran")
    return recorded(mpi, folder, "fc", compiler, HERE / "kernels.f90", request.param)


def test_fortran_orders_are_exact(fortran: Result) -> None:
    forward = list(range(FORTRAN_N))
    check(fortran, 1, forward, forward[::-1])
    check(fortran, 2, forward, forward)
    check(fortran, 3, forward[::-1], forward)
    # Through whole-array assignments, and through what the compiler packs slices into.
    check(fortran, 4, forward[::-1], forward[::-1])
    check(fortran, 5, forward[::-1], forward[::-1])


def test_orders_in_containers_of_cplusplus_are_exact(mpi: Any, tmp_path: Path) -> None:
    compiler = f"mpicxx.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    result = recorded(mpi, tmp_path, "cxx", compiler, HERE / "kernels.cpp", "-O2")
    check(result, 1, REVERSE, FORWARD)
    check(result, 2, REVERSE, REVERSE)
    check(result, 3, FORWARD, REVERSE)


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


def test_what_some_calls_complete_arrives_with_them(mpi: Any, tmp_path: Path) -> None:
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "some.c", "-O1")
    forward = list(range(12))
    for tag in range(1, 7):
        orders = (forward[::-1], forward)
        check(result, tag, orders[tag % 2 == 0], orders[tag % 2 == 0])
    # From the completion of each to its first read: behind MPI_Testsome the count is read; of the
    # two that arrive together the second is read through, and its sum written, before the first.
    before = {1: 1, 2: 1, 3: 2, 4: 2, 5: 1 + len(forward) + 1, 6: 1}
    for rank in (0, 1):
        for tag, accesses in before.items():
            receive, rows = result.message(rank, "receive", tag)
            assert receive["calls"] == 6
            assert rows["accesses"].min() == accesses, tag


def test_asking_again_is_no_call(mpi: Any, tmp_path: Path) -> None:
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "polling.c", "-O1")
    for rank in (0, 1):
        for kind in ("send", "receive"):
            message, rows = result.message(rank, kind, 1)
            assert (message["calls"], rows["position"].tolist()) == (20, list(range(500)))


def test_communicators_are_told_apart(mpi: Any, tmp_path: Path) -> None:
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "communicators.c", "-O1")
    run = load_recording(result.folder)
    schedule = make_schedule(run)
    taken = [
        (run.messages[1][op.message].elements, schedule.sent(run.messages[1][op.message], op.place))
        for op in schedule.operations[1]
        if op.kind == ARRIVED
    ]
    assert [(elements, send.elements) for elements, send in taken] == [(10, 10), (400, 400)] * 4
    for rank in (0, 1):
        groups = [op.group for op in schedule.operations[rank] if op.kind == COLLECTIVE]
        alone, again, everybody = (group and group[1] for group in groups[:3])
        assert (alone, again, everybody, len(groups)) == (1, 1, None, 12)


def test_one_sided_transfers_are_no_messages_and_empty_messages_are(
    mpi: Any, tmp_path: Path
) -> None:
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "one_sided.c", "-O1")
    run = load_recording(result.folder)
    sides = {
        rank: [(m.operation, m.elements, m.calls) for m in run.messages[rank]] for rank in (0, 1)
    }
    assert sides == {
        0: [("MPI_Send", 0, 3), ("MPI_Recv", 1, 6), ("MPI_Send", 400, 3)],
        1: [("MPI_Recv", 400, 6), ("MPI_Send", 1, 6)],
    }
    schedule = make_schedule(run)
    taken = [
        schedule.sent(run.messages[1][op.message], op.place).elements
        for op in schedule.operations[1]
        if op.kind == ARRIVED
    ]
    assert taken == [0, 400] * 3
    # So slow that what the ranks compute, disturbed or not, hides next to nothing of it.
    document = predict_run(run, None, [Interconnect("slow", 1.0, 1e4)]).document
    # Each of twelve messages is waited for, whether it brings anything or not.
    (row,) = document["networks"]
    exposed = row["time_s"]["as written"] - row["without_network_s"]
    assert exposed == pytest.approx(12 + (3 * 3200 + 6 * 8) / 1e4, rel=0.01)
    assert sum(site["bytes"] for site in document["sites"]) == 3 * 3200 + 6 * 8


def test_beyond_the_edge_of_a_grid_is_nobody(mpi: Any, tmp_path: Path) -> None:
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "edges.c", "-O1")
    run = load_recording(result.folder)
    for rank in (0, 1):
        buffers = run.collectives[rank]
        assert len(buffers) == 6
        assert [(b.elements, b.calls) for b in buffers] == [(10, 4)] * 6


def halves(rows: Any) -> list[list[int]]:
    """The orders within the first and within the second half of a message."""
    return [np.argsort(np.argsort(part)).tolist() for part in np.split(rows["position"], 2)]


@pytest.mark.parametrize("multiple", [False, True])
def test_threads_have_their_orders(mpi: Any, tmp_path: Path, multiple: bool) -> None:
    arguments = ("multiple",) if multiple else ()
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "threads.c", "-O2", "-fopenmp",
                      arguments=arguments)  # fmt: skip
    forward = list(range(N))
    # Thread 1 writes the second half backwards, then thread 0 the first; they read the other way.
    check(result, 1, [*range(N - 1, HALF - 1, -1), *range(HALF - 1, -1, -1)], forward)
    for rank in (0, 1):
        send, sent = result.message(rank, "send", 2)
        receive, received = result.message(rank, "receive", 2)
        assert (send["seen"], receive["seen"]) == (N, N)
        assert halves(sent) == [forward[:HALF][::-1]] * 2
        assert halves(received) == [forward[:HALF]] * 2
        # Both at once: neither half as a whole is before the other.
        for rows in (sent, received):
            first, second = np.split(rows["position"], 2)
            assert first.min() < second.max() and second.min() < first.max()
    if multiple:
        check(result, 3, forward[::-1], forward)
        check(result, 4, forward, forward[::-1])
        assert [rank["threads"] for rank in result.document["ranks"]] == [2, 2]
        said = imbrex("predict", str(result.folder), "-n", "GigE")
        assert "several threads of a rank call MPI" in said


def test_large_counts(mpi: Any, tmp_path: Path) -> None:
    if mpi.name == "openmpi":
        pytest.skip("Open MPI 4.1 has no calls with large counts")
    result = recorded(mpi, tmp_path, "cc", mpi.mpicc, HERE / "large.c", "-O1")
    count = 12
    forward = list(range(count))
    check(result, 1, forward[::-1], forward[::-1])
    both = list(range(2 * count))
    for rank in (0, 1):
        entry = result.document["ranks"][rank]
        for number, buffer in enumerate(entry["collectives"], len(entry["messages"])):
            own = (result.table["rank"] == rank) & (result.table["message"] == number)
            # The message begins with the block that lies behind the other.
            order = both if buffer["kind"] == "send" else both[::-1]
            assert buffer["operation"] == "MPI_Alltoallv_c"
            assert result.table[own]["position"].tolist() == order[count:] + order[:count]


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
