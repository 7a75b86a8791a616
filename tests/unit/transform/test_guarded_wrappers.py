"""Calls of wrappers that an `if` guards: their halves have its condition, or stay in its branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

C = """#include <mpi.h>
#include <stdio.h>
#define N 500
static double u[2 * N + 2], v[N + 2], w[N + 2], spent;
static int rank, size, up, down, go = 1, first = 1;
static int ask(int step) { return go++ + step; }
static void exchange(double *a)
{
%(body)s    MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, up, 1, &a[N + 1], 1, MPI_DOUBLE, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void decay(double *a)
{
    for (int i = 1; i <= N; i++)
        a[i] = 0.5 * a[i] + 0.125;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    up = (rank + 1) %% size;
    down = (rank + size - 1) %% size;
    for (int step = 0; step < 9; step++) {
%(use)s        decay(w);
        u[1] += u[N + 1] + w[2];
    }
    printf("%%g %%g\\n", u[1], v[N + 1] + spent + first);
    MPI_Finalize();
    return 0;
}
"""
SPLIT = {
    "if (size > 1)\n            exchange(u);": (
        "if (size > 1)\n            exchange_start(u, exchange_requests);",
        "if (size > 1)\n            exchange_finish(exchange_requests);",
    ),
    "if (size > 1) exchange(u);": (
        "if (size > 1) exchange_start(u, exchange_requests);",
        "if (size > 1)\n            exchange_finish(exchange_requests);",
    ),
    "if (size > 1) {\n            exchange(u);\n        }": (
        "if (size > 1) {\n            exchange_start(u, exchange_requests);\n        }",
        "if (size > 1) {\n            exchange_finish(exchange_requests);\n        }",
    ),
    "if (size > 1)\n            exchange(u);\n        else\n            u[N + 1] = u[1];": (
        "exchange_start(u, exchange_requests);\n        else\n            u[N + 1] = u[1];",
        "if (size > 1)\n            exchange_finish(exchange_requests);",
    ),
    "if (size == 1)\n            u[N + 1] = u[1];\n        else\n            exchange(u);": (
        "else\n            exchange_start(u, exchange_requests);",
        "if (!(size == 1))\n            exchange_finish(exchange_requests);",
    ),
    "if (size > 1) {\n            exchange(u);\n            exchange(v);\n        }": (
        "exchange_start(u, exchange_requests);\n            exchange_start(v, &exchange_req",
        "exchange_finish(exchange_requests);\n            exchange_finish(&exchange_requests[2]);",
    ),
    "if (size > 1) {\n            double t = MPI_Wtime();\n            exchange(u);\n"
    "            spent += MPI_Wtime() - t;\n        }": (
        "exchange_start(u, exchange_requests);\n            spent += MPI_Wtime() - t;\n        }",
        "if (size > 1) {\n            exchange_finish(exchange_requests);\n        }",
    ),
    "if (size > 1) {\n            if (step > 5)\n                break;\n"
    "            exchange(u);\n        }": (
        "break;\n            exchange_start(u, exchange_requests);\n        }",
        "if (size > 1) {\n            exchange_finish(exchange_requests);\n        }",
    ),
}
# None of these has a window; of the calls beside them some has, so that both halves are written.
IN_PLACE = {
    "the condition has an effect": "if (go++ > 0) {\n            exchange(u);\n        }",
    "the condition calls": "if (ask(step) > 0) {\n            exchange(u);\n        }",
    "the condition changes": "if (go > 0) {\n            exchange(u);\n        }\n        go = 0;",
    "its branch changes it": (
        "if (go > 0) {\n            exchange(u);\n            go = 0;\n        }"
    ),
    "the other branch changes it": (
        "if (first) {\n            first = 0;\n        } else {\n"
        "            exchange(u);\n        }"
    ),
    "the message changes it": "if (u[N + 1] < 9.0) {\n            exchange(u);\n        }",
    "its branch uses what comes": (
        "if (size > 1) {\n            exchange(u);\n            u[2] += u[N + 1];\n        }"
    ),
    "its branch may be left": (
        "if (size > 1) {\n            exchange(u);\n            if (step > 5)\n"
        "                break;\n        }"
    ),
    "both branches": (
        "if (size > 1) {\n            exchange(u);\n        } else {\n"
        "            exchange(v);\n        }"
    ),
    "another message": (
        "if (size > 1) {\n            exchange(u);\n            MPI_Barrier(MPI_COMM_WORLD);\n"
        "        }"
    ),
}


def rewritten(folder: Path, name: str, program: str, **parts: str) -> Outcome:
    file = folder / name
    file.write_text(program % parts)
    outcome = transform([file], Options())
    text = outcome.after[str(file)]
    again = transform([file], Options(contents={file: text}))
    assert again.after[str(file)] == text
    return outcome


def window(folder: Path, use: str, body: str = "") -> str:
    """The loop of the program in C, rewritten."""
    outcome = rewritten(folder, "halo.c", C, use=f"        {use}\n", body=body)
    (text,) = outcome.after.values()
    found = text.decode()
    return found[found.index("for (int step") :]


@pytest.mark.parametrize("use", SPLIT)
def test_the_halves_have_the_condition(tmp_path: Path, use: str) -> None:
    text = window(tmp_path, use)
    start, finish = SPLIT[use]
    assert text.index(start) < text.index("decay(w)") < text.index(finish)


BESIDE = "exchange(v);\n        decay(w);\n        w[3] = v[N + 1];\n        "


@pytest.mark.parametrize("case", IN_PLACE)
def test_what_stays_in_its_branch(tmp_path: Path, case: str) -> None:
    text = window(tmp_path, BESIDE + IN_PLACE[case])
    first, *_ = text.split("w[3] = v[N + 1];")
    assert first.index("exchange_start(v") < first.index("decay(w)")
    behind = text[text.index("w[3] = v[N + 1];") :]
    assert behind.index("exchange_finish(") < behind.index("decay(w)")
    assert behind.index("exchange_finish(") < behind.index("        }\n")


# What the halves are named with ends with the branch, or another condition follows: once they stand
# in the branch, the finish leaves it as any wait does.
LEAVES = (
    "if (size > 1) {\n            double *b = u;\n            exchange(b);\n        }",
    "if (size > 1) {\n            exchange(u);\n        } else if (step > 2) {\n"
    "            first = 3;\n        }",
)


@pytest.mark.parametrize("use", LEAVES)
def test_finishes_that_leave_later(tmp_path: Path, use: str) -> None:
    text = window(tmp_path, BESIDE + use)
    behind = text[text.index("w[3] = v[N + 1];") :]
    finish = behind.index("exchange_finish(exchange_requests)")
    assert behind.index("exchange_start(") < behind.index("decay(w)") < finish
    assert "if (size > 1)" in behind[behind.index("decay(w)") : finish]


def test_bodies_get_braces(tmp_path: Path) -> None:
    use = BESIDE + "for (int k = 0; k < 2; k++)\n            exchange(u);"
    text = window(tmp_path, use)
    assert (
        "k++) {\n            exchange_start(u, exchange_requests);\n"
        "            exchange_finish(exchange_requests);\n        }" in text
    )


def test_work_in_the_branch_comes_first(tmp_path: Path) -> None:
    inside = "exchange(u);\n            decay(v);\n            v[1] = 0;"
    use = f"if (size > 1) {{\n            {inside}\n        }}"
    text = window(tmp_path, use)
    branch = text[: text.index("        }\n")]
    assert branch.index("exchange_start(u") < branch.index("decay(v)")


def test_corners_are_not_under_way_together(tmp_path: Path) -> None:
    """The second exchange sends what the first one brings."""
    use = "if (size > 1) {\n            exchange(u);\n            exchange(&u[N]);\n        }"
    text = window(tmp_path, use)
    assert text.index("exchange_finish(") < text.index("exchange_start(&u[N]")


@pytest.mark.parametrize(
    "case", ["the condition has an effect", "the condition calls", "the other branch changes it"]
)
def test_why_it_stays_is_told(tmp_path: Path, case: str) -> None:
    use = f"        {IN_PLACE[case]}\n"
    outcome = rewritten(tmp_path, "halo.c", C, use=use, body="")
    (decision,) = outcome.decisions
    assert decision.obstacle.cause.text == (
        "a call of exchange stands under a condition that may not be asked again"
    )


def test_a_condition_that_is_no_reason_is_not_told(tmp_path: Path) -> None:
    """Nothing beside it computes."""
    use = f"        {IN_PLACE['the condition has an effect']}\n        if (ask(step)) continue;\n"
    outcome = rewritten(tmp_path, "halo.c", C, use=use, body="")
    (decision,) = outcome.decisions
    assert "asked again" not in str(decision.obstacle)


RETURNS = {
    "a copy": ("    if (size == 1) {\n        a[N + 1] = a[1];\n        return;\n    }\n", True),
    "a loop": (
        "    if (size == 1) {\n        for (int i = 0; i < 3; i++)\n            a[i] = i;\n"
        "        return;\n    }\n",
        True,
    ),
    "it changes the condition": (
        "    if (go > 1) {\n        go = 0;\n        return;\n    }\n",
        False,
    ),
    "a message": (
        "    if (size == 1) {\n        MPI_Send(a, 1, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);\n"
        "        return;\n    }\n",
        False,
    ),
    "another way out": (
        "    if (size == 1) {\n        if (go)\n            return;\n        a[0] = 1;\n"
        "        return;\n    }\n",
        False,
    ),
}


@pytest.mark.parametrize("case", RETURNS)
def test_a_wrapper_that_works_and_returns(tmp_path: Path, case: str) -> None:
    body, split = RETURNS[case]
    outcome = rewritten(tmp_path, "halo.c", C, use="        exchange(u);\n", body=body)
    (text,) = (data.decode() for data in outcome.after.values())
    assert ("exchange_start(" in text) is split
    if split:
        finish = text[text.index("void exchange_finish(") :]
        finish = finish[: finish.index("\n}")]
        assert "if (size == 1) {\n        return;\n    }\n    MPI_Wait" in finish
        assert text.count("a[") == (C % {"use": "", "body": body}).count("a[")


FORTRAN = """module halo
  use mpi
  implicit none
  integer, parameter :: n = 500
  integer :: rank, nprocs, up, down
contains
  subroutine exchange(a)
    double precision, intent(inout) :: a(0:n+1)
    integer :: ierr
    call MPI_Sendrecv(a(1), 1, MPI_DOUBLE_PRECISION, up, 1, a(n+1), 1, MPI_DOUBLE_PRECISION, &
         down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine decay(a)
    double precision, intent(inout) :: a(0:n+1)
    integer :: i
    do i = 1, n
      a(i) = 0.5d0*a(i) + 0.125d0
    end do
  end subroutine decay
end module halo

program main
  use mpi
  use halo
  implicit none
  double precision :: u(0:n+1), v(0:n+1), w(0:n+1)
  integer :: ierr, step
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  u = 1.0d0
  v = 1.0d0
  w = 1.0d0
  do step = 1, 9
%(use)s    call decay(w)
    u(1) = u(1) + u(n+1) + w(2)
  end do
  print *, u(1), v(n+1)
  call MPI_Finalize(ierr)
end program main
"""
IN_FORTRAN = {
    "    if (nprocs > 1) call exchange(u)\n": (
        "    if (nprocs > 1) then\n      call exchange_start(u, exchange_requests)\n    end if\n",
        "    if (nprocs > 1) then\n      call exchange_finish(u, exchange_requests)\n    end if\n",
    ),
    "    IF (nprocs > 1 .and. &\n        step > 0) call exchange(u)\n": (
        "    if (nprocs > 1 .and. step > 0) then\n      call exchange_start(u",
        "    if (nprocs > 1 .and. step > 0) then\n      call exchange_finish(u",
    ),
    "    if (nprocs > 1) then\n      call exchange(u)\n    end if\n": (
        "      call exchange_start(u, exchange_requests)\n    end if\n",
        "    if (nprocs > 1) then\n      call exchange_finish(u, exchange_requests)\n    end if\n",
    ),
    "    if (nprocs == 1) then\n      u(n+1) = u(1)\n    else\n"
    "      call exchange(u)\n    end if\n": (
        "    else\n      call exchange_start(u, exchange_requests)\n    end if\n",
        "    if (.not. (nprocs == 1)) then\n      call exchange_finish(u",
    ),
    "    if (nprocs > 1) then\n      call exchange(u)\n      call exchange(v)\n    end if\n": (
        "exchange_start(u, exchange_requests)\n      call exchange_start(v, exchange_requests(3))",
        "exchange_finish(u, exchange_requests)\n"
        "      call exchange_finish(v, exchange_requests(3))",
    ),
}


@pytest.mark.parametrize("use", IN_FORTRAN)
def test_in_fortran(tmp_path: Path, use: str) -> None:
    outcome = rewritten(tmp_path, "halo.f90", FORTRAN, use=use)
    (text,) = (data.decode() for data in outcome.after.values())
    text = text[text.index("do step") :]
    start, finish = IN_FORTRAN[use]
    assert text.index(start) < text.index("call decay(w)") < text.index(finish)
