"""Loops of Fortran that end at labels, written twice: the second text has other labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.transform.engine import transform
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.options import Options
from imbrex.transform.text.labels import relabelled

NEST = """\
      do 10 j = 1, n
      do 10 i = 1, 10
        v(i,j) = u(i,j) +
     1    u(i + 10, j)
   10 continue
"""


def source(text: str, language: Language = Language.FORTRAN_FIXED) -> SourceFile:
    name = "p.f" if language is Language.FORTRAN_FIXED else "p.f90"
    return SourceFile(Path(name), name, text.encode(), language)


def test_the_loops_end_at_another_label() -> None:
    assert relabelled(source(NEST), NEST) == NEST.replace("do 10 ", "do 11 ").replace(
        "   10 continue", "   11 continue"
    )


def test_labels_of_the_file_and_of_other_new_texts_are_taken() -> None:
    file = source(NEST + "   11 continue\n" + "      if (x) goto 12\n   12 continue\n")
    used = {13}
    text = relabelled(file, NEST, used)
    assert text is not None
    assert "do 14 j" in text
    assert used == {13, 14}


@pytest.mark.parametrize(
    "nest",
    [
        NEST.replace("        v", "        if (u(i,j) .lt. 0) goto 10\n        v"),
        NEST.replace("        v", "        if (u(i,j) .lt. 0) GO TO 10\n        v"),
        NEST.replace("        v", "    5   v"),  # who goes there is not in the loops
    ],
)
def test_what_else_names_a_label(nest: str) -> None:
    assert relabelled(source(nest), nest) is None


def test_a_text_without_labels_stays() -> None:
    text = "      do i = 1, n\n        v(i) = u(i) +\n     1    w(i)\n      end do\n"
    assert relabelled(source(text), text) == text


def test_no_number_is_left() -> None:
    text = "      do 5 i = 1, n\n    5   v(i) = u(i)\n"
    rest = "".join(f"    {n} continue\n" for n in (1, 2, 3, 4, 6, 7, 8, 9))
    assert relabelled(source(text + rest), text) is None


def test_free_form() -> None:
    text = "  do 20 i = 1, n\n    v(i) = u(i)\n20 continue\n"
    assert relabelled(source(text, Language.FORTRAN_FREE), text) == text.replace("20 ", "10 ")


@given(
    st.lists(st.integers(1, 99999), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(1, 99999), max_size=30, unique=True),
)
def test_new_labels_are_new_and_as_wide(own: list[int], more: list[int]) -> None:
    text = "".join(f"      do {n} i{n} = 1, 7\n" for n in own)
    text += "".join(f"{n:5d} continue\n" for n in reversed(own))
    file = source(text + "".join(f"{n:5d} continue\n" for n in more))
    new = relabelled(file, text)
    if new is None:
        assert any(len(str(n)) == 1 for n in own)  # of one digit there are nine
        return
    assert [len(line) for line in new.split("\n")] == [len(line) for line in text.split("\n")]
    heads = [int(n) for n in re.findall(r"do (\d+)", new)]
    ends = [int(n) for n in re.findall(r"(?m)^ *(\d+) continue", new)]
    assert heads == ends[::-1]
    assert len(set(heads)) == len(own)
    assert not set(heads) & {*own, *more}


PROGRAM = """      program p
      include 'mpif.h'
      integer n
      parameter (n = 100)
      double precision u(0:n+1), v(n), w(n), b(n)
      integer me, ierr, it, i, st(MPI_STATUS_SIZE)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      do 90 it = 1, 9
%s
   90 continue
      print *, u(1), v(n), w(n), b(n)
      call MPI_FINALIZE(ierr)
      end
"""
MESSAGE = """\
        call MPI_SENDRECV(%s, 1 - me, 1,
     1    %s, 1 - me, 1, MPI_COMM_WORLD,
     2    st, ierr)
"""
HALO = MESSAGE % ("u(1), 1, MPI_REAL8", "u(n+1), 1, MPI_REAL8")
ROW = MESSAGE % ("b, n, MPI_REAL8", "u(1), n, MPI_REAL8")
SWEEP = """\
        do 10 i = 1, n
          v(i) = 0.5d0*(u(i-1) + u(i+1))
%s   10   continue
"""
BOTH = """\
        do 20 i = 1, n
          b(i) = 0.5d0*v(i)*v(i) + it
          w(i) = w(i) + v(i)*v(i)
   20   continue
"""


def after(folder: Path, body: str) -> str:
    file = folder / "p.f"
    file.write_text(PROGRAM % body)
    outcome = transform([file], Options())
    text = outcome.after[str(file)]
    again = transform([file], Options(contents={file: text}))
    assert again.after[str(file)] == text
    return text.decode()


def test_a_nest_is_divided_where_it_stands(tmp_path: Path) -> None:
    text = after(tmp_path, HALO + SWEEP % "")
    interior = "        do 11 i = 1, n - 1\n          v(i) = 0.5d0*(u(i-1) + u(i+1))\n   11   cont"
    assert text.index(interior) < text.index("call MPI_WAIT") < text.index("   10   continue")


def test_a_nest_that_goes_to_its_end_stays(tmp_path: Path) -> None:
    text = after(
        tmp_path, HALO + SWEEP % "          if (v(i) .lt. 0) goto 10\n          v(i) = 1\n"
    )
    assert text.count("continue") == 2


def test_a_loop_is_distributed(tmp_path: Path) -> None:
    text = after(tmp_path, BOTH + ROW)
    first = "   20   continue\n        call MPI_ISEND(b, n,"
    assert text.index(first) < text.index("        do 10 i = 1, n\n          w(i) = w(i)")
