"""When the progress thread is tried, with which intervals, and what a user starts in the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.diagnosis.conftest import OPERATIONS

from imbrex.diagnosis.account import Account, take_account
from imbrex.profile.progress import Progress
from imbrex.profile.run import load_run
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.progress_candidates import progress_candidates, saved_at_most
from imbrex.tune.search import Request, search
from imbrex.tune.source_candidates import Place
from imbrex.tune.timed_run import Line, TimedRun
from imbrex.tune.trial import Plan

SCRIPT = Path("/opt/imbrex/bin/imbrex-exec")
APP = ("./app", "input")
SEEN = Progress(2, 5e-4, 0.03, 40, 30, 1e-3, 2e-3)
COLLECTIVE = len(OPERATIONS)

MakeAccount = Callable[..., Account]


@pytest.fixture
def account(make_caused: Any, call: Any) -> MakeAccount:
    """Two ranks of 1 s: 0.4 s in a wait that could overlap, 0.1 to 0.2 s of it by progress alone.
    They transfer messages of one size class (log2 of bytes)."""

    def make(size_class: int = 20, operation: int = 0, **more: Any) -> Account:
        lost = {"transfer": 400, "gainable": 400, "lost_overlap": (100, 200)}
        transfers = {"rank": 0, "site": 3, "operation": operation, "transfers": 10}
        transfers |= {"transfer_min_ns": 10**6, "transfer_max_ns": 10**7}
        run = make_caused(
            call("MPI_Waitall", 3, 400, **lost),
            evidence=[transfers],
            operations=[*OPERATIONS, "MPI_Iallreduce"],
            **more,
        )
        file = run.directory / "measures.npy"
        measures = np.load(file)
        measures["size_class"][measures["transfers"] > 0] = size_class
        np.save(file, measures)
        return take_account(load_run(run.directory))

    return make


def machine(transfer_class: str = "unknown", **more: Any) -> dict[str, Any]:
    point = {"size_bytes": 1 << 20, "x_lo_s": 1e-3, "x_hi_s": 2e-3, "class": transfer_class}
    return {
        **{"format": "imbrex-machine-profile", "schema_version": 1, "created": "x"},
        **{"imbrex_version": "0", "quick": False, "hosts": [], "ranks": 2, "settings": {}},
        **{"library": {"name": "Open MPI", "version": "4.1.4"}, "collectives": []},
        **{"paths": {"intra-node": {"points": [point], "gap_s_per_byte": 1e-9}}},
        **more,
    }


def candidates(
    account: Account,
    worth: float = 0.01,
    seen: Progress | None = SEEN,
    words: tuple[str, ...] = APP,
    left_s: float = 100.0,
) -> list[Candidate]:
    place = Place(words, Path("imbrex-tune"), account.run, None, lambda: left_s)
    return progress_candidates(place, account, worth, words, lambda _: (SCRIPT, seen))


def test_two_intervals_and_the_line_to_copy(account: MakeAccount, tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun.openmpi"
    launcher.touch(0o755)
    words = (str(launcher), "-n", "2", *APP)
    adapted, fixed = candidates(account(), words=words)
    assert [adapted.kind, fixed.kind] == ["progress"] * 2
    assert adapted.label == "imbrex-exec --progress"
    assert fixed.label == "imbrex-exec --progress=1000"
    assert adapted.apply == (f"{launcher} -n 2 {SCRIPT} --progress ./app input",)
    assert fixed.apply == (f"{launcher} -n 2 {SCRIPT} --progress=1000 ./app input",)
    assert adapted.most == fixed.most == pytest.approx(0.2)
    changed = adapted.setup.line("B", Line("A", words, {"X": "1"}))
    assert changed.words == (*words[:3], str(SCRIPT), "--progress", *APP)
    assert changed.environment == {"X": "1"}


@pytest.mark.parametrize(
    ("interval_s", "fixed_us"), [(None, 1000), (5e-5, 200), (7e-4, 700), (0.02, 3000)]
)
def test_the_fixed_interval_is_the_probes_within_reason(
    account: MakeAccount, interval_s: float | None, fixed_us: int
) -> None:
    found = candidates(account(profile=machine(progress_interval_s=interval_s)))
    assert found[1].setup.prefix == (str(SCRIPT), f"--progress={fixed_us}")


@pytest.mark.parametrize(
    ("size_class", "profile", "most"),
    [
        (20, None, 0.2),
        (14, None, 0.2),
        (13, None, 0.0),  # messages below 16 KiB leave with the call
        (20, machine("two-sided"), 0.2),
        (20, machine("third-party"), 0.0),
    ],
)
def test_what_moves_by_itself_needs_no_thread(
    account: MakeAccount, size_class: int, profile: dict[str, Any] | None, most: float
) -> None:
    assert saved_at_most(account(size_class, profile=profile)) == pytest.approx(most)


@pytest.mark.parametrize(("moves", "most"), [(None, 0.2), (False, 0.2), (True, 0.0)])
def test_a_nonblocking_collective_of_any_size_needs_one(
    account: MakeAccount, moves: bool | None, most: float
) -> None:
    entry: dict[str, Any] = {"operation": "MPI_Iallreduce", "path": "intra-node", "from_bytes": 1}
    entry |= {"to_bytes": None, "moves": moves}
    profile = machine("third-party", nonblocking=[entry])
    assert saved_at_most(account(3, COLLECTIVE, profile=profile)) == pytest.approx(most)


def test_it_is_not_tried_where_it_cannot_save_enough(account: MakeAccount) -> None:
    assert candidates(account(), worth=0.21) == []


def test_what_the_line_does_itself_is_not_tried(
    account: MakeAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = account()
    assert candidates(found, words=("imbrex-exec", *APP)) == []
    monkeypatch.setenv("IMBREX_PROGRESS", "on")
    assert candidates(found) == []


@pytest.mark.parametrize(
    ("seen", "left_s", "why"),
    [
        (None, 100, "this MPI library grants no MPI_THREAD_MULTIPLE"),
        (Progress(2, 5e-4, 0.03, 0, 0, 0.0, 0.0), 100, "nothing that needs progress was open"),
        (SEEN, 0.5, "the time was over"),
    ],
)
def test_what_stands_in_the_way_is_said(
    account: MakeAccount, seen: Progress | None, left_s: float, why: str
) -> None:
    with pytest.raises(NotPossibleError, match=why):
        candidates(account(), seen=seen, left_s=left_s)


def test_nor_where_it_takes_more_than_it_gains(account: MakeAccount) -> None:
    """Two ranks have 0.2 to 0.4 s to gain, and two calls that would take 0.2 s more each."""
    dear = machine(thread_multiple={"lowest_s": 0.2, "highest_s": 0.2})
    with pytest.raises(NotPossibleError, match="more than it can gain: MPI_THREAD_MULTIPLE"):
        candidates(account(profile=dear))


def timed(line: Line) -> TimedRun:
    """8 s with the thread, else 10 s; X=1 saves a tenth of either."""
    seconds = 8.0 if str(SCRIPT) in line.words else 10.0
    return TimedRun(seconds * (0.9 if "X" in line.environment else 1.0), None, "result 42\n")


def test_one_thread_goes_together_with_settings(account: MakeAccount) -> None:
    setting = Candidate("setting", "X=1", Setup({"X": "1"}), "effect", "cost")
    tried = [*map(Tried, candidates(account())), Tried(setting)]
    search(Request(Line("A", APP), Plan(30, warm=0), 1e6), tried, timed)
    # The other interval saves as much: it cannot become the answer.
    assert [found.recommended for found in tried] == [True, False, True, True]
    combination = tried[-1].candidate
    assert combination.kind == "combination"
    assert combination.label == "imbrex-exec --progress and X=1"
    assert combination.apply == ("export X=1", f"{SCRIPT} --progress ./app input")
    assert combination.setup.prefix == combination.beside.prefix == (str(SCRIPT), "--progress")
    assert tried[-1].estimate == pytest.approx(0.1)


def test_and_with_another_build() -> None:
    source = Setup(words=("build/app", "input"))
    both = Setup({}, source.words, (str(SCRIPT), "--progress"))
    line = both.line("B", Line("A", APP))
    assert line.words == (str(SCRIPT), "--progress", "build/app", "input")
