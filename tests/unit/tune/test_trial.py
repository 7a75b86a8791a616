"""Trials of runs whose times are written down: turns, warming up, disturbances, when to stop."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from imbrex.errors import ImbrexError
from imbrex.tune.statistics import Answer
from imbrex.tune.timed_run import Line, TimedRun, run_timed, time_pattern
from imbrex.tune.trial import Pair, Plan, Trial, run_trial
from imbrex.tune.words import remarks, sentence

A, B = Line("A", ("a",)), Line("B", ("b",))
LOAD = "other processes kept 1.5 of 2 cores busy"


def job(
    a: list[float], b: list[float], disturbed: dict[int, str] | None = None
) -> tuple[Callable[[Line], TimedRun], list[str]]:
    """A `run` that takes these times in a circle, and the names of what it ran."""
    ran: list[str] = []
    times = {"A": itertools.cycle(a), "B": itertools.cycle(b)}

    def run(line: Line) -> TimedRun:
        ran.append(line.name)
        return TimedRun(next(times[line.name]), (disturbed or {}).get(len(ran)))

    return run, ran


def test_lines_run_in_turns_after_warming_up() -> None:
    run, ran = job([1.0, 1.1, 0.9], [1.0, 0.9, 1.1])
    found = run_trial(A, B, Plan(4, warm=2), run)
    assert "".join(ran) == "ABAB" + "ABBAABBA"
    assert len(found.counted) == 4
    assert [pair.a_first for pair in found.pairs] == [True, False, True, False]


def test_it_stops_when_the_gain_is_known() -> None:
    run, ran = job([1.0, 1.001], [0.5, 0.501])
    heard: list[int] = []
    found = run_trial(A, B, Plan(50, warm=0), run, lambda pairs: heard.append(len(pairs)))
    assert found.answer is Answer.FASTER
    assert len(found.pairs) <= 4
    assert heard == list(range(1, len(found.pairs) + 1))
    assert len(ran) == 2 * len(found.pairs)


def test_it_stops_when_there_is_no_difference() -> None:
    run, _ = job([1.0, 1.0005], [1.0005, 1.0])
    found = run_trial(A, B, Plan(50, warm=0), run)
    assert found.answer is Answer.SAME
    assert len(found.pairs) < 10


def test_disturbed_pairs_are_repeated() -> None:
    run, _ = job([1.0, 1.0, 5.0], [1.0, 1.2, 0.8], {3: LOAD, 6: LOAD})
    found = run_trial(A, B, Plan(5, warm=0), run)
    assert [pair.counted for pair in found.pairs] == [True, False, False, True, True, True, True]
    assert found.disturbances == (LOAD, LOAD)
    assert "2 pairs disturbed and repeated: other processes kept 1.5" in remarks(found)[-1]


def test_where_it_never_is_quiet_disturbed_pairs_count() -> None:
    run, _ = job([1.0, 1.1], [1.1, 1.0], dict.fromkeys(range(1, 99), LOAD))
    found = run_trial(A, B, Plan(8, warm=0), run)
    assert [pair.counted for pair in found.pairs] == [False] * 4 + [True] * 8
    assert remarks(found)[-1] == "8 pairs disturbed too, and counted: it did not become quiet."


def trial(ratios: list[float], worth: float = 0.01) -> Trial:
    pairs = [Pair(TimedRun(8.0), TimedRun(8.0 * r), True, True) for r in ratios]
    return Trial(A, B, Plan(20, worth=worth), tuple(pairs))


@pytest.mark.parametrize(
    ("ratios", "text"),
    [
        (
            [0.88, 0.885, 0.875, 0.88, 0.88, 0.88],
            "B is 12.0 % faster (11.4 to 12.6 %, 6 pairs). Medians: A 8 s, B 7.04 s; intervals "
            "hold with 95 % confidence.",
        ),
        ([1.2, 1.21, 1.19, 1.2, 1.2], "B is 20.0 % slower (18.3 to 21.7 %, 5 pairs)."),
        ([1.0, 1.001, 0.999, 1.0, 1.0], "No difference: less than 1 % either way (5 pairs)."),
        (
            [1.0, 1.1, 0.9, 1.05],
            "Too noisy to say: B is between 23.8 % faster and 33.8 % slower",
        ),
        ([0.5, 0.5], "Too few pairs to say anything: 2 pairs, and 3 are the least."),
    ],
)
def test_sentences(ratios: list[float], text: str) -> None:
    assert sentence(trial(ratios)).startswith(text)


def test_too_noisy_says_how_many_pairs_would_tell() -> None:
    found = trial([1.0, 1.02, 0.98, 1.01, 0.99])
    assert found.answer is Answer.OPEN
    needed = found.needed
    assert needed is not None
    assert remarks(found) == [
        f"The ratio of a pair varies by 1.6 % (standard deviation): about {needed} pairs would "
        f"tell 1 % apart (--repeat {needed})."
    ]


def test_too_noisy_for_any_number_of_pairs_says_what_else_helps() -> None:
    found = trial([1.0, 2.0, 0.5, 1.5])
    assert found.needed is None
    assert remarks(found)[0].endswith(
        "no reasonable number of pairs would tell 1 % apart; ask for a larger difference "
        "(--worth PERCENT), or use a quieter machine."
    )


def line(script: str, **options: object) -> Line:
    return Line("A", ("sh", "-c", script), **options)  # type: ignore[arg-type]


def test_a_run_is_timed() -> None:
    assert 0.05 <= run_timed(line("sleep 0.05")).seconds < 5


def test_the_last_time_printed_counts() -> None:
    timed = line("echo time: 7; echo time: 2.5e0 s", time_from=time_pattern(r"time: ([\d.e]+)"))
    assert run_timed(timed).seconds == 2.5


def test_the_environment_of_a_line_is_its_own() -> None:
    timed = line('echo "$IMBREX_TEST"', environment={"IMBREX_TEST": "4"})
    assert run_timed(Line("A", timed.words, timed.environment, time_pattern("(.+)"))).seconds == 4


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo why >&2; exit 3", r"line A ended with exit code 3: nothing is compared \(why\)"),
        (
            "(echo Trace; echo 'lock exists'; echo; printf '%040d\n' 0 | tr 0 -; echo MPI_ABORT; "
            "printf '%040d\n' 0 | tr 0 =; echo recv failed) >&2; exit 3",
            r"\(lock exists\)",
        ),
        (
            "(printf '%040d\n' 0 | tr 0 -; echo 'no such pml'; echo at all) >&2; exit 1",
            r"\(no such pml\)",
        ),
        ("kill -9 $$", "line A was ended by signal 9: nothing is compared"),
    ],
)
def test_a_run_that_fails(script: str, words: str) -> None:
    with pytest.raises(ImbrexError, match=words):
        run_timed(line(script))


def test_bad_times() -> None:
    with pytest.raises(ImbrexError, match="its output has no time that --time-from"):
        run_timed(line("echo nothing", time_from=time_pattern("time ([0-9]+)")))
    with pytest.raises(ImbrexError, match="no regular expression"):
        time_pattern("(")
    with pytest.raises(ImbrexError, match="in one pair of parentheses"):
        time_pattern("time")
    with pytest.raises(ImbrexError, match="nosuch: cannot be started"):
        run_timed(Line("A", ("nosuch",)))
