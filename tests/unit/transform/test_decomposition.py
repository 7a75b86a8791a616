"""MPI_Alltoallv becomes messages where a loop may use each rank's piece when it has come.

Each program that must stay differs from one that is rewritten in what would make that wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int keys[1000], mine[2000], count[64], first[64], total, start;
static double weight[64], x[2000], y[2000];

static int many(const int *values) { return values[0]; }

static int sum_up(int size, int n, int *sizes, int *at, int *came, int *from)
{
    int i, p = 0;
    double d = 0;
    MPI_Alltoallv(keys, sizes, at, MPI_INT, mine, came, from, MPI_INT, MPI_COMM_WORLD);
    for (int v = 0; v < 64; v++)
        count[v] = 0;
    for (i = 0; i < n; i++)
        count[mine[i]]++;
    return count[3] + p + (int)d;
}

int main(int argc, char **argv)
{
    int size, *lists;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lists = calloc(4 * size, sizeof(int));
    lists[0] = argc;
    printf("%d\\n", sum_up(size, argc, lists, lists + size, lists + 2 * size, lists + 3 * size));
    printf("%d %d %g %g\\n", first[1], total, weight[2], y[3] + x[1] + many(mine) + start);
    MPI_Finalize();
    return 0;
}
"""
CALL = "    MPI_Alltoallv(keys, sizes, at, MPI_INT, mine, came, from, MPI_INT, MPI_COMM_WORLD);\n"
ZERO = "        count[v] = 0;\n"
HEADER = "    for (i = 0; i < n; i++)\n"
BODY = "        count[mine[i]]++;\n"
LOOP = HEADER + BODY
SECOND = CALL.replace("sizes, at", "lists, lists").replace("came, from", "lists, lists")
# name: replacements
REWRITTEN: dict[str, dict[str, str]] = {
    "as it is": {},
    "the last number is meant": {HEADER: "    for (i = 0; i <= n - 1; i++)\n"},
    "the loop begins later": {HEADER: "    for (i = start; i < n; i++)\n"},
    "counts go down": {BODY: "        count[mine[i]] -= 2;\n"},
    "counts grow by what came": {BODY: "        count[i % 64] += mine[i];\n"},
    "a total of integers": {BODY: "        total += mine[i];\n"},
    "the largest": {BODY: "        if (mine[i] > total)\n            total = mine[i];\n"},
    "each element goes to its place": {BODY: "        x[i] = 0.5 * mine[i];\n"},
    "three of each, in any order": {
        BODY: "        x[i] = mine[3 * i + 2] - mine[3 * i];\n",
    },
    "a value of one iteration": {
        BODY: "    {\n        int key = mine[i] / 2;\n        count[key]++;\n    }\n"
    },
    "another communicator": {
        "MPI_INT, MPI_COMM_WORLD": "MPI_INT, line",
        "total, start;": "total, start;\nstatic MPI_Comm line;",
        "    lists[0]": "    MPI_Comm_dup(MPI_COMM_SELF, &line);\n    lists[0]",
    },
    "a longer index": {"    int i, p = 0;": "    long i;\n    int p = 0;"},
    "an unsigned end": {"int size, int n,": "int size, unsigned n,"},
    "all of it under a condition": {CALL: "    if (n > 2) {\n" + CALL, LOOP: LOOP + "    }\n"},
    "two counts": {
        BODY: "    {\n        count[mine[i]]++;\n        count[mine[i] / 2] += 3;\n    }\n"
    },
    "other work in front": {ZERO: "        count[v] = 0, y[v] = x[v];\n"},
    "a condition inside": {BODY: "        if (mine[i] > 5)\n            count[mine[i]]++;\n"},
}
STAYS: dict[str, dict[str, str]] = {
    "the last one wins": {BODY: "        first[mine[i]] = i;\n"},
    "what was counted is read": {BODY: "        x[i] = count[mine[i]]++;\n"},
    "what was counted is asked": {
        BODY: "        if (count[mine[i]] < 9)\n            count[mine[i]]++;\n"
    },
    "counts say where": {BODY: "        count[count[mine[i]]]++;\n"},
    "counts are of what may be rounded": {BODY: "        weight[mine[i]] += 0.1;\n"},
    "integers that are rounded": {BODY: "        count[mine[i]] += 0.6 * i;\n"},
    "counts are doubled too": {BODY: "        count[mine[i]]++, count[i % 64] *= 2;\n"},
    "a sum that may be rounded": {BODY: "        d += 0.1 * mine[i];\n"},
    "one place after the other": {BODY: "        first[p++ % 64] = mine[i];\n"},
    "the next element": {BODY: "        count[mine[i + 1]]++;\n"},
    "the elements from behind": {BODY: "        count[mine[n - 1 - i]]++;\n"},
    "always the first element": {BODY: "        count[mine[0] + mine[i]]++;\n"},
    "two numbers of elements": {BODY: "        count[mine[i] + mine[2 * i]]++;\n"},
    "three of each, and the next": {BODY: "        x[i] = mine[3 * i] + mine[3 * i + 3];\n"},
    "a place that came": {BODY: "        count[mine[mine[i]]]++;\n"},
    "a function has all": {BODY: "        count[mine[i] + many(mine)]++;\n"},
    "what came is changed": {BODY: "        mine[i]++;\n"},
    "how much is sent is changed": {BODY: "        x[i] = mine[i], sizes[0] = i;\n"},
    "where it comes is changed": {BODY: "        x[i] = mine[i], from[0] = i;\n"},
    "what is sent is changed": {BODY: "        keys[i % 1000] = mine[i];\n"},
    "what is sent is changed in front": {ZERO: "        count[v] = 0, keys[v] = v;\n"},
    "counts in what was sent": {
        ZERO: "        keys[v] = 0;\n",
        BODY: "        keys[mine[i]]++;\n",
    },
    "what comes is changed in front": {ZERO: "        count[v] = 0, mine[v] = v;\n"},
    "what comes is read in front": {ZERO: ZERO + "    total = mine[0];\n"},
    "how much comes is changed in front": {ZERO: "        count[v] = 0, came[v % size] = v;\n"},
    "another message in front": {ZERO: ZERO + "    MPI_Barrier(MPI_COMM_WORLD);\n"},
    "the function may end in front": {ZERO: ZERO + "    if (n == 7)\n        return 0;\n"},
    "the loop may end": {
        BODY: "    {\n        if (mine[i] == 9)\n            break;\n" + BODY + "    }\n"
    },
    "the loop is come to from behind": {
        HEADER: "again:\n" + HEADER,
        "return count[3]": "if (p++ < 2)\n        goto again;\n    return count[3]",
    },
    "the loop is come to without the call": {
        CALL: "    switch (n) {\n    case 1:\n" + CALL,
        LOOP: "    case 2:\n" + LOOP + "    }\n",
    },
    "the call is made under a condition": {CALL: "    if (n > 2) {\n" + CALL + "    }\n"},
    "the loop runs under a condition": {LOOP: "    if (n > 2) {\n" + LOOP + "    }\n"},
    "code that another build has in front": {
        ZERO: ZERO + "#ifdef DEBUG\n    total = mine[0];\n#endif\n"
    },
    "code that another build has inside": {
        BODY: "    {\n" + BODY + "#ifdef DEBUG\n    total = mine[0];\n#endif\n    }\n"
    },
    "a total so far": {BODY: "        total += mine[i], x[i] = total;\n"},
    "where the largest is": {
        BODY: "        if (mine[i] > total)\n            total = mine[i], start = i;\n"
    },
    "what was counted is added up": {BODY: "        count[mine[i]]++, total += count[1];\n"},
    "the element before": {
        HEADER: "    for (i = 1; i < n; i++)\n",
        BODY: "        count[mine[i - 1]]++;\n",
    },
    "a loop that a macro writes": {
        "static int many": "#define EACH(i, n) for (i = 0; i < n; i++)\nstatic int many",
        HEADER: "    EACH(i, n)\n",
    },
    "every other number": {HEADER: "    for (i = 0; i < n; i += 2)\n"},
    "the end changes": {BODY: "        count[mine[i]]++, n--;\n"},
    "the index is read behind": {"return count[3]": "return i + count[3]"},
    "an index of few bits": {"    int i, p = 0;": "    short i;\n    int p = 0;"},
    "an end that may be no integer": {"int size, int n,": "int size, double n,"},
    "a directive": {HEADER: "#pragma omp parallel for\n" + HEADER},
    "no loop": {LOOP: "    total = many(mine);\n"},
    "a loop around the loop": {LOOP: "    for (p = 0; p < 2; p++)\n    " + HEADER + "    " + BODY},
    "it comes behind the first element": {"MPI_INT, mine, came": "MPI_INT, mine + 1, came"},
    "it stays in its place": {"(keys, sizes, at, MPI_INT": "(MPI_IN_PLACE, sizes, at, MPI_INT"},
    "two datatypes": {"mine, came, from, MPI_INT": "mine, came, from, MPI_UNSIGNED"},
    "bytes": {
        "at, MPI_INT": "at, MPI_BYTE",
        "from, MPI_INT": "from, MPI_BYTE",
    },
    "a communicator between groups": {
        "MPI_INT, MPI_COMM_WORLD": "MPI_INT, line",
        "total, start;": "total, start;\nstatic MPI_Comm line;",
        "    lists[0]": "    MPI_Comm_get_parent(&line);\n    lists[0]",
    },
    "another such call": {"    lists[0] = argc;\n": SECOND},
    "a macro has such a call": {
        "static int many": "#define SWAP(a) MPI_Alltoallv a\nstatic int many"
    },
    "other threads": {
        "MPI_Init(&argc, &argv);": "MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &size);",
        "    lists[0] = argc;": "#pragma omp parallel\n    lists[0] = argc;",
    },
    "others are asked for messages": {
        "    lists[0]": "    MPI_Iprobe(0, 0, MPI_COMM_WORLD, lists, 0);\n    lists[0]"
    },
    "memory that others write": {
        "    MPI_Finalize": "    MPI_Win_fence(0, MPI_WIN_NULL);\n    MPI_Finalize"
    },
    "code that is not seen": {"    MPI_Finalize": "    elsewhere(mine);\n    MPI_Finalize"},
    "no main": {"int main(": "int begin("},
    "the error code is asked for": {CALL: CALL.replace("    MPI_", "    p = MPI_", 1)},
    "another name of what comes": {
        "static int many": "static int *view = mine;\nstatic int many",
        BODY: "        count[mine[i]] += view[i + 1];\n",
    },
    "a name that may be of what comes": {
        "int *sizes,": "const int *other, int *sizes,",
        "argc, lists,": "argc, argc > 9 ? mine : keys, lists,",
        BODY: "        count[mine[i]] += other[i / 2];\n",
    },
    "volatile elements": {
        "mine[2000], ": "",
        "static double": "static volatile int mine[2000];\nstatic double",
    },
    "volatile counts": {
        "count[64], first": "first",
        "static double weight": "static volatile int count[64];\nstatic double weight",
    },
}

