"""MPI_Sendrecv_replace of blocks that are used meanwhile: received into memory of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

CASES = Path(__file__).parent / "cases"
CANNON = (CASES / "cannon.c").read_text()
BODIES = (CASES / "forces.c").read_text()
SHIFT = "MPI_Sendrecv_replace(a, n * n, MPI_DOUBLE, left, 1, right, 1, grid, &st);"
LOOP = "for (int k = 0; k < q; k++) {"
RING = "MPI_Sendrecv_replace(buf, n, body_type, right, 0, left, 0, MPI_COMM_WORLD,"

# name: the program, what is replaced, by what
APART: dict[str, tuple[str, str, str]] = {
    "blocks": (CANNON, "", ""),
    "bodies": (BODIES, "", ""),
    "a status that is not wanted": (CANNON, SHIFT, SHIFT.replace("&st", "MPI_STATUS_IGNORE")),
    "a name that is taken": (CANNON, "double s = 0, t;", "double a_came = 0, s = a_came, t;"),
    "allocated by calloc": (CANNON, "*b = malloc(sizeof(double) * n * n)", "*b = calloc(n, n * 8)"),
    "a tag": (
        BODIES,
        "typedef struct { double x, y, z, m; } body;",
        "struct body { double x, y, z, m; }; typedef struct body body;",
    ),
}
STAYS: dict[str, tuple[str, str, str]] = {
    "how many have come is asked": (
        CANNON,
        SHIFT,
        SHIFT + " int came; MPI_Get_count(&st, MPI_DOUBLE, &came); n -= n - came;",
    ),
    "a part of the block": (CANNON, SHIFT, SHIFT.replace("(a,", "(a + n,")),
    "another size each time": (CANNON, LOOP, LOOP + "\n        n = n - 1;"),
    "the loop is left": (CANNON, LOOP, LOOP + "\n        if (n > 100)\n            return 1;"),
    "no header that copies structures": (
        BODIES,
        "#include <string.h>",
        "void *memcpy(void *, const void *, size_t);",
    ),
    "no header that allocates": (
        CANNON,
        "#include <stdlib.h>",
        "void *malloc(size_t); int atoi(const char *); void *calloc(size_t, size_t);",
    ),
    "elements of another type": (CANNON, SHIFT, SHIFT.replace("MPI_DOUBLE", "MPI_FLOAT")),
    "bodies of another type": (
        BODIES,
        "MPI_Type_contiguous(4, MPI_DOUBLE",
        "MPI_Type_contiguous(3, MPI_DOUBLE",
    ),
    "set while it waits": (CANNON, "multiply(n, a, b, c);", "a[k] += b[k]; b[0] = 0; a[0] = 0;"),
    "one line": (CANNON, SHIFT, "if (k >= 0) " + SHIFT),
}


def _written(name: str, change: tuple[str, str, str], path: Path) -> str:
    text, old, new = change
    assert not old or old in text, name
    path.write_text(text.replace(old, new))
    return transform([path], Options()).after[str(path)].decode()


@pytest.mark.parametrize("name", APART)
def test_received_while_it_is_used(name: str, tmp_path: Path) -> None:
    after = _written(name, APART[name], tmp_path / "ring.c")
    used = "multiply(n, a, b, c);" if "multiply" in after else "forces(n, mine, buf, f);"
    block = "a" if "multiply" in after else "buf"
    number = "2" if name == "a name that is taken" else ""
    inside = after[after.index("(int k = 0" if "multiply" in after else "(int stage = 0") :]
    assert inside.index(f"MPI_Isend({block},") < inside.index(used)
    plain = f"{block}[imbrex_i] = {block}_came{number}[imbrex_i]"
    copy = plain if block == "a" else "memcpy(buf, buf_came, "
    assert inside.index(used) < inside.index(copy)
    first_receive = after.index(f"MPI_Irecv({block}_came{number},")
    assert first_receive < after.index(used, after.index("int main"))
    assert after.count(f"free({block}_came{number});") == 1


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str, tmp_path: Path) -> None:
    after = _written(name, STAYS[name], tmp_path / "ring.c")
    block = "buf" if "body" in after else "a"
    assert f"{block}_came" not in after


def test_as_much_is_copied_as_has_come(tmp_path: Path) -> None:
    """Fewer may come than there is room for, and MPI_PROC_NULL leaves the block as it is."""
    after = _written("blocks", APART["blocks"], tmp_path / "ring.c")
    asked = "MPI_Get_count(&a_status, MPI_DOUBLE, &a_count);"
    assert after.index("MPI_Wait(&imbrex_requests[1], &a_status);") < after.index(asked)
    copy = "for (int imbrex_i = 0; imbrex_i < a_count; imbrex_i++)"
    assert after.index(asked) < after.index(copy)
    after = _written("bodies", APART["bodies"], tmp_path / "ring.c")
    asked = "MPI_Get_elements(&buf_status, body_type, &buf_count);"
    copy = "memcpy(buf, buf_came, sizeof(body) / 4 * (size_t)buf_count);"
    assert after.index(asked) < after.index(copy)


def test_a_status_that_would_go_out_of_use_stays_in_use(tmp_path: Path) -> None:
    """A compiler would tell of the variable; where it is used elsewhere too, each block has one."""
    ring = "MPI_STATUS_IGNORE);"
    text = BODIES.replace(ring, "&st);").replace("int left =", "MPI_Status st;\n    int left =")
    after = _written("bodies", (text, "", ""), tmp_path / "ring.c")
    assert "MPI_Get_elements(&st, body_type, &buf_count);" in after
    assert "buf_status" not in after


def test_in_cxx(tmp_path: Path) -> None:
    text = CANNON.replace("malloc(sizeof(double) * n * n)", "new double[n * n]")
    text = text.replace("calloc(n * n, sizeof(double))", "new double[n * n]()")
    after = _written("C++", (text, "", ""), tmp_path / "ring.cpp")
    assert "double *a_came = new double[n * n];" in after
    assert after.count("delete[] a_came;") == 1
