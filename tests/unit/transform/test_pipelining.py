"""Receives that are posted in the iteration before, and programs in which they must not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
static double u[N], edge[N], other[N], out[N], field[N][N];
static int n = 9, limit = 9;
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void unpack(void)
{
    for (int i = 0; i < N; i++)
        u[i] += edge[i];
}
static int count(void) { return limit--; }
static void shrink(void)
{
    for (int i = 0; i < N; i++)
        limit -= u[i] > 1.0e9;
}
int unknown(void);
int main(int argc, char **argv)
{
    int rank, size, left, k, found = 0;
    size_t big = 9, index;
    double real;
    MPI_Request request, queue[9];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank - 1;
    n += argc;
    limit += argc;
    big += argc;
    %s
    printf("%%g %%g %%d %%d\\n", u[1], out[1], n, found);
    MPI_Finalize();
    return 0;
}
"""
FROM = "N, MPI_DOUBLE, left, 5, MPI_COMM_WORLD"
RECV = f"MPI_Recv(edge, {FROM}, MPI_STATUS_IGNORE);"
OTHER = f"MPI_Recv(other, {FROM}, MPI_STATUS_IGNORE);"
APART = OTHER.replace("left, 5", "left, 6")
PLANE = RECV.replace("edge", "&field[k][0]")
BODY = f"{{\n{RECV}\nunpack();\nwork(u);\n}}"
LOOP = "for (k = 0; k < n; k++) "

# name: (code in main, what is asked in front of the loop, what in an iteration)
POSTED = {
    "as usual": (LOOP + BODY, "0 < n", "k + 1 < n"),
    "up to a bound": ("for (k = 1; k <= n; k++) " + BODY, "1 <= n", "k + 1 <= n"),
    "downward": ("for (k = n; k > 0; --k) " + BODY, "n > 0", "k - 1 > 0"),
    "in steps": ("for (k = 0; k < n; k += 3) " + BODY, "0 < n", "k + 3 < n"),
    "in steps of a variable": ("for (k = n; k >= 1; k -= size) " + BODY, "n >= 1", "k - size >= 1"),
    "an unsigned index": (
        "for (index = 0; index < big; index++) " + BODY,
        "0 < big",
        "index + 1 < big",
    ),
    "an index of the loop's own": (
        LOOP.replace("(k", "(long j").replace("k", "j") + BODY,
        "0 < n",
        "j + 1 < n",
    ),
    "surely an iteration": (LOOP.replace("n", "9") + BODY, "", "k + 1 < 9"),
    "under a condition": (
        LOOP + f"{{\nif (left >= 0) {{\n{RECV}\nunpack();\n}}\nwork(u);\n}}",
        "(0 < n) && (left >= 0)",
        "(k + 1 < n) && (left >= 0)",
    ),
    "a status that is read": (
        LOOP
        + "{\n"
        + RECV.replace("MPI_STATUS_IGNORE", "&status")
        + "\nfound += status.MPI_TAG;\nunpack();\nwork(u);\n}",
        "0 < n",
        "k + 1 < n",
    ),
    "behind another receive of the channel": (
        LOOP + f"{{\n{RECV}\nunpack();\n{OTHER}\nwork(u);\n}}",
        "0 < n",
        "k + 1 < n",
    ),
    "another receive of the channel, which goes up, behind the work": (
        LOOP + f"{{\n{RECV}\nunpack();\nwork(u);\n{OTHER}\n}}",
        "0 < n",
        "k + 1 < n",
    ),
    "it is nonblocking already": (
        LOOP + f"{{\nMPI_Irecv(edge, {FROM}, &request);\nMPI_Wait(&request, MPI_STATUS_IGNORE);\n"
        "unpack();\nwork(u);\n}",
        "0 < n",
        "k + 1 < n",
    ),
    "a source for each iteration": (
        LOOP + "{\n" + RECV.replace("left", "k % size") + "\nunpack();\nwork(u);\n}",
        "0 < n",
        "k + 1 < n",
    ),
    "a condition for each iteration": (
        LOOP + f"{{\nif (k % 2)\n{RECV}\nunpack();\nwork(u);\n}}",
        "(0 < n) && (0 % 2)",
        "(k + 1 < n) && ((k + 1) % 2)",
    ),
    "a condition with a remainder by the index": (
        LOOP.replace("k = 0", "k = 1") + f"{{\nif (7%k)\n{RECV}\nunpack();\nwork(u);\n}}",
        "(1 < n) && (7%1)",
        "(k + 1 < n) && (7%(k + 1))",
    ),
    "a call whose source is not seen stands in between": (
        LOOP + f"{{\n{RECV}\nunpack();\nfound += unknown();\nwork(u);\n}}",
        "0 < n",
        "k + 1 < n",
    ),
}

