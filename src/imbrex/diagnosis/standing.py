"""Where the ranks of a run stood that did not come to its end: who was where, and for how long."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from imbrex.diagnosis import wording
from imbrex.diagnosis.awaits import Awaits, awaits_of
from imbrex.diagnosis.places import short_place
from imbrex.profile.format import Ended, Table
from imbrex.profile.run import Run
from imbrex.profile.sites import Site
from imbrex.profile.standing import State

_MOST_PLACES = 4
_TIME_LIMIT = 124
"""The exit code of timeout(1) when it ended the program."""
_DEADLY = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)
_KINDS = ("aborted", "exited", "missing", "no_call", "computing", "in_call", "finalized")
"""What ranks can have been doing: those first that others may have waited for."""


@dataclass(frozen=True)
class Stand:
    """Ranks that stood at one place.

    `kind`: in_call, computing (outside MPI, after that call), no_call (it made none), exited,
    aborted, finalized or missing. `before_end_s`: how long before the end of the run they entered
    the call or left it, the least and the most; None where the end is not known, and then
    `since_s` are the times after MPI_Init.
    """

    kind: str
    ranks: tuple[int, ...]
    operation: str | None = None
    site: Site | None = None
    before_end_s: tuple[float, float] | None = None
    since_s: tuple[float, float] | None = None
    awaited: Awaits | None = None

    def to_json(self) -> dict[str, Any]:
        site = self.site
        return {
            "state": self.kind,
            "ranks": list(self.ranks),
            "operation": self.operation,
            "site": site.id if site else None,
            "file": site.file if site else None,
            "line": site.line if site else None,
            "function": site.function if site else None,
            "before_end_s": list(self.before_end_s) if self.before_end_s else None,
            "since_s": list(self.since_s) if self.since_s else None,
            "awaited": self.awaited.to_json() if self.awaited else None,
        }

    def text(self, world: int) -> str:
        """`rank 3 computed since its last call, MPI_Wait at c.f90:9, 118 s before the end`."""
        who, many = _who(self.ranks, world), len(self.ranks) > 1
        call = self._call()
        if self.kind == "missing":
            return f"{who} left no data"
        if self.kind == "finalized":
            return f"{who} came to MPI_Finalize{self._after()}"
        if self.kind == "no_call":
            return f"{who} made no MPI call after MPI_Init"
        if self.kind == "exited":
            return f"{who} exited after {call}{self._ago()}"
        if self.kind == "aborted":
            verb = "called" if self.operation == "MPI_Abort" else "ended with an MPI error in"
            return f"{who} {verb} {call}{self._ago()}"
        if self.kind == "computing":
            whose = "their last calls" if many else "its last call"
            return f"{who} computed since {whose}, {call}{self._ago()}"
        awaited = self.awaited.text(self.ranks, self.operation or "") if self.awaited else ""
        return f"{who} stood in {call}{self._for()}{awaited}"

    def _call(self) -> str:
        place = f" at {short_place(self.site)}" if self.site is not None and self.site.id else ""
        return f"{self.operation}{place}"

    def _for(self) -> str:
        if self.before_end_s is not None:
            return f" for the last {wording.interval(*self.before_end_s)}"
        return self._since()

    def _ago(self) -> str:
        if self.before_end_s is not None:
            return f", {wording.interval(*self.before_end_s)} before the end"
        return self._since()

    def _after(self) -> str:
        """Of ranks that MPI_Finalize, or the program behind it, kept."""
        if self.since_s is None:
            return ""
        return (
            f" {wording.interval(*self.since_s)} after MPI_Init, and what came behind it (the end "
            "of the MPI library, then of the program) is not measured"
        )

    def _since(self) -> str:
        return f" since {wording.interval(*self.since_s)} after MPI_Init" if self.since_s else ""


@dataclass(frozen=True)
class Ending:
    """How a run ended that did not come to its end, and where its ranks stood.

    `by` is what ended it, None where that is not known. Those ranks come first that the others may
    have waited for: aborted and exited ones, then the fewest at one place. `is_whole`: all ranks
    came to MPI_Finalize, so that all that could be measured was.
    """

    by: str | None
    after_s: float | None
    stands: tuple[Stand, ...]
    ranks: int
    is_whole: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "after_s": self.after_s,
            "places": [stand.to_json() for stand in self.stands],
        }

    @property
    def sentence(self) -> str:
        """The answer to where each rank stands."""
        when = f" after {wording.seconds(self.after_s)}" if self.after_s is not None else ""
        begin = f"Ended by {self.by}{when}" if self.by else f"Not at its end{when}"
        shown, rest = list(self.stands), 0
        if len(shown) > _MOST_PLACES:
            left = shown[_MOST_PLACES - 1 : -1]
            rest = sum(len(stand.ranks) for stand in left)
            shown = [*shown[: _MOST_PLACES - 1], shown[-1]]
        texts = [stand.text(self.ranks) for stand in shown]
        if rest:
            texts.append(f"{rest} more ranks stood at other places")
        return f"{begin}: {'; '.join(texts)}."


def find_ending(run: Run) -> Ending | None:
    """None where all ranks came to MPI_Finalize, and no signal or time limit ended them there; or
    where they just left with exit code 0."""
    ended = run.ranks["ended"]
    if len(ended) and (ended == Ended.FINALIZED).all():
        return _behind_the_end(run)
    cut = ~np.isin(ended, (Ended.FINALIZED, Ended.EXITED))
    failed = run.job.exit_code not in (0, None)
    if not cut.any() and not (failed and (ended == Ended.EXITED).any()):
        return None
    if run.standing is None or not len(run.standing):
        return None
    stands = _stands(run)
    return Ending(_by(run, stands), run.job.wall_s, stands, len(run.ranks))


def _behind_the_end(run: Run) -> Ending | None:
    """Of a run that a signal ended when all of its ranks had come to MPI_Finalize."""
    by = _by(run, ())
    if by is None or by.startswith("exit code"):
        return None
    wall_s = run.ranks["wall_ns"] / 1e9
    ranks = tuple(run.ranks["rank"].tolist())
    stand = Stand("finalized", ranks, since_s=(float(wall_s.min()), float(wall_s.max())))
    return Ending(by, run.job.wall_s, (stand,), len(ranks), is_whole=True)


def _by(run: Run, stands: tuple[Stand, ...]) -> str | None:
    """What ended a run: a signal that came for it, MPI_Abort, a time limit, or its exit code."""
    code = run.job.exit_code
    if run.job.ended_by is not None:
        return run.job.ended_by
    aborted = [stand for stand in stands if stand.kind == "aborted"]
    if aborted:
        called = aborted[0].operation == "MPI_Abort"
        return "MPI_Abort" if called else "an error in MPI"
    if code is None:
        return None
    if code == _TIME_LIMIT and any(Path(part).name == "timeout" for part in run.job.command):
        return "its time limit"
    if 128 < code < 128 + signal.NSIG:
        try:
            return signal.Signals(code - 128).name
        except ValueError:
            pass
    # Its launcher hands on the number of the signal as it is.
    died = (run.ranks["ended"] == Ended.DIED).any()
    if run.job.library[0] == "MPICH" and died and code in _DEADLY:
        return f"exit code {code} (as MPICH's launcher says of {signal.Signals(code).name})"
    return f"exit code {code}"


def _stands(run: Run) -> tuple[Stand, ...]:
    groups: dict[tuple[str, int, int], list[tuple[int, Table | None]]] = {}
    threads = _thread_of_each_rank(run)
    for row in run.ranks:
        rank, ended = int(row["rank"]), int(row["ended"])
        stand = threads.get(rank)
        kind = _kind(ended, stand)
        place = (int(stand["operation"]), int(stand["site"])) if stand is not None else (0, 0)
        if kind in ("missing", "no_call", "finalized"):
            place = (0, 0)
        groups.setdefault((kind, *place), []).append((rank, stand))
    found = [_stand(run, key, members) for key, members in groups.items()]
    found.sort(key=lambda s: (s.kind not in ("aborted", "exited"), len(s.ranks), _order(s)))
    return tuple(found)


def _order(stand: Stand) -> tuple[int, int]:
    return _KINDS.index(stand.kind), stand.ranks[0]


def _kind(ended: int, stand: Table | None) -> str:
    if ended == Ended.FINALIZED:
        return "finalized"
    if ended == Ended.MISSING or stand is None:
        return "missing"
    if int(stand["state"]) == State.NO_CALL:
        return "no_call"
    if ended == Ended.ABORTED:
        return "aborted"
    if int(stand["state"]) == State.IN_CALL:
        return "in_call"
    return "exited" if ended == Ended.EXITED else "computing"


def _thread_of_each_rank(run: Run) -> dict[int, Table]:
    """The thread that tells where its rank stood: one in a call, for longest; else the last one
    that was in any."""
    found: dict[int, Table] = {}
    for row in run.standing if run.standing is not None else ():
        best = found.setdefault(int(row["rank"]), row)
        if _tells(row) > _tells(best):
            found[int(row["rank"])] = row
    return found


def _tells(row: Table) -> tuple[int, int]:
    state, since = int(row["state"]), int(row["since_ns"])
    if state == State.IN_CALL:
        return 2, -since
    return (1, since) if state == State.COMPUTES else (0, -since)


def _stand(run: Run, key: tuple[str, int, int], members: list[tuple[int, Table | None]]) -> Stand:
    kind, operation, site = key
    ranks = tuple(rank for rank, _ in members)
    if kind in ("missing", "no_call", "finalized"):
        return Stand(kind, ranks)
    rows = [row for _, row in members if row is not None]
    since = [int(row["since_ns"]) / 1e9 for row in rows]
    before = None
    end_s, unix = run.job.ended_unix_s, [int(row["since_unix_ns"]) for row in rows]
    if end_s is not None and all(unix):
        left = [max(0.0, end_s - at / 1e9) for at in unix]
        before = (min(left), max(left))
    awaited = None
    if kind == "in_call":
        threads = {int(row["rank"]): int(row["thread"]) for _, row in members if row is not None}
        awaited = awaits_of(run, threads)
    at = run.operation(operation), run.site(site)
    return Stand(kind, ranks, *at, before, (min(since), max(since)), awaited)


def _who(ranks: tuple[int, ...], world: int) -> str:
    if len(ranks) == world and world > 1:
        return "both ranks" if world == 2 else f"all {world} ranks"
    return wording.name_ranks(ranks, f"{len(ranks)} of {world} ranks")
