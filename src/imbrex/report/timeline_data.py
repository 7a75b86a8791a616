"""What the page's time line draws: single calls and messages in few bytes, and where it opens.

The page has no more than it can draw smoothly: calls nearest to the typical iteration, on ranks
that were chosen for it. Zoomed out it shows levels: shares of time in equal stretches, of the whole
run and, where the run's single calls are more than the page has, of ever less around the iteration.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from imbrex.diagnosis.account import Account
from imbrex.diagnosis.division import MOVING
from imbrex.diagnosis.message_fates import FATE_WORDS, REASON_TEXTS, fates
from imbrex.diagnosis.places import short_place
from imbrex.diagnosis.words import CAUSE_MEANINGS, CAUSE_WORDS
from imbrex.errors import ImbrexError
from imbrex.profile.causes import CAUSES
from imbrex.profile.run import Run
from imbrex.profile.timeline.overview import PARTS, Overview, load_overview, overview_of_calls
from imbrex.profile.timeline.timeline import COLLECTIVES, SENDS, Timeline
from imbrex.profile.timeline.typical import Iteration, typical_iteration

MOST_CALLS = 16_000
MOST_RANKS = 256
STRETCHES_OF_ALL = 3 << 13
MOST_STRETCHES, LEAST_STRETCHES = 2048, 96
WORTH_TELLING = 0.005
NEARLY_ALL = 0.9
"""The share of the run from which single calls show it without a level."""
NARROWER = 8
"""How much less time a level has than the one before it."""
_PARTS = (*CAUSES, "moving")
_FULL = 250
"""The parts of a call are told in so many steps of its length."""


@dataclass(frozen=True)
class Drawn:
    """A time line as the page has it: `content` goes to the script, `lacks` to the reader."""

    content: dict[str, Any]
    iteration: Iteration
    calls: int
    messages: int
    kept_s: float
    whole_s: float
    lacks: tuple[str, ...]
    unlogged: bool
    """Whether parts of the run are shown of which nothing was logged."""


def drawn_timeline(account: Account, timeline: Timeline) -> Drawn | None:
    """The time line of a run around a typical iteration of the site with most at stake."""
    iteration = None
    for site in account.sites:
        if site.row.site is not None and site.at_stake_s > 0:
            iteration = typical_iteration(timeline, site.row.site.id, _operation(account, site))
        if iteration is not None:
            break
    iteration = iteration or typical_iteration(timeline)
    if iteration is None:
        return None
    part, lacks = _part(timeline, iteration)
    clock = _clock(part)
    levels, lack = _levels(account.run, timeline, part, iteration)
    shown = np.unique(part.calls["rank"]).tolist()
    if levels and len(levels[0].ranks) <= MOST_RANKS:
        shown = levels[0].ranks.tolist()
    packed = [_packed_level(level, shown) for level in levels]
    content = {
        **_calls(account, part, clock),
        **_messages(part, clock),
        "origin_ns": clock.origin_ns,
        "unit_ns": clock.unit_ns,
        "open": [iteration.begin_ns, iteration.end_ns],
        "rank_of_iteration": iteration.rank,
        "kept": [part.begin_ns, part.end_ns],
        "levels": packed,
        "ranks": shown,
        "x_known": part.x_known,
        "causes": [[name, CAUSE_WORDS[name], CAUSE_MEANINGS[name]] for name in _PARTS],
        "fates": list(FATE_WORDS),
        "reasons": list(REASON_TEXTS),
    }
    return Drawn(
        content=content,
        iteration=iteration,
        calls=len(part.calls),
        messages=len(part.messages),
        kept_s=(part.end_ns - part.begin_ns) / 1e9,
        whole_s=(levels[0].end_ns - levels[0].begin_ns) / 1e9 if levels else 0.0,
        lacks=(*lacks, *lack),
        unlogged=any(level.shares[:, :, -1].mean() >= WORTH_TELLING for level in levels),
    )


def _levels(
    run: Run, timeline: Timeline, part: Timeline, iteration: Iteration
) -> tuple[list[Overview], list[str]]:
    """The whole run, then ever less around the iteration, none where the page has all calls; and
    why it is not the whole run."""
    lack: list[str] = []
    ranks = min(MOST_RANKS, len(np.unique(timeline.calls["rank"])))
    stretches = max(LEAST_STRETCHES, min(STRETCHES_OF_ALL // ranks, MOST_STRETCHES))
    try:
        whole = load_overview(run, stretches)
    except ImbrexError as error:
        whole = None  # the time line is there without it
        lack.append(f"What each rank did in the whole run is not known: {error}")
    if whole is not None:
        kept = part.end_ns - part.begin_ns
        return ([whole] if kept < NEARLY_ALL * (whole.end_ns - whole.begin_ns) else []), lack
    levels: list[Overview] = []
    begin, end = timeline.begin_ns, timeline.end_ns
    middle = (iteration.begin_ns + iteration.end_ns) // 2
    while len(part.calls) < len(timeline.calls) and end - begin > 2 * (part.end_ns - part.begin_ns):
        near = timeline.between(begin, end)
        level = overview_of_calls(near, begin, end, stretches)
        if level is None:
            break
        levels.append(level)
        reach = (end - begin) // (2 * NARROWER)
        begin, end = max(timeline.begin_ns, middle - reach), min(timeline.end_ns, middle + reach)
    return levels, lack


def _packed_level(level: Overview, ranks: Sequence[int]) -> dict[str, Any]:
    """Bytes by rank, stretch and those parts that there are; compute is the rest."""
    row = np.searchsorted(level.ranks, ranks)
    row = np.minimum(row, len(level.ranks) - 1)
    shares = np.array(level.shares[row])
    absent = level.ranks[row] != np.asarray(ranks)
    shares[absent] = 0.0
    shares[absent, :, PARTS.index("unlogged")] = 1.0
    steps = np.round(shares * _FULL).astype(np.uint8)
    there = [n for n in range(1, len(PARTS)) if steps[:, :, n].any()]
    return {
        "begin_ns": level.begin_ns,
        "end_ns": level.end_ns,
        "stretches": level.shares.shape[1],
        "intervals": [PARTS[n] for n in there],
        "shares": _packed(steps[:, :, there].reshape(-1), "u1"),
    }


def _operation(account: Account, site: Any) -> int | None:
    names = account.run.job.operations
    return names.index(site.operation) if site.operation in names else None


def _part(timeline: Timeline, iteration: Iteration) -> tuple[Timeline, list[str]]:
    """What the page has room for, and what it says of the rest."""
    lacks = []
    ranks = np.unique(timeline.calls["rank"])
    if len(ranks) > MOST_RANKS:
        kept = _ranks_around(timeline, iteration, ranks)
        timeline = timeline.of_ranks(kept)
        lacks.append(
            f"{len(kept)} of {len(ranks):,} ranks are drawn: those that rank {iteration.rank} and "
            "its partners exchange messages with, and its neighbours."
        )
    if len(timeline.calls) > MOST_CALLS:
        middle = (iteration.begin_ns + iteration.end_ns) // 2
        calls = timeline.calls
        far = np.maximum(np.maximum(calls["enter_ns"] - middle, middle - calls["exit_ns"]), 0)
        reach = int(np.partition(far, MOST_CALLS)[MOST_CALLS])
        timeline = timeline.between(middle - reach, middle + reach)
    return timeline, lacks


def _ranks_around(timeline: Timeline, iteration: Iteration, ranks: NDArray[Any]) -> list[int]:
    """The rank of the iteration, those it has to do with, then its neighbours by number."""
    calls = timeline.calls
    chosen = [iteration.rank]
    for number in chosen:
        mine = calls[calls["rank"] == number]
        partners = mine["peer"][np.isin(mine["kind"], (*SENDS, 5)) & (mine["peer"] >= 0)]
        chosen += [int(p) for p in np.unique(partners) if int(p) not in chosen]
        if len(chosen) >= MOST_RANKS // 2:
            break
    near = ranks[np.argsort(abs(ranks.astype(np.int64) - iteration.rank), kind="stable")]
    there = set(chosen)
    chosen += [int(rank) for rank in near[: 2 * MOST_RANKS] if int(rank) not in there]
    return sorted(chosen[:MOST_RANKS])


@dataclass(frozen=True)
class _Clock:
    """Moments as numbers of 32 bits: since `origin_ns`, in steps of `unit_ns`."""

    origin_ns: int
    unit_ns: int

    def packed(self, times_ns: NDArray[Any]) -> str:
        return _packed(np.maximum(0, times_ns - self.origin_ns) // self.unit_ns, "<u4")


def _clock(part: Timeline) -> _Clock:
    origin = int(part.calls["enter_ns"].min())
    last = max(int(part.calls["exit_ns"].max()), int(part.calls["end_exit_ns"].max()))
    return _Clock(origin, (last - origin >> 32) + 1)


def _calls(account: Account, part: Timeline, clock: _Clock) -> dict[str, Any]:
    """Columns of the calls, one entry per call."""
    rows = np.flatnonzero(part.first)
    calls = part.calls[rows]
    run = account.run
    places, place = np.unique(
        np.stack([calls["site"], calls["operation"]], axis=1), axis=0, return_inverse=True
    )
    length = np.maximum(1, calls["exit_ns"] - calls["enter_ns"]).astype(np.float64)
    parts = np.zeros((len(rows), len(_PARTS)), np.uint8)
    for at, name in enumerate(CAUSES):
        share = np.minimum(1.0, calls[f"{name}_min_ns"] / length)
        parts[:, at] = np.round(share * _FULL)
    parts[:, -1] = np.round(np.clip(_moving_ns(calls, length) / length, 0.0, 1.0) * _FULL)
    late = calls["late_sender_min_ns"] + calls["late_receiver_min_ns"]
    late = late + calls["late_collective_min_ns"]
    group = np.cumsum(part.first)[:, None]
    size = np.bincount(group[:, 0], weights=part.calls["bytes"], minlength=len(rows) + 1)[1:]
    collective = np.isin(calls["kind"], COLLECTIVES)
    return {
        "rank": _packed(calls["rank"], "<u4"),
        "thread": _packed(calls["thread"], "u1"),
        "enter": clock.packed(calls["enter_ns"]),
        "exit": clock.packed(calls["exit_ns"]),
        "place": _packed(place.reshape(-1), "<u2"),
        "parts": _packed(parts.reshape(-1), "u1"),
        "late": _packed(late, "<f4"),
        "bytes": _packed(size, "<f4"),
        "peer": _packed(np.where(collective & (calls["match"] == 1), calls["peer"], -1), "<i4"),
        "places": [
            [run.operation(int(o)), short_place(run.site(int(s))), int(s)] for s, o in places
        ],
    }


def _moving_ns(calls: Any, length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Time that is transfer or stalled for certain, and not certain which of the two."""
    left = length.copy()
    for name in CAUSES:
        left -= calls[f"{name}_{'min' if name in MOVING else 'max'}_ns"]
    moving: NDArray[np.float64] = np.clip(left, 0.0, None)
    return moving


