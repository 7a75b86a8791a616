"""Random sequences of events: the engine and a slow account of the same formulae must agree to the
nanosecond, and the invariants of the bounds must hold.

IMBREX_ENGINE_SCRIPTS sets how many sequences there are.
"""

from __future__ import annotations

import functools
import os
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

SCRIPTS = int(os.environ.get("IMBREX_ENGINE_SCRIPTS", "400"))

OPERATIONS = [
    "MPI_Other", "MPI_Send", "MPI_Recv", "MPI_Isend",
    "MPI_Irecv", "MPI_Wait", "MPI_Allreduce", "MPI_Bcast",
]  # fmt: skip

SIZES = st.sampled_from([0, 1, 2, 3, 8, 100, 1000, 1024, 4097, 65536, 100_000, 1 << 20, 5 << 20])


# Hypothesis takes longer to make strategies than to draw from them: each is made once.
SOME_SIZES = st.sets(
    st.sampled_from([1, 3, 8, 64, 1000, 4096, 1 << 16, 1 << 20]), min_size=1, max_size=5
)
TIMES = st.integers(0, 2000)
SLACKS = st.one_of(st.just(-1), st.integers(0, 1500))


@st.composite
def curves(draw: st.DrawFn) -> list[tuple[int, ...]]:
    points = []
    for size in sorted(draw(SOME_SIZES)):
        lo = draw(TIMES)
        hi = lo + draw(TIMES)
        points.append((size, lo, hi, draw(SLACKS), draw(SLACKS)))
    return points


CURVES = curves()
FLAGS = st.sampled_from([0, 0, 0, 1, 1, 2, 4])
PATHS = st.sampled_from([0, 1, 2, 2, 2, 2, 2, 3, 4])
PATHS_BETWEEN = st.sampled_from([2, 3])
TRANSFER_SLACKS = st.sampled_from([0, 0, 1, 2, 3])
ROLES = st.integers(0, 2)
RANKS = st.sampled_from([2, 4])
COLLECTIVES = st.sampled_from([0, 0, 6])


@st.composite
def transfers(draw: st.DrawFn) -> dict[str, int]:
    flags = draw(FLAGS)
    return {
        "bytes": draw(SIZES) if flags != 2 else 8,
        "path": draw(PATHS if flags != 2 else PATHS_BETWEEN),
        "slack": draw(TRANSFER_SLACKS),
        "flags": flags,
        "role": draw(ROLES),
        "ranks": draw(RANKS),
        "operation": draw(COLLECTIVES),
    }


TRANSFERS = transfers()
HANDLES = st.sampled_from([1, 1, 1, 2, 2, 3, 4, 5])


