"""Forms of Fortran sources, by flag, by name and by their text; arrays that may be copied."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import Language
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import compile_database
from imbrex.transform.readers.fortran_units import Units

FREE = b"""module m
  integer :: n = 3, &
    k = 4
end module m
"""
FIXED = b"""      module m
      integer n
     &  , k
c     a comment
      end module m
"""


@pytest.mark.parametrize(
    ("name", "data", "flags", "language"),
    [
        ("a.F", FREE, ["-ffree-form"], Language.FORTRAN_FREE),
        ("a.F", FREE, [], Language.FORTRAN_FREE),
        ("a.f", FREE, ["-free"], Language.FORTRAN_FREE),
        ("a.f90", FIXED, ["-ffixed-form"], Language.FORTRAN_FIXED),
        ("a.f90", FIXED, [], Language.FORTRAN_FIXED),
        ("a.f90", FIXED, ["-ffree-form", "-ffixed-form"], Language.FORTRAN_FIXED),
        ("a.f", FIXED, [], Language.FORTRAN_FIXED),
        ("a.f90", FREE, [], Language.FORTRAN_FREE),
    ],
)
def test_the_form_is_known(name: str, data: bytes, flags: list[str], language: Language) -> None:
    unit = Units.of(Path(name), data, flags)
    assert unit.source.language is language
    assert set(unit.scopes[0].symbols) == {"n", "k"}


def test_a_flag_is_believed() -> None:
    with pytest.raises(ImbrexError, match=r"a\.F: line 1"):
        Units.of(Path("a.F"), FREE, ["-ffixed-form"])


def test_the_compile_database_gives_the_form(tmp_path: Path) -> None:
    source = tmp_path / "a.F"
    source.write_bytes(FREE)
    entry = {"directory": str(tmp_path), "file": "a.F", "command": "gfortran -ffree-form -c a.F"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    assert compile_database(tmp_path)[source] == ["-ffree-form"]


def test_a_form_flag_is_none_of_c(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(void) { return 0; }\n")
    assert not transform([source], Options(flags=["-ffree-form"])).skipped


SHAPE = """module work
contains
  subroutine s(b, n, peer)
    use mpi
    double precision :: b(:)
    double precision :: d(1000)
    integer :: n, r, e, i, peer
    call %s
    do i = 1, 1000
      d(i) = sqrt(dble(i))
    end do
    b(3) = d(4)
  end subroutine s
end module work
"""
ARGUMENTS = "n, mpi_double_precision, peer, 0, mpi_comm_world"


def shape(call: str, tmp_path: Path) -> Outcome:
    path = tmp_path / "shape.f90"
    path.write_text(SHAPE % call)
    return transform([path], Options())


def test_a_nonblocking_call_has_no_copied_buffer(tmp_path: Path) -> None:
    for buffer in ("b", "b(2:)"):
        calls = f"mpi_isend({buffer}, {ARGUMENTS}, r, e)"
        calls += "\n    call mpi_wait(r, mpi_status_ignore, e)"
        decisions = shape(calls, tmp_path).decisions
        assert [decision.decision for decision in decisions] == ["nothing-to-gain", "rewritten"]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (f"mpi_send(b, {ARGUMENTS}, e)", ReasonKind.MAY_BE_NONCONTIGUOUS),
        (f"mpi_isend(b(1:9:2), {ARGUMENTS}, r, e)", ReasonKind.NONCONTIGUOUS),
        (f"mpi_send(b(2:), {ARGUMENTS}, e)", ReasonKind.MAY_BE_NONCONTIGUOUS),
    ],
)
def test_others_may_have_one(call: str, kind: ReasonKind, tmp_path: Path) -> None:
    (decision,) = shape(call, tmp_path).decisions
    assert decision.decision == "refused"
    assert dict(decision.reason.cause.parameters)["cause"] == kind()
