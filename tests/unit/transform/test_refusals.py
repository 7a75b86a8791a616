"""Programs in which a call must not be rewritten, each with the reason that the tool must give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
static double a[N], b[N], c[N], sink;
static double *p = a;
static int turn;
extern void elsewhere(void);
extern void keep(double *);
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
"""
MAIN = """
int main(int argc, char **argv)
{
    int rank, size, peer, n = N;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = 1 - rank;
    %s
    printf("%%d %%d %%g\\n", n, turn, sink + status.MPI_TAG);
    MPI_Finalize();
    return 0;
}
"""
SEND = "MPI_Send(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);"
RECV = "MPI_Recv(b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
# Around it nothing moves where the outcome may depend on timing.
BARRIER = "work(c); MPI_Barrier(MPI_COMM_WORLD);"
BCAST = "MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
SUM = "MPI_Allreduce(&n, &turn, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);"

# name: (top-level code, code in main, part of a reason that must be given)
REFUSED: dict[str, tuple[str, str, str]] = {
    "any source": (
        "",
        f"{BARRIER} {RECV.replace('peer', 'MPI_ANY_SOURCE')} {BARRIER[9:]} work(c);",
        "the call of MPI_Barrier",
    ),
    "any tag": (
        "",
        f"{BARRIER} {RECV.replace(' 0,', ' MPI_ANY_TAG,')} {BARRIER[9:]} work(c);",
        "the call of MPI_Barrier",
    ),
    "a stored wildcard": (
        "",
        f"peer = size > 2 ? MPI_ANY_SOURCE : 1; {BARRIER} {RECV} {BARRIER[9:]} work(c);",
        "the call of MPI_Barrier",
    ),
    "a wildcard in a macro": (
        "#define FROM MPI_ANY_SOURCE",
        f"{BARRIER} {RECV.replace('peer', 'FROM')} {BARRIER[9:]} work(c);",
        "the call of MPI_Barrier",
    ),
    "a checked error code": (
        "",
        f"if ({SEND[:-1]} != MPI_SUCCESS || n) return 1; work(c);",
        "error code is checked",
    ),
    "a stored error code": ("", f"n = {SEND} work(c);", "error code is checked"),
    "a call in a macro": (
        "#define CHECK(call) do { n += call; } while (0)",
        f"CHECK({SEND[:-1]}); work(c);",
        "macro CHECK",
    ),
    "a whole call from a macro": (f"#define GO {SEND}", "GO work(c);", "macro GO"),
    "threads": (
        "static int level = MPI_THREAD_MULTIPLE;",
        f"n = level; {SEND} work(c); elsewhere();",
        "MPI_THREAD_MULTIPLE",
    ),
    "a value set by the next statement": ("", f"{RECV} sink = b[3]; work(c);", "`b` is used"),
    "an unknown call": ("", f"{SEND} elsewhere(); work(c);", "elsewhere"),
    "a call through a pointer": (
        "extern void (*hook)(double *);",
        f"{SEND} hook(c); work(c);",
        "through a pointer",
    ),
    "output between": ("", f'{SEND} puts("sent"); work(c);', "puts"),
    "a barrier between": ("", f"{SEND} MPI_Barrier(MPI_COMM_WORLD); work(c);", "MPI_Barrier"),
    "a barrier": ("", "work(c); MPI_Barrier(MPI_COMM_WORLD); work(c);", "has no data"),
    "a buffered send": (
        "",
        f"work(c); {SEND.replace('Send', 'Bsend')} work(c);",
        "local already",
    ),
    "one buffer for both": (
        "",
        "work(c); MPI_Sendrecv_replace(a, N, MPI_DOUBLE, peer, 0, peer, 0, MPI_COMM_WORLD, "
        "&status); work(c);",
        "one buffer",
    ),
    "a static buffer for both": (
        "",
        "MPI_Sendrecv_replace(a, N, MPI_DOUBLE, peer, 0, peer, 0, MPI_COMM_WORLD, &status); "
        "work(c);",
        "`a` is not a local array of fixed size",
    ),
    "part of a buffer for both": (
        "",
        "double q[N + 2]; work(q);\nMPI_Sendrecv_replace(q + 2, N, MPI_DOUBLE, peer, 0, peer, 0, "
        "MPI_COMM_WORLD, &status); work(c);",
        "is not a whole array that could be copied",
    ),
    "a table as the buffer for both": (
        "",
        "double q[N][2]; work(q[0]);\nMPI_Sendrecv_replace(q, N, MPI_DOUBLE, peer, 0, peer, 0, "
        "MPI_COMM_WORLD, &status); work(c);",
        "`q` has more than one dimension",
    ),
    "a large buffer for both": (
        "",
        "double q[100000]; work(q);\nMPI_Sendrecv_replace(q, N, MPI_DOUBLE, peer, 0, peer, 0, "
        "MPI_COMM_WORLD, &status); work(c);",
        "too large for the stack",
    ),
    "the end of a loop": (
        "",
        "for (int k = 0; k < 3; k++) { a[k] = k; " + SEND + " } work(c);",
        "end of the block",
    ),
    "a return in the window": ("", f"{SEND} if (n > 3) return 0; work(c);", "leave by return"),
    "a break in the window": (
        "",
        "while (n) { a[0] = n--; " + SEND + " if (n > 3) break; work(c); }",
        "leave by break",
    ),
    "a goto in the window": ("", f"{SEND} if (n > 3) goto out; work(c); out: work(c);", "a goto"),
    "a label in the window": (
        "",
        f"{SEND} again: work(c); if (n-- > 98) goto again;",
        "the label again",
    ),
    "a preprocessor line": (
        "",
        f"{SEND}\n#ifdef OTHER\n    a[0] = 1;\n#endif\n    work(c);",
        "#ifdef",
    ),
    "a parallel region": (
        "",
        "\n#pragma omp parallel\n    { " + SEND + " work(c); }",
        "#pragma omp parallel",
    ),
    "a pointer to the buffer": ("", f"p = a; {SEND} p[0] = 1; work(c);", "may be set through `p`"),
    "a callee that writes the buffer": ("", f"{SEND} work(a); work(c);", "`a` is set"),
    "a global written by a callee": (
        "static void touch(void) { a[turn] = 2; }",
        f"{SEND} touch(); work(c);",
        "`a` is set",
    ),
    "a callee with a barrier": (
        "static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }",
        f"{SEND} meet(); work(c);",
        "MPI_Barrier",
    ),
    "an argument that changes": (
        "",
        f"work(c); peer = size - 1 - rank; {RECV} sink = b[0];",
        "`peer` is used or set",
    ),
    "an argument with an effect": (
        "",
        "work(c); MPI_Send(a, n--, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); work(c);",
        "side effects",
    ),
    "a status read at once": (
        "",
        f"{RECV.replace('MPI_STATUS_IGNORE', '&status')} n = status.MPI_SOURCE; work(c);",
        "`status` is used or set",
    ),
    "a volatile in the window": (
        "static volatile int flag;",
        f"{SEND} while (!flag) turn++; work(c);",
        "volatile",
    ),
    "a send behind another on its channel": (
        "",
        "for (int k = 0; k < 3; k++) { a[k] = k; MPI_Sendrecv(a, N, MPI_DOUBLE, peer, 0, b, N, "
        f"MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); sink += b[k]; }} n = 7; {SEND}",
        "another send, whose message may have to stay ahead",
    ),
    "recursion": (
        "static void down(int k) { c[k] = k; if (k) down(k - 1); }",
        f"{SEND} down(9); work(c);",
        "calls itself",
    ),
    "a case label": (
        "",
        "switch (n) { case 1: " + SEND + " work(c); break; default: break; }",
        "case",
    ),
    "no memory": (
        "",
        "work(c); MPI_Recv(MPI_BOTTOM, 0, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); "
        "work(c);",
        "not known",
    ),
    "a union": (
        "static union { double d[N]; int i[N]; } both;",
        f"{SEND.replace('(a', '(both.d')} both.i[3] = 1; work(c);",
        "is set",
    ),
    "a floating-point sum": (
        "",
        f"work(c); {SUM.replace('MPI_INT', 'MPI_DOUBLE')} work(c);",
        "order",
    ),
    "an operation of the user's": (
        "static MPI_Op mine;",
        f"work(c); {SUM.replace('MPI_SUM', 'mine')} work(c);",
        "not known to be exact",
    ),
    "a matching collective that is checked": (
        "",
        f"{BCAST}\n    work(c);\n    if ({BCAST[:-1]} != MPI_SUCCESS || n) return 1;",
        "would have to change too",
    ),
    "a matching collective in an inactive part": (
        "static void other(void)\n{\n#ifdef OTHER\n    MPI_Bcast(b, 1, MPI_INT, 0, "
        "MPI_COMM_WORLD);\n#endif\n}",
        f"{BCAST} work(c);",
        "also stands where it is not read as a call",
    ),
    "a matching collective behind a macro": (
        "#define SPREAD MPI_Bcast",
        f"{BCAST} work(c);",
        "also stands where it is not read as a call",
    ),
    "a collective as a function pointer": (
        "static int (*spread)(void *, int, MPI_Datatype, int, MPI_Comm) = MPI_Bcast;",
        f"{BCAST} work(c); spread(b, 1, MPI_INT, 0, MPI_COMM_WORLD);",
        "also stands where it is not read as a call",
    ),
    "code that may hold a matching collective": (
        "",
        f"{BCAST} work(c); elsewhere();",
        "elsewhere, whose source is not among the files, may communicate",
    ),
    "a collective over another": (
        "",
        f"work(c); MPI_Scan(&n, &turn, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); {BCAST} sink = a[0];",
        "their order must be the same",
    ),
    "counts that change": (
        "static int counts[4], starts[4];",
        "MPI_Allgatherv(a, 1, MPI_DOUBLE, b, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD); "
        "counts[1] = 3; work(c);",
        "`counts` is used or set",
    ),
    "a result that is used": ("", f"{BCAST} sink = a[1]; work(c);", "`a` is used"),
    "windows": (
        "static MPI_Win window;",
        f"MPI_Win_create(b, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window); {BCAST} work(c);",
        "the program uses MPI_Win_create",
    ),
    "a prefix sum": (
        "",
        "work(c); MPI_Scan(&n, &turn, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); work(c);",
        "not among the collectives",
    ),
    "an exchange between neighbours": (
        "",
        "work(c); MPI_Neighbor_alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, MPI_COMM_WORLD);"
        " work(c);",
        "mixes blocks up in Open MPI where two neighbours are one process",
    ),
    "only copies behind a send and receive": (
        "",
        "for (int i = 0; i < N; i++) b[i] = a[i] = i; "
        "MPI_Sendrecv(a, N, MPI_DOUBLE, peer, 0, b, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, "
        "MPI_STATUS_IGNORE); for (int i = 0; i < N; i++) c[i] = b[i];",
        "while values are copied",
    ),
    "an index that loses bits": (
        "",
        "MPI_Send(&a[(char)n], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); "
        "a[(char)(n + 256)] = 1; work(c);",
        "`a` is set",
    ),
    "an index that is rounded": (
        "",
        "double d = -0.25 * n; MPI_Send(&a[(int)d], 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); "
        "a[(int)(d + 1)] = 1; work(c);",
        "`a` is set",
    ),
    "the whole array by memset": ("", f"{SEND} free(p); work(c);", "may be set through `p`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path, same_reasons: Callable[[str, Outcome], None]) -> None:
    top, body, reason = REFUSED[name]
    source = tmp_path / "program.c"
    source.write_text(HEAD + top + MAIN % body)
    outcome = transform([source], Options())
    assert not outcome.skipped
    assert outcome.decisions
    told = [
        text for decision in outcome.decisions for text in (decision.reason.text, *decision.details)
    ]
    assert outcome.after == outcome.before, told
    assert any(reason in text for text in told), told
    same_reasons(name, outcome)


def test_the_frame_alone_is_rewritten(tmp_path: Path) -> None:
    """The refusals above are due to what they plant: without it, the call is rewritten."""
    source = tmp_path / "program.c"
    source.write_text(HEAD + MAIN % f"{SEND} work(c);")
    assert "MPI_Isend" in transform([source], Options()).after[str(source)].decode()


def test_computing_behind_a_send_and_receive_is_worth_its_wait(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    _, body, _ = REFUSED["only copies behind a send and receive"]
    source.write_text(HEAD + MAIN % body.replace("c[i] = b[i]", "c[i] = b[i] + b[0]"))
    assert "MPI_Isend" in transform([source], Options()).after[str(source)].decode()


@pytest.mark.parametrize(("call", "start"), [(BCAST, "MPI_Ibcast"), (SUM, "MPI_Iallreduce")])
def test_the_collectives_alone_are_rewritten(tmp_path: Path, call: str, start: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(HEAD + MAIN % f"{call} work(c);")
    assert start in transform([source], Options()).after[str(source)].decode()


def test_reassociation_is_permitted_by_the_user_alone(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    text = "MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);"
    source.write_text(HEAD + MAIN % f"{text} work(c);")
    assert transform([source], Options()).after[str(source)] == source.read_bytes()
    allowed = transform([source], Options(reassociation=True)).after[str(source)]
    assert b"MPI_Iallreduce" in allowed


def test_all_that_match_are_chosen_or_none(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(HEAD + MAIN % f"{BCAST}\n    work(c);\n    {BCAST}\n    work(c);")
    line = 1 + source.read_text().split("MPI_Bcast")[0].count("\n")
    only = frozenset({(str(source), line)})
    assert transform([source], Options(only=only)).after[str(source)] == source.read_bytes()
    assert transform([source], Options()).after[str(source)].count(b"MPI_Ibcast") == 2


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_announces_a_ready_send_stays_ahead(wrapped: bool, tmp_path: Path) -> None:
    """The token says that the receive is posted: its wait may not come behind the send."""
    both = f"{RECV} MPI_Rsend(a, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);"
    top = f"static void answer(int peer) {{ {both} }}" if wrapped else ""
    body = f"{'answer(peer);' if wrapped else both} work(c);"
    path = tmp_path / "case.c"
    path.write_text(HEAD + top + MAIN % body)
    outcome = transform([path], Options())
    (receive,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Recv")
    assert receive.decision == "nothing-to-gain"
    assert receive.reason is not None and "the program uses MPI_Rsend" in receive.reason.text
