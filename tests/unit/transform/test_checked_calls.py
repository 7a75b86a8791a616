"""Calls whose error code is checked at once: read as calls where errors end the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
{define}
static double a[1000], b[1000], w[1000];
static int failures;
int main(int argc, char **argv)
{{
    int rank, n = 0;
    MPI_Init(&argc, &argv);
    {before}
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 10; step++) {{
        {call}
        for (int i = 0; i < 1000; i++)
            w[i] = 2 * w[i] + i;
        for (int i = 0; i < 1000; i++)
            a[i] = w[i] + b[i];
    }}
    printf("%f %d\\n", a[7], n);
    MPI_Finalize();
    return 0;
}}
"""
EXCHANGE = """CHECK(MPI_Sendrecv(a, 1000, MPI_DOUBLE, 1 - rank, 0, b, 1000, MPI_DOUBLE, 1 - rank, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE));"""
BROADCAST = "CHECK(MPI_Bcast(b, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD));"
LOOP = """#define CHECK(call) do { \\
    int err = (call); /* kept */ \\
    if (err != MPI_SUCCESS) { \\
        fprintf(stderr, "%s failed: %d {\\n", #call, err); \\
        MPI_Abort(MPI_COMM_WORLD, err); \\
    } \\
} while (0)"""
CHECKS = {
    "a loop that runs once": LOOP,
    "braces": "#define CHECK(x) { const int rc = x; if (rc) exit(rc); }",
    "a condition": "#define CHECK(x) if ((x) != MPI_SUCCESS) abort()",
    "success first": "#define CHECK(x) do { int e = (x); if (0 != e) abort(); } while (0)",
    "alone": "#define CHECK(x) (x)",
    "set behind its declaration": "#define CHECK(x) do { int e; e = (x); if (e) abort(); }"
    " while (0)",
    "any number of parameters": "#define CHECK(...) do { int e = (__VA_ARGS__); if (e) abort(); }"
    " while (0)",
    "a function's": """static inline void
check_(int code, const char *what, const char *file, int line)
{
    if (code != MPI_SUCCESS) {
        /* check_ ends */
        fprintf(stderr, "%s: check_ %s:%d\\n", what, file, line);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
}
#define CHECK(call) check_((call), #call, __FILE__, __LINE__)""",
    "a function's in a loop": """static void check_(int code, int line);
static void check_(int code, int line) { if (code == 0) return; exit(line); }
#define CHECK(call) do { check_(call, __LINE__); } while (0)""",
    "twice the same": "#ifdef NDEBUG\n#define CHECK(c) (c)\n#else\n#define CHECK(x) x\n#endif",
}
OTHERS = {
    "it counts": "#define CHECK(x) do { failures += (x); } while (0)",
    "it keeps the code": "#define CHECK(x) n = (x); if (n) abort()",
    "it counts each": "#define CHECK(x) do { int e = (x); if (e) abort(); n++; } while (0)",
    "it has an else": "#define CHECK(x) if ((x)) abort(); else n++",
    "it runs twice": "#define CHECK(x) do { int e = (x); if (e) abort(); x; } while (0)",
    "it asks for failure": "#define CHECK(x) if ((x) == MPI_SUCCESS) n++",
    "its variable hides the program's": "#define CHECK(x) do { int rank = (x); if (rank) abort();"
    " } while (0)",
    "its variable has the program's scope": "#define CHECK(x) int e = (x); if (e) abort()",
    "two parameters": "#define CHECK(x, ...) x",
    "any number that runs twice": "#define CHECK(...) do { int e = (__VA_ARGS__); if (e) abort();"
    " __VA_ARGS__; } while (0)",
    "another is set": "#define CHECK(x) do { int e; n = (x); if (e) abort(); } while (0)",
    "a function that counts": """static int w_;
static void check_(int c) { w_ += c; }
#define CHECK(x) check_(x)""",
    "a function of another file": """void check_(int c);
#define CHECK(x) check_(x)""",
    "a function of another type": """static int check_(int c) { if (c) abort(); return 0; }
#define CHECK(x) check_(x)""",
    "a macro in the macro": """static void check_(int c) { if (c) abort(); }
#define check_(c) (failures += (c))
#define CHECK(x) check_(x)""",
    "a variable of a function's name": """static int w_;
static void one(int c) { w_ += c; }
static void (*check_)(int) = one;
#define CHECK(x) check_(x)""",
    "one of two functions": """#ifdef OTHER
static void check_(int c) { if (c) abort(); }
#else
static int w_;
static void check_(int c) { w_ += c; if (c) abort(); }
#endif
#define CHECK(x) check_(x)""",
    "a function that is given more": """static void check_(int c, int n) { if (c) exit(n); }
#define CHECK(x) check_(x, failures++)""",
    "a function that is asked more": """static void check_(int c) { if (c) abort(); }
#define CHECK(x) check_(x != failures)""",
    "another one elsewhere": "#if 1\n#define CHECK(x) x\n#else\n#define CHECK(x) n += x\n#endif",
}