# name: code in main
REFUSED = {
    "the loop may be left": LOOP
    + f"{{\n{RECV}\nunpack();\nif (u[0] > 1.0e9)\nbreak;\nwork(u);\n}}",
    "an iteration may end early": LOOP
    + f"{{\n{RECV}\nunpack();\nif (u[0] > 1.0e9)\ncontinue;\nwork(u);\n}}",
    "the routine may be left": LOOP
    + f"{{\n{RECV}\nunpack();\nif (u[0] > 1.0e9)\nreturn 1;\nwork(u);\n}}",
    "a jump out of the loop": LOOP
    + f"{{\n{RECV}\nunpack();\nif (u[0] > 1.0e9)\ngoto end;\nwork(u);\n}}\nend:",
    "a bound changes": LOOP.replace("n", "limit")
    + f"{{\n{RECV}\nunpack();\nwork(u);\nlimit--;\n}}",
    "a bound changes in a routine": LOOP.replace("n", "limit")
    + f"{{\n{RECV}\nunpack();\nshrink();\n}}",
    "a bound is a call": LOOP.replace("< n", "< count()") + BODY,
    "the index changes": LOOP + f"{{\n{RECV}\nunpack();\nwork(u);\nk++;\n}}",
    "another loop": "k = 0;\nwhile (k++ < n) " + BODY,
    "its condition is below": f"k = 0;\ndo {{\n{RECV}\nunpack();\nwork(u);\n}} while (k++ < n);",
    "an index that is no number of iterations": "for (real = 0.0; real < n; real += 0.5) " + BODY,
    "unlike": "for (k = 0; k != n; k++) " + BODY,
    "two conditions": "for (k = 0; k < n && u[0] < 9.0; k++) " + BODY,
    "the step is of another type": "for (k = -9; k < 0; k += big) " + BODY,
    "a source for each iteration that no step tells": "for (k = n; k >= 1; k -= size) {\n"
    + RECV.replace("left", "k % size")
    + "\nunpack();\nwork(u);\n}",
    "a plane for each iteration, of which the next is used": LOOP
    + "{\n"
    + PLANE
    + "\nwork(&field[k + 1][0]);\n}",
    "a plane for each iteration, of which the next is set behind": LOOP
    + "{\n"
    + PLANE
    + "\nwork(&field[k][0]);\nwork(u);\nfield[k + 1][3] = 1.0;\n}",
    "a plane for each iteration, all used": LOOP
    + "{\n"
    + PLANE
    + "\nfor (int row = 0; row < N; row++)\nwork(&field[row][0]);\n}",
    "a request for each iteration": LOOP
    + f"{{\nMPI_Irecv(edge, {FROM}, &queue[k % 9]);\nMPI_Wait(&queue[k % 9], MPI_STATUS_IGNORE);\n"
    "unpack();\nwork(u);\n}",
    "the source changes": LOOP + f"{{\n{RECV}\nunpack();\nwork(u);\nleft = (left + 1) % size;\n}}",
    "the buffer is used to the end": LOOP + f"{{\n{RECV}\nwork(u);\nunpack();\n}}",
    "the buffer ends with the iteration": LOOP
    + "{\ndouble mine[N];\n"
    + RECV.replace("edge", "mine")
    + "\nu[0] += mine[0];\nwork(u);\n}",
    "the source ends with the iteration": LOOP
    + "{\nint from = left;\n"
    + RECV.replace("left", "from")
    + "\nunpack();\nwork(u);\n}",
    "the channel is received from before it": LOOP
    + f"{{\n{OTHER}\n{RECV}\nunpack();\nwork(u);\n}}",
    "a code that is not seen stands behind": LOOP
    + f"{{\n{RECV}\nunpack();\nwork(u);\nfound += unknown();\n}}",
    "a message is looked for": LOOP + f"{{\n{RECV}\nunpack();\nwork(u);\n"
    "MPI_Iprobe(left, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);\n}",
    "only packing stands behind": LOOP
    + f"{{\n{RECV}\nunpack();\nfor (int i = 0; i < N; i++)\nout[i] = u[i];\n"
    "MPI_Send(out, N, MPI_DOUBLE, size - 1, 6, MPI_COMM_WORLD);\n}",
}


