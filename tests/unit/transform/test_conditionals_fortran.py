"""The preprocessor's conditionals in Fortran: what a build compiles is read, the rest is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.fortran_conditionals import conditionals


def compiled(condition: str, flags: list[str], *, unknown: set[str] | None = None) -> str:
    """Which of the branches stay: "a", "b" or both."""
    found = conditionals(f"#{condition}\na\n#else\nb\n#endif\n", flags, unknown or set())
    return "".join(line for line in found.text.split("\n") if line in ("a", "b"))


@pytest.mark.parametrize(
    ("condition", "flags", "stays"),
    [
        ("ifdef X", [], "b"),
        ("ifdef X", ["-DX"], "a"),
        ("ifdef X", ["-DX", "-UX"], "b"),
        ("ifndef X", ["-DX=0"], "b"),
        ("if X", ["-DX=0"], "b"),
        ("if X", ["-DX"], "a"),
        ("if X", [], "b"),
        ("if defined(X) && !defined(Y)", ["-DX"], "a"),
        ("if defined X || Y > 2", ["-DY=3"], "a"),
        ("if !X == 1", ["-DX=2"], "b"),  # C's `!` binds more than `==`
        ("if !(X == 1)", ["-DX=2"], "a"),
        ("if X - 1 == 2 * Y", ["-DX=7", "-DY=3"], "a"),
        ("if 010 < 9 /* no octal */", [], "b"),
        ("  ifdef X", ["-DX"], "a"),
    ],
)
def test_conditions(condition: str, flags: list[str], stays: str) -> None:
    assert compiled(condition, flags) == stays


@pytest.mark.parametrize(
    "condition",
    [
        "ifdef __GFORTRAN__",
        "if _OPENMP > 200000",
        "ifdef linux",
        "if defined(H)",
        "if X ? 1 : 0",
        "if F(1)",
        "if 1 < 2 < 3",
        "if X == 'a'",
        "if",
    ],
)
def test_what_cannot_be_told_keeps_all_branches(condition: str) -> None:
    assert compiled(condition, ["-DX=text"], unknown={"H"}) == "ab"


def test_every_byte_keeps_its_place() -> None:
    text = "      a\r\n#if 0\r\n      b\r\n#else\r\n      c\r\n#endif\r\n"
    found = conditionals(text, [], set())
    assert len(found.text) == len(text)
    assert found.text.replace(" ", "") == "a\r\n#if0\r\n\r\n#else\r\nc\r\n#endif\r\n"
    assert found.spans == [(2, 6)]
    assert found.inactive == {"b"}
    assert [line for line in range(1, 8) if found.hold(line)] == [3, 4, 5]


def test_elif_nesting_and_definitions() -> None:
    text = """#define LEVEL 2
#if LEVEL == 1
one
#elif LEVEL == 2
two
#ifdef NEVER
never
#define LEVEL 3
#else
here
#endif
#elif LEVEL == 3
three
#else
none
#endif
#undef LEVEL
#ifdef LEVEL
gone
#endif
"""
    found = conditionals(text, [], set())
    left = [line for line in found.text.split("\n") if line.strip() and line[0] != "#"]
    assert left == ["two", "here"]
    assert "never" in found.inactive and "never" not in found.text


def test_a_definition_in_an_unknown_branch_is_unknown() -> None:
    text = "#ifdef __INTEL\n#define X\n#endif\n#ifdef X\na\n#else\nb\n#endif\n"
    found = conditionals(text, [], set())
    assert found.text == text


def test_an_open_conditional_is_left_alone() -> None:
    text = "#if 0\na\n"
    assert conditionals(text, [], set()).text == text


PROGRAM = """module halo
  implicit none
  include 'mpif.h'
contains
#ifdef PARALLEL
  subroutine ex(u, n, peer)
    integer :: n, peer, e, i
    double precision :: u(n), w(1000)
    call mpi_sendrecv(u(2), 1, mpi_double_precision, peer, 0, u(n), 1, &
      mpi_double_precision, peer, 0, mpi_comm_world, mpi_status_ignore, e)
    do i = 1, 1000
      w(i) = i
    end do
    u(1) = w(5) + u(n)
  end subroutine ex
#else
  subroutine ex(u, n, peer)
    integer :: n, peer
    double precision :: u(n)
    u(n) = u(2) + peer
  end subroutine ex
#endif
end module halo
program p
  use halo
  implicit none
  integer :: e, me
  double precision :: u(1000)
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, me, e)
  u = me
  call ex(u, 1000, 1 - me)
  print *, u(1000)
  call mpi_finalize(e)
