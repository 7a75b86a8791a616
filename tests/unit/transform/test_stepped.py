"""Work in layers: a step is divided where what it calls has the loops that need the messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

CASES = Path(__file__).parent / "cases"
C = (CASES / "stepped.c").read_text()
FORTRAN = (CASES / "stepped.f90").read_text()

SOURCE = "    source(g, t);\n"
FLUX = "    flux(g);\n"
UPDATE = "    update(g, dt);\n"
ADVANCE = "static void advance("
STEP = "        advance(&g, 0.1, step);\n"
END = "4.0 * g->u[j * m + i];\n}"
MORE = """static void look(Grid *g)
{
    norm += g->u[1];
}
static void scale(Grid *g)
{
    for (int k = 0; k < (g->nx + 2) * (g->ny + 2); k++)
        g->u[k] *= 0.99;
}
static void bump(double *c)
{
    *c += 1.0;
}
static void flux_of(Grid *g, double *f, double c)
{
    int m = g->nx + 2;
    for (int j = 1; j <= g->ny; j++)
        for (int i = 1; i <= g->nx; i++)
            f[j * m + i] = g->u[(j - 1) * m + i] + g->u[(j + 1) * m + i] - c * g->u[j * m + i];
}
static void rhs(Grid *g)
{
    flux(g);
    norm += 1.0;
}
"""
C_GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "nothing around it": {SOURCE: "", UPDATE: ""},
    "three layers": {FLUX: "    rhs(g);\n"},
    "twice": {UPDATE: UPDATE + FLUX},
    "a value of the step": {ADVANCE: "static int advance(", UPDATE: UPDATE + "    return step;\n"},
    "a value in the step": {
        "static void flux(": "static int flux(",
        END: END.replace("}", "    return 1;\n}"),
        FLUX: "    norm += flux(g);\n",
    },
    "more behind the loops": {END: END.replace("}", "    norm += g->f[70];\n}")},
    "what it begins with reads the field": {SOURCE: "    look(g);\n" + SOURCE},
    "what it begins with takes the halo": {"step * dt;": "step * dt + g->u[5];"},
    "an exchange of pointers behind": {
        UPDATE: "    double *x = g->u;\n    g->u = g->f;\n    g->f = x;\n"
    },
    "a local whose address is known later": {
        "    double t": "    double c = 2.0;\n    double t",
        FLUX: "    flux_of(g, g->f, c);\n",
        UPDATE: "    bump(&c);\n    norm += c;\n",
    },
    "it calls itself behind": {UPDATE: UPDATE + "    if (step < 0)\n        advance(g, dt, 1);\n"},
    "collective calls behind": {
        UPDATE: UPDATE + "    MPI_Bcast(&norm, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n"
    },
}
C_STAY: dict[str, dict[str, str]] = {
    "it may return first": {SOURCE: "    if (step == 3)\n        return;\n" + SOURCE},
    "it may jump first": {
        SOURCE: "    if (step == 3)\n        goto out;\n" + SOURCE,
        UPDATE: UPDATE + "out:\n    norm += 1.0;\n",
    },
    "on a condition": {FLUX: "    if (step != 3)\n    " + FLUX},
    "in a loop": {FLUX: "    for (int k = 0; k < 2; k++)\n    " + FLUX},
    "a sum": {"- 4.0 * g->u[j * m + i];": "- 4.0 * g->u[j * m + i], norm += g->u[j * m + i];"},
    "an exact sum": {
        "- 4.0 * g->u[j * m + i];": "- 4.0 * g->u[j * m + i], hits += g->u[j * m + i] > 3.0;",
        "static double norm;": "static int hits;\nstatic double norm;",
    },
    "in place": {"g->f[j * m + i] = g->u[(j": "g->u[j * m + i] = g->u[(j"},
    "what it begins with sets the field": {SOURCE: "    scale(g);\n" + SOURCE},
    "what it begins with exchanges pointers": {
        SOURCE: "    double *x = g->u;\n    g->u = g->f;\n    g->f = x;\n" + SOURCE
    },
    "what it begins with sets a bound": {SOURCE: "    g->ny -= step == 2;\n" + SOURCE},
    "what it begins with prints": {SOURCE: '    printf("%d\\n", step);\n' + SOURCE},
    "collective calls first": {SOURCE: "    MPI_Barrier(MPI_COMM_WORLD);\n" + SOURCE},
    "what is passed takes the halo": {
        "step * dt;": "step * dt + g->u[5];",
        FLUX: "    flux_of(g, g->f, t);\n",
    },
    "a local array between the two": {
        SOURCE: "    double part[4096];\n" + SOURCE,
        FLUX: "    flux_of(g, part, 4.0);\n    norm += part[70];\n",
    },
    "a local that a call sets first": {
        SOURCE: "    double c = 2.0;\n    bump(&c);\n" + SOURCE,
        FLUX: "    flux_of(g, g->f, c);\n",
    },
    "a counter that the loops use": {
        SOURCE: "    norm += 1.0;\n" + SOURCE,
        FLUX: "    flux_of(g, g->f, norm);\n",
    },
    "a counter of its own": {SOURCE: "    static int calls;\n    calls++;\n" + SOURCE},
    "a counter of what it calls": {
        "static void flux(Grid *g)\n{\n": "static void flux(Grid *g)\n{\n"
        "    static int n;\n    n++;\n"
    },
    "its address is taken": {
        STEP: "        void (*go)(Grid *, double, int) = advance;\n        go(&g, 0.1, step);\n"
    },
}


def in_c(tmp_path: Path, replaced: dict[str, str]) -> str:
    assert ADVANCE in C
    text = changed(C, {"typedef struct": "static double norm;\ntypedef struct"})
    text = changed(text, replaced)
    place = text.index("advance(Grid")
    place = text.rindex("\n", 0, place) + 1
    return rewritten(tmp_path / "stepped.c", text[:place] + MORE + text[place:])


@pytest.mark.parametrize("replaced", C_GO.values(), ids=C_GO)
def test_steps_are_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = in_c(tmp_path, replaced)
    start, finish = text.index("  exchange_start(&g"), text.index("  exchange_finish(exchange")
    interior, boundary = (text.index(f"  advance_{part}(&g") for part in ("interior", "boundary"))
    assert start < interior < finish < boundary


@pytest.mark.parametrize("replaced", C_STAY.values(), ids=C_STAY)
def test_steps_that_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    text = in_c(tmp_path, replaced)
    assert "advance_interior" not in text


def test_what_nothing_calls_whole_any_more_goes(tmp_path: Path) -> None:
    """And stays where the step, or what it calls, is called whole somewhere."""
    path, last = tmp_path / "stepped.c", "    double s = 0;\n"
    text = rewritten(path, C)
    assert "static void flux(" not in text
    assert "static void advance(" not in text
    for more in ("    advance(&g, 0.1, 1);\n", "    void (*go)(Grid *, double, int) = advance;\n"):
        text = rewritten(path, changed(C, {last: more + last}))
        assert "static void flux(" in text
        assert "static void advance(" in text
        assert FLUX in text
    text = rewritten(path, changed(C, {last: "    flux(&g);\n" + last}))
    assert "static void flux(" in text
    assert "static void advance(" not in text


CALL = "    call flux(half)\n"
LAST = "    call update(dt)\n  end"
ENDS = "      end do\n    end do\n  end subroutine flux"
HALF = "    half = 0.5d0*c*(1.0d0 - dt)\n"
F_GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "on lines that go on": {CALL: "    call flux( &\n      half)  ! of all cells\n"},
    "twice": {LAST: "    call update(dt)\n    call flux(c)\n  end"},
    "three layers": {
        CALL: "    call rhs(half)\n",
        "  subroutine advance(": "  subroutine rhs(c)\n    double precision, intent(in) :: c\n"
        "    call flux(c)\n    w = w + 1\n  end subroutine rhs\n  subroutine advance(",
    },
    "an element that no message has": {HALF: "    half = 0.5d0*u(3,3)\n"},
    "more behind": {LAST: "    call update(dt)\n    w(1,1) = dt\n  end"},
}
F_STAY: dict[str, dict[str, str]] = {
    "an element of the halo": {HALF: "    half = 0.5d0*u(3,0)\n"},
    "it prints": {HALF: HALF + "    print *, half\n"},
    "two on a line": {CALL + "    call update(dt)\n": CALL.rstrip("\n") + "; call update(dt)\n"},
    "something in front": {HALF: HALF + "    call update(dt)\n"},
    "on a condition": {CALL: "    if (dt > 0) call flux(half)\n"},
    "it may return": {HALF: HALF + "    if (half > 9) return\n"},
    "a counter": {
        "    double precision :: half\n": "    double precision :: half\n"
        "    integer, save :: calls = 0\n    calls = calls + 1\n"
    },
    "a label": {
        CALL: f"10  {CALL.strip()}\n    if (w(2,2) > 0) then\n      w(2,2) = 0\n"
        "      goto 10\n    end if\n"
    },
    "the index behind the loops": {ENDS: ENDS.replace("  end sub", "    print *, j\n  end sub")},
    "the index behind the loops, in a list": {
        ENDS: ENDS.replace("  end sub", "    namelist /last/ j\n    write (*, last)\n  end sub")
    },
    "in a region of its own": {CALL: f"    !$omp critical\n{CALL}    !$omp end critical\n"},
}


@pytest.mark.parametrize("replaced", F_GO.values(), ids=F_GO)
def test_fortran_steps_are_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "stepped.f90", changed(FORTRAN, replaced))
    start, finish = text.index("call exchange_start(up"), text.index("call exchange_finish(")
    interior, boundary = (text.index(f"call advance_{part}(") for part in ("interior", "boundary"))
    assert start < interior < finish < boundary


@pytest.mark.parametrize("replaced", F_STAY.values(), ids=F_STAY)
def test_fortran_steps_that_stay(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "stepped.f90", changed(FORTRAN, replaced))
    assert "advance_interior" not in text
