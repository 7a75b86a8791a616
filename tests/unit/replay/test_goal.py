"""GOAL schedules: run times worked out by hand, and of a schedule written and read again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from building import Builder, networks, programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imbrex import cli
from imbrex.errors import ImbrexError
from imbrex.replay.arrays import Algorithm, ArraySchedule, Kind
from imbrex.replay.evaluate import Network, Replayer, Route
from imbrex.replay.goal_file import GoalFile, read_goal
from imbrex.replay.goal_schedule import goal_schedule
from imbrex.replay.goal_writer import Lacking, goal_lines

ALGORITHMS = sorted(set(Algorithm) - {Algorithm.DIRECT, Algorithm.NO_MESSAGES})
ROUTE = Route(latency_ns=1000, byte_ns=2, gap_ns=50, send_ns=10, receive_ns=20, eager_bytes=100)
LOGGOPSIM = Route(
    latency_ns=2500, byte_ns=0, gap_ns=1000, send_ns=1500, receive_ns=1500, eager_bytes=65535
)
"""Its defaults; of messages of one byte it charges no G."""


def goal(folder: Path, *ranks: str, head: str = "") -> GoalFile:
    """A file with an operation or a dependency on each line of each rank."""
    blocks = [
        f"rank {number} {{\n" + "\n".join(part.strip() for part in text.split(";")) + "\n}\n"
        for number, text in enumerate(ranks)
    ]
    file = folder / "s.goal"
    file.write_text(f"num_ranks {len(ranks)}\n{head}{''.join(blocks)}")
    return read_goal(file)


def ends(found: GoalFile, route: Route = ROUTE) -> list[float]:
    """When each rank, and each further processor of it, is through; messages one by one."""
    schedule = goal_schedule(found, route)
    replayed = Replayer(schedule).run(Network(route, route), shared=False)
    assert Replayer(schedule).run(Network(route, route), trace=True).path is not None
    return replayed.end_ns.tolist()


def test_an_eager_message_takes_o_l_g_and_o(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "a: calc 500; b: send 30b to 1 tag 7; b requires a",
        "recv 30b from 0 tag 7",
    )
    # The sender is through at once; 500 + 10 + 1000 + 2 * 30 + 20.
    assert ends(found) == [510, 1590]


def test_above_s_a_message_waits_for_its_receive_and_its_sender_for_it(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "a: send 200b to 1 tag 0; b: calc 5; b requires a",
        "a: calc 3000; b: recv 200b from 0 tag 0; b requires a",
    )
    assert ends(found) == [3000 + 1000 + 400 + 5, 3000 + 1000 + 400 + 20]


def test_what_irequires_a_receive_passes_beside_it(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "a: send 200b to 1 tag 0",
        "a: recv 200b from 0 tag 0; b: calc 900; b irequires a; c: calc 7; c requires b; "
        "c requires a",
    )
    # It arrives at 10 + 1000 + 400 while 900 are computed.
    assert ends(found) == [1410, 1410 + 20 + 7]


def test_a_gap_lies_between_messages(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "a: send 1b to 1; b: send 1b to 1; b irequires a",
        "a: recv 1b from 0; b: recv 1b from 0; b requires a",
    )
    # They leave at 10, and a gap of 50 and 2 for the byte later, not at 20.
    assert ends(found) == [20, 62 + 1000 + 2 + 20]


def test_processors_of_a_rank_compute_side_by_side(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "a: calc 100; b: calc 80 cpu 1; c: calc 5; c requires a; c requires b; "
        "d: calc 40 cpu 1; d irequires c",
    )
    # c begins when both are over, d with c.
    assert ends(found) == [105, 140]


def test_one_processor_waits_for_the_messages_of_another(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "s: send 200b to 1 tag 3 cpu 1; r: recv 8b from 1 tag 4 cpu 1; a: calc 100; "
        "b: calc 1; b requires a; b requires s; b requires r; c: calc 2 cpu 1; c requires r",
        "s: send 8b to 0 tag 4; r: recv 200b from 0 tag 3; r requires s",
    )
    # r of rank 1 is posted at 10, as s of rank 0 is ready; it has come at 10 + 1000 + 400. What
    # comes of tag 4 is there at 10 + 1000 + 16, and processor 1 takes it: b waits for s alone.
    assert ends(found) == [1410 + 1, 1410, 1430]


def test_any_source_takes_what_is_there_first(tmp_path: Path) -> None:
    found = goal(
        tmp_path,
        "a: recv 8b from -1 tag -1; b: recv 8b from -1 tag -1; b requires a; c: calc 100; "
        "c requires a; d: calc 1; d requires b; d requires c",
        "a: calc 5000; b: send 8b to 0 tag 1; b requires a",
        "send 8b to 0 tag 2",
    )
    # Rank 2's has come at 10 + 1000 + 16, rank 1's at 5000 + 1026.
    assert ends(found)[0] == 6026 + 20 + 1


def test_operations_that_are_ready_early_come_first(tmp_path: Path) -> None:
    """Though the file has them behind one that waits for a message."""
    found = goal(
        tmp_path,
        "a: recv 8b from 1; b: calc 100; b requires a; c: calc 400",
        "send 8b to 0",
    )
    assert ends(found)[0] == 1026 + 20 + 100


def dissemination(ranks: int) -> list[str]:
    """In each round send and go on when that of the round has come."""
    found = []
    for rank in range(ranks):
        lines, distance, last = [], 1, ""
        while distance < ranks:
            lines.append(f"s{distance}: send 1b to {(rank + distance) % ranks} tag 0")
            if last:
                lines.append(f"s{distance} requires {last}")
            last = f"r{distance}"
            lines.append(f"{last}: recv 1b from {(rank - distance) % ranks} tag 0")
            distance *= 2
        found.append(";".join(lines))
    return found


def test_the_example_of_loggopsim_takes_what_its_readme_says(tmp_path: Path) -> None:
    """22,000 ns of 16 ranks: four rounds of o + L + o."""
    found = goal(tmp_path, *dissemination(16))
    assert ends(found, LOGGOPSIM) == [22000] * 16


def test_comments_and_spaces(tmp_path: Path) -> None:
    file = tmp_path / "s.goal"
    file.write_text(
        "// a schedule\nnum_ranks 1\n/* of\n one */\nrank 0 {\n\tl1: calc 5 cpu 0 // so\n\r\n"
        "l2 :calc 6\nl2  requires l1\n}\n"
    )
    found = read_goal(file)
    assert [node.line for node in found.nodes] == [6, 8]
    assert ends(found) == [11]


ONE, TWO = "num_ranks 1\nrank 0 {\n", "num_ranks 2\nrank 0 {\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no GOAL file: num_ranks is missing"),
        ("rank 0 {\n}\n", ":1: there is no rank 0: num_ranks must come before"),
        ("num_ranks 0\n", ":1: num_ranks must be from 1 to 65535"),
        ("num_ranks 1\nnum_ranks 1\n", ":2: num_ranks is there already"),
        (TWO + "}\nrank 2 {\n}\n", ":4: there is no rank 2: num_ranks is 2"),
        (TWO + "}\nrank 0 {\n}\n", ":4: rank 0 is there already, in line 2"),
        (TWO + "}\n", "rank 1 of 2 is missing"),
        (ONE + "calc 5\n", "rank 0: its operations do not end with }"),
        (ONE + "l1: work 5\n}\n", ":3: rank 0: 'l1: work 5' is neither an operation nor"),
        (ONE + "calc -5\n}\n", ":3: rank 0: 'calc -5' is neither"),
        (ONE + "calc " + "9" * 5000 + "\n}\n", ":3: rank 0: 'calc 999"),
        (ONE + "a: send 8b to 3 tag 0\n}\n", ":3: rank 0: send a to 3 tag 0: num_ranks is 1"),
        (ONE + "send 8b to 0 tag 0 nic 1\n}\n", ":3: rank 0: send to 0 tag 0: nic 1: a replay"),
        (ONE + "calc 8 cpu 256\n}\n", ":3: rank 0: calc: cpu must be below 256"),
        (ONE + "a: calc 1\na: calc 2\n}\n", ":4: rank 0: the label a is there already, in line 3"),
        (ONE + "a: calc 1\na requires b\n}\n", ":4: rank 0: the label b is of no operation"),
        (ONE + "a: calc 1\na requires a\n}\n", ":3: rank 0: calc a requires itself"),
        (
            ONE + "a: calc 1\nb: calc 1\nc: calc 1\na requires b\nb irequires c\nc requires a\n}\n",
            ":3: rank 0: calc a requires itself through b, c",
        ),
        (
            TWO + "a: send 8b to 1 tag 5\n}\nrank 1 {\nrecv 8b from 0 tag 6\n}\n",
            ":3: rank 0: send a to 1 tag 5 is taken by no receive",
        ),
        (
            TWO + "}\nrank 1 {\nb: recv 8b from 0 tag 6\n}\n",
            ":5: rank 1: recv b from 0 tag 6 takes what nobody sends",
        ),
        (
            TWO + "send 8b to 1\n}\nrank 1 {\nb: recv 8b from -1\nc: recv 8b from -1\n}\n",
            ":7: rank 1: recv c from any rank tag 0 takes what nobody sends",
        ),
        (
            TWO + "a: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\nrank 1 {\n"
            "a: recv 8b from 0\nb: send 8b to 0\nb requires a\n}\n",
            ":3: rank 0: recv a from 1 tag 0 waits for ever for its other side",
        ),
        (
            TWO + "a: send 101b to 1\nb: recv 101b from 1\nb requires a\n}\nrank 1 {\n"
            "a: send 101b to 0\nb: recv 101b from 0\nb requires a\n}\n",
            ":3: rank 0: send a to 1 tag 0 waits for ever, above the eager limit of 100 bytes,",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_with_rank_operation_and_line(
    text: str, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "s.goal"
    file.write_text(text)
    with pytest.raises(ImbrexError) as error:
        goal_schedule(read_goal(file), ROUTE)
    assert told in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["imbrex", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0)

    goal(tmp_path, *dissemination(16), head="// s3: halo.c:17 MPI_Isend\n")
    network = tmp_path / "n.toml"
    network.write_text(
        '[[network]]\nname = "wire"\nlatency_us = 5.5\noverhead_us = 1.5\n'
        "receive_overhead_us = 1.5\nbandwidth_gb_per_s = 1e6\neager_limit_bytes = 0\n"
    )
    arguments = ["predict", str(tmp_path / "s.goal"), "-n", str(network)]
    assert run(*arguments, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["ranks"], document["operations"]) == (
        "GOAL schedule",
        16,
        128,
    )
    row = document["networks"][0]
    # Above the eager limit, and posted from the beginning.
    assert row["time_s"] == pytest.approx(22e-6, rel=1e-6)
    assert row["critical_path"]["latencies"] == 4
    assert run(*arguments) == 0
    text = capsys.readouterr().out
    assert "16 ranks, 128 operations of s.goal." in text
    assert text.startswith(
        "Transfers take 100 % of the run on wire; hiding those of any one call site saves nothing."
    )
    (tmp_path / "s.goal").write_text(ONE + "l1: calc\n}\n")
    assert run(*arguments) == 2
    assert f"{tmp_path / 's.goal'}:3: rank 0: 'l1: calc'" in capsys.readouterr().err
    assert run(*arguments, "--collectives", str(network)) == 2
    assert run(*arguments, "--figure", "6") == 2


def again(schedule: ArraySchedule, folder: Path, route: Route) -> ArraySchedule:
    lacking = Lacking()
    file = folder / "again.goal"
    file.write_text("".join(goal_lines(schedule, lambda site: f"app.c:{site} MPI_Send", lacking)))
    assert lacking == Lacking()
    return goal_schedule(read_goal(file), route)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("goal")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(program=programs(collectives=False), network=networks(), shared=st.booleans())
def test_a_program_written_as_goal_takes_as_long(
    program: Builder, network: Network, shared: bool, folder: Path
) -> None:
    network = Network(network.between, network.between).progressing("ideal")
    schedule = program.schedule()
    # GOAL's messages have at least a byte.
    moves = np.isin(schedule.operations["kind"], (Kind.SEND, Kind.RECV))
    schedule.operations["bytes"][moves & (schedule.operations["bytes"] == 0)] = 1
    there = Replayer(schedule).run(network, shared=shared).run_ns
    read = again(schedule, folder, network.between)
    # A send that nobody awaits is over before the end, so that its rank may end later.
    assert Replayer(read).run(network, shared=shared).run_ns == pytest.approx(there)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_a_collective_written_as_goal_takes_as_long(
    algorithm: Algorithm, ranks: int, folder: Path
) -> None:
    b = Builder(ranks)
    for rank in range(ranks):
        b.calc(rank, 100 * rank)
    b.meet(algorithm, 80 * ranks, root=1)
    route = Route(latency_ns=1000, byte_ns=2, send_ns=10, receive_ns=20, eager_bytes=1 << 20)
    there = Replayer(b.schedule()).run(Network(route, route), shared=False).run_ns
    read = again(b.schedule(), folder, route)
    # Parts of a buffer are whole bytes in GOAL.
    assert Replayer(read).run(Network(route, route), shared=False).run_ns == pytest.approx(
        there, abs=2 * ranks
    )


def test_call_sites_come_back_by_their_names(folder: Path, tmp_path: Path) -> None:
    b = Builder(2)
    b.send(0, 1, 40, site=3)
    b.recv(1, 0, blocking=True, site=4)
    read = again(b.schedule(), folder, ROUTE)
    assert read.site is not None
    assert {3, 4} <= set(read.site.tolist())
    assert read_goal(folder / "again.goal").sites[3] == ("app.c:3", "MPI_Send")
