"""What a sum over all ranks is made of goes in front of what needs none of it, all together."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
C = (CASES / "sums_ahead.c").read_text()
FORTRAN = (CASES / "sums_ahead.f90").read_text()

UPDATE = "            x[i] += alpha * p[i];\n"
APPLY = "        apply(p, q, step);\n"
SQUARES = "            own += r[i] * r[i];\n"
SCALED = "        for (int i = 0; i < N; i++)\n            q[i] *= 3;\n"
NEXT = "            r[i] = (r[i] - q[i]) % 17;\n"
DEFINED = "to[i] = from[i] + step;\n"

# name: edits of the program in C after which it must stay as it is
STAYS = {
    "x is what the sum is made of": [(SQUARES, SQUARES.replace("r[i] * r[i]", "x[i] * r[i]"))],
    "x is what that is made of": [
        (NEXT, NEXT.replace("r[i] - q[i]", "r[i] - q[i] - x[i]")),
        (DEFINED, "to[i] = from[i] + x[i];\n"),
    ],
    "the call reads x": [(DEFINED, "to[i] = from[i] + x[i];\n")],
    "the call sets p": [(DEFINED, "to[i] = from[i] + step, p[i]++;\n")],
    "the call prints": [(DEFINED, DEFINED + '    printf(".");\n')],
    "the call draws random numbers, as x does": [
        (DEFINED, "to[i] = from[i] + rand();\n"),
        (UPDATE, "            x[i] += alpha * p[i] + rand() % 3;\n"),
        ("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>"),
    ],
    "the update needs what the sum was": [(UPDATE, UPDATE.replace("alpha", "norm"))],
    "the update sets what the sum is made of": [(UPDATE, "            r[i] += alpha * p[i];\n")],
    "the update may end the step": [(UPDATE, UPDATE[:-1] + "\n        if (x[3] > 9) break;\n")],
    "another message between them": [
        (APPLY, "        MPI_Bcast(&alpha, 1, MPI_INT, 0, MPI_COMM_WORLD);\n" + APPLY)
    ],
    "output between them": [(APPLY, '        printf(".");\n' + APPLY)],
    "a jump between them": [(APPLY, APPLY + "        if (r[0] > 1000) continue;\n")],
    "a name for what it calls": [
        (APPLY, "        APPLY;\n"),
        ("#define N 500\n", "#define N 500\n#define APPLY apply(p, q, step)\n"),
    ],
}
# twins that are moved
MOVED = {
    "as it is": [],
    "the call reads what nothing sets": [(DEFINED, "to[i] = from[i] + step + z[i];\n")],
    "only the call draws random numbers": [
        (DEFINED, "to[i] = from[i] + rand();\n"),
        ("#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>"),
    ],
    "another loop goes along": [(APPLY, APPLY + SCALED)],
}


def rewritten(path: Path, text: str, edits: list[tuple[str, str]]) -> str:
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path.write_text(text.replace("q[N];", "q[N], z[N];"))
    return transform([path], Options()).after[str(path)].decode()


def is_moved(path: Path, text: str, edits: list[tuple[str, str]]) -> bool:
    after = rewritten(path, text, edits).lower()
    update = "x[i] += alpha" if path.suffix == ".c" else "x = x +"
    return "iallreduce" in after and after.index("iallreduce") < after.index(update)


@pytest.mark.parametrize("name", STAYS)
def test_it_stays(name: str, tmp_path: Path) -> None:
    path = tmp_path / "app.c"
    assert "MPI_Iallreduce" not in rewritten(path, C, STAYS[name])


@pytest.mark.parametrize("name", MOVED)
def test_it_is_moved(name: str, tmp_path: Path) -> None:
    assert is_moved(tmp_path / "app.c", C, MOVED[name])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("own = sum(r * r)", "own = dot_product(r, r)", True),
        ("own = sum(r * r)", "own = maxval(r)", True),
        ("own = sum(r * r)", "own = sum(r(1:3))", True),
        ("own = sum(r * r)", "own = sum(x)", False),
        ("q = p + step", "q = p + x", True),  # as x was, which is set behind it
        ("r = mod(r - q, 17)", "r = mod(r - x, 17)", False),
        ("x = x + alpha * p", "x = x + norm * p", False),
    ],
)
def test_fortran(before: str, after: str, expected: bool, tmp_path: Path) -> None:
    assert is_moved(tmp_path / "app.f90", FORTRAN, [(before, after)]) is expected
