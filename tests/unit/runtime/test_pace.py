"""How often the progress thread looks: worked by hand from the rules of docs/guide/progress.md."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.driver import RUNTIME, sanitized

# Prints after each step: its result, the interval, and what a waking in vain is taken to cost.
PROGRAM = """
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "progress/pace.h"
int main(void)
{
    ix_pace p = {0};
    char step[8];
    int64_t a, b, c, percent, result;
    while (scanf("%7s", step) == 1) {
        result = 0;
        if (!strcmp(step, "start")) {
            if (scanf("%" SCNd64 "%" SCNd64 "%" SCNd64 "%" SCNd64, &a, &b, &percent, &c) != 4)
                return 1;
            ix_pace_start(&p, a, b, (double)percent / 100, c);
        } else if (!strcmp(step, "look")) {
            if (scanf("%" SCNd64, &a) != 1)
                return 1;
            result = ix_pace_looked(&p, a);
        } else if (!strcmp(step, "turn")) {
            if (scanf("%" SCNd64 "%" SCNd64, &a, &b) != 2)
                return 1;
            ix_pace_turned(&p, (int)a, b);
        } else if (!strcmp(step, "over")) {
            result = ix_pace_episode_over(&p);
        }
        printf("%" PRId64 " %" PRId64 " %" PRId64 "\\n", result, p.interval_ns, p.turn_ns);
    }
    return 0;
}
"""
AUTOMATIC = "start 0 0 3 1000"
"""No interval given or recommended, 3 % of a core, 1 us for a look in vain."""

Steps = Callable[..., list[tuple[int, int, int]]]


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Steps:
    folder = tmp_path_factory.mktemp("pace")
    binary = sanitized(folder, PROGRAM, RUNTIME / "progress" / "pace.c")

    def run(*script: str) -> list[tuple[int, int, int]]:
        done = subprocess.run(
            [str(binary)],
            input="\n".join(script),
            capture_output=True,
            text=True,
            check=True,
        )
        found = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
        assert len(found) == len(script)
        return [(line[0], line[1], line[2]) for line in found]

    return run


@pytest.mark.parametrize(
    ("given_ns", "recommended_ns", "first_ns"),
    [
        (0, 0, 500_000),
        (0, 1_000_000, 1_000_000),
        (0, 50_000, 200_000),
        (0, 9_000_000, 3_000_000),
        (70_000, 1_000_000, 70_000),
        (9_000_000, 0, 9_000_000),
    ],
)
def test_the_first_interval(
    steps: Steps, given_ns: int, recommended_ns: int, first_ns: int
) -> None:
    assert steps(f"start {given_ns} {recommended_ns} 3 1000")[0][1] == first_ns


def test_it_never_takes_more_than_its_share(steps: Steps) -> None:
    assert steps("start 0 0 3 30000")[0][1] == 1_000_000  # 30 us are 3 % of 1 ms
    assert steps("start 300000 0 1 30000")[0][1] == 3_000_000


def test_shorter_while_data_moves_and_longer_while_not(steps: Steps) -> None:
    shorter = [line[1] for line in steps(AUTOMATIC, *["turn 1 9000"] * 5)]
    assert shorter == [500_000, 375_000, 281_250, 210_938, 200_000, 200_000]
    longer = [line[1] for line in steps(AUTOMATIC, *["turn 0 1000"] * 9)]
    assert longer[:3] == [500_000, 625_000, 781_250]
    assert longer[-2:] == [2_980_227, 3_000_000]


def test_the_user_s_interval_stays(steps: Steps) -> None:
    found = steps("start 700000 0 3 1000", "turn 1 9000", "turn 0 1000", "turn 0 1000")
    assert [line[1] for line in found] == [700_000] * 4


@pytest.mark.parametrize(
    ("look_ns", "moved"), [(1000, 0), (1500, 0), (4000, 0), (4001, 1), (90_000, 1)]
)
def test_a_look_that_takes_longer_moved_data(steps: Steps, look_ns: int, moved: int) -> None:
    assert steps(AUTOMATIC, f"look {look_ns}")[1][0] == moved


def test_it_rests_where_nothing_ever_moves(steps: Steps) -> None:
    barren, fruitful = ["look 1000", "over"], ["look 90000", "over"]
    second = 1_000_000_000
    found = [line[0] for line in steps(AUTOMATIC, *barren * 36)][2::2]
    assert found == [0] * 31 + [second] + [0] * 3 + [2 * second]
    found = [line[0] for line in steps(AUTOMATIC, *barren * 35, *fruitful, *barren * 32)][2::2]
    assert found == [0] * 31 + [second] + [0] * 35 + [second]
    # Without a look nothing is known of an episode.
    assert not any(line[0] for line in steps(AUTOMATIC, *["over"] * 99))


@settings(max_examples=50)
@given(
    st.integers(1, 100_000),
    st.integers(1, 100),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 1_000_000)), max_size=40),
)
def test_the_share_holds_whatever_looks_take(
    steps: Steps, idle_ns: int, percent: int, turns: list[tuple[int, int]]
) -> None:
    script = [f"turn {moved} {took_ns}" for moved, took_ns in turns]
    for _, interval_ns, turn_ns in steps(f"start 0 0 {percent} {idle_ns}", *script):
        assert interval_ns >= 200_000
        assert interval_ns + 1 >= turn_ns / (percent / 100)
