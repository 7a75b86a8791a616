"""Arguments of the program's own procedures by their names, and optional ones that are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.reading import read_program

GATHERED = Path(__file__).parent / "cases" / "gathered.f90"
PROGRAM = """module halo
  use mpi
  implicit none
contains
  subroutine swap(u, n, peer, shift, tag)
    integer, intent(in) :: n, peer
    double precision, intent(inout) :: u(n)
    integer, intent(in), optional :: shift, tag
    integer :: e, s, t
    s = 0
    if (present(shift)) s = shift
    t = 1
    if (present(tag)) t = tag
    call MPI_Sendrecv(u(2 + s), 1, MPI_DOUBLE_PRECISION, peer, t, u(n), 1, &
      MPI_DOUBLE_PRECISION, peer, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
  end subroutine swap
end module halo
program p
  use mpi
  use halo
  implicit none
  integer :: e, i, me
  double precision :: u(1000), v(1000)
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  u = me
  {call}
  do i = 1, 1000
    v(i) = i
  end do
  print *, u(1000) + v(3)
  call MPI_Finalize(e)
end program p
"""


def rewritten(tmp_path: Path, call: str) -> tuple[str, Outcome]:
    path = tmp_path / "halo.f90"
    path.write_text(PROGRAM.format(call=call))
    found = transform([path], Options())
    assert not found.skipped, found.skipped
    return found.after[str(path)].decode(), found


@pytest.mark.parametrize(
    ("call", "start"),
    [
        ("swap(u, 1000, 1 - me)", "u, 1000, 1 - me, imbrex_requests=swap_requests"),
        ("swap(u, 1000, 1 - me, 2)", "u, 1000, 1 - me, 2, imbrex_requests=swap_requests"),
        ("swap(u, 1000, 1 - me, 2, 3)", "u, 1000, 1 - me, 2, 3, swap_requests"),
        (
            "swap(u, 1000, 1 - me, tag=3)",
            "u, 1000, 1 - me, tag=3, imbrex_requests=swap_requests",
        ),
        (
            "swap(u, tag = 3, peer = 1 - me, n = 1000)",
            "u, n=1000, peer=1 - me, tag=3, imbrex_requests=swap_requests",
        ),
        (
            "swap(shift=2, tag=3, peer=1 - me, n=1000, u=u)",
            "u=u, n=1000, peer=1 - me, shift=2, tag=3, imbrex_requests=swap_requests",
        ),
    ],
)
def test_what_follows_has_a_name_where_it_must(call: str, start: str, tmp_path: Path) -> None:
    text, _ = rewritten(tmp_path, f"call {call}")
    joined = "".join(text.replace("&\n", " ").split())
    assert f"callswap_start({start})".replace(" ", "") in joined
    assert "callswap_finish(u" in joined


def test_arguments_are_read_in_their_places(tmp_path: Path) -> None:
    path = tmp_path / "halo.f90"
    path.write_text(PROGRAM.format(call="call swap(n=1000, tag=me, u=u, peer=me)"))
    program = read_program([path], Options())
    (call,) = (call for call in program.calls() if call.name == "swap")
    assert [a.text.strip() for a in call.arguments] == ["u", "1000", "me", "", "me"]
    assert [a.absent for a in call.arguments] == [False, False, False, True, False]
    assert call.arguments[0].whole
    (statement,) = (
        s
        for s in program.routines["p" if "p" in program.routines else "main"].statements()
        if call in s.calls
    )
    # What is passed counts by what the procedure does with it, not as read here.
    assert not any(a.variable == call.arguments[0].base for a in statement.accesses)


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("step(u, unew)", "u, unew, change=res"),
        ("step(u, unew, 1)", "u, unew, 1, res"),
        ("step(b=unew, a=u)", "b=unew, a=u, change=res"),
        ("step(u, unew, k=1)", "u, unew, k=1, change=res"),
    ],
)
def test_the_value_of_a_function_has_a_name_where_it_must(
    call: str, given: str, tmp_path: Path
) -> None:
    """It is one more argument of the parts, behind one that may be left out."""
    path = tmp_path / "steps.f90"
    text = GATHERED.read_text().replace("step(u, unew)", call)
    text = text.replace(
        "function step(a, b) result(change)", "function step(a, b, k) result(change)"
    )
    text = text.replace(
        "    real(dp) :: change\n", "    integer, optional :: k\n    real(dp) :: change\n"
    )
    path.write_text(text)
    found = transform([path], Options(reassociation=True)).after[str(path)].decode()
    assert f"call step_interior({given})" in found
    assert f"call step_boundary({given})" in found


INTERFACE = """  interface
    subroutine swap(a, k, other, s, tag)
      integer, intent(in) :: k, other
      double precision, intent(inout) :: a(k)
      integer, intent(in), optional :: s, tag
    end subroutine swap
  end interface
"""


def test_keywords_of_an_external_procedure_stay(tmp_path: Path) -> None:
    """The interface block may give its arguments other names than it has itself."""
    text = PROGRAM.format(call="call swap(u, 1000, other=1 - me)")
    inner = text[text.index("  subroutine swap") : text.index("end module")]
    program = "program p" + text.partition("program p")[2]
    program = program.replace("  use halo\n", "")
    program = program.replace("  integer :: e, i", f"{INTERFACE}  integer :: e, i")
    inner = inner.replace(
        "n, peer, shift, tag)\n", "n, peer, shift, tag)\n    use mpi\n    implicit none\n"
    )
    path = tmp_path / "p.f90"
    path.write_text(program + inner)
    found = transform([path], Options())
    assert not found.skipped
    (decision,) = [d for d in found.decisions if d.site.call.name == "MPI_Sendrecv"]
    assert "swap_start" not in found.after[str(path)].decode()
    barred = "" if decision.barred is None else decision.barred.text
    said = " ".join([decision.reason.text, barred, *decision.details])
    assert "a keyword argument" in said or "interface" in said, said
