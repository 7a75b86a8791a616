"""Files of C that processes of their own read, side by side, say what they say read one by one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers import c_kept, c_side_by_side
from imbrex.transform.readers.c import Asked, read_c
from imbrex.transform.readers.c_kept import KeptFiles
from imbrex.transform.readers.c_side_by_side import FileOfC, read_ahead
from imbrex.transform.reading import read_program

CASES = Path(__file__).parent / "cases"
SOME = [*sorted(CASES.glob("*.c"))[::9], *sorted(CASES.glob("*.cpp"))[::6]]
MANY = 16  # files of C from which on it is worth it


@pytest.fixture
def program(tmp_path: Path) -> list[Path]:
    """An exchange before work on other data, among files that have nothing to do with it."""
    texts = {
        "main.c": """#include <mpi.h>
#include "grid.h"
static double u[N], v[N];
int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  for (int step = 0; step < 10; step++) {
    exchange(u, N, 0);
    for (int i = 1; i < N - 1; i++)
      v[i] = v[i] * 0.5 + step;
    v[0] = u[0];
  }
  MPI_Finalize();
  return 0;
}
""",
        "halo.c": """#include <mpi.h>
#include "grid.h"
void exchange(double *u, int n, int peer)
{
  MPI_Sendrecv(u + 1, 1, MPI_DOUBLE, peer, 0, u, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
""",
    }
    texts |= {
        f"other{i}.c": f"double other{i}(double x) {{ return {i} * x; }}" for i in range(MANY)
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    header = "enum { N = 4096 };\nvoid exchange(double *u, int n, int peer);\n"
    (tmp_path / "grid.h").write_text(header)
    return [tmp_path / name for name in texts]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that this process reads itself."""
    names: list[str] = []

    def reading(path: Path, *arguments: object) -> object:
        names.append(path.name)
        return read_c(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(c_kept, "read_c", reading)
    monkeypatch.setattr(c_side_by_side, "_cores", lambda: 2)
    yield names


def files_of(paths: list[Path]) -> list[FileOfC]:
    return [FileOfC(path, [], path.read_bytes()) for path in paths]


def test_many_files_are_read_elsewhere(program: list[Path], here: list[str]) -> None:
    read = read_program(program, Options())
    assert here == []
    assert set(read.files) == set(map(str, program))
    assert len(read.routines) == MANY + 2


def test_few_are_read_here(program: list[Path], here: list[str]) -> None:
    few = program[: MANY - 1]
    read_program(few, Options())
    assert here == [path.name for path in few]


def test_what_is_known_is_not_read_again(program: list[Path], here: list[str]) -> None:
    kept = KeptFiles()
    assert read_ahead(kept, files_of(program), Asked(), {}) == {}
    for path in program:
        kept.read(path, [], path.read_bytes(), Asked(), {})
        assert kept.known(path, [], path.read_bytes(), Asked(), {})
    assert here == []
    assert not kept.known(program[0], ["-DN=3"], program[0].read_bytes(), Asked(), {})


def test_one_core_reads_by_itself(
    program: list[Path], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(c_side_by_side, "_cores", lambda: 1)
    read_program(program, Options())
    assert here == [path.name for path in program]


def test_what_cannot_be_read_is_said_as_ever(
    program: list[Path], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program[3].write_text("int broken(void) { return missing; }\n")
    program[4].write_text("")
    program[5].unlink()
    elsewhere = read_program(program, Options()).skipped
    assert len(elsewhere) == 3 and here == []
    monkeypatch.setattr(c_side_by_side, "_cores", lambda: 1)
    assert read_program(program, Options()).skipped == elsewhere
    assert "undeclared identifier 'missing'" in elsewhere[str(program[3])]


def test_headers_are_read_as_given(program: list[Path], here: list[str]) -> None:
    grid = program[0].parent / "grid.h"
    options = Options(contents={grid: grid.read_bytes().replace(b"void", b"int missing; void")})
    read = read_program(program, options)
    assert here == []
    assert "g:missing" in read.variables


@pytest.mark.parametrize(
    "broken",
    [
        "raise SystemExit(1)",
        "print('no answer', flush=True)",
        # One that is ended while files are left, as where memory runs out.
        "import os, sys; sys.path[:] = {path!r}; "
        "from imbrex.transform.readers import c_side_by_side as s; "
        "s._send = lambda *_: os._exit(9); s.serve()",
        "import pickle, sys; pickle.dump(len, sys.stdout.buffer)",
        "nothing of Python",
    ],
)
def test_where_processes_fail_files_are_read_here(
    program: list[Path], here: list[str], monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setattr(c_side_by_side, "_PROGRAM", broken)
    outcome = transform(program, Options())
    assert {path.name for path in program} <= set(here)
    assert not outcome.skipped and outcome.after != outcome.before


def test_where_none_can_be_started_files_are_read_here(
    program: list[Path], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    read_program(program, Options())
    assert here == [path.name for path in program]


@pytest.mark.parametrize("case", SOME, ids=lambda path: path.name)
def test_cases_are_decided_alike(
    case: Path, tmp_path: Path, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.c"
    other.write_text("double unused(double x) { return x * 2.0; }\n")
    plain = transform([case, other], Options())
    assert case.name in here
    here.clear()
    monkeypatch.setattr(c_side_by_side, "_WORTH_IT", 0)
    elsewhere = transform([case, other], Options())
    assert other.name not in here
    assert elsewhere.after == plain.after
    for known, found in zip(plain.decisions, elsewhere.decisions, strict=True):
        assert (known.decision, known.reason.text) == (found.decision, found.reason.text)
