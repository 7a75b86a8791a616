"""Nonblocking collectives: the share of their time that is hidden while all ranks compute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.network.profile import Nonblocking
from imbrex.network.transfer_class import MOVES, Moved, moves
from imbrex.probe.ranges import Range

ENOUGH_CONFIDENCE = 0.75
CLEAR = 0.25
"""A barrier's hidden share must be this far from MOVES for a verdict."""
_RESAMPLES = 200


@dataclass(frozen=True)
class HiddenCollective:
    """One operation on one path, a range per measured size."""

    operation: str
    path: str
    without_calls: tuple[Range, ...]
    with_calls: tuple[Range, ...]


def hidden_collectives(rows: Iterable[Sequence[str]], whole: bool) -> list[HiddenCollective]:
    """From the words of "nonblocking" rows; sizes measured with and without calls alike."""
    shares: dict[tuple[str, str], dict[tuple[int, bool], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for w in rows:
        try:
            size, tests, alone, inside = int(w[3]), int(w[4]), float(w[5]), float(w[8])
        except (ValueError, IndexError):
            raise ImbrexError(f"the probes printed a torn row: nonblocking {' '.join(w)}") from None
        hidden = min(1.0, max(0.0, 1 - inside / max(1.0, alone)))
        shares[w[0], w[2]][size, tests > 0].append(hidden)
    found = []
    for (operation, path), of_size in shares.items():
        sizes = sorted(s for s, tested in of_size if not tested and (s, True) in of_size)
        without, with_calls = (
            _ranges(sizes, [of_size[s, tested] for s in sizes], whole) for tested in (False, True)
        )
        found.append(HiddenCollective(operation, path, without, with_calls))
    return found


def known_to_move(found: Iterable[HiddenCollective]) -> Iterator[Nonblocking]:
    """What the machine profile keeps of them: whether data moves without calls, by size."""
    for collective in found:
        for sizes in collective.without_calls:
            share = sizes.moved.both_computing
            if share is None:  # a barrier moves no data
                continue
            yield Nonblocking(
                collective.operation,
                collective.path,
                sizes.from_bytes,
                sizes.to_bytes,
                moves(share) if sizes.confidence >= ENOUGH_CONFIDENCE else None,
            )


def _ranges(
    sizes: Sequence[int], shares: Sequence[Sequence[float]], whole: bool
) -> tuple[Range, ...]:
    ranges = []
    begin = 1
    for i, (size, trials) in enumerate(zip(sizes, shares, strict=True)):
        last = i + 1 == len(sizes)
        end = (None if whole else size) if last else sizes[i + 1] - 1
        begin = min(begin, size)
        median = float(np.median(np.asarray(trials)))
        confidence = _confidence(trials)
        moved = bool(moves(median)) and confidence >= ENOUGH_CONFIDENCE and size > 0
        ranges.append(
            Range(
                from_bytes=begin,
                to_bytes=end,
                last_measured_bytes=size,
                synchronization=None if size else _completes(median, confidence),
                transfer_class="third-party" if moved else "unknown",
                moved=Moved(None, None, median if size else None),
                confidence=confidence,
            )
        )
        begin = size if end is None else end + 1
    return tuple(ranges)


def _completes(median: float, confidence: float) -> bool | None:
    """Whether a collective without data, a barrier, is over although all ranks compute."""
    clear = abs(median - MOVES) >= CLEAR and confidence >= ENOUGH_CONFIDENCE
    return median > MOVES if clear else None


def _confidence(trials: Sequence[float]) -> float:
    """Share of bootstrap resamples whose median lies on the same side of MOVES."""
    values = np.asarray(trials)
    random = np.random.default_rng(1)
    medians = np.median(random.choice(values, (_RESAMPLES, len(values))), axis=1)
    return float(np.mean((medians >= MOVES) == (np.median(values) >= MOVES)))
