"""The text of statements that ask for the value of a function which has none any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.options import Options
from imbrex.transform.reading import read_program
from imbrex.transform.text.asked_results import ONE, TRUE, ZERO, Value, without_result
from imbrex.transform.text.edits import apply_edits

HEADER = "#include <mpi.h>\n"
PROGRAM = """#include <stdio.h>
#define CHECK(x) do { int r = (x); if (r != 0) MPI_Abort(MPI_COMM_WORLD, r); } while (0)
#define TRY(x, n) do { int r = (x); if (r) { printf("%%d", n); MPI_Abort(MPI_COMM_WORLD, r); } \\
    } while (0)
#define NOT(x) do { int r = (x); if (r == 0) MPI_Abort(MPI_COMM_WORLD, r); } while (0)
#define TWICE(x) do { (x); if (x) MPI_Abort(MPI_COMM_WORLD, 1); } while (0)
#define F f(n)
int f(int n);
int user(int n)
{
    int e = 0;
    %s
    return e;
}
"""
BECOMES = {
    "if (f(n)) MPI_Abort(MPI_COMM_WORLD, 1);": "f(n);",
    "if ( f(n + 1) != 0 ) { e++; }": "f(n + 1);",
    "if (MPI_SUCCESS != f(n)) return 1;": "f(n);",
    'if (f(n) < 0) { printf("case a: %d ? b : c", n); }': "f(n);",
    "if (f(n) > 0) e = n ? 1 : 2;": "f(n);",
    'if (f(n) /* of n */) /* no */ printf("; failed: %d", n);': None,
    'if (f(n)) /* no */ printf("; failed: %d", n);': "f(n);",
    "if (f(n) == - 1) e = 3;": "f(n);",
    "for (; n > 0; n--) if (f(n)) return 1;": "for (; n > 0; n--) f(n);",
    "if (f(f(n) ? 1 : 2)) return 1;": None,  # two that are asked
    "e = f(n);": "f(n);\n    e = MPI_SUCCESS;",
    "const int c = f(n);": "f(n);\n    const int c = MPI_SUCCESS;",
    "return f(n);": "f(n);\n    return MPI_SUCCESS;",
    "if (f(n)) return 1; else return 2;": None,
    "if (!f(n)) return 1;": None,
    "if (f(n) == 0) return 1;": None,
    "if (f(n) == MPI_SUCCESS) return 1;": None,
    "if (f(n) != 1) return 1;": None,
    "if (0 != f(n) < 0) return 1;": None,
    "if (f(n) && n) return 1;": None,
    "if (n && f(n)) return 1;": None,
    "if ((e = f(n)) != 0) return 1;": "f(n);\n    e = MPI_SUCCESS;\n    if (e != 0) return 1;",
    "if (0 == (e = f(n))) { n--; } else n++;": (
        "f(n);\n    e = MPI_SUCCESS;\n    if (0 == e) { n--; } else n++;"
    ),
    "if ( ( e = f(n) ) && n) return e;": "f(n);\n    e = MPI_SUCCESS;\n    if ( e && n) return e;",
    "if (!(e = f(n))) e = 3;": "f(n);\n    e = MPI_SUCCESS;\n    if (!e) e = 3;",
    "if ((e = f(n) + 1) != 0) return e;": None,
    "if ((e += f(n)) != 0) return e;": None,
    "if (n && (e = f(n))) return e;": None,
    "if (n != (e = f(n))) return e;": None,
    "for (; n > 0; n--)\n        if ((e = f(n)) != 0)\n            return e;": None,
    "n++; if ((e = f(n)) != 0) return e;": None,
    "if (n) n++; else if ((e = f(n)) != 0) return e;": None,
    "if (f(n)) { out: e++; } if (e > 9) goto out;": None,
    "switch (n) { default: if (f(n)) { case 3: e++; } }": None,
    "if (f(n))\n#ifdef MORE\n        e++;\n#else\n        e--;\n#endif": None,
    "e += f(n);": None,
    "e = f(n) + 1;": None,
    "e = 2 * f(n);": None,
    "return f(n) + 1;": None,
    "return (f(n));": None,
    "double d = f(n); e = d;": None,
    "CHECK(f(n));": "f(n);",
    "CHECK( f((n + 1) * 2) );": "f((n + 1) * 2);",
    "if (n) CHECK(f(n)); else e = 1;": "if (n) f(n); else e = 1;",
    "TRY(f(n), 3);": "f(n);",
    "CHECK(f(n) + 1);": None,
    "TRY(f(n), e++);": None,
    "CHECK(-f(n));": None,
    "CHECK(e = f(n));": None,
    'CHECK(f(n + ")"[0]));': None,
    "CHECK(f('('));": None,
    "TRY(f(')'), n);": None,
    "CHECK(f(n) /* ) */);": None,
    "CHECK(F);": None,
    "NOT(f(n));": None,
    "TWICE(f(n));": None,
    "F;": None,
    "if (n) e = f(n);": None,
    "if (n)\n        e = f(n);": None,
    "if (n)\n        return f(n);": None,
    "e = 1; e = f(n);": None,
    "for (e = f(n); e < 9; e++) ;": None,
    "while (f(n)) e++;": None,
    "e = n ? f(n) : 1;": None,
}


OF_ONE = {
    "if (!f(n)) MPI_Abort(MPI_COMM_WORLD, 1);": "f(n);",
    "if (f(n) != 1) { e++; }": "f(n);",
    "if (1 != f(n)) return 1;": "f(n);",
    "if (f(n) == 0) return 1;": "f(n);",
    "if (0 == f(n)) return 1;": "f(n);",
    "if (f(n) < 1) return 1;": "f(n);",
    "if (f(n) <= 0) return 1;": "f(n);",
    "if (!(e = f(n))) return 1;": "f(n);\n    e = 1;\n    if (!e) return 1;",
    "e = f(n);": "f(n);\n    e = 1;",
    "return f(n);": "f(n);\n    return 1;",
    "if (f(n)) return 1;": None,
    "if (f(n) != 0) return 1;": None,
    "if (f(n) < 0) return 1;": None,
    "if (f(n) == 1) return 1;": None,
    "if (!f(n) == 0) return 1;": None,
    "if (!!f(n)) return 1;": None,
    "if (!f(n)) return 1; else return 2;": None,
    "CHECK(f(n));": None,
}


def becomes(folder: Path, text: str, value: Value = ZERO) -> str | None:
    file = folder / "p.c"
    file.write_text(text)
    program = read_program([file], Options())
    (source,) = program.files.values()
    (routine,) = (r for r in program.routines.values() if r.name == "user")
    found = [
        without_result(source, statement, call, value)
        for statement in routine.statements()
        for call in statement.calls
        if call.name == "f"
    ]
    if len(found) != 1 or found[0] is None:
        return None
    return apply_edits(source.data, found[0]).decode()


@pytest.mark.parametrize(("statement", "expected"), BECOMES.items(), ids=str)
def test_statements(tmp_path: Path, statement: str, expected: str | None) -> None:
    after = becomes(tmp_path, HEADER + PROGRAM % statement)
    assert after == (None if expected is None else HEADER + PROGRAM % expected)


@pytest.mark.parametrize(("statement", "expected"), OF_ONE.items(), ids=str)
def test_statements_about_what_is_always_one(
    tmp_path: Path, statement: str, expected: str | None
) -> None:
    after = becomes(tmp_path, HEADER + PROGRAM % statement, ONE)
    assert after == (None if expected is None else HEADER + PROGRAM % expected)


def test_a_truth_is_written_as_one(tmp_path: Path) -> None:
    text = HEADER + "#include <stdbool.h>\n" + PROGRAM
    after = becomes(tmp_path, text % "const bool b = f(n); e = b;", TRUE)
    assert after == text % "f(n);\n    const bool b = true; e = b;"
    assert becomes(tmp_path, text % "if (f(n) != true) return 1;", TRUE) == text % "f(n);"


def test_without_mpi_s_header_no_code_is_named(tmp_path: Path) -> None:
    assert becomes(tmp_path, PROGRAM % "e = f(n);") is None
    assert becomes(tmp_path, PROGRAM % "if (f(n)) e++;") == PROGRAM % "f(n);"
