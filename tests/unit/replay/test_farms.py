"""Work that goes to whoever asks first: farms in a schedule, and what they do elsewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from tests.unit.replay.building import Builder

from imbrex.replay.arrays import Algorithm, ArraySchedule, Flag, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.farm_begin import begin_of
from imbrex.replay.farm_bodies import STOP, UnplayableError
from imbrex.replay.farm_order import Order, Play
from imbrex.replay.farm_schedule import as_served, chance_ns, serves_as_it_did
from imbrex.replay.farms import Farm, Own, find_farms

NEAR = Route(latency_ns=1000, byte_ns=1)
FAR = Route(latency_ns=50_000, byte_ns=1)
ASK, RESULT, GIVE = 7, 8, 9


def own_of(schedule: ArraySchedule, looks: dict[int, int], grows_ns: int = 0) -> Own:
    """The boss is rank 0: all that it takes it takes from any source."""
    ops = schedule.operations
    wild = np.zeros(len(ops), np.int64)
    boss = np.arange(len(ops)) < schedule.first[1]
    takes = (ops["kind"] == Kind.WAIT_ARRIVAL) | (ops["kind"] == Kind.RECV)
    wild[boss & takes] = 1
    counts = np.zeros(len(ops), np.int64)
    for op, count in looks.items():
        counts[op] = count
    return Own(counts, np.zeros(len(ops), np.int64), wild, grows_ns)


def farms_of(schedule: ArraySchedule, looks: dict[int, int] | None = None) -> tuple[Farm, ...]:
    return find_farms(schedule, own_of(schedule, looks or {}), np.array([0]))


def textbook(nodes: list[int] | None = None) -> Builder:
    """Tasks of 10, 30, 40 and 10 us; the first two are sent to both workers at once, and worker 1
    asks first. A result is a request for more."""
    b = Builder(3, nodes=nodes)
    for worker in (1, 2):
        b.send(0, worker, 0, blocking=True, site=GIVE)
    for worker in (1, 2):
        b.recv(0, worker, blocking=True, site=1)
        b.send(0, worker, 0, blocking=True, site=GIVE)
    for worker in (2, 1):
        b.recv(0, worker, blocking=True, site=1)
    for worker in (1, 2):
        b.send(0, worker, 0, blocking=True, site=2)
    for worker, tasks_ns in ((1, (10_000, 40_000)), (2, (30_000, 10_000))):
        for ns in tasks_ns:
            b.recv(worker, 0, blocking=True, site=3)
            b.calc(worker, ns)
            b.send(worker, 0, 0, blocking=True, site=RESULT)
        b.recv(worker, 0, blocking=True, site=3)
    return b


def run_ns(schedule: ArraySchedule, network: Network) -> float:
    return Replayer(schedule).run(network).run_ns


def served(b: Builder, network: Network, looks: dict[int, int] | None = None) -> ArraySchedule:
    schedule = b.schedule()
    found = as_served(schedule, farms_of(schedule, looks), network)
    assert found is not None
    return found


def tasks_of(
    b: Builder, network: Network, looks: dict[int, int] | None = None
) -> dict[int, list[int]]:
    schedule = b.schedule()
    (farm,) = farms_of(schedule, looks)
    return Play(schedule, farm, network, begin_of(schedule, farm, network)).play().given


def test_a_farm_is_found_by_what_it_does() -> None:
    (farm,) = farms_of(textbook().schedule())
    assert len(farm.tasks) == 4
    assert sorted(farm.workers) == [1, 2]
    assert farm.seeds == (0, 1)
    assert farm.asks == {RESULT}
    assert not farm.stops
    assert not farm.looks


def test_work_goes_to_whoever_asks_first() -> None:
    # Worker 1 is 50 us away: worker 2 is back at 32, and again at 74 and 86 us, worker 1 at 110.
    b, network = textbook(nodes=[0, 1, 0]), Network(NEAR, FAR)
    assert tasks_of(b, network) == {1: [0], 2: [1, 2, 3]}
    # The last that hears of the end is worker 1, at 160 us. In the order of the run it has a second
    # task of 40 us, and hears of the end at 300.
    assert run_ns(served(b, network), network) == 160_000
    assert run_ns(b.schedule(), network) == 300_000


def with_results(size: int, b: Builder) -> Builder:
    for rank in (1, 2):
        for row in b.rows[rank]:
            row["bytes"] = size if row["kind"] == Kind.SEND else 0
    return b


def test_results_may_wait_for_their_receive() -> None:
    b = with_results(1000, textbook(nodes=[0, 1, 0]))
    network = Network(replace(NEAR, eager_bytes=999), replace(FAR, eager_bytes=999))
    assert tasks_of(b, network) == {1: [0], 2: [1, 2, 3]}
    # Worker 2 has its tasks at 1, 34 and 77 us, and its last result is there at 89. Worker 1 is
    # done at 60; that its result waits is known at 110, when worker 2 has had all others. As in a
    # replay it leaves when its receive is posted, at 89: it is there at 140, and the stop at 190.
    assert run_ns(served(b, network), network) == 190_000


def test_a_boss_that_is_busy_makes_workers_wait_with_their_results() -> None:
    # Both results are ready at 11 us; the boss computes for 20 us behind the first it takes.
    b = with_results(1000, textbook())
    for row in b.rows[2]:
        row["calc_ns"] = 10_000 if row["calc_ns"] else 0
    b.rows[0][3]["calc_ns"] = 20_000
    network = Network(replace(NEAR, eager_bytes=999), replace(NEAR, eager_bytes=999))
    schedule = b.schedule()
    (farm,) = farms_of(schedule)
    play = Play(schedule, farm, network, begin_of(schedule, farm, network))
    play.play()
    found = served(b, network)
    ends = Replayer(found).run(network)
    assert play.boss_ns == ends.end_ns[0]
    # Both are ready at 11 us, the first is there at 13. The second is asked for 20 us later, and is
    # there at 35, where worker 2 could go on; an eager one would have let it go at 11.
    second = np.flatnonzero(found.operations["kind"][: int(found.first[1])] == Kind.RECV)[1]
    send = int(found.operations["partner"][second])
    replayer = Replayer(found)
    replayer.run(network)
    assert replayer.time_ns[send] == 35_000


def test_where_the_order_is_that_of_the_run_nothing_changes() -> None:
    b, network = textbook(), Network(NEAR, NEAR)
    found, before = served(b, network), b.schedule()
    for name in ("kind", "calc_ns", "bytes", "partner", "peer"):
        assert (found.operations[name] == before.operations[name]).all(), name
    assert (found.first == before.first).all()
    assert run_ns(found, network) == run_ns(before, network)


def test_messages_share_links_as_in_a_replay() -> None:
    b = textbook()
    for rank, rows in enumerate(b.rows):
        for row in rows:
            row["bytes"] = 900 + 77 * rank if row["kind"] == Kind.SEND else 0
    schedule = b.schedule()
    (farm,) = farms_of(schedule)
    for network in (Network(NEAR, NEAR), Network(NEAR, NEAR, in_order=False)):
        play = Play(schedule, farm, network, begin_of(schedule, farm, network))
        play.play()
        found = as_served(schedule, (farm,), network)
        assert found is not None
        # It stops when it has sent both stops, which takes no time.
        assert play.boss_ns == Replayer(found).run(network).end_ns[0]


def asking(own_ns: int, nodes: list[int] | None = None) -> Builder:
    """Workers ask with a message of its own and have a task of 5 us each; the boss looks before
    each message, and in the run computes a task of its own, the third, before the third ask."""
    b = Builder(3, nodes=nodes)
    order = [(1, ASK), (2, ASK), (1, RESULT), (1, ASK), (2, RESULT), (2, ASK)]
    for number, (worker, site) in enumerate(order):
        looked = b.add(0, Kind.WAIT_ARRIVAL, calc_ns=own_ns if number == 2 else 10, site=1)
        del looked
        b.recv(0, worker, blocking=True, site=1)
        if site == ASK:
            b.send(0, worker, 0, blocking=True, site=GIVE)
    for worker in (1, 2):
        b.send(worker, 0, 0, blocking=True, site=ASK)
        b.recv(worker, 0, blocking=True, site=3)
        b.calc(worker, 5000)
        b.send(worker, 0, 0, blocking=True, site=RESULT)
        b.send(worker, 0, 0, blocking=True, site=ASK)
        b.recv(worker, 0, blocking=True, site=3)
    return b


def probing(own_ns: int, nodes: list[int] | None = None) -> tuple[ArraySchedule, dict[int, int]]:
    """With the partners of probes: those of the receives behind them."""
    schedule = asking(own_ns, nodes).schedule()
    ops = schedule.operations
    looks = np.flatnonzero(ops["kind"] == Kind.WAIT_ARRIVAL)
    for name in ("partner", "peer"):
        ops[name][looks] = ops[name][looks + 1]
    return schedule, {int(looks[2]): 1}


def test_the_boss_has_tasks_of_its_own() -> None:
    schedule, looks = probing(3010)
    (farm,) = farms_of(schedule, looks)
    assert farm.looks
    assert [task.body is None for task in farm.tasks] == [False, False, True]
    # Of 3010 ns before the look 10 each are of the look that found nothing and of that which did.
    assert farm.tasks[2].own_ns == 2990
    assert len(farm.stops) == 2
    assert farm.asks == {ASK}


def test_a_boss_takes_a_task_where_it_finds_no_message() -> None:
    schedule, looks = probing(3010, nodes=[0, 1, 2])
    (farm,) = farms_of(schedule, looks)
    network = Network(FAR, FAR)
    order = Play(schedule, farm, network, begin_of(schedule, farm, network)).play()
    # It computes all three before the first message is there, as long as they take: two of 5 us.
    assert order.given == {1: [STOP], 2: [STOP]}
    assert order.turns[0].own_ns == 2 * 5010 + 3000
    found = as_served(schedule, (farm,), network)
    assert found is not None
    # The asks are there after 50 us, and are answered at 50.00 and 50.01.
    assert run_ns(found, network) == 100_010


def test_looks_may_take_longer_each() -> None:
    schedule, looks = probing(3020)
    (farm,) = find_farms(schedule, own_of(schedule, looks, grows_ns=10), np.array([0]))
    assert farm.tasks[2].own_ns == 2990


def test_messages_of_one_worker_keep_their_order() -> None:
    schedule, looks = probing(3010)
    (farm,) = farms_of(schedule, looks)
    # A result and the next ask leave at the same time.
    network = Network(NEAR, NEAR, found_when_sent=True)
    order = Play(schedule, farm, network, begin_of(schedule, farm, network)).play()
    for own in order.messages.values():
        assert [turn.message for turn in order.turns if turn.message in own] == own


def test_what_was_sent_first_may_be_found_first() -> None:
    # Both send at 0; the large one of worker 1 is there last, but its rank is known first.
    b = textbook()
    schedule = b.schedule()
    (farm,) = farms_of(schedule)
    ops = schedule.operations
    first = [worker.first.ops.stop for worker in farm.workers.values()]
    ops["calc_ns"][first[0]], ops["calc_ns"][first[1]] = 20_000, 20_500
    ops["bytes"][first[0] + 1] = 1000
    seen = []
    for when_sent in (True, False):
        network = Network(NEAR, NEAR, found_when_sent=when_sent)
        play = Play(schedule, farm, network, begin_of(schedule, farm, network))
        turns = play.play().turns
        seen.append([play.source[turn.message] for turn in turns[:2]])
    assert seen == [[1, 2], [2, 1]]


def test_a_farm_that_is_played_does_what_the_run_did() -> None:
    schedule = textbook().schedule()
    farms = farms_of(schedule)
    assert serves_as_it_did(schedule, farms, Network(NEAR, NEAR), 55_000)
    assert not serves_as_it_did(schedule, (), Network(NEAR, NEAR), 55_000)
    # On a network that gives another order neither the run nor its replay took as long.
    far = textbook(nodes=[0, 1, 0]).schedule()
    assert not serves_as_it_did(far, farms_of(far), Network(NEAR, FAR), 300_000)
    assert serves_as_it_did(far, farms_of(far), Network(NEAR, FAR), 160_000)


def test_chance_is_of_bosses_with_tasks_of_their_own() -> None:
    network = Network(FAR, FAR)
    schedule = textbook().schedule()
    assert chance_ns(schedule, farms_of(schedule), network) == (0, 0)
    schedule, looks = probing(3010, nodes=[0, 1, 2])
    assert chance_ns(schedule, farms_of(schedule, looks), network) == (0, 0)
    # Messages are there after 1 us, and the boss looks when it has computed.
    low, high = chance_ns(schedule, farms_of(schedule, looks), Network(NEAR, NEAR))
    assert low <= 0 <= high


EAGER = 1000


@st.composite
def random_farms(draw: st.DrawFn, results_wait: bool = False) -> Builder:
    """Textbook farms whose order is any. `results_wait`: of more than EAGER bytes for their
    receive; tasks are shorter."""
    workers, more = draw(st.integers(2, 4)), draw(st.integers(1, 12))
    b = Builder(workers + 1, nodes=[draw(st.integers(0, 1)) for _ in range(workers + 1)])
    size, cost = st.integers(0, EAGER if results_wait else 2000), st.integers(100, 60_000)
    result = st.integers(0, 2 * EAGER)
    behind = Counter(range(1, workers + 1))
    for worker in range(1, workers + 1):
        b.send(0, worker, draw(size), blocking=True, site=GIVE)
    for _ in range(more):
        worker = draw(st.integers(1, workers))
        b.recv(0, worker, blocking=True, site=1)
        b.send(0, worker, draw(size), blocking=True, site=GIVE)
        behind[worker] += 1
    for worker in range(1, workers + 1):
        b.recv(0, worker, blocking=True, site=1)
    for worker in reversed(range(1, workers + 1)):
        b.send(0, worker, 0, blocking=True, site=2)
    for worker, tasks in behind.items():
        for _ in range(tasks):
            b.recv(worker, 0, blocking=True, site=3)
            b.calc(worker, draw(cost))
            blocking = results_wait or draw(st.booleans())
            b.send(worker, 0, draw(result), blocking=blocking, site=RESULT)
        b.recv(worker, 0, blocking=True, site=3)
    return b


class Watched(Play):
    """Keeps when messages can be found."""

    found_ns: list[float]

    def play(self) -> Order:
        self.found_ns = []
        return super().play()

    def _push_shown(self, at: float, message: int) -> None:
        self.found_ns.append(at)
        super()._push_shown(at, message)


def equal(one: ArraySchedule, other: ArraySchedule) -> bool:
    names = ("kind", "calc_ns", "bytes", "partner", "peer")
    return all((one.operations[name] == other.operations[name]).all() for name in names)


@given(
    program=st.one_of(random_farms(), random_farms(results_wait=True)),
    eager=st.booleans(),
    latencies=st.tuples(*[st.integers(1, 50_000)] * 2),
    in_order=st.booleans(),
    when_sent=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_farm_on_its_own_network_stays_as_it_is(
    program: Builder, eager: bool, latencies: tuple[int, int], in_order: bool, when_sent: bool
) -> None:
    limit = 1e9 if eager else EAGER
    within, between = (
        Route(latency_ns=ns, byte_ns=1, gap_ns=1, eager_bytes=limit) for ns in latencies
    )
    network = Network(within, between, in_order=in_order, found_when_sent=when_sent)
    schedule = program.schedule()
    (farm,) = farms_of(schedule)
    watched = Watched(schedule, farm, network, begin_of(schedule, farm, network))
    try:
        watched.play()
    except UnplayableError:
        assert not eager
        reject()
    # The run before it decides which of two at the same time is first.
    assume(len(set(watched.found_ns)) == len(watched.found_ns))
    run = as_served(schedule, (farm,), network)
    assert run is not None
    assert run.computation_ns().sum() == schedule.computation_ns().sum()
    again = as_served(run, farms_of(run), network)
    assert again is not None
    assert equal(run, again)
    (farm,) = farms_of(run)
    play = Play(run, farm, network, begin_of(run, farm, network))
    play.play()
    sent = play.boss_ns + len(farm.workers) * between.send_ns
    # A result that waits is found a latency after it is sent: until then it has no part of a link.
    end_ns = Replayer(run).run(network).end_ns[0]
    assert sent == (end_ns if eager else pytest.approx(end_ns, rel=0.1))


def unanswered_once() -> Builder:
    """A request that the boss answers only later: not as a farm does."""
    b = textbook()
    reply = b.rows[0].pop(3)
    b.rows[0].insert(5, reply)
    return b


def with_another_partner() -> Builder:
    """A worker that talks to the other in the midst of a task."""
    b = textbook()
    b.rows[1].insert(4, dict(b.rows[1][2], peer=2))
    b.rows[2].insert(4, dict(b.rows[2][0], peer=1))
    return b


def with_one_worker() -> Builder:
    b = Builder(2)
    for _ in range(3):
        b.recv(0, 1, blocking=True, site=1)
        b.send(0, 1, 0, blocking=True, site=GIVE)
        b.send(1, 0, 0, blocking=True, site=ASK)
        b.recv(1, 0, blocking=True, site=3)
    return b


def with_a_task_in_the_last_reply() -> Builder:
    """Workers know how many tasks they get: nothing tells that the last reply has none."""
    b = Builder(3)
    for worker in (1, 1, 2, 2):
        b.recv(0, worker, blocking=True, site=1)
        b.send(0, worker, 0, blocking=True, site=GIVE)
    for worker in (1, 2):
        for _ in range(2):
            b.send(worker, 0, 0, blocking=True, site=ASK)
            b.recv(worker, 0, blocking=True, site=3)
            b.calc(worker, 5000)
    return b


def with_two_sends_in_the_end() -> Builder:
    b = textbook()
    for worker in (1, 2):
        b.send(0, worker, 0, blocking=True, site=2)
        b.recv(worker, 0, blocking=True, site=3)
    return b


def with_requests_that_are_not_answered() -> Builder:
    """Of two messages from one site the boss answers the second."""
    b = textbook()
    b.rows[1].insert(2, dict(b.rows[1][2]))
    b.rows[0].insert(2, dict(b.rows[0][2]))
    return b


@pytest.mark.parametrize(
    "program",
    [
        unanswered_once,
        with_another_partner,
        with_one_worker,
        with_a_task_in_the_last_reply,
        with_two_sends_in_the_end,
        with_requests_that_are_not_answered,
    ],
)
def test_what_is_no_farm_is_left_alone(program: type[Builder]) -> None:
    schedule = program().schedule()
    assert farms_of(schedule) == ()
    assert as_served(schedule, (), Network(NEAR, NEAR)) is None


def test_messages_that_wait_for_their_receive_are_left_alone() -> None:
    b = textbook()
    schedule = b.schedule()
    sends = schedule.operations["kind"] == Kind.SEND
    schedule.operations["bytes"][sends] = 100
    small = replace(NEAR, eager_bytes=99)
    assert as_served(schedule, farms_of(schedule), Network(small, small)) is None
    assert as_served(schedule, farms_of(schedule), Network(NEAR, NEAR)) is not None


def test_what_stands_before_and_behind_a_farm_stays() -> None:
    b = textbook(nodes=[0, 1, 0])
    before, behind = Builder(3, nodes=[0, 1, 0]), Builder(3, nodes=[0, 1, 0])
    for more in (before, behind):
        more.send(1, 2, 8, blocking=True, site=4)
        more.recv(2, 1, blocking=True, site=4)
    for rank in range(3):
        b.rows[rank] = before.rows[rank] + b.rows[rank] + behind.rows[rank]
    schedule = b.schedule()
    network = Network(NEAR, FAR)
    found = as_served(schedule, farms_of(schedule), network)
    assert found is not None
    made = found.operations["kind"]
    for stream in (1, 2):
        low, high = (int(k) for k in found.first[stream : stream + 2])
        assert found.operations["bytes"][[low, high - 1]].tolist() == [8, 8]
        assert made[[low, high - 1]].tolist() == [Kind.SEND if stream == 1 else Kind.RECV] * 2
    sends = np.flatnonzero(made == Kind.SEND)
    assert (found.operations["partner"][found.operations["partner"][sends]] == sends).all()
    assert (found.operations["flags"][sends] & Flag.BLOCKING).all()


def test_threads_of_a_rank_and_several_farms_are_left_alone() -> None:
    schedule = textbook().schedule()
    ranks = np.array([0, 0, 1], np.uint32)
    threads = replace(schedule, rank=ranks, node=np.zeros(2, np.uint32))
    assert farms_of(threads) == ()
    b, second = textbook(), textbook()
    b.meet(Algorithm.DISSEMINATION)
    for rank in range(3):
        b.rows[rank] += second.rows[rank]
    twice = b.schedule()
    assert len(farms_of(twice)) == 2
    assert as_served(twice, farms_of(twice), Network(NEAR, NEAR)) is None


def test_of_two_at_the_same_time_that_goes_first_which_did_in_the_run() -> None:
    b = textbook()
    for tasks in ((1, 3), (2, 3)):
        b.rows[tasks[0]][1]["calc_ns"] = 10_000
    schedule = b.schedule()
    (farm,) = farms_of(schedule)
    rows = b.rows[0]
    rows[2:4], rows[4:6] = rows[4:6], rows[2:4]
    other = b.schedule()
    (swapped,) = farms_of(other)
    network = Network(NEAR, NEAR)
    for run, of, first in ((schedule, farm, 1), (other, swapped, 2)):
        play = Play(run, of, network, begin_of(run, of, network))
        assert play.source[play.play().turns[0].message] == first


def test_looks_that_find_nothing_take_longer_and_longer() -> None:
    schedule, looks = probing(3020, nodes=[0, 1, 2])
    (farm,) = find_farms(schedule, own_of(schedule, looks, grows_ns=10), np.array([0]))
    network = Network(FAR, FAR)
    order = Play(schedule, farm, network, begin_of(schedule, farm, network)).play()
    # Three tasks with a look of 10, 20 and 30 ns each, and the one that finds something 30 more.
    assert order.turns[0].own_ns == 5010 + 5020 + 2990 + 30 + 30
