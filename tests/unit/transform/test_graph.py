"""The MPI-CFG: its flow and its communication edges, against graphs drawn by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli.transform import transform as command
from imbrex.transform.analysis.mpi_cfg import Graph, MpiCfg
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

SOURCE = """#include <mpi.h>
static double a[10], b[10];
void one(int rank, int n)
{
    if (rank == 0) {
        a[0] = n;
        MPI_Send(a, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else {
        MPI_Recv(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, 10, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Recv(b, 10, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    while (n > 0) {
        if (n == 5)
            break;
        n--;
    }
    MPI_Sendrecv(a, 10, MPI_DOUBLE, 1, n, b, 10, MPI_DOUBLE, 1, n, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
"""


def graph_of(tmp_path: Path) -> Graph:
    path = tmp_path / "one.c"
    path.write_text(SOURCE)
    program = read_program([path], Options())
    return MpiCfg(program, program.routines["one"]).build()


def test_messages(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    line = {node.number: node.first_line for node in graph.nodes}
    messages = {
        (line[e.source], line[e.target], e.label) for e in graph.edges if e.kind == "message"
    }
    assert messages == {
        (7, 9, "tag 7"),  # not 10 (tag 8), not 11 (another communicator)
        (7, 12, "any tag"),
        (7, 19, "tag 7"),  # n may be 7
        (19, 9, "tag n"),
        (19, 10, "tag n"),
        (19, 12, "any tag"),
        (19, 19, "tag n"),
    }


def test_flow(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    line = {node.number: node.first_line for node in graph.nodes}
    kind = {node.number: node.kind for node in graph.nodes}
    flow = {(line[e.source], line[e.target]) for e in graph.edges if e.kind == "flow"}
    assert {(5, 6), (6, 7), (5, 9), (9, 10), (7, 14), (12, 14), (15, 16), (15, 17)} <= flow
    assert {(14, 19), (16, 19)} <= flow  # the loop ends by its condition or by break
    back = {(line[e.source], line[e.target]) for e in graph.edges if e.kind == "back"}
    assert back == {(17, 14)}
    assert all(
        any(e.source == number for e in graph.edges) for number in kind if kind[number] != "exit"
    )


def test_command(tmp_path: Path) -> None:
    path, out = tmp_path / "one.c", tmp_path / "one.svg"
    path.write_text(SOURCE)
    answer = CliRunner().invoke(command, ["--graph", str(out), str(path)])
    assert answer.exit_code == 0, answer.output
    assert "one" in answer.output and "7 communication edges" in answer.output
    root = ElementTree.parse(out).getroot()
    dashed = [path for path in root.iter() if path.get("class") == "m"]
    assert len(dashed) == 7
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for box in root.iter():
        if box.get("class") == "n":
            assert float(box.get("x", 0)) + float(box.get("width", 0)) < width
            assert float(box.get("y", 0)) + float(box.get("height", 0)) < height


FORTRAN = """      subroutine two(a, b, n, rank)
      implicit none
      include 'mpif.h'
      integer n, rank, ierr, i, status(MPI_STATUS_SIZE)
      double precision a(n), b(n)
      do i = 1, 3
         if (rank .eq. 0) then
            call mpi_send(a, n, MPI_DOUBLE_PRECISION, 1, 7,
     &                    MPI_COMM_WORLD, ierr)
         else
            call mpi_recv(b, n, MPI_DOUBLE_PRECISION, 0, 7,
     &                    MPI_COMM_WORLD, status, ierr)
            call mpi_recv(b, n, MPI_DOUBLE_PRECISION, 0, 8,
     &                    MPI_COMM_WORLD, status, ierr)
         end if
      end do
      end
"""


def test_fortran(tmp_path: Path) -> None:
    path, out = tmp_path / "two.f", tmp_path / "two.svg"
    path.write_text(FORTRAN)
    program = read_program([path], Options())
    (routine,) = (r for r in program.routines.values() if r.name == "two")
    graph = MpiCfg(program, routine).build()
    line = {node.number: node.first_line for node in graph.nodes}
    edges = {(line[e.source], line[e.target]) for e in graph.edges if e.kind == "message"}
    assert edges == {(8, 11)}
    flow = {(line[e.source], line[e.target]) for e in graph.edges if e.kind == "flow"}
    assert {(6, 7), (7, 8), (7, 11), (11, 13)} <= flow
    answer = CliRunner().invoke(command, ["--graph", str(out), str(path)])
    assert answer.exit_code == 0, answer.output
    assert "1 communication edge" in answer.output
    assert "mpi_recv" in out.read_text().lower()


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["--graph", "x.svg", "--routine", "none"], "there is no such routine"),
        (["--routine", "one"], "--routine goes with --graph"),
        (["--graph", "missing/x.svg"], "cannot be written"),
    ],
)
def test_bad_input(
    arguments: list[str], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.c").write_text(SOURCE)
    answer = CliRunner().invoke(command, [*arguments, "one.c"])
    assert answer.exit_code != 0
    assert text in str(answer.exception)
