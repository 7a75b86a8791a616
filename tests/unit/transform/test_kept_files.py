"""Files of C are read on their own, put together, and kept for the next reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.causes import Reason
from imbrex.transform.model.covered_calls import UnreadCall
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import IN_TEMPLATE
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.options import Options
from imbrex.transform.readers import c_kept
from imbrex.transform.readers.c import Asked, read_c
from imbrex.transform.readers.c_joined import join
from imbrex.transform.readers.c_kept import KeptFiles

CASES = Path(__file__).parent / "cases"
IN_C = sorted(path for path in CASES.iterdir() if path.suffix in (".c", ".cpp"))
# How a file is to be read, which no file says.
_ASKED = {"aborts", "row_lengths"}


@pytest.mark.parametrize("path", IN_C, ids=lambda path: path.name)
def test_one_file_alone_is_the_program(path: Path) -> None:
    part = read_c(path, [], path.read_bytes(), Asked(checks=True))
    program = Program()
    join(program, part)
    for field in fields(Program):
        if field.name not in _ASKED and not field.name.startswith("_"):
            assert getattr(program, field.name) == getattr(part, field.name), field.name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("numbers", {("g:u", True)}),
        ("stray_wildcards", [Location("app.c", 3)]),
        ("throws", True),
        ("unread_code", True),
        ("exchanged_vectors", [("a", "b")]),
    ],
)
def test_what_a_second_file_says_counts(name: str, value: object) -> None:
    program, part = Program(), Program()
    setattr(part, name, value)
    join(program, part)
    join(program, Program())
    assert getattr(program, name) == value


def test_sets_of_several_files_are_united() -> None:
    program = Program()
    for file in ("a.c", "b.c"):
        part = Program()
        part.known_from = {"g:u": {len(part.files), ord(file[0])}}
        part.named_by = {"g:i": {file}}
        part.request_lists = {"r": {file}}
        part.instances["f.h", 3].add(file)
        part.null_writes["g:p"] += 2
        part.variables = {"g:u": Variable("g:u", file, "global")}
        join(program, part)
    assert program.known_from == {"g:u": {0, 97, 98}}
    assert program.named_by == {"g:i": {"a.c", "b.c"}} and program.null_writes["g:p"] == 4
    assert program.request_lists == {"r": {"a.c", "b.c"}}
    assert program.instances["f.h", 3] == {"a.c", "b.c"}
    assert program.variables["g:u"].name == "a.c"


@pytest.mark.parametrize(
    ("first", "second", "expected"), [(7, 9, 9), (9, 7, 9), (-1, 9, -1), (9, -1, -1), (0, 0, 0)]
)
def test_a_header_knows_mpi_where_all_files_let_it(first: int, second: int, expected: int) -> None:
    program = Program()
    for number, offset in enumerate((first, second)):
        header = SourceFile(Path("grid.h"), "grid.h", b"", Language.C, header=True)
        header.mpi_known_from, header.in_cxx = offset, number == 1
        join(program, Program(headers={"grid.h": header}))
    found = program.headers["grid.h"]
    assert found.mpi_known_from == expected and found.in_cxx


def test_a_call_that_an_instance_runs_counts() -> None:
    place, reason = (Location("a.cpp", 1), 4), Reason(IN_TEMPLATE, Location("a", 1))
    idle, run = (UnreadCall("MPI_Send", "f", reason, idle=each) for each in (True, False))
    program = Program()
    for call in (idle, run, idle):
        join(program, Program(not_analysed={place: call}))
    assert not program.not_analysed[place].idle


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each file is read, and not taken from what is kept."""
    counted: Counter[str] = Counter()

    def reading(path: Path, *arguments: object) -> Program:
        counted[path.name] += 1
        return read_c(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(c_kept, "read_c", reading)
    yield counted


HALO = b"""#include <mpi.h>
#include "grid.h"
void exchange(double *u, int n, int peer)
{
  MPI_Sendrecv(u + 1, 1, MPI_DOUBLE, peer, 0, u, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
"""
MAIN = b"""#include <mpi.h>
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
"""
GRID = b"enum { N = 4096 };\nvoid exchange(double *u, int n, int peer);\n"
OTHER = b"double unused(double x)\n{\n  return x * 2.0;\n}\n"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    texts = {"halo.c": HALO, "main.c": MAIN, "other.c": OTHER, "grid.h": GRID}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    return [tmp_path / name for name in texts if name.endswith(".c")]


def test_a_search_reads_what_does_not_change_once(files: list[Path], read: Counter[str]) -> None:
    outcome = transform(files, Options())
    assert outcome.after != outcome.before
    assert read["other.c"] == 1 < read["main.c"]
    assert max(read.values()) > 1  # texts that the search tries


def test_a_file_alone_is_not_kept(read: Counter[str]) -> None:
    outcome = transform([CASES / "handed_codes.c"], Options())
    assert outcome.after != outcome.before and not read


def test_what_is_decided_is_the_same(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = transform(files, Options())
    monkeypatch.setattr(KeptFiles, "read", lambda _, *arguments: read_c(*arguments))
    plain = transform(files, Options())
    assert plain.after == kept.after != kept.before
    for known, other in zip(kept.decisions, plain.decisions, strict=True):
        assert (known.decision, known.reason.text) == (other.decision, other.reason.text)


@pytest.mark.parametrize("case", ["heat.c", "handed_codes.c", "vectors.cpp", "templates.cpp"])
def test_so_it_is_in_cases(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.c"
    other.write_bytes(OTHER)
    paths = [CASES / case, other]
    kept = transform(paths, Options())
    monkeypatch.setattr(KeptFiles, "read", lambda _, *arguments: read_c(*arguments))
    assert transform(paths, Options()).after == kept.after


def keeps(
    read: Counter[str],
    text: bytes,
    first: Asked,
    second: Asked,
    contents: dict[Path, bytes] | None = None,
    path: Path = Path("app.c"),
) -> bool:
    """Whether a second reading, as it is asked for, takes what the first one found."""
    kept = KeptFiles()
    kept.read(path, [], text, first, {})
    kept.read(path, [], text, second, contents or {})
    return read[path.name] == 1


PLAIN = b"#include <mpi.h>\nvoid f(double **u) { MPI_Barrier(MPI_COMM_WORLD); u[0][0] = 1; }\n"
CHECKED = b"""#include <mpi.h>
#include <stdlib.h>
#define CHECK(e) if ((e) != MPI_SUCCESS) abort()
void f(void) { CHECK(MPI_Barrier(MPI_COMM_WORLD)); }
"""
CODED = b"""#include <mpi.h>
#include <stdlib.h>
#define CHECK(e) if ((e) != MPI_SUCCESS) abort()
void f(void) { int rc = MPI_Barrier(MPI_COMM_WORLD); CHECK(rc); }
"""
CHECKING = Asked(checks=True)
NAMED = replace(CHECKING, not_codes=frozenset({"other"}))


@pytest.mark.parametrize(
    ("text", "first", "second", "expected"),
    [
        (PLAIN, CHECKING, CHECKING, True),
        (PLAIN, CHECKING, Asked(), True),
        (PLAIN, Asked(), CHECKING, False),
        (CHECKED, CHECKING, Asked(), False),
        (CHECKED, CHECKING, NAMED, True),
        (CODED, CHECKING, NAMED, False),
        (CODED, NAMED, NAMED, True),
        (PLAIN, NAMED, CHECKING, False),
        (PLAIN, Asked(), Asked(aborts=False), True),
        (PLAIN, Asked(aborts=False), Asked(), False),
        (PLAIN, Asked(), Asked(row_lengths={"g:elsewhere": Affine(4)}), True),
    ],
)
def test_what_a_reading_depends_on(
    text: bytes, first: Asked, second: Asked, expected: bool, read: Counter[str]
) -> None:
    assert keeps(read, text, first, second) is expected


def test_at_of_a_vector_is_read_as_asked(read: Counter[str]) -> None:
    text = b"#include <vector>\ndouble f(std::vector<double> &v) { return v.at(1); }\n"
    assert not keeps(read, text, Asked(), Asked(aborts=False), path=Path("app.cpp"))


def test_rows_that_are_one_array_are_read_anew(read: Counter[str]) -> None:
    key = next(iter(read_c(Path("app.c"), [], PLAIN, Asked()).to_rows))
    assert not keeps(read, PLAIN, Asked(), Asked(row_lengths={key: Affine(4)}))


def test_a_header_that_changes_is_read_anew(files: list[Path], read: Counter[str]) -> None:
    header = files[0].parent / "grid.h"
    path, text = files[0], HALO
    assert keeps(read, text, Asked(), Asked(), {header: GRID}, path)
    read.clear()
    assert not keeps(read, text, Asked(), Asked(), {header: GRID + b"\n"}, path)


def test_flags_count(read: Counter[str]) -> None:
    kept = KeptFiles()
    for flags in (["-DA"], ["-DB"], ["-DA"]):
        kept.read(Path("app.c"), flags, PLAIN, Asked(), {})
    assert read["app.c"] == 2


def test_each_reading_has_a_model_of_its_own() -> None:
    kept = KeptFiles()
    first, second = (kept.read(Path("app.c"), [], PLAIN, Asked(), {}) for _ in range(2))
    first.routines["f"].body.statements.clear()
    third = kept.read(Path("app.c"), [], PLAIN, Asked(), {})
    for program in (second, third):
        assert len(program.routines["f"].body.statements) == 2
        assert program.routines["f"].exported >= {"f", "u"}


def test_old_texts_are_let_go(read: Counter[str]) -> None:
    kept = KeptFiles()
    texts = [PLAIN + b"\n" * number for number in range(8)]
    for text in texts:
        kept.read(Path("app.c"), [], text, Asked(), {})
    read.clear()
    kept.read(Path("app.c"), [], texts[0], Asked(), {})  # as the user has it
    kept.read(Path("app.c"), [], texts[-1], Asked(), {})
    assert read["app.c"] == 0
    kept.read(Path("app.c"), [], texts[3], Asked(), {})
    assert read["app.c"] == 1