def _messages(part: Timeline, clock: _Clock) -> dict[str, Any]:
    """Columns of the messages; `send`, `receive` and `wait` are numbers of calls."""
    calls, messages = part.calls, part.messages
    found = fates(part)
    call_of = np.cumsum(part.first) - 1
    receive = calls[messages["receive"]]
    wait = np.where(found.wait >= 0, call_of[np.maximum(found.wait, 0)], -1)
    return {
        "m_send": _packed(call_of[messages["send"]], "<u4"),
        "m_receive": _packed(call_of[messages["receive"]], "<u4"),
        "m_wait": _packed(wait, "<i4"),
        "m_end": clock.packed(receive["end_exit_ns"]),
        "m_bytes": _packed(receive["bytes"], "<f4"),
        "m_fate": _packed(found.fate, "u1"),
        "m_reason": _packed(found.reason, "u1"),
        "m_late": _packed(found.late_ns, "<f4"),
        "m_inside": _packed(found.inside_ns, "<f4"),
        "m_window": _packed(found.window_ns, "<f4"),
        "m_other": _packed(found.other, "<i4"),
        "m_x": _packed(_interleaved(receive, ("x_lo_ns", "x_hi_ns")), "<f4"),
        "m_hidden": _packed(_interleaved(receive, ("hidden_min_ns", "hidden_max_ns")), "<f4"),
    }


def _interleaved(table: Any, names: Sequence[str]) -> NDArray[Any]:
    return np.stack([table[name] for name in names], axis=1).reshape(-1)


def _packed(values: NDArray[Any], kind: str) -> str:
    """A column as base64 of little-endian numbers."""
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")