def outcome(tmp_path: Path, define: str, call: str, before: str = "") -> Outcome:
    path = tmp_path / "p.c"
    path.write_text(PROGRAM.format(define=define, call=call, before=before))
    found = transform([path], Options())
    assert not found.skipped
    return found


def rewritten(found: Outcome) -> int:
    return sum(decision.decision == "rewritten" for decision in found.decisions)


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("call", [EXCHANGE, BROADCAST], ids=["exchange", "broadcast"])
def test_a_check_stops_nothing_and_stays(name: str, call: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, CHECKS[name], call)
    assert rewritten(found) == 1, [str(d.reason) for d in found.decisions]
    (after,) = found.after.values()
    started = ("CHECK(MPI_Irecv(b,", "CHECK(MPI_Isend(a,") if call == EXCHANGE else ()
    for text in started or ("CHECK(MPI_Ibcast(b,",):
        assert text.encode() in after
    assert b"CHECK()" not in after
    assert (b"CHECK(MPI_Waitall(2," if call == EXCHANGE else b"CHECK(MPI_Wait(") in after
    # What is rewritten is read again, and nothing more is to be done.
    again = tmp_path / "again"
    again.mkdir()
    (again / "p.c").write_bytes(after)
    second = transform([again / "p.c"], Options())
    assert rewritten(second) == 0
    assert list(second.after.values()) == [after]


@pytest.mark.parametrize("name", OTHERS)
def test_other_macros_are_left_alone(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, OTHERS[name], EXCHANGE)
    assert rewritten(found) == 0
    assert found.after == found.before


@pytest.mark.parametrize(
    "before",
    [
        "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);",
        "extern void set_up(void); set_up();",
    ],
)
def test_not_where_an_error_may_come_back(before: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, LOOP, EXCHANGE, before)
    assert rewritten(found) == 0
    assert any("CHECK" in str(decision.reason) for decision in found.decisions)


def test_not_where_a_header_sets_a_handler(tmp_path: Path) -> None:
    (tmp_path / "set.h").write_text(
        "static inline void set(void)\n"
        "{\n    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);\n}\n"
    )
    found = outcome(tmp_path, LOOP + '\n#include "set.h"', EXCHANGE, "set();")
    assert rewritten(found) == 0
    assert rewritten(outcome(tmp_path, LOOP, EXCHANGE)) == 1


def test_an_else_may_be_of_the_macro(tmp_path: Path) -> None:
    call = f"if (rank < 9)\n{EXCHANGE} /* or */\n        else\n            n++;"
    found = outcome(tmp_path, "#define CHECK(x) if ((x) != MPI_SUCCESS) abort()", call)
    assert rewritten(found) == 0


def test_errors_of_files_come_back(tmp_path: Path) -> None:
    define = "static MPI_File file;\n#define CHECK(x) if (x) n++"
    found = outcome(tmp_path, define, EXCHANGE, "CHECK(MPI_File_close(&file));")
    # the file's check may run: it stays what it is
    assert rewritten(found) == 1
    (after,) = found.after.values()
    assert b"CHECK(MPI_File_close(" in after


def test_a_check_in_a_macro_of_the_program_is_left_alone(tmp_path: Path) -> None:
    define = LOOP + "\n#define TALK(r) do { \\\n" + EXCHANGE.replace("\n", " ") + " \\\n} while (0)"
    found = outcome(tmp_path, define, "TALK(rank);")
    assert rewritten(found) == 0


UNBRACED = {
    "if": "if (n >= 0) {}",
    "else": "if (n < 0) n = 0; else {}",
    "for": "for (int k = 0; k < 1; k++) {}",
}