STRUCTURES = {
    "static int keys[1000], mine[2000],": (
        "typedef struct { double a, b; } pair;\nstatic MPI_Datatype type;\n"
        "static pair keys[1000], mine[2000];\nstatic int"
    ),
    "const int *values) { return values[0]": "const pair *values) { return (int)values[0].a",
    "count[mine[i]]++": "x[i] = mine[i].a, y[i] = mine[i].b",
    "at, MPI_INT, mine, came, from, MPI_INT": "at, type, mine, came, from, type",
    "    lists[0]": (
        "    MPI_Type_contiguous(2, MPI_DOUBLE, &type);\n    MPI_Type_commit(&type);\n    lists[0]"
    ),
}
# name: replacements behind those above, and whether it is rewritten
OF_STRUCTURES: dict[str, tuple[dict[str, str], bool]] = {
    "as they are": ({}, True),
    "as a whole": (
        {
            "x[i] = mine[i].a, y[i] = mine[i].b": "other[i] = mine[i]",
            "pair keys": "pair other[2000], keys",
        },
        True,
    ),
    "a type of fewer numbers": ({"contiguous(2,": "contiguous(1,"}, False),
    "a type of more numbers": ({"contiguous(2,": "contiguous(3,"}, False),
    "a type of other numbers": ({"(2, MPI_DOUBLE": "(4, MPI_INT"}, True),
    "numbers": ({"from, type": "from, MPI_DOUBLE", "at, type": "at, MPI_DOUBLE"}, False),
    "every other": ({"contiguous(2, MPI": "vector(2, 1, 2, MPI"}, False),
    "two types": ({"at, type": "at, MPI_C_DOUBLE_COMPLEX"}, False),
    "the element before": ({"mine[i].a, y": "mine[i ? i - 1 : 0].a, y"}, False),
    "a field that is changed": ({"x[i] = mine[i].a": "mine[i].b = mine[i].a"}, False),
    "a pointer in it": (
        {"{ double a, b; } pair": "{ double a; double *c; double b; } pair"},
        False,
    ),
}