@functools.cache
def commands(paused: bool) -> st.SearchStrategy[tuple[Any, ...]]:
    short = st.one_of(st.integers(0, 800), st.integers(0, 800), st.just(50_000))
    ago = st.just(0) if paused else st.integers(0, 500)
    slack = st.integers(0, 3)
    entry = st.tuples(st.just("enter"), st.integers(0, 7), st.integers(1, 3))
    post = st.tuples(st.just("post"), st.integers(0, 3), ago, st.integers(1, 2), TRANSFERS)
    size = st.one_of(st.just(-1), st.just(-1), SIZES)
    complete = st.tuples(
        st.just("complete"), st.integers(0, 3), ago, size, slack, st.integers(1, 2)
    )
    choices: list[st.SearchStrategy[tuple[Any, ...]]] = [
        st.tuples(st.just("advance"), st.integers(0, 3000)),
        st.tuples(st.just("blocking"), TRANSFERS),
        st.tuples(st.just("begin"), HANDLES, TRANSFERS),
        st.tuples(st.just("finish"), HANDLES, st.one_of(st.just(-1), SIZES),
                  st.sampled_from([-1, -1, 0, 2, 3])),
        st.tuples(st.just("persistent"), HANDLES, TRANSFERS),
        st.tuples(st.just("start"), HANDLES),
        st.tuples(st.just("group"), HANDLES, st.integers(0, 2), TRANSFERS),
        st.tuples(st.just("endgroup"), HANDLES, st.integers(-1, 2), slack),
        st.tuples(st.just("free"), HANDLES),
        st.tuples(st.just("cancel"), HANDLES),
        post,
        complete,
        st.tuples(st.just("note"), st.integers(0, 1), HANDLES),
        st.tuples(st.just("early"), st.integers(0, 1), ago),
        st.tuples(st.just("section"), st.sampled_from(["a", "b"])),
        st.tuples(st.just("endsection"), st.sampled_from(["a", "b"])),
        st.tuples(st.just("exposed"), st.sampled_from([1, -1])),
        st.tuples(st.just("source"), st.sampled_from([0, 0, 4])),
        st.tuples(st.just("shared"), st.integers(4, 5)),
    ]  # fmt: skip
    if paused:
        switch = st.tuples(st.sampled_from(["pause", "resume", "resume"]))
        choices += [switch, switch, switch]
    call = st.tuples(entry, short, st.lists(st.one_of(choices), max_size=4), short)
    block = st.tuples(entry, short, st.lists(choices[1], min_size=1, max_size=3), short)
    begin = st.tuples(entry, short, st.lists(choices[2], min_size=1, max_size=3), short)
    note = st.tuples(entry, short, st.tuples(choices[2], choices[12]).map(list), short)
    early = st.tuples(entry, short, st.tuples(choices[13]).map(list), short)
    finish = st.tuples(entry, short, st.lists(choices[3], min_size=1, max_size=3), short)
    apart = [choices[0], switch] if paused else [choices[0]]
    return st.one_of(call, block, begin, begin, finish, finish, note, early, *apart, *choices)  # type: ignore[arg-type]


@functools.cache
def several(paused: bool) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    return st.lists(commands(paused), min_size=1, max_size=40)


THREADS = st.sampled_from([1, 2, 3])
OF_THREADS = {threads: st.integers(0, threads - 1) for threads in (1, 2, 3)}
DIGITS = st.integers(0, 9)
BOOLEANS = st.booleans()


