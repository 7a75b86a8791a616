"""Puts and gets: what of them moves while the origin computes, the target, both.

As `transfer_class` for messages, less the time that the closing fence or flush takes by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.network.transfer_class import Moved, TransferClass, classify_shares
from imbrex.probe.ranges import Range, merge
from imbrex.probe.synchronization import Synchronization, judge_early

LEAST_DATA = 0.25
"""Below this share of data in the whole time, what moves when cannot be told."""
_UNKNOWN = TransferClass("unknown", Moved(None, None, None), 0.0)


@dataclass(frozen=True)
class Epoch:
    """One operation from its call to the end of its fence or flush; nanoseconds."""

    path: str
    operation: str
    size_bytes: int
    situation: str
    enter_ns: float
    started_ns: float
    origin_wait_ns: float
    origin_done_ns: float
    target_wait_ns: float
    target_done_ns: float

    @property
    def passive(self) -> bool:
        """The target takes no part in completing it."""
        return "/" not in self.operation

    @property
    def done_ns(self) -> float:
        """The data is there: at the flush's end, or when both sides left the fence."""
        if self.passive:
            return self.origin_done_ns
        return max(self.origin_done_ns, self.target_done_ns)

    @property
    def inside_ns(self) -> float:
        """Time in which the computing sides were in MPI while the operation was under way."""
        starting = self.started_ns - self.enter_ns
        if self.situation == "target-computes":
            return max(0.0, self.done_ns - self.target_wait_ns)
        if self.situation == "both-compute":
            wait = min(self.origin_wait_ns, self.target_wait_ns)
            return starting + max(0.0, self.done_ns - wait)
        return starting + max(0.0, self.done_ns - self.origin_wait_ns)


def read_epochs(rows: Iterable[Sequence[str]]) -> list[Epoch]:
    """Epochs from the words of "onesided" rows; a torn row is an error."""
    found = []
    for w in rows:
        try:
            # Of a passive target there is no call to name.
            name = w[3].removesuffix("/MPI_Win_flush")
            found.append(Epoch(w[0], name, int(w[4]), w[5], *map(float, w[8:14])))
        except (ValueError, TypeError, IndexError):
            raise ImbrexError(f"the probes printed a torn row: onesided {' '.join(w)}") from None
    return found


def one_sided(rows: Iterable[Sequence[str]], whole: bool) -> list[tuple[str, str, list[Range]]]:
    """Operation, path and ranges of all that was measured."""
    groups: dict[tuple[str, str], dict[int, list[Epoch]]] = defaultdict(lambda: defaultdict(list))
    for x in read_epochs(rows):
        groups[x.operation, x.path][x.size_bytes].append(x)
    found = []
    for (operation, path), of_size in groups.items():
        sizes = sorted(of_size)
        verdicts = {s: completes(of_size[s]) for s in sizes}
        classes = {s: classify(of_size[s]) for s in sizes}
        found.append((operation, path, merge(sizes, verdicts, classes, whole=whole)))
    return found


def completes(trials: Sequence[Epoch]) -> Synchronization:
    """Whether a flush returns while the target computes; of a fence, which waits for all, None."""
    if trials and not trials[0].passive:
        return Synchronization(None, None, 1.0, 0)
    return judge_early(
        [x.origin_done_ns < x.target_wait_ns for x in trials if x.situation == "target-computes"]
    )


def classify(trials: Sequence[Epoch]) -> TransferClass:
    """The class of one operation and size. For a get the target is the sender."""
    of = {name: [x for x in trials if x.situation == name] for name in _SITUATIONS}
    if any(not found for found in of.values()):
        return _UNKNOWN
    empty, whole = (_time_ns(of[name]) for name in ("empty", "none-compute"))
    data = whole - empty
    if data < LEAST_DATA * whole:
        return _UNKNOWN
    origin, target, both = (
        [min(1.0, max(0.0, 1 - max(0.0, x.inside_ns - empty) / data)) for x in of[name]]
        for name in ("origin-computes", "target-computes", "both-compute")
    )
    if trials[0].operation.startswith(("MPI_Get", "MPI_Rget")):
        return classify_shares([target, origin, both])
    return classify_shares([origin, target, both])


_SITUATIONS = ("empty", "none-compute", "origin-computes", "target-computes", "both-compute")


def _time_ns(trials: Sequence[Epoch]) -> float:
    """The 25th percentile: noise only lengthens."""
    return float(np.percentile([x.done_ns - x.enter_ns for x in trials], 25))
