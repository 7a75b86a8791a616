"""Neighbouring sizes of one verdict become a range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imbrex.network.exchanges import Step
from imbrex.network.transfer_class import Moved, TransferClass
from imbrex.probe.synchronization import Synchronization


@dataclass(frozen=True)
class Range:
    """Sizes from_bytes to to_bytes (None: and above) behave alike.

    The border to the next range lies after `last_bytes` and at or before `first_bytes` of it.
    """

    from_bytes: int
    to_bytes: int | None
    last_measured_bytes: int
    synchronization: bool | None
    transfer_class: str
    moved: Moved
    confidence: float


def merge(
    sizes: Sequence[int],
    synchronization: Mapping[int, Synchronization],
    classes: Mapping[int, TransferClass],
    step: Step | None = None,
    *,
    whole: bool = True,
) -> list[Range]:
    """Ranges over ascending `sizes`; a bisected `step` gives the border that it lies at.

    The last range is open, unless the measurement was cut short (`whole` false).
    """
    groups: list[list[int]] = []
    for size in sizes:
        verdict = _verdict(size, synchronization, classes)
        if groups and _verdict(groups[-1][-1], synchronization, classes) == verdict:
            groups[-1].append(size)
        else:
            groups.append([size])
    ranges: list[Range] = []
    begin = min(1, sizes[0]) if sizes else 1
    for i, group in enumerate(groups):
        end: int | None = None if whole else group[-1]
        if i + 1 < len(groups):
            following = groups[i + 1][0]
            end = following - 1
            if step and group[-1] <= step.last_bytes < step.first_bytes <= following:
                end = step.last_bytes
        ranges.append(_range(group, begin, end, synchronization, classes))
        begin = 0 if end is None else end + 1
    return ranges


def _verdict(
    size: int, synchronization: Mapping[int, Synchronization], classes: Mapping[int, TransferClass]
) -> tuple[bool | None, str]:
    return synchronization[size].overlaps, classes[size].name


def _range(
    group: Sequence[int],
    begin: int,
    end: int | None,
    synchronization: Mapping[int, Synchronization],
    classes: Mapping[int, TransferClass],
) -> Range:
    found = [classes[size] for size in group]
    certain = [min(synchronization[s].confidence, classes[s].confidence) for s in group]
    return Range(
        from_bytes=begin,
        to_bytes=end,
        last_measured_bytes=group[-1],
        synchronization=synchronization[group[0]].overlaps,
        transfer_class=found[0].name,
        moved=Moved(
            _mean([f.moved.sender_computing for f in found]),
            _mean([f.moved.receiver_computing for f in found]),
            _mean([f.moved.both_computing for f in found]),
        ),
        confidence=sum(certain) / len(certain),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None
