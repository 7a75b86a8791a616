"""Loops that count or compare without a sign are cut in parts that run through the same numbers."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed, rewritten
from tests.unit.transform.test_sole_instances import compiles

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Block, Kind, LoopRange, Statement
from imbrex.transform.text.loop_headers import read_header

C = """#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, some = argc;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 60, least = size;
    double *u = calloc(n + 3, sizeof(double)), *v = calloc(n + 3, sizeof(double));
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[n + 1], 1, MPI_DOUBLE, (rank + 1) % size, 0, &u[0], 1, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t i = 1; i < n; i++)
            v[i] = u[i - 1] + u[i + 1] + 1.0;
        for (size_t i = 1; i < n; i++)
            u[i] = v[i];
    }
    double sum = rank;
    for (size_t i = 0; i < n + 2; i++)
        sum += u[i] * i;
    printf("%d %.15g %d\\n", rank, sum, some > 0);
    MPI_Finalize();
    return 0;
}
"""
CXX = """#include <mpi.h>
#include <vector>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<double> u(60 + argc), v(60 + argc);
    for (int step = 0; step < 9; step++) {
        MPI_Sendrecv(&u[58], 1, MPI_DOUBLE, (rank + 1) % size, 0, &u[0], 1, MPI_DOUBLE,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (std::size_t i = 1; i < u.size() - 1; ++i)
            v[i] = u[i - 1] + u[i + 1];
        for (std::size_t i = 1; i < u.size() - 1; ++i)
            u[i] = v[i];
    }
    MPI_Finalize();
    return 0;
}
"""
HEADER = "for (size_t i = 1; i < n; i++)\n            v[i]"
WORK = "            v[i] = u[i - 1] + u[i + 1] + 1.0;"
DECLARED = "    double *u"
GO: dict[str, dict[str, str]] = {
    "as it is": {},
    "inclusive": {"i < n;": "i <= n;"},
    "unsigned": {"size_t i": "unsigned i"},
    "of 32 bits": {"size_t i": "uint32_t i", "size_t n": "uint32_t n"},
    "an index with a sign": {"size_t i": "int i"},
    "of more bits": {"size_t i": "unsigned long long i"},
    "declared in front": {"size_t i = 1": "i = 1", DECLARED: f"    size_t i;\n{DECLARED}"},
    "less by one": {"i < n;": "i < n - 1;", "u[n + 1]": "u[n]"},
    "an integer less by one": {"i < n;": "i < n - 1u;", "size_t n": "int n"},
    "an integer, by an index without a sign": {"size_t n": "int n"},
    "an index with something added": {"i < n;": "i + 1 < n;", "u[n + 1]": "u[n]"},
    "of an integer": {"i < n;": "i + 1 < n;", "u[n + 1]": "u[n]", "size_t": "int"},
    "under a condition": {
        WORK: "            if (u[i] < 99.0)\n                v[i] = u[i - 1] + u[i + 1] + 1.0;"
    },
}
STAY: dict[str, dict[str, str]] = {
    "an index with a variable added": {"i < n;": "i + least < n;"},
    "an index with something taken off": {"i < n;": "i - 1 < n;"},
    "an index with a multiple": {"i < n;": "2 * i + 1 < n;"},
    "not from a constant": {"size_t i = 1": "size_t i = least", "&u[0]": "&u[least - 1]"},
    "not from a constant, to a number without a sign": {
        "size_t i = 1": "int i = some",
        "size_t n": "int n",
        "i < n;": "i < n - 1u;",
        "u[n + 1]": "u[n]",
        "&u[0]": "&u[some - 1]",
    },
    "from a difference without a sign": {
        "size_t i = 1": "long i = some - 1u",
        "size_t n": "long n",
        "&u[0]": "&u[some - 2]",
    },
    "from a constant below 0": {HEADER: HEADER.replace("size_t i = 1", "int i = -1")},
    "of few bits": {"size_t i": "unsigned short i"},
    "less by one under a condition": {
        HEADER: HEADER.replace("i < n", "i < n - 1").replace("v[i]", "if (i < 40)\n v[i]"),
        "u[n + 1]": "u[n]",
    },
    "an integer that may be below 0 under a condition": {
        "size_t n": "int n",
        HEADER: HEADER.replace("v[i]", "if (i < 40)\n v[i]"),
    },
    "less by one, where most go on at once": {
        HEADER: HEADER.replace("i < n;", "i < n - 1;").replace(
            "v[i]", "{ if (i > 40)\n continue;\n v[i]"
        ),
        "+ 1.0;": "+ 1.0; }",
        "u[n + 1]": "u[n]",
    },
    "less by one, where a read is under a condition": {
        HEADER: HEADER.replace("i < n;", "i < n - 1;").replace(
            "v[i]", "{ double a = i < 40 ? u[i] : 1.0; if (i < 40)\n v[i]"
        ),
        "+ 1.0;": "+ a; }",
        "u[n + 1]": "u[n]",
    },
    "less by one, with fewer the further it is": {
        HEADER: HEADER.replace("i < n;", "i < n - 1;").replace(
            "v[i]", "for (int k = (int)i; k < 40; k++)\n v[i]"
        ),
        "u[n + 1]": "u[n]",
    },
}


@pytest.mark.parametrize("replaced", GO.values(), ids=GO)
def test_c_is_divided(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.c", changed(C, replaced))
    assert "i = 2; i" in text and text.index("i = 2; i") < text.index("MPI_Wait")


@pytest.mark.parametrize("replaced", STAY.values(), ids=STAY)
def test_c_stays(replaced: dict[str, str], tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.c", changed(C, replaced))
    work = text.index("= u[i - 1] + u[i + 1]")
    assert text.count("= u[i - 1] + u[i + 1]") == 1 and text.index("MPI_Wait") < work


def test_sizes_of_vectors(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", CXX)
    assert "for (std::size_t i = 2; i < u.size() - 1; i++)" in text
    compiles(tmp_path / "main.cpp")


def test_an_index_with_something_added(tmp_path: Path) -> None:
    source = CXX.replace("i < u.size() - 1", "i + 1 < u.size()")
    text = rewritten(tmp_path / "main.cpp", source)
    assert "for (std::size_t i = 2; i + 1 < u.size(); i++)" in text
    compiles(tmp_path / "main.cpp")


def test_a_type_that_is_deduced(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "main.cpp", CXX.replace("std::size_t i = 1", "auto i = 1u"))
    assert "i = 2u" not in text and text.count("= u[i - 1] + u[i + 1]") == 1


def test_arguments_without_a_sign(tmp_path: Path) -> None:
    """A routine that gets its bounds is called once more with others: with signed ones alone."""
    work = "static void sweep(double *v, const double *u, TYPE lo, TYPE hi)\n{\n"
    work += "    for (TYPE i = lo; i <= hi; i++)\n        v[i] = u[i - 1] + u[i + 1] + 1.0;\n}\n\n"
    program = C.replace("\nint main", f"\n{work}int main").replace("size_t n", "TYPE n")
    program = program.replace(f"{HEADER[:-4]}{WORK[12:]}", "sweep(v, u, 1, n);")
    called = rewritten(tmp_path / "main.c", program.replace("TYPE", "int"))
    assert "sweep(v, u, 2, n);" in called
    for declared in ("size_t n", "int n"):
        other = program.replace("TYPE n", declared).replace("TYPE", "size_t")
        assert "sweep(v, u, 1, n);" in rewritten(tmp_path / "main.c", other)


def parts(low: int, test: str, cut: tuple[int, int], first: str) -> str:
    """C that counts the iterations of the parts of a loop, less those of the loop."""
    text = f"for ({first}i = {low}; {test}; i++)\n    at[i]--;\n"
    span = LoopRange("i", Affine(low), Affine(0), unsigned=True)
    start = text.index("\n")
    loop = Statement(Kind.LOOP, 0, len(text), 1, 2, blocks=[Block([], start, len(text))], loop=span)
    loop.code_start = 0
    source = SourceFile(Path("a.c"), "a.c", text.encode(), Language.C)
    header = read_header(source, loop, ahead=True)
    assert header is not None
    ways = [[header.inner(cut), *header.strips(cut)]]
    if max(cut) <= 1:
        ways.append([header.inner(cut), header.ends(cut, [])])
        ways.append([header.ends(cut, ["all"])])
        ends = " || ".join(header.outside(cut))
        ways.append([header.inner(cut), f"{text.splitlines()[0]} if ({ends})"])
    count = "".join(f"        {each} at[i]++;\n" for way in ways for each in way)
    more = f"        {text}" * len(ways)
    return f"    {{ int all = 1; (void)all;\n{more}{count}        check(at); }}\n"


TESTS = (
    *("i < n", "i <= n", "i < n + 2", "i < n * 2 - n"),
    *("i + 1 < n", "i + 2 <= n", "i + 3 < n + 1", "i +1< n * 2 - n"),
)


@pytest.mark.parametrize("first", ["unsigned ", "unsigned long ", "int "])
@pytest.mark.parametrize("end", ["unsigned", "size_t"])
def test_the_parts_run_through_the_same_numbers(first: str, end: str, tmp_path: Path) -> None:
    each = "".join(
        parts(low, test, cut, first)
        for low in (0, 1, 2)
        for test in TESTS
        for cut in itertools.product((0, 1, 2), repeat=2)
        if cut != (0, 0)
    )
    path = tmp_path / "main.c"
    path.write_text(
        "#include <stdlib.h>\nstatic void check(int *at)\n{\n"
        "    for (int i = 0; i < 99; i++)\n        if (at[i])\n            exit(1);\n}\n"
        f"int main(void)\n{{\n  int at[99] = {{0}};\n  for ({end} n = 0; n < 9; n++) {{\n{each}"
        "  }\n  return 0;\n}\n"
    )
    built = ["cc", "-Wno-type-limits", "-fsanitize=bounds", "-o", str(tmp_path / "main"), str(path)]
    subprocess.run(built, check=True)
    assert subprocess.run([tmp_path / "main"], timeout=60).returncode == 0
