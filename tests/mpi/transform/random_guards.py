"""Exchanges that an `if` guards: in the routine that calls them, in themselves, or written out.

Both ranks come to the same answer, which what the branch does may change, or what follows it.
"""

from __future__ import annotations

import random
from typing import Any

_CONDITIONS = [("at != 1", "at .ne. 1"), ("at > 0", "at .gt. 0"), ("at == 2", "at .eq. 2")]
_CHANGES = [("at = 0;", "at = 0"), ("at = at + 1;", "at = at + 1")]
_WORK = [("s = 0.5 * s + 0.25;", "s = 0.5d0 * s + 0.25d0"), ("t = 0.5 * s;", "t = 0.5d0 * s")]


def c_routine(choice: random.Random, name: str) -> str:
    alone = choice.choice(
        ["", "    if (s > 900.0) {\n        y[0] = 0.5 * y[1];\n        return;\n    }\n"]
    )
    return f"""static void trade_{name}(const double *x, double *y)
{{
{alone}    MPI_Sendrecv(&x[9], 2, MPI_DOUBLE, peer, 9, &y[5], 2, MPI_DOUBLE, peer, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}}
"""


def fortran_routine(choice: random.Random, name: str, declarations: str) -> str:
    alone = choice.choice(
        [
            "",
            "      if (s .gt. 900.0d0) then\n        y(1) = 0.5d0 * y(2)\n        return\n"
            "      end if\n",
        ]
    )
    return f"""      subroutine trade{name}(x, y)
{declarations}
      double precision x(n), y(n)
      integer ierr
{alone}      call MPI_SENDRECV(x(10), 2, MPI_DOUBLE_PRECISION, peer, 9,
     &  y(6), 2, MPI_DOUBLE_PRECISION, peer, 9, MPI_COMM_WORLD,
     &  MPI_STATUS_IGNORE, ierr)
      end
"""


def put_guarded(generator: Any) -> None:
    """Append such an exchange, and computation behind it."""
    choice, out = generator.random, generator.out
    if generator.busy:
        generator.exchange()
        return
    condition = choice.choice(_CONDITIONS)
    out.put("at = (at + 1) % 3;", "at = mod(at + 1, 3)")
    if choice.random() < 0.3:
        _written_out(generator, condition)
    else:
        _called(generator, condition)
    for _ in range(choice.randint(0, 2)):
        generator.loop()
    if choice.random() < 0.3:
        out.put(*choice.choice(_CHANGES))


def _called(generator: Any, condition: tuple[str, str]) -> None:
    choice, out = generator.random, generator.out
    name = f"{generator.seed}_{len(generator.routines)}"
    if out.fortran:
        routine = fortran_routine(choice, name, generator.declarations)
    else:
        routine = c_routine(choice, name)
    generator.routines.append(routine)
    x, y = generator.pair()
    call = f"trade_{name}({x}, {y});", f"call trade{name}({x}, {y})"
    kind = choice.choice(["alone", "alone", "block", "two", "otherwise", "changing"])
    if kind == "alone":
        out.put(f"if ({condition[0]}) {call[0]}", f"if ({condition[1]}) {call[1]}")
        return
    out.put(f"if ({condition[0]}) {{", f"if ({condition[1]}) then")
    out.depth += 1
    if kind == "otherwise":
        out.put(*choice.choice(_WORK))
        out.depth -= 1
        out.put("} else {", "else")
        out.depth += 1
    if choice.random() < 0.3:
        out.put(*choice.choice(_WORK))
    out.put(*call)
    if kind == "two":
        x, y = generator.pair()
        out.put(f"trade_{name}({x}, {y});", f"call trade{name}({x}, {y})")
    if kind == "changing":
        out.put(*choice.choice(_CHANGES))
    elif choice.random() < 0.3:
        out.put(*choice.choice(_WORK))
    out.depth -= 1
    out.put("}", "end if")


def _written_out(generator: Any, condition: tuple[str, str]) -> None:
    choice, out = generator.random, generator.out
    x, y = generator.pair()
    out.put(f"if ({condition[0]}) {{", f"if ({condition[1]}) then")
    out.depth += 1
    generator.start("Irecv", y, 10, 9, 0)
    generator.start("Isend", x, 10, 9, 1)
    if choice.random() < 0.3:
        out.put(*choice.choice(_CHANGES))
    generator.wait(0, 2)
    if choice.random() < 0.3:
        out.put(*choice.choice(_CHANGES))
    out.depth -= 1
    out.put("}", "end if")
