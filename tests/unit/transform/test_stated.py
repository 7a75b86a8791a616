"""What the user states ahead of a statement, and what is suggested to be stated."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.transform.command import Action, Request, answer
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

C = """#include <mpi.h>
#include <stdio.h>
static double u[100], v[100], w[100];
static int where[100];
extern void library(double *x);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Recv(u, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
%s
    for (int i = 0; i < 100; i++)
        u[where[i]] = 2.0 * w[i];
%s
    library(w);
    for (int i = 0; i < 100; i++)
        v[i] = 2.0 * w[i];
    printf("%%g %%g\\n", u[0], v[1]);
    MPI_Finalize();
    return 0;
}
"""
FORTRAN = """      program stated
      use mpi
      double precision u(100), w(100)
      integer where(100), i, ierr
      common /field/ u, w, where
      call mpi_init(ierr)
      call mpi_recv(u, 10, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD,
     &  MPI_STATUS_IGNORE, ierr)
%s
      do i = 1, 100
        u(where(i)) = 2.0d0 * w(i)
      end do
      print *, u(1)
      call mpi_finalize(ierr)
      end
"""


def run(text: str, folder: Path, name: str = "program.c") -> Outcome:
    path = folder / name
    path.write_text(text)
    outcome = transform([path], Options())
    again = transform([path], Options(contents={path: outcome.after[str(path)]}))
    assert again.after == outcome.after
    return outcome


def rewritten(outcome: Outcome) -> bool:
    return any(d.decision == "rewritten" for d in outcome.decisions)


def wait_after(outcome: Outcome) -> str:
    """What stands in front of the wait."""
    text = next(iter(outcome.after.values())).decode()
    return text[: text.index("MPI_Wait(")].rstrip().splitlines()[-1].strip()


def test_only_what_is_stated_is_passed(tmp_path: Path) -> None:
    assert not rewritten(run(C % ("", ""), tmp_path))
    assert not rewritten(run(C % ("#pragma imbrex independent(v)", ""), tmp_path))
    one = run(C % ("#pragma imbrex independent(u)", ""), tmp_path)
    assert wait_after(one) == "u[where[i]] = 2.0 * w[i];"
    details = [line for d in one.decisions for line in d.details]
    assert any("leaves the message in `u` alone by your word" in line for line in details)
    # A call of code that is not known, and the loop behind it, which needs no word.
    two = "#pragma imbrex independent(u)", "#pragma imbrex independent(w, u)"
    assert wait_after(run(C % two, tmp_path)) == "v[i] = 2.0 * w[i];"
    assert not rewritten(run(C % ("", two[1]), tmp_path))


def test_in_fortran(tmp_path: Path) -> None:
    assert not rewritten(run(FORTRAN % "", tmp_path, "program.f"))
    for directive in ("!$imbrex independent(u)", "c$imbrex independent(U)"):
        assert rewritten(run(FORTRAN % directive, tmp_path, "program.f"))
    assert not rewritten(run(FORTRAN % "!$imbrex independent(w)", tmp_path, "program.f"))


@pytest.mark.parametrize(
    ("directive", "said"),
    [
        ("#pragma imbrex independant(u)", "only `imbrex independent"),
        ("#pragma imbrex independent()", "only `imbrex independent"),
        ("#pragma imbrex independent(x)", "main uses no variable x"),
    ],
)
def test_bad_directives(directive: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match=said) as error:
        run(C % (directive, ""), tmp_path)
    assert "program.c:10" in str(error.value)


def suggested(text: str, folder: Path, line: int, name: str = "program.c", **more: object) -> str:
    path = folder / name
    path.write_text(text)
    request = Request((str(path),), suggest=f"{path}:{line}", **more)  # type: ignore[arg-type]
    return answer(request).text


@pytest.mark.parametrize(("name", "text"), [("program.c", C % ("", "")), ("p.f", FORTRAN % "")])
def test_a_suggestion_is_what_it_says(name: str, text: str, tmp_path: Path) -> None:
    """The diff applies, and the result is what `transform` makes of its directives."""
    line = 9 if name == "program.c" else 7
    diff = suggested(text, tmp_path, line, name)
    assert "imbrex: not proven: `u` is used or set" in diff
    (tmp_path / "x.diff").write_text(diff)
    subprocess.run(
        ["patch", "-s", str(tmp_path / name), str(tmp_path / "x.diff")], check=True, cwd=tmp_path
    )
    assert not rewritten_again((tmp_path / name).read_text(), tmp_path, name)


def rewritten_again(text: str, folder: Path, name: str) -> bool:
    outcome = run(text, folder, name)
    return outcome.before != outcome.after


def test_what_cannot_be_suggested(tmp_path: Path) -> None:
    direct = C.replace("u[where[i]] = 2.0 * w[i];", "v[i] = w[i];") % ("", "")
    with pytest.raises(ImbrexError, match="can be rewritten as it is"):
        suggested(direct, tmp_path, 9)
    plain = (C % ("u[3] = 1.0;", "")).replace("u[where[i]] = 2.0 * w[i];", "v[i] = w[i];")
    with pytest.raises(ImbrexError, match="nothing to suggest"):
        suggested(plain, tmp_path, 9)
    # A loop that overwrites the very elements that come, unless a condition may leave them out.
    used = C.replace("u[where[i]] = 2.0 * w[i];", "%s u[i] = w[i];")
    with pytest.raises(ImbrexError, match=r"nothing to suggest: .*`u` is used or set"):
        suggested(used % ("", "", ""), tmp_path, 9)
    assert "independent(u)" in suggested(used % ("", "if (where[i])", ""), tmp_path, 9)
    with pytest.raises(ImbrexError, match=r"stands there: those of .*program.c are in lines 9"):
        suggested(C % ("", ""), tmp_path, 11)
    with pytest.raises(ImbrexError, match="never applied"):
        suggested(C % ("", ""), tmp_path, 9, action=Action.APPLY)