def rewritten(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.chdir(tmp_path)
    source = Path("loop.c")
    source.write_text(PROGRAM % code)
    return transform([source], Options())


@pytest.mark.parametrize("name", POSTED)
def test_posted_ahead(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, first, more = POSTED[name]
    outcome = rewritten(code, tmp_path, monkeypatch)
    text = outcome.after["loop.c"].decode()
    assert text.count("MPI_Irecv(edge") == 2
    assert f"if ({more})\n" in text
    before = text[: text.index("for (", text.index("int main"))].rstrip().splitlines()
    assert (f"if ({first})" in before[-2]) is bool(first) and "MPI_Irecv(edge" in before[-1]
    told = [d for d in outcome.decisions if "pipelining" in d.rewrites]
    assert len(told) == 1 and told[0].decision == "rewritten"
    assert told[0].site.call.name in ("MPI_Recv", "MPI_Irecv")
    again = transform([Path("loop.c")], Options(contents={Path("loop.c"): text.encode()}))
    assert again.after["loop.c"].decode() == text


@pytest.mark.parametrize("name", REFUSED)
def test_not_posted_ahead(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = rewritten(REFUSED[name], tmp_path, monkeypatch)
    assert outcome.after["loop.c"].decode().count("MPI_Irecv(") < 2
    assert not any("pipelining" in d.rewrites for d in outcome.decisions)


def test_a_plane_passes_what_uses_the_first_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next iteration's is another one: there is none before the first iteration."""
    code = f"{LOOP}{{\n{PLANE}\nwork(&field[k][0]);\nwork(&field[0][0]);\n}}"
    text = rewritten(code, tmp_path, monkeypatch).after["loop.c"].decode()
    assert text.count("MPI_Irecv(") == 2
    assert text.rindex("MPI_Irecv(") < text.index("work(&field[0][0])")


def test_two_receives_go_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two channels; each is the other's to pass. Chosen alone, neither goes."""
    code = LOOP + f"{{\n{RECV}\n{APART}\nunpack();\nu[N / 2] += other[0];\nwork(u);\n}}"
    outcome = rewritten(code, tmp_path, monkeypatch)
    text = outcome.after["loop.c"].decode()
    assert text.count("MPI_Irecv(edge") == 2 and text.count("MPI_Irecv(other") == 2
    lines = [d.site.call.line for d in outcome.decisions if "pipelining" in d.rewrites]
    assert len(lines) == 2
    only = frozenset({("loop.c", lines[0])})
    alone = transform([Path("loop.c")], Options(only=only))
    assert "k + 1 < n" not in alone.after["loop.c"].decode()
    both = frozenset(("loop.c", line) for line in lines)
    assert transform([Path("loop.c")], Options(only=both)).after == outcome.after


def test_a_plane_for_each_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Received where it belongs, one plane further, and with a tag of its own."""
    use = "for (int i = 0; i < N; i++)\nout[i] += field[k][i];\nwork(u);\n"
    plane = PLANE.replace(", 5,", ", k,")
    code = f"for (k = 2; k <= n; k++) {{\n{plane}\n{use}}}"
    outcome = rewritten(code, tmp_path, monkeypatch)
    text = outcome.after["loop.c"].decode()
    rest = "N, MPI_DOUBLE, left, {}, MPI_COMM_WORLD, &imbrex_request);"
    assert "MPI_Irecv(&field[2][0], " + rest.format("2") in text
    assert "MPI_Irecv(&field[k + 1][0], " + rest.format("k + 1") in text
    assert text.index("k + 1 <= n") < text.index("out[i] += field")


def test_what_stands_in_the_way_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = rewritten(REFUSED["a bound is a call"], tmp_path, monkeypatch)
    details = [line for d in outcome.decisions for line in d.details]
    assert any("pipelining: not done, because the header of the loop" in line for line in details)