end program p
"""


def after(text: str, flags: list[str], tmp_path: Path) -> tuple[str, list[str]]:
    path = tmp_path / "p.F90"
    path.write_text(text)
    outcome = transform([path], Options(flags=flags))
    assert not outcome.skipped, outcome.skipped
    said = [line for d in outcome.decisions for line in (d.reason.text, *d.details)]
    return outcome.after[str(path)].decode(), said


def test_a_routine_of_one_branch_is_rewritten_there(tmp_path: Path) -> None:
    text, _ = after(PROGRAM, ["-DPARALLEL"], tmp_path)
    assert "mpi_isend" in text
    other = PROGRAM.index("#else")
    assert text.endswith(PROGRAM[other:])
    assert after(PROGRAM, [], tmp_path)[0] == PROGRAM
    assert "two routines" in " ".join(after(PROGRAM.replace("PARALLEL", "_X"), [], tmp_path)[1])


def test_nothing_moves_over_a_directive(tmp_path: Path) -> None:
    """The other build needs the message too."""
    loop = "    do i = 1, 1000\n"
    text, said = after(
        PROGRAM.replace(loop, f"#ifdef PARALLEL\n{loop}", 1).replace(
            "    u(1) = w(5)", "#endif\n    u(1) = w(5)", 1
        ),
        ["-DPARALLEL"],
        tmp_path,
    )
    assert "mpi_isend" not in text
    assert any("`#ifdef PARALLEL`" in line for line in said)


WRAPPER = PROGRAM.replace("    do i = 1, 1000\n      w(i) = i\n    end do\n", "").replace(
    "    u(1) = w(5) + u(n)\n", ""
)
CALLED = WRAPPER.replace(
    "  call ex(u, 1000, 1 - me)\n",
    "  call ex(u, 1000, 1 - me)\n  do e = 1, 1000\n    v(e) = e\n  end do\n  u(3) = v(4)\n",
).replace("  double precision :: u(1000)\n", "  double precision :: u(1000), v(1000)\n")


def test_a_wrapper_of_one_branch_stays(tmp_path: Path) -> None:
    text, said = after(CALLED, ["-DPARALLEL"], tmp_path)
    assert text == CALLED
    assert any("ex depends on `#if`" in line for line in said)
    plain = CALLED[: CALLED.index("#ifdef")] + CALLED[CALLED.index("#ifdef") + 16 :]
    plain = plain[: plain.index("#else")] + plain[plain.index("#endif") + 7 :]
    assert "call ex_start" in after(plain, [], tmp_path)[0]
    called = plain.replace("  print", "#ifdef OTHER\n  call ex(u, 2, 1)\n#endif\n  print", 1)
    assert after(called, [], tmp_path)[0] == called


def test_a_missing_header_leaves_all_as_it_is(tmp_path: Path) -> None:
    text, said = after(f'#include "settings.h"\n{PROGRAM}', ["-DPARALLEL"], tmp_path)
    assert "mpi_isend" not in text
    (tmp_path / "settings.h").write_text("#undef PARALLEL\n")
    assert "mpi_isend" not in after(f'#include "settings.h"\n{PROGRAM}', [], tmp_path)[0]
    assert said


def test_macros_have_their_case(tmp_path: Path) -> None:
    """`-DMPI` does not stand for the module's name in small letters."""
    text = PROGRAM.replace("PARALLEL", "MPI").replace("include 'mpif.h'", "save")
    text = text.replace("  implicit none\n  save", "  use mpi\n  implicit none\n  save", 1)
    assert "mpi_isend" in after(text, ["-DMPI"], tmp_path)[0]


def test_a_macro_that_is_not_defined_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.F90"
    path.write_text(PROGRAM)
    (note,) = transform([path], Options()).notes
    assert note.startswith(f"{path}:5: the macro PARALLEL is taken as not defined")
    assert transform([path], Options(flags=["-DPARALLEL"])).notes == []


INCLUDING = """      program p
      implicit none
#include "field.inc"
#include <mpif.h>
      integer i, ierr, rank
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      do i = 1, n
        u(i) = i
      end do
      call mpi_recv(v, n, mpi_double_precision, 1 - rank, 0,
     &  mpi_comm_world, mpi_status_ignore, ierr)
      do i = 1, n
        u(i) = 0.5d0 * u(i) + 1.0d0
      end do
      print *, u(3), v(4)
      call mpi_finalize(ierr)
      end
"""
FIELD = "      integer n\n      parameter (n = 1000)\n      double precision u(n), v(n)\n"


def included(folder: Path, files: dict[str, str], flags: list[str]) -> str:
    """What becomes of the program above with these files beside it."""
    for name, text in files.items():
        (folder / name).write_text(text)
    source = folder / "p.F"
    source.write_text(INCLUDING)
    outcome = transform([source], Options(flags=flags))
    (decision,) = [d for d in outcome.decisions if d.site.call.name == "MPI_Recv"]
    after = outcome.after[str(source)].decode()
    return after if decision.decision == "rewritten" else decision.reason.text


def test_declarations_that_the_preprocessor_includes(tmp_path: Path) -> None:
    after = included(tmp_path, {"field.inc": FIELD}, [])
    assert "call mpi_irecv(v, n" in after
    assert after.index("integer imbrex_request") > after.index("field.inc")


def test_an_included_file_that_includes_another(tmp_path: Path) -> None:
    files = {"field.inc": '#include "size.inc"\n      double precision u(n), v(n)\n'}
    files["size.inc"] = "".join(FIELD.splitlines(keepends=True)[:2])
    assert "call mpi_irecv(v, n" in included(tmp_path, files, [])


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (FIELD.replace("1000", "SIZE"), ["-DSIZE=1000"]),  # what the macro says is not read
        ("#ifdef WIDE\n" + FIELD + "#endif\n", ["-DWIDE"]),
        (FIELD + "      u(1) = 0.0d0\n", []),
        (FIELD + "#define unused 1\n", []),
    ],
)
def test_what_is_not_read_of_an_included_file(text: str, flags: list[str], tmp_path: Path) -> None:
    assert "field.inc" in included(tmp_path, {"field.inc": text}, flags)
