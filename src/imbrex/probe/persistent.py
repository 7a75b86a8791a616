"""Persistent and partitioned requests, judged as nonblocking messages are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from imbrex.network.exchanges import Exchange
from imbrex.network.transfer_class import classify
from imbrex.probe.ranges import Range, merge
from imbrex.probe.synchronization import Synchronization, judge_early

OPERATIONS = {
    "persistent-": "MPI_Send_init/MPI_Recv_init",
    "partitioned-": "MPI_Psend_init/MPI_Precv_init",
}


def persistent(rows: Sequence[Exchange], whole: bool) -> list[tuple[str, str, list[Range]]]:
    """Operation, path and ranges of all that was measured."""
    groups: dict[tuple[str, str], dict[int, dict[str, list[Exchange]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for x in rows:
        for prefix, operation in OPERATIONS.items():
            if x.label.startswith(prefix):
                plain = replace(x, label=x.label.removeprefix(prefix))
                groups[operation, x.path][x.size_bytes][plain.label].append(plain)
    found = []
    for (operation, path), of_size in groups.items():
        sizes = sorted(of_size)
        verdicts = {s: completes(of_size[s].get("sender-computes", ())) for s in sizes}
        classes = {s: classify(of_size[s]) for s in sizes}
        found.append((operation, path, merge(sizes, verdicts, classes, whole=whole)))
    return found


def completes(trials: Sequence[Exchange]) -> Synchronization:
    """Whether the receiver is done before the computing sender waits."""
    return judge_early([x.receiver.done_ns < x.sender.wait_ns for x in trials])