def rewritten(program: str, folder: Path) -> str:
    source = folder / "p.c"
    source.write_text(program)
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_loop_uses_each_piece_when_it_has_come(name: str, tmp_path: Path) -> None:
    after = rewritten(changed(PROGRAM, REWRITTEN[name]), tmp_path)
    assert "MPI_Alltoallv(" not in after
    assert "    while (imbrex_piece(" in after


@pytest.mark.parametrize("name", STAYS)
def test_all_else_keeps_the_collective(name: str, tmp_path: Path) -> None:
    after = rewritten(changed(PROGRAM, STAYS[name]), tmp_path)
    assert "imbrex_piece" not in after


@pytest.mark.parametrize("name", OF_STRUCTURES)
def test_structures_travel_as_elements(name: str, tmp_path: Path) -> None:
    replacements, done = OF_STRUCTURES[name]
    after = rewritten(changed(changed(PROGRAM, STRUCTURES), replacements), tmp_path)
    assert ("    const pair *send;" in after) is done


def test_a_type_that_only_the_function_knows_is_none_of_the_file(tmp_path: Path) -> None:
    inside = {
        "typedef struct { double a, b; } pair;\n": "",
        "static pair keys[1000], mine[2000];\n": "",
        "static int many(const pair *values) { return (int)values[0].a; }\n": "",
        " + many(mine)": "",
        "    int i, p = 0;": (
            "    typedef struct { double a, b; } pair;\n"
            "    static pair keys[1000], mine[2000];\n    int i, p = 0;"
        ),
    }
    after = rewritten(changed(changed(PROGRAM, STRUCTURES), inside), tmp_path)
    assert "imbrex_piece" not in after


