"""The pairs that a search keeps in its file, and goes on from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.tune.simulated_runs import LINE, Machine, setting, tuned

from imbrex.errors import ImbrexError
from imbrex.tune.candidate import Tried
from imbrex.tune.search import Request, search
from imbrex.tune.timed_run import TimedRun
from imbrex.tune.trial import Pair, Plan
from imbrex.tune.trials_file import TRIALS, Trials


def trials_of(command: Sequence[str], **more: object) -> str:
    content = {"format": "imbrex-tune", "schema_version": 1, "command": list(command)}
    return json.dumps({**content, "programs": [], "candidates": {}, **more})


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    trials = Trials(tmp_path / TRIALS, LINE.words)
    assert trials.load() == {}
    machine = Machine({"fast": 0.9}, 0.02)
    request = Request(LINE, Plan(30, warm=0), 100)
    search(request, [Tried(setting("fast"))], machine, trials.keep, clock=machine.clock)
    again = Trials(tmp_path / TRIALS, LINE.words).load()
    earlier = again["X=fast"]
    assert 1 <= len(earlier) < 10
    (tried,) = tuned(machine, ["fast"], before=again)
    assert tried.trial is not None
    assert tried.trial.pairs[: len(earlier)] == earlier
    assert tried.recommended


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "is not the trials.json of imbrex tune"),
        ("nonsense", "remove its folder to start anew"),
        (trials_of(["x"]), "of another command; name another with -o"),
        (trials_of(LINE.words, programs=["./app 1 2"]), "of another build of the program"),
        (trials_of(LINE.words, candidates={"a": [{}]}), "damaged: candidates.a.*is missing"),
    ],
)
def test_bad_trials_are_one_line(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / TRIALS).write_text(content)
    with pytest.raises(ImbrexError, match=words):
        Trials(tmp_path / TRIALS, LINE.words).load()


def test_pairs_survive_their_file(tmp_path: Path) -> None:
    trials = Trials(tmp_path / TRIALS, ["x"])
    pairs = (Pair(TimedRun(1.5), TimedRun(2.5, "load"), True, False),)
    trials.keep("X=1", pairs)
    assert Trials(tmp_path / TRIALS, ["x"]).load() == {"X=1": pairs}