@pytest.mark.parametrize("name", UNBRACED)
def test_a_check_follows_a_head_in_its_line(name: str, tmp_path: Path) -> None:
    call = UNBRACED[name].format(
        "CHECK(MPI_Irecv(b, 1000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &q));"
    )
    wait = "CHECK(MPI_Wait(&q, MPI_STATUS_IGNORE));"
    found = outcome(tmp_path, LOOP, f"MPI_Request q;\n        {call}\n        {wait}")
    assert not any("CHECK" in str(decision.reason) for decision in found.decisions)
    assert rewritten(found) > 0, [str(d.reason) for d in found.decisions]
    (after,) = found.after.values()
    assert call.encode() in after
    assert after.index(b"w[i] = 2 * w[i] + i;") < after.index(wait.encode())


def test_a_check_of_another_kind_of_head_is_left_alone(tmp_path: Path) -> None:
    call = BROADCAST.replace("CHECK", "(void) CHECK", 1)
    found = outcome(tmp_path, "#define CHECK(x) (x)", call)
    assert rewritten(found) == 0


def test_a_constant_is_given_to_a_check(tmp_path: Path) -> None:
    define = """#define CHECK(call, what) do { int e = (call); if (e) { \\
        fprintf(stderr, "%s\\n", what); exit(e); } } while (0)"""
    assert rewritten(outcome(tmp_path, define, BROADCAST.replace("));", '), "a broadcast");'))) == 1
    for given in ("argv[n++]", "argv[n]"):
        found = outcome(tmp_path, define, BROADCAST.replace("));", f"), {given});"))
        assert rewritten(found) == 0