def test_a_communicator_is_given_to_what_begins(tmp_path: Path) -> None:
    after = rewritten(changed(PROGRAM, REWRITTEN["another communicator"]), tmp_path)
    assert "imbrex_exchange(keys, sizes, at, mine, came, from, MPI_INT, line);" in after
    assert "MPI_Comm_dup(of, own);" in after


def test_the_span_has_the_type_of_the_index(tmp_path: Path) -> None:
    after = rewritten(changed(PROGRAM, REWRITTEN["a longer index"]), tmp_path)
    assert "static int imbrex_piece(long low, long high, long *span)" in after
    assert "    long imbrex_span[2];" in after


def test_the_functions_say_what_an_iteration_uses(tmp_path: Path) -> None:
    after = rewritten(changed(PROGRAM, REWRITTEN["three of each, in any order"]), tmp_path)
    assert "long next = 3L * low;" in after
    assert "next % 3 != 0" in after
    assert "while (imbrex_piece(0, n, imbrex_span))" in after


def test_names_of_the_program_are_left_to_it(tmp_path: Path) -> None:
    program = changed(PROGRAM, {"total, start;": "total, start, imbrex_piece, imbrex_ahead;"})
    after = rewritten(program, tmp_path)
    assert "while (imbrex_piece2(0, n, imbrex_span))" in after
    assert "enum { imbrex_ahead2 = 8 };" in after


def test_the_site_says_so_and_no_other(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    decisions = transform([source], Options()).decisions
    told = {d.site.call.name: d for d in decisions}
    assert set(told) == {"MPI_Alltoallv"}
    assert told["MPI_Alltoallv"].rewrites == ["decomposition"]
    assert told["MPI_Alltoallv"].site.call.line == 15
    assert told["MPI_Alltoallv"].reason.location.line == 15


def test_a_site_that_is_not_chosen_stays(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM)
    for line, done in ((15, True), (16, False)):
        outcome = transform([source], Options(only=frozenset({(str(source), line)})))
        assert (b"imbrex_piece" in outcome.after[str(source)]) is done


def test_what_is_rewritten_is_left_alone_then(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(rewritten(PROGRAM, tmp_path))
    outcome = transform([source], Options())
    assert outcome.after == outcome.before
