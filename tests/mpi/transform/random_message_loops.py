"""Loops in which each iteration sends and receives, in the program itself or in its own routine.

What an iteration receives may be what a later one sends, buffers may overlap, and it may be packed
in front of the messages and taken behind them.
"""

from __future__ import annotations

import random
from typing import Any

_TAG = 40


def put_message_loop(generator: Any) -> None:
    """Append one or two such loops, and computation behind them."""
    choice, out = generator.random, generator.out
    if generator.busy or generator.pending:
        generator.exchange()
        return
    loops = choice.choice([1, 1, 2])
    if choice.random() < 0.5:
        for _ in range(loops):
            _put(choice, out, *generator.pair(), generator.array())
    else:
        name = f"{generator.seed}_{len(generator.routines)}"
        x, y = generator.pair()
        inner = type(out)(out.fortran)
        for _ in range(loops):
            _put(choice, inner, "x", "y", choice.choice(["x", "y"]))
        generator.routines.append(_routine(generator, name, "\n".join(inner.lines)))
        out.put(f"each_{name}({x}, {y});", f"call each{name}({x}, {y})")
    for _ in range(choice.randint(0, 2)):
        generator.loop()


def _routine(generator: Any, name: str, body: str) -> str:
    if generator.out.fortran:
        return (
            f"      subroutine each{name}(x, y)\n{generator.declarations}\n"
            "      double precision x(n), y(n), q\n      integer ierr, mm\n"
            f"{body}\n      end\n"
        )
    head = f"static void each_{name}(double *x, double *y)\n{{\n    double q;\n    (void)q;\n"
    return f"{head}{body}\n}}\n"


def _put(choice: random.Random, out: Any, x: str, y: str, other: str) -> None:
    apart = choice.random() < 0.6
    step = 12 if apart else choice.choice([0, 5, 7, 10])  # below the counts, buffers overlap
    count = choice.choice([1, 5, 10])
    above, below = choice.choice([0, 3, 100, 400]), choice.choice([0, 50, 200])
    low = choice.choice([0, 1])
    first, second = (
        (f"&{a}[{step} * mm + {at}]", f"{a}({step} * mm + {at + 1})")
        for a, at in ((x, above), (y, below))
    )
    tag = choice.choice([(str(_TAG), str(_TAG)), (f"{_TAG} + mm", f"{_TAG} + mm")])
    out.put(f"for (int mm = {low}; mm < 4; mm++) {{", f"do mm = {low}, 3")
    out.depth += 1
    if choice.random() < 0.4:
        at = choice.choice([above, below, 600])
        out.put(
            f"{x}[{step} * mm + {at}] = 0.5 * {other}[mm + 700] + 0.125;",
            f"{x}({step} * mm + {at + 1}) = 0.5d0 * {other}(mm + 701) + 0.125d0",
        )
    if choice.random() < 0.2:  # one variable for all iterations
        out.put(f"q = 0.5 * {x}[mm + {above}];", f"q = 0.5d0 * {x}(mm + {above + 1})")
        first, count = ("&q", "q"), 1
    kind = choice.choice(["both", "both", "both", "turns", "guarded"])
    send = (
        f"MPI_Send({first[0]}, {count}, MPI_DOUBLE, peer, {tag[0]}, MPI_COMM_WORLD);",
        f"call MPI_SEND({first[1]}, {count}, MPI_DOUBLE_PRECISION, peer, {tag[1]}, MPI_COMM_WORLD, "
        "ierr)",
    )
    take = (
        f"MPI_Recv({second[0]}, {count}, MPI_DOUBLE, peer, {tag[0]}, MPI_COMM_WORLD, "
        "MPI_STATUS_IGNORE);",
        f"call MPI_RECV({second[1]}, {count}, MPI_DOUBLE_PRECISION, peer, {tag[1]}, "
        "MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)",
    )
    if kind == "both":
        out.put(
            f"MPI_Sendrecv({first[0]}, {count}, MPI_DOUBLE, peer, {tag[0]}, {second[0]}, {count}, "
            f"MPI_DOUBLE, peer, {tag[0]}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            f"call MPI_SENDRECV({first[1]}, {count}, MPI_DOUBLE_PRECISION, peer, {tag[1]}, "
            f"{second[1]}, {count}, MPI_DOUBLE_PRECISION, peer, {tag[1]}, MPI_COMM_WORLD, "
            "MPI_STATUS_IGNORE, ierr)",
        )
    elif kind == "guarded":
        for rank, call in ((0, send), (1, take)):
            out.put(f"if (rank == {rank}) {{", f"if (rank .eq. {rank}) then")
            out.depth += 1
            out.put(*call)
            out.depth -= 1
            out.put("}", "end if")
    else:
        for head, calls in (
            (("if (rank == 0) {", "if (rank .eq. 0) then"), (send, take)),
            (("} else {", "else"), (take, send)),
        ):
            out.put(*head)
            out.depth += 1
            for call in calls:
                out.put(*call)
            out.depth -= 1
        out.put("}", "end if")
    if choice.random() < 0.4:
        out.put(
            f"{other}[mm + 800] = {y}[{step} * mm + {below}];",
            f"{other}(mm + 801) = {y}({step} * mm + {below + 1})",
        )
    out.depth -= 1
    out.put("}", "end do")