@st.composite
def scripts(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Commands (thread, name, arguments...), with calls that may interleave between threads."""
    threads = draw(THREADS)
    paused = draw(BOOLEANS)
    script: list[tuple[Any, ...]] = []
    used: set[int] = set()
    exposed = 0
    items = draw(several(paused))
    if draw(BOOLEANS):  # as in a loop: the engine remembers what a site began before
        few = st.sampled_from(items[:5])
        items = draw(st.lists(few, min_size=1, max_size=40))
    for item in items:
        thread = draw(OF_THREADS[threads])
        nested = [item] if isinstance(item[0], str) else None
        if nested is None:
            entry, before, inner, after = item
            nested = [entry, ("advance", before), *inner, ("advance", after)]
            if not (threads > 1 and draw(BOOLEANS)):  # else the call stays open for a while
                counted = draw(DIGITS) or any(x[0] in ("post", "complete", "early") for x in inner)
                nested.append(("leave",) if counted else ("leave_uncounted",))
        for name, *arguments in nested:
            who = thread
            if name in ("shared", "exposed", "source", "pause", "resume", "advance"):
                who = 0
            if name in ("section", "endsection") and any(n[0] == "enter" for n in nested):
                continue
            if name == "post":
                if arguments[0] in used:
                    continue
                used.add(arguments[0])
            if name == "complete":
                if arguments[0] not in used:
                    continue
                used.discard(arguments[0])
            if name == "exposed":
                if exposed + arguments[0] < 0:
                    continue
                exposed += arguments[0]
            script.append((who, name, *arguments))
    for thread in range(threads):
        for _ in range(sum(1 for s in script if s[0] == thread and s[1] == "enter")):
            script.append((thread, "advance", 7))
            script.append((thread, "leave"))
    return script


def keep_valid(script: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Drop what no wrapper does: sections and pauses inside this thread's calls, and completing a
    request in a nested call that is left uncounted."""
    depth: dict[int, int] = {}
    posted_in: set[int] = set()
    kept = []
    for thread, name, *arguments in script:
        inside = depth.get(thread, 0)
        if name == "enter":
            depth[thread] = inside + 1
            if not inside:
                posted_in.discard(thread)
        elif name in ("leave", "leave_uncounted"):
            if name == "leave_uncounted" and thread in posted_in:
                name = "leave"
            depth[thread] = max(0, inside - 1)
        elif name in ("section", "endsection", "pause", "resume") and inside:
            continue
        elif name in ("post", "complete", "early"):
            posted_in.add(thread)
        kept.append((thread, name, *arguments))
    return kept


def words(arguments: list[Any]) -> str:
    flat: list[Any] = []
    for a in arguments:
        flat += list(a.values()) if isinstance(a, dict) else [a]
    return " ".join(map(str, flat))


def parse(output: list[str]) -> tuple[dict[tuple[Any, ...], list[int]], list[int]]:
    rows: dict[tuple[Any, ...], list[int]] = {}
    rank: list[int] = []
    for line in output:
        kind, *rest = line.split(" ")
        if kind == "row":
            site, op, section, size_class, path, source, *values = rest
            key = (int(site), int(op), section.strip('"'), int(size_class), int(path), int(source))
            assert key not in rows
            rows[key] = list(map(int, values))
        elif kind == "rank":
            rank = list(map(int, rest))
        else:
            assert kind == "started", line
    return rows, rank


WAIT_MIN = 10


def check_invariants(rows: dict[tuple[Any, ...], list[int]]) -> None:
    for row in rows.values():
        x_lo, x_hi, o_min, o_max, e_min, e_max, call, wait_min, wait_max = row[3:12]
        assert 0 <= o_min <= o_max <= x_hi
        assert 0 <= e_min <= e_max <= x_hi
        assert 0 <= wait_min <= wait_max <= call
        assert x_lo <= x_hi
        # nothing is both hidden and exposed for certain
        assert o_min + e_min <= x_lo
        assert min(row[:3]) >= 0 and min(row[12:]) >= 0


def agree(
    driver: Any,
    reference: ModuleType,
    script: list[tuple[Any, ...]],
    table: Any,
    capacity: int = 4096,
    concurrent: bool = False,
) -> None:
    """The engine and the reference tell the same of a script, to the nanosecond."""
    expected = reference.Reference(table, concurrent, capacity)
    lines = [
        "table " + table.text(OPERATIONS).replace("\n", ";"),
        f"limits 0 0 0 0 0 0 {0 if capacity == 4096 else capacity}",
        f"threading {2 if concurrent else 1}",
        "part ",
        "init",
    ]
    for thread, name, *arguments in script:
        if name == "complete" and (slot := expected.tokens.get(arguments[0])):
            arguments[1] = min(arguments[1], expected.now - slot.transfer.begin_ns)
        lines.append(f"{thread} {name} {words(arguments)}".rstrip())
        expected.run(thread, name, *arguments)
    expected.stop()
    rows, rank = parse(driver.run([*lines, "stop", "dump"]))

    assert sum(r[WAIT_MIN] for r in expected.rows.values()) - expected.settled == sum(
        r[WAIT_MIN] for r in rows.values()
    )
    if expected.settled:  # from which rows it is taken back is not fixed
        for key in rows:
            assert rows[key][WAIT_MIN] <= expected.rows[key][WAIT_MIN]
            rows[key][WAIT_MIN] = expected.rows[key][WAIT_MIN]
    assert rows == expected.rows
    check_invariants(rows)
    wall, compute, call, calls, dropped, overflow, section_errors, threads, _ = rank
    assert wall == expected.now
    assert (compute, call, calls) == expected.sums()
    assert (dropped, overflow, section_errors, threads) == (
        expected.dropped, expected.overflow, expected.section_errors, len(expected.threads),
    )  # fmt: skip


@settings(max_examples=SCRIPTS, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    script=scripts(),
    paths=st.fixed_dictionaries({2: CURVES}, optional={1: CURVES, 3: CURVES}),
    collectives=st.dictionaries(
        st.tuples(st.sampled_from([6, 7]), st.sampled_from([2, 4]), st.integers(0, 2),
                  st.sampled_from([2, 3])),
        CURVES,
        max_size=4,
    ),
    capacity=st.sampled_from([3, 4096]),
    concurrent=st.booleans(),
)  # fmt: skip
def test_agrees_with_the_reference(
    driver: Any,
    reference: ModuleType,
    script: list[tuple[Any, ...]],
    paths: dict[int, list[tuple[int, ...]]],
    collectives: dict[tuple[int, int, int, int], list[tuple[int, ...]]],
    capacity: int,
    concurrent: bool,
) -> None:
    table = reference.Table(paths, collectives)
    agree(driver, reference, keep_valid(script), table, capacity, concurrent)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    x=TRANSFERS,
    rounds=st.lists(
        st.tuples(
            st.integers(0, 2000),
            st.sampled_from([2, 2, 2, 1]),
            st.sampled_from([-1, -1, -1, 8, 0]),
            st.sampled_from([0, 0, 1, 2, 3]),
            st.sampled_from([2, 2, 2, 1]),
        ),
        min_size=3,
        max_size=8,
    ),
    curve=CURVES,
)
def test_a_source_that_repeats_a_message(
    driver: Any,
    reference: ModuleType,
    x: dict[str, int],
    rounds: list[tuple[int, int, int, int, int]],
    curve: list[tuple[int, ...]],
) -> None:
    """Each post may take what the engine remembers of the one before: no end may change that."""
    script: list[tuple[Any, ...]] = []
    for apart_ns, begun_by, size, slack, ended_by in rounds:
        post = ("post", 0, 0, begun_by, x)
        script += [(0, *c) for c in (("enter", 1, 1), post, ("advance", apart_ns), ("leave",))]
        came = min(size, x["bytes"])  # no message is longer than what was posted for it
        end = ("complete", 0, 0, came, slack, ended_by)
        script += [(0, *c) for c in (("enter", 2, 2), ("advance", 300), end, ("leave",))]
        script.append((0, "advance", 100))
    agree(driver, reference, script, reference.Table({1: curve, 2: curve, 3: curve}, {}))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(sites=st.integers(2, 400), sizes=st.integers(1, 4), curve=CURVES, seed=st.randoms())
def test_many_sites_repeat(
    driver: Any,
    reference: ModuleType,
    sites: int,
    sizes: int,
    curve: list[tuple[int, ...]],
    seed: Any,
) -> None:
    """More than the engine remembers: sites push each other out of their places, and come back."""
    script: list[tuple[Any, ...]] = []
    for _ in range(3):
        for site in seed.sample(range(1, sites + 1), sites):
            x = {"bytes": 100 * seed.randint(1, sizes), "path": 2, "slack": site % 3, "flags": 0}
            x |= {"role": 0, "ranks": 2, "operation": 0}
            other = {**x, "path": 0}  # moves nothing
            inner = seed.choice([("blocking", x), ("begin", site, x), ("blocking", other)])
            script += [(0, "enter", site % 5, site), (0, *inner), (0, "advance", 50), (0, "leave")]
            if inner[0] == "begin":
                end = ("finish", site, -1, -1)
                script += [(0, "enter", 5, site), (0, "advance", 20), (0, *end), (0, "leave")]
    agree(driver, reference, script, reference.Table({2: curve}, {}))
