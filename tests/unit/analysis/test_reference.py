"""Random jobs: the runtime's analysis and the reference agree to the nanosecond."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.analysis.jobs import ALL, COMPLETION, RECV, SEND, AnalysisDriver, Op, Rank
from tests.unit.analysis.reference import Class, Handshake, Job, Network
from tests.unit.analysis.schedules import jobs

pytestmark = pytest.mark.slow

CAUSES = ("late_sender", "late_receiver", "late_collective", "transfer", "stalled", "library")
CAUSES = (*CAUSES, "file_io", "unattributed")
many = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

times = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda x: (x[0], x[0] + x[1]))
networks = st.builds(
    Network,
    times,
    times,
    st.integers(0, 70),
    st.integers(0, 70),
    st.builds(Class, st.sampled_from([-1, 0, 1])),
    st.integers(0, 60),
    st.builds(Handshake, st.booleans(), st.booleans(), st.integers(0, 20), st.integers(0, 9)),
    st.integers(-1, 20),
).map(lambda n: replace(n, least=min(n.least, n.x[1])))


def table_of(network: Network, ranks: int) -> list[str]:
    """The same for all sizes."""
    x, c, path = network.x, network.collective, network.path
    shake = network.handshake
    needs = shake.sender + 2 * shake.receiver
    rates = " ".join(f"{low} {high}" for low, high in path.rates)
    return [
        "path intra-node",
        *(
            f"point {size} {x[0]} {x[1]} {network.tail} {network.head} {network.least}"
            for size in (1, 100)
        ),
        f"class 1 {path.returns} {rates}",
        f"handshake 1 {needs} {shake.before} {shake.latency}",
        f"collective MPI_Alltoall {ranks} any intra-node",
        *(f"point {size} {c[0]} {c[1]} -1 {network.early}" for size in (1, 100)),
    ]


@many
@given(ranks=jobs(), network=networks)
def test_causes_are_those_of_the_reference(
    driver: AnalysisDriver, ranks: list[Rank], network: Network
) -> None:
    job = Job(ranks, network)
    rows = driver.analyze(ranks, table_of(network, len(ranks)))
    expected: dict[tuple[int, int, str], dict[str, list[int]]] = {}
    for number, rank in enumerate(ranks):
        for i, op in enumerate(rank.ops):
            row = expected.setdefault((number, op.site, op.operation), defaultdict(lambda: [0, 0]))
            for cause, (low, high) in job.causes(number, i).items():
                row[cause][0] += low
                row[cause][1] += high
            row["call"][0] += op.exit - op.enter
    assert rows.causes.keys() == expected.keys()
    for key, row in expected.items():
        found = rows.causes[key]
        assert found["call_ns"] == row["call"][0]
        for cause in CAUSES:
            shown = [found[f"{cause}_min_ns"], found[f"{cause}_max_ns"]]
            assert shown == row[cause], (key, cause)
        assert sum(found[f"{c}_min_ns"] for c in CAUSES) <= found["call_ns"]
        assert sum(found[f"{c}_max_ns"] for c in CAUSES) >= found["call_ns"]


@many
@given(ranks=jobs(), network=networks)
def test_bounds_are_those_of_the_reference(
    driver: AnalysisDriver, ranks: list[Rank], network: Network
) -> None:
    job = Job(ranks, network)
    rows = driver.analyze(ranks, table_of(network, len(ranks)))
    expected: dict[tuple[int, int, str], list[int]] = {}
    for number, rank in enumerate(ranks):
        for i, op in enumerate(rank.ops):
            if op.bytes == 0 or op.kind == COMPLETION:
                continue
            sums = expected.setdefault((number, op.site, op.operation), [0] * 13)
            sums[12] += 1
            for kind, bounds in enumerate(job.evidence((number, i))):
                for part, (low, high) in enumerate(bounds):
                    sums[4 * kind + 2 * part] += low
                    sums[4 * kind + 2 * part + 1] += high
    assert rows.evidence.keys() == expected.keys()
    for key, sums in expected.items():
        found = rows.evidence[key]
        shown = [
            found[f"{kind}_{part}_{end}_ns"]
            for kind in ("call", "matched", "expected")
            for part in ("overlap", "exposed")
            for end in ("min", "max")
        ]
        assert [*shown, found["transfers"]] == sums, key


@many
@given(ranks=jobs(lose=False), ahead=st.integers(-(10**12), 10**12))
def test_a_known_difference_of_clocks_changes_nothing(
    driver: AnalysisDriver, ranks: list[Rank], ahead: int
) -> None:
    network = Network((20, 40), (30, 50), 0, 0)
    before = driver.analyze(ranks, table_of(network, len(ranks)))
    for rank in ranks[1:]:
        rank.ahead = ahead
        for op in rank.ops:
            op.enter += ahead
            op.exit += ahead
    after = driver.analyze(ranks, table_of(network, len(ranks)))
    assert after.causes == before.causes
    assert after.partners == before.partners


@many
@given(ranks=jobs(lose=False), wrong=st.integers(-15, 15), spare=st.integers(0, 3))
def test_an_error_of_the_clocks_within_its_bound_only_widens(
    driver: AnalysisDriver, ranks: list[Rank], wrong: int, spare: int
) -> None:
    """Causes contain those of exact clocks, where the table holds."""
    network = Network((1, 40), (1, 50), 0, 0)
    exact = driver.analyze(ranks, table_of(network, len(ranks)))
    ranks[1].ahead = wrong  # believed; in truth the clocks agree
    ranks[1].error = abs(wrong) + spare
    rough = driver.analyze(ranks, table_of(network, len(ranks)))
    for key, row in exact.causes.items():
        for cause in CAUSES:
            low, high = f"{cause}_min_ns", f"{cause}_max_ns"
            assert rough.causes[key][low] <= row[low], (key, cause)
            assert rough.causes[key][high] >= row[high], (key, cause)


rates = st.one_of(
    st.tuples(st.integers(0, 1000), st.integers(0, 1000)).map(lambda r: (min(r), max(r))),
    st.sampled_from([(0, 0), (1000, 1000)]),
)


@many
@given(data=st.data())
@pytest.mark.parametrize("sender", [True, False])
def test_what_moves_at_rates_of_the_class_is_within_the_expected_bounds(
    driver: AnalysisDriver, data: st.DataObject, sender: bool
) -> None:
    """One message whose data moves, from when both sides had posted until it is over, in each ns at
    a rate that the class allows for who is inside MPI then. In a call that does not complete it, as
    in its start, a side drives it or not."""
    gaps = st.integers(1, 20)
    starts = [data.draw(st.integers(0, 20)) for _ in range(2)]
    ranks = []
    for r, (start, kind) in enumerate(zip(starts, (SEND, RECV), strict=True)):
        rank = Rank()
        rank.add(start, start + data.draw(gaps), ("MPI_Isend", "MPI_Irecv")[r], kind, 8, 1 - r)
        if data.draw(st.booleans()):  # a call in between that says nothing
            begin = rank.ops[-1].exit + data.draw(gaps)
            rank.add(begin, begin + data.draw(gaps), "MPI_Test", COMPLETION, site=5)
        begin = rank.ops[-1].exit + data.draw(gaps)
        call = rank.add(begin, begin + data.draw(gaps), "MPI_Wait", COMPLETION, site=6)
        rank.ops[0].end = call
        ranks.append(rank)
    # The receive completes no earlier than both have begun.
    last = ranks[1].ops[-1]
    last.exit = max(last.exit, max(starts) + 1)
    for rank in ranks:
        for op in rank.ops:
            op.sequence = 1 if op.kind in (SEND, RECV) else 0
    job = Job(ranks, Network((0, 0), (0, 0), 0, 0))
    allowed = [data.draw(rates) for _ in range(4)]
    hidden = exposed = Fraction(0)
    over = data.draw(st.integers(max(starts) + 1, last.exit))
    for t in range(max(starts), over):
        inside = [t < job.last and job.inside[r][t] for r in range(2)]
        drives = [
            i and (t >= rank.ops[-1].enter or data.draw(st.booleans()))
            for i, rank in zip(inside, ranks, strict=True)
        ]
        low, high = allowed[drives[0] + 2 * drives[1]]
        rate = Fraction(data.draw(st.integers(low, high)), 1000)
        if inside[0 if sender else 1]:
            exposed += rate
        else:
            hidden += rate
    moved = hidden + exposed
    x = int(moved), int(moved) + 1  # of which the message's time is between
    network = Network(x, (0, 0), 10**6, 10**6, Class(0, tuple(allowed)))
    rows = driver.analyze(ranks, table_of(network, 2))
    name = ("MPI_Irecv", "MPI_Isend")[sender]
    row = rows.evidence[1 - sender, 1, name]
    for part, value in (("overlap", hidden), ("exposed", exposed)):
        assert row[f"expected_{part}_min_ns"] <= value + 1, (part, value)
        assert row[f"expected_{part}_max_ns"] >= value - 1, (part, value)


def test_the_reference_can_fail(driver: AnalysisDriver) -> None:
    """One ns more of lateness is seen."""
    ranks = [Rank(), Rank()]
    ranks[0].ops.append(Op(50, 60, "MPI_Send", SEND, 8, 1, sequence=1))
    ranks[1].ops.append(Op(10, 61, "MPI_Recv", RECV, 8, 0, sequence=1))
    network = Network((5, 9), (5, 9), 0, 0)
    found = driver.analyze(ranks, table_of(network, 2)).causes[1, 1, "MPI_Recv"]
    assert found["late_sender_min_ns"] == Job(ranks, network).causes(1, 0)["late_sender"][0]
    ranks[0].ops[0].enter += 1
    assert found["late_sender_min_ns"] != Job(ranks, network).causes(1, 0)["late_sender"][0]


def test_a_round_that_a_member_did_not_tell_of_is_not_matched(driver: AnalysisDriver) -> None:
    ranks = [Rank(), Rank(), Rank()]
    for rank in ranks[:2]:
        rank.ops.append(Op(10, 61, "MPI_Barrier", ALL, sequence=1))
    rows = driver.analyze(ranks)
    assert rows.causes[0, 1, "MPI_Barrier"]["unattributed_min_ns"] == 51
    assert rows.states[0] == {"not logged": 1}