CALL = EXCHANGE.removeprefix("CHECK(").removesuffix(");")
FUNCTIONS = {
    "a function": "static void CHECK(int code) { if (code != MPI_SUCCESS) { abort(); } }",
    "it returns first": """static inline void CHECK(const int e)
{
    if (e == MPI_SUCCESS) return;
    fprintf(stderr, "%d\\n", e); exit(e);
}""",
}
OTHER_FUNCTIONS = {
    "it counts": "static int w_; static void CHECK(int code) { w_ += code; }",
    "it counts each": "static int w_; static void CHECK(int code) { if (code) abort(); w_++; }",
    "it has an else": "static int w_; static void CHECK(int c) { if (c) abort(); else w_++; }",
    "success": "static int w_; static void CHECK(int code) { if (code == 0) { w_++; return; } }",
    "it returns something": "static int CHECK(int code) { if (code) abort(); return 0; }",
    "it is defined elsewhere": "void CHECK(int code);",
    "it takes no code": "static void CHECK(long code) { if (code) abort(); }",
    "a pointer to one": """static void one(int c) { if (c) abort(); }
static void (*CHECK)(int) = one;""",
    "a directive": """static int w_;
static void CHECK(int code) {
    if (code)
#if 0
        abort();
#else
        w_++;
#endif
}""",
}
ASKED = {
    "alone": "if ({}) abort();",
    "compared": "if ({} != MPI_SUCCESS) {{ MPI_Abort(MPI_COMM_WORLD, 1); }}",
    "on the next line": "if ({}\n            != MPI_SUCCESS)\n            abort();",
    "success first": "if (MPI_SUCCESS != {})\n            exit(EXIT_FAILURE);",
    "two statements": 'if ({} != 0) {{\n fprintf(stderr, "at %d\\n", __LINE__);\n exit(-1);\n }}',
}
OTHER_CONDITIONALS = {
    "it asks for success": "if ({} == MPI_SUCCESS) abort();",
    "it asks for more": "if ({} || n) abort();",
    "it is an else": "if (n) n--; else if ({}) abort(); else n++;",
}
ASKED_BEHIND = {
    "it counts": "if ({}) n++;",
    "it shows a variable": "if ({}) exit(n);",
    "it has an else": "if ({}) abort(); else n++;",
    "a comment and an else": "if ({}) abort(); /* or */ else n++;",
    "it leaves": "if ({}) return 1;",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_checks(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, FUNCTIONS[name], EXCHANGE)
    assert rewritten(found) == 1, [str(d.reason) for d in found.decisions]
    (after,) = found.after.values()
    assert b"CHECK(MPI_Irecv(b," in after
    assert b"CHECK(MPI_Waitall(2," in after
    stays(tmp_path, after)


@pytest.mark.parametrize("name", OTHER_FUNCTIONS)
def test_other_functions_are_called(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, OTHER_FUNCTIONS[name], EXCHANGE)
    assert rewritten(found) == 0
    assert found.after == found.before


@pytest.mark.parametrize("name", ASKED)
def test_a_conditional_checks(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, "", ASKED[name].format(CALL))
    assert rewritten(found) == 1, [str(d.reason) for d in found.decisions]
    (after,) = found.after.values()
    before, behind = " ".join(ASKED[name].format("|").split()).split("|")
    assert f"{before}MPI_Irecv(b,".encode() in after
    assert f"MPI_STATUSES_IGNORE){behind}".encode() in after
    stays(tmp_path, after)


@pytest.mark.parametrize("name", OTHER_CONDITIONALS)
def test_other_conditionals_stay(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, "", OTHER_CONDITIONALS[name].format(CALL))
    assert rewritten(found) == 0
    assert found.after == found.before


@pytest.mark.parametrize("name", ASKED_BEHIND)
def test_other_conditionals_ask_behind_the_call(name: str, tmp_path: Path) -> None:
    """They are no checks of the call, which becomes a statement of its own."""
    found = outcome(tmp_path, "", ASKED_BEHIND[name].format(CALL))
    assert rewritten(found) == 1, [str(d.reason) for d in found.decisions]
    (after,) = found.after.values()
    assert ASKED_BEHIND[name].format("imbrex_code").encode() in after


@pytest.mark.parametrize("define", [FUNCTIONS["a function"], ""])
@pytest.mark.parametrize(
    "before",
    ["MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);", "void out(void); out();"],
)
def test_no_check_is_passed_where_an_error_may_come_back(
    define: str, before: str, tmp_path: Path
) -> None:
    found = outcome(tmp_path, define, EXCHANGE if define else f"if ({CALL}) abort();", before)
    assert rewritten(found) == 0


@pytest.mark.parametrize("at", ["if (MPI_Wtime()) exit(1);", "if (MPI_File_close(&file)) abort();"])
def test_what_returns_no_such_code_is_asked(at: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, "static MPI_File file;\n" + LOOP, f"{at}\n        {EXCHANGE}")
    (after,) = found.after.values()
    assert at.encode() in after
    assert after.index(at.encode()) < after.index(b"MPI_Isend(a,")


def stays(tmp_path: Path, after: bytes) -> None:
    """What is rewritten is read again, and nothing more is to be done."""
    (tmp_path / "p.c").write_bytes(after)
    second = transform([tmp_path / "p.c"], Options())
    assert rewritten(second) == 0
    assert list(second.after.values()) == [after]


METHODS = """#include <mpi.h>
#include <cstdlib>
#include <stdexcept>
#include <string>
inline void check(int code, const char *what)
{{
    if (code != MPI_SUCCESS) throw std::runtime_error(std::string(what) + " failed");
}}
{other}
struct Pair : Base {{
    {method}
    double a[1000], b[1000], w[1000];
    void step(int other)
    {{
        check(MPI_Sendrecv(a, 1000, MPI_DOUBLE, other, 0, b, 1000, MPI_DOUBLE, other, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE){given});
        for (int i = 0; i < 1000; i++) w[i] = 2 * w[i] + i;
    }}
}};
static Pair pair;
int main(int argc, char **argv)
{{
    int rank;
    check(MPI_Init(&argc, &argv), "init");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "rank");
    for (int step = 0; step < 10; step++) pair.step(1 - rank);
    check(MPI_Finalize(), "finalize");
    return pair.w[7] + pair.b[3] > 5;
}}
"""


@pytest.mark.parametrize(
    ("other", "method", "given", "known"),
    [
        ("", "", ', "exchange"', True),
        ("", "static void check(int c) { if (c) std::abort(); }", "", True),
        ("", "void check(int c) { if (c == 0) n++; }\n    int n;", "", False),
        ("void check(long);", "", ', "exchange"', True),
        ("static void check(int c) { if (c) std::abort(); w++; }", "", "", False),
        ("template <class T> void check(T) { w++; }", "", "", False),
        ("", "", ', other < 3 ? "low" : "high"', False),
    ],
    ids=["function", "method", "counts", "overload", "one more", "template", "computed text"],
)
def test_which_function_is_called(
    other: str, method: str, given: str, known: bool, tmp_path: Path
) -> None:
    path = tmp_path / "p.cpp"
    base = "static int w;\nstruct Base {};\n"
    path.write_text(METHODS.format(other=base + other, method=method, given=given))
    found = transform([path], Options())
    assert not found.skipped
    assert (rewritten(found) > 0) is known, [str(d.reason) for d in found.decisions]
