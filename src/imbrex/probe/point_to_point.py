"""Messages between two ranks: verdicts by size for each pair of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imbrex.network.exchanges import Exchange, Step
from imbrex.network.transfer_class import TransferClass
from imbrex.probe.ranges import Range, merge
from imbrex.probe.synchronization import Synchronization, judge

SENDER_COMPUTES, RECEIVER_COMPUTES = "isend-recv", "send-irecv"
OPERATIONS = {
    "MPI_Isend/MPI_Recv": SENDER_COMPUTES,
    "MPI_Send/MPI_Irecv": RECEIVER_COMPUTES,
}
EITHER = "MPI_Isend/MPI_Irecv"
EARLY_SENDER = "send-irecv-early"


@dataclass(frozen=True)
class Operation:
    """One pair of calls on one path.

    `tested`: with MPI_Test calls in the work. `early_sender`: MPI_Irecv, work, MPI_Wait against an
    MPI_Send that came before the receive was posted.
    """

    operation: str
    path: str
    ranges: tuple[Range, ...]
    tested: tuple[Range, ...]
    step: Step | None
    early_sender: tuple[Range, ...] = ()


def point_to_point(
    path: str,
    by_size: Mapping[int, Mapping[str, Sequence[Exchange]]],
    transfer: Mapping[int, float],
    classes: Mapping[int, TransferClass],
    steps: Sequence[Step],
    whole: bool,
) -> list[Operation]:
    """The verdicts of one path, from its exchanges by size and label.

    `transfer`: nanoseconds of a transfer by size; `whole`: the measurement came to its end.
    """
    sizes = sorted(transfer)
    verdicts: dict[str, dict[int, Synchronization]] = {}
    for scheme in OPERATIONS.values():
        for label in (scheme, f"{scheme}-tested"):
            verdicts[label] = {s: judge(by_size[s].get(label, ()), transfer[s]) for s in sizes}
    early = {s: judge(by_size[s].get(EARLY_SENDER, ()), transfer[s]) for s in sizes}
    if any(v.trials for v in early.values()):
        verdicts[EARLY_SENDER] = early
    found = []
    for name, scheme in OPERATIONS.items():
        found.append(
            _operation(
                name,
                path,
                sizes,
                verdicts[scheme],
                verdicts[f"{scheme}-tested"],
                classes,
                _step(steps, path, scheme),
                whole,
                verdicts.get(f"{scheme}-early"),
            )
        )
    # Both sides may compute: a transfer completes although one does, if either scheme says so.
    either, either_tested = (
        {
            s: _either(verdicts[SENDER_COMPUTES + t][s], verdicts[RECEIVER_COMPUTES + t][s])
            for s in sizes
        }
        for t in ("", "-tested")
    )
    sender, receiver = (_step(steps, path, scheme) for scheme in OPERATIONS.values())
    last = max(sender, receiver, key=lambda s: s.last_bytes) if sender and receiver else None
    found.append(_operation(EITHER, path, sizes, either, either_tested, classes, last, whole))
    return found


def _operation(
    name: str,
    path: str,
    sizes: Sequence[int],
    verdicts: Mapping[int, Synchronization],
    tested: Mapping[int, Synchronization],
    classes: Mapping[int, TransferClass],
    step: Step | None,
    whole: bool,
    early: Mapping[int, Synchronization] | None = None,
) -> Operation:
    return Operation(
        name,
        path,
        tuple(merge(sizes, verdicts, classes, step, whole=whole)),
        tuple(merge(sizes, tested, classes, whole=whole)),
        step,
        tuple(merge(sizes, early, classes, whole=whole)) if early else (),
    )


def _step(steps: Sequence[Step], path: str, label: str) -> Step | None:
    return next((s for s in steps if s.path == path and s.label == label), None)


def _either(a: Synchronization, b: Synchronization) -> Synchronization:
    for best in sorted((a, b), key=lambda v: -v.confidence):
        if best.overlaps:
            return best
    if a.overlaps is None or b.overlaps is None:
        return a if a.overlaps is None else b
    return min((a, b), key=lambda v: v.confidence)
