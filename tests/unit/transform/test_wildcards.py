"""Receives that name no source or no tag move over computation, and over nothing else.

Which message such a receive takes depends on when it is posted among the communication of its
process; computation alone could have taken no time at all, so that any outcome of the program as
it is rewritten is one that it had before.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.unit.transform.in_place import IN_PLACE

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <stdio.h>
#define N 100
%s
static double a[N], b[N], c[N], d[N];
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
static void step(int peer, int from)
{
    MPI_Request r[2];
    MPI_Status status;
    %s
}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    step(1 - rank, size > 2 ? MPI_ANY_SOURCE : 1 - rank);
    printf("%%g %%g %%g\\n", a[1], b[2], d[3]);
    MPI_Finalize();
    return 0;
}
"""
ANY = "MPI_ANY_SOURCE, 0"


def receive(buffer: str = "b", of: str = ANY, status: str = "MPI_STATUS_IGNORE") -> str:
    return f"MPI_Recv({buffer}, N, MPI_DOUBLE, {of}, MPI_COMM_WORLD, {status});"


def start(buffer: str = "b", of: str = ANY, request: int = 0) -> str:
    return f"MPI_Irecv({buffer}, N, MPI_DOUBLE, {of}, MPI_COMM_WORLD, &r[{request}]);"


def send(of: str = "peer, 0") -> str:
    return f"MPI_Send(a, N, MPI_DOUBLE, {of}, MPI_COMM_WORLD);"


def wait(request: int = 0) -> str:
    return f"MPI_Wait(&r[{request}], MPI_STATUS_IGNORE);"


def rewritten(tmp_path: Path, body: list[str], top: str = "") -> list[str]:
    """What `step` does afterwards: calls of MPI with their first argument, and of work."""
    path = tmp_path / "case.c"
    path.write_text(PROGRAM % (top, "\n    ".join(body)))
    outcome = transform([path], Options(rewrites=IN_PLACE))
    text = outcome.after[str(path)].decode()
    again = transform([path], Options(rewrites=IN_PLACE, contents={path: outcome.after[str(path)]}))
    assert again.after == outcome.after
    text = text[text.index("static void step") : text.index("int main")]
    text = re.sub(r"imbrex_request\b", "r[0]", text).replace("imbrex_requests", "r")
    return [
        f"{name.removeprefix('MPI_')} {first}".replace("&", "")
        for name, first in re.findall(r"\b(MPI_\w+|work|puts)\(([^,)]*)", text)
        if name not in ("MPI_STATUS_IGNORE", "MPI_ANY_SOURCE")
    ]


@pytest.mark.parametrize(
    "of",
    [ANY, "peer, MPI_ANY_TAG", "MPI_ANY_SOURCE, MPI_ANY_TAG", "from, 0", "FROM, 0"],
    ids=["source", "tag", "both", "stored", "macro"],
)
def test_over_computation(of: str, tmp_path: Path) -> None:
    """The blocking receive is posted before one computation and awaited behind the other."""
    body = ["work(c);", receive(of=of), "work(d);", "work(b);"]
    found = rewritten(tmp_path, body, "#define FROM MPI_ANY_SOURCE")
    assert found == ["Irecv b", "work c", "work d", "Wait r[0]", "work b"]


def test_what_is_nonblocking_already(tmp_path: Path) -> None:
    body = ["work(c);", start(), wait(), "work(d);", "work(b);"]
    assert rewritten(tmp_path, body) == ["Irecv b", "work c", "work d", "Wait r[0]", "work b"]


def test_a_status_is_an_output_of_the_wait(tmp_path: Path) -> None:
    body = ["work(c);", receive(status="&status"), "work(d);", "a[1] = status.MPI_SOURCE;"]
    body.append("work(d);")
    assert rewritten(tmp_path, body) == ["Irecv b", "work c", "work d", "Wait r[0]", "work d"]


