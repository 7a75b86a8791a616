"""Functions of C that nothing calls: what they are given is no memory that others have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten

PROGRAM = (Path(__file__).parent / "cases" / "chosen.c").read_text()
CALLED = '    printf("%d %.12g\\n", rank, sum);\n'
SHOW = "static void show(const double *a) /* left over from a debugging session */\n"
SETS = "static void show(double *a)\n{\n    a[0] = 1;\n}\n\nstatic void unused(double *a)\n"

SOMETIMES = """static void exchange(double *a);
static void sometimes(double *a, int n)
{
    if (n > 3)
        exchange(a);
}

"""

GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "one that is seen elsewhere": {SHOW: SHOW.removeprefix("static ")},
    "one that sets it": {SHOW: SETS},
    "one that another one calls, which none does": {
        SHOW: SETS.replace("a[0] = 1;", "unused(a);").replace(
            "static void show", "static void unused(double *a);\nstatic void show"
        )
    },
    "one that calls the exchange": {SHOW: SOMETIMES + SHOW},
    "it calls the library": {
        CALLED: CALLED + '    FILE *log = fopen("log", "w");\n    if (log == NULL)\n'
        "        exit(1);\n    fclose(log);\n",
        "#include <stdio.h>": "#include <stdio.h>\n#include <stdlib.h>",
    },
    "it is called": {CALLED: f"    show(w);\n{CALLED}"},
}
STAY: dict[str, dict[str, str]] = {
    "other code may call it": {
        SHOW: f"extern void other(void);\n{SHOW}".replace("static void show", "void show"),
        CALLED: f"    other();\n{CALLED}",
    },
    "its address is taken, and given away": {
        CALLED: f"    extern void each(void (*)(const double *));\n    each(show);\n{CALLED}"
    },
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_it_does_not_matter(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "exchange_all_start(" in rewritten(tmp_path / "p.c", changed(PROGRAM, replaced))


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_it_may_be_called(replaced: dict[str, str], tmp_path: Path) -> None:
    assert "exchange_all_start(" not in rewritten(tmp_path / "p.c", changed(PROGRAM, replaced))
