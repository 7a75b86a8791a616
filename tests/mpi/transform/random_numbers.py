"""Numbers of a routine's own that go to the other rank, or are added up over both.

Whether the routine can be taken apart depends on what the number is: one of its own is its caller's
until the finish, one that is passed by its value ends with the start.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Numbers:
    """The routine, the statement that calls it, and one that uses what it has brought."""

    routine: str
    call: str
    use: str


def c_numbers(choice: random.Random, name: str, array: str) -> Numbers:
    """`at` is an integer of the caller's and `q` a real number; `s` is global."""
    factor, index = choice.randint(1, 63) / 64, choice.randint(0, 99)
    use = "s = 0.5 * s + 0.25 * q;"
    sent = f"""
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, peer, 4, &in, 1, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    *got = {factor} * in;
}}
"""
    kind = choice.choice(["own", "own", "value", "count", "count", "total"])
    if kind == "own":
        begins = choice.choice(["double out = 0.5, in;", "double in = 0.0, out = 0.25;"])
        more = choice.choice(["out += 0.5 * x[3];", "for (int i = 0; i < 9; i++) out += x[i];", ""])
        routine = f"""static void near_{name}(const double *x, double *got)
{{
    {begins}
    out = 0.5 * out + {factor} * x[{index}];
    {more}{sent}"""
        return Numbers(routine, f"near_{name}({array}, &q);", use)
    if kind == "value":
        head = f"static void near_{name}(double out, double *got)\n{{\n    double in = 0.0;"
        return Numbers(head + sent, f"near_{name}({array}[{index}], &q);", use)
    added = f"""    int own = 0{", all" if kind == "count" else ""};
    for (int i = {index}; i < 200; i++)
        own += x[i] > {factor};
    MPI_Allreduce(&own, {"&" if kind == "count" else ""}all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
"""
    use = "s = 0.5 * s + 0.001953125 * at;"
    if kind == "count":
        routine = f"static int count_{name}(const double *x)\n{{\n{added}    return all;\n}}\n"
        taken = choice.choice(["at = %s;", "at = 2 * %s;", "at = (%s + at) / 2;"])
        return Numbers(routine, taken % f"count_{name}({array})", use)
    routine = f"static void total_{name}(const double *x, int *all)\n{{\n{added}}}\n"
    return Numbers(routine, f"total_{name}({array}, &at);", use)


def put_numbers(generator: Any) -> None:
    """Append such a routine and its call, computation, and what uses the number.

    Only in C: without an interface compilers reject numbers where others pass arrays.
    """
    if generator.out.fortran:
        generator.exchange()
        return
    name, array = f"{generator.seed}_{len(generator.routines)}", generator.array()
    made = c_numbers(generator.random, name, array)
    generator.routines.append(made.routine)
    generator.out.put(made.call, made.call)
    for _ in range(generator.random.randint(0, 2)):
        generator.loop()
    generator.out.put(made.use, made.use)
