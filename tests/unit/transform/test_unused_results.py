"""Functions that return a constant which no call asks for: they lose it, and can be split."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
static double u[102], v[102];
static int up = MPI_PROC_NULL, down = MPI_PROC_NULL, failed;
%(head)s
{
    %(first)s
    MPI_Sendrecv(&u[1], 1, MPI_DOUBLE, up, 0, &u[101], 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    %(last)s
}
static void step(void)
{
    for (int i = 1; i <= 100; i++)
        v[i] = u[i - 1] + u[i + 1];
}
%(others)s
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int t = 0; t < 3; t++) {
        %(call)s
        step();
    }
    printf("%%g\\n", v[5]);
    MPI_Finalize();
    return 0;
}
"""
PLAIN = {
    "head": "static int exchange(void)",
    "first": "",
    "last": "return 0;",
    "others": "",
    "call": "exchange();",
}
SPLIT = [
    {},
    {"last": "return MPI_SUCCESS;"},
    {"last": "return (0);"},
    {"head": "int exchange(void)"},
    {"head": "static int exchange(void);\nstatic int exchange(void)"},
    {"head": "/* exchange: the halo */\nstatic int exchange(void)", "others": "// of exchange()"},
    {
        "first": "int code;",
        "last": "code = MPI_Comm_size(MPI_COMM_SELF, &failed);\n    return code;",
    },
    {"call": "exchange();\n        exchange();"},
    {"first": "if (failed)\n        return 1;"},
]
WHOLE = [
    {"call": "failed = exchange();"},
    {"call": "if (exchange())\n            MPI_Abort(MPI_COMM_WORLD, 1);"},
    {"call": "failed += exchange();"},
    {"others": "int (*other)(void) = exchange;"},
    {"others": "#define HALO() exchange()", "call": "HALO();"},
    {"others": "#ifdef OTHER\nint more(void) { return exchange(); }\n#endif"},
    {"last": "return failed;"},
    {"last": "return (int)u[0];"},
    {"first": "if (failed)\n        return failed;"},
    {"head": "static long exchange(void)"},
    {"head": "static int *exchange(void)", "last": "return 0;"},
]


def outcome(folder: Path, changes: dict[str, str], name: str) -> Outcome:
    file = folder / name
    file.write_text(PROGRAM % {**PLAIN, **changes})
    return transform([file], Options())


@pytest.mark.parametrize("changes", SPLIT, ids=str)
@pytest.mark.parametrize("name", ["halo.c", "halo.cpp"])
def test_the_value_goes_and_the_function_is_split(
    tmp_path: Path, name: str, changes: dict[str, str]
) -> None:
    found = outcome(tmp_path, changes, name)
    (text,) = (after.decode() for after in found.after.values())
    assert "void exchange_start(" in text and "int exchange" not in text
    (site,) = (d for d in found.decisions if d.site.call.name == "MPI_Sendrecv")
    assert {"unused-results", "wrappers"} <= set(site.rewrites)


@pytest.mark.parametrize("changes", WHOLE, ids=str)
def test_a_value_that_is_asked_for_stays(tmp_path: Path, changes: dict[str, str]) -> None:
    (text,) = (after.decode() for after in outcome(tmp_path, changes, "halo.c").after.values())
    assert "exchange_start(" not in text
    assert PROGRAM.partition("%(head)s")[0].replace("%%", "%") in text
    assert {**PLAIN, **changes}["head"] in text


def test_a_function_that_cannot_be_split_keeps_its_value(tmp_path: Path) -> None:
    changes = {"call": 'exchange();\n        printf("%g\\n", u[101]);'}
    found = outcome(tmp_path, changes, "halo.c")
    assert all(b"static int exchange(void)" in after for after in found.after.values())