def test_both_directions(tmp_path: Path) -> None:
    both = f"MPI_Sendrecv(a, N, MPI_DOUBLE, peer, 0, b, N, MPI_DOUBLE, {ANY}, MPI_COMM_WORLD, "
    body = ["work(a);", both + "MPI_STATUS_IGNORE);", "work(d);", "work(b);"]
    expected = ["Irecv b", "work a", "Isend a", "work d", "Wait r[0]", "work b", "Wait r[1]"]
    assert rewritten(tmp_path, body) == expected


# What stands around the receive: nothing of it changes its place among the rest.
STAYS: dict[str, list[str]] = {
    "another receive of any source": [receive("d"), "work(d);", "work(c);", receive(), "work(b);"],
    "a receive of one source": [receive("d", "peer, 0"), "work(d);", receive(), "work(b);"],
    "a receive with another tag": [receive("d", "peer, 1"), "work(d);", receive(), "work(b);"],
    "any tag beside another tag": [
        receive("d", "peer, 1"),
        "work(d);",
        receive("b", "peer, MPI_ANY_TAG"),
        "work(b);",
    ],
    "a start of any source": [start("d"), wait(), "work(d);", start("b", request=1), wait(1)],
    "a send behind": [receive(), "work(c);", send(), "work(b);"],
    "a send in front": [send(), "work(c);", receive(), "work(b);"],
    "a receive behind": [receive(), "work(c);", receive("d", "peer, 1"), "work(b);", "work(d);"],
    "a barrier in front": ["MPI_Barrier(MPI_COMM_WORLD);", "work(c);", receive(), "work(b);"],
    "a barrier behind": [receive(), "work(c);", "MPI_Barrier(MPI_COMM_WORLD);", "work(b);"],
    "a probe": [
        "MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);",
        "work(c);",
        receive("b", "status.MPI_SOURCE, 0"),
        "work(b);",
    ],
    "a probe and any source": [
        "MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);",
        "work(c);",
        receive(),
        "work(b);",
    ],
    "a cancel": [start("d"), "MPI_Cancel(&r[0]);", wait(), "work(c);", receive(), "work(b);"],
    "output": ['puts("here");', "work(c);", receive(), "work(b);"],
    "a test": [
        start("d", request=1),
        "int flag; MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);",
        "work(c);",
        receive(),
        "work(b);",
    ],
    "a reduction": [
        "int n = 1, sum; MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
        "work(c);",
        receive(),
        "work(b);",
    ],
}


@pytest.mark.parametrize("name", STAYS)
def test_order_stays(name: str, tmp_path: Path) -> None:
    """Posts, sends, completions and all else stay in the order in which the program has them."""

    def order(found: list[str]) -> list[str]:
        """Of communication alone; a blocking call is a start and a wait in one place."""
        kept = []
        for call in found:
            name, _, first = call.partition(" ")
            if name in ("Recv", "Irecv"):
                kept.append(f"post {first}")
            elif name in ("Send", "Isend"):
                kept.append(f"send {first}")
            elif name not in ("work", "Wait"):
                kept.append(name)
        return kept

    body = STAYS[name]
    before = [
        f"{called.removeprefix('MPI_')} {first}".replace("&", "")
        for called, first in re.findall(r"\b(MPI_\w+|work|puts)\(([^,)]*)", "\n".join(body))
    ]
    after = rewritten(tmp_path, body)
    assert order(after) == order(before)
    for index, call in enumerate(after):
        # Between a post that was a blocking receive and its wait there is computation alone.
        if call == "Irecv b" and "Recv b" in before:
            behind = after[index + 1 :]
            inside = behind[: next(n for n, c in enumerate(behind) if c.startswith("Wait"))]
            assert all(other.startswith("work") for other in inside), after


def test_a_receive_does_not_pass_one_of_any_source(tmp_path: Path) -> None:
    """Where the program has a wildcard, not even a receive that names its source passes it."""
    body = [receive("d"), "work(c);", receive("b", "peer, 0"), "work(b);"]
    expected = ["Irecv d", "work c", "Wait r[0]", "Recv b", "work b"]
    assert rewritten(tmp_path, body) == expected
