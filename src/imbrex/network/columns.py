"""The rows that `imbrex-probes` prints: columns with '#' metadata.

Their columns: docs/reference/probe-experiments.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from imbrex.errors import ImbrexError
from imbrex.network.experiments import all_experiments

# Rows that `imbrex probe` reads and that are not named after the experiment that prints them.
_OTHER_ROWS = {"exchange", "step", "testcost", "speed", "memory"}


@dataclass(frozen=True)
class RoundTrip:
    """Half a ping-pong of one size on one pair of ranks, nanoseconds."""

    path: str
    pair: tuple[int, int]
    size_bytes: int
    buffers: str
    samples: int
    min_ns: float
    p05_ns: float
    median_ns: float
    p95_ns: float


@dataclass(frozen=True)
class Stream:
    """`messages` of one size in flight at once, until the receiver's answer, nanoseconds."""

    path: str
    pair: tuple[int, int]
    size_bytes: int
    messages: int
    batches: int
    min_ns: float
    median_ns: float


@dataclass(frozen=True)
class Trial:
    """One blocking send against a receiver that is ready, interrupted, late or polling.

    Moments in nanoseconds after the start of the send, on the sender's clock (to `clock_error_ns`).
    Trials of one `round` were made in one go, those of the next some time later.
    """

    path: str
    pair: tuple[int, int]
    size_bytes: int
    kind: str
    clock_error_ns: float
    sent_ns: float
    posted_ns: float
    received_ns: float
    pause_begin_ns: float
    pause_end_ns: float
    round: int = 0


@dataclass(frozen=True)
class Limit:
    """Sends to a receiver of this kind return before their match up to `last_bytes`."""

    path: str
    kind: str
    last_bytes: int
    first_bytes: int


@dataclass(frozen=True)
class CollectiveRow:
    """One blocking collective: longest of the ranks' times after a barrier, nanoseconds."""

    operation: str
    ranks: int
    path: str
    block_bytes: int
    largest_bytes: int
    samples: int
    min_ns: float
    median_ns: float
    p95_ns: float


@dataclass(frozen=True)
class ApartRow:
    """A collective that its last rank enters late: how many bytes for it had left before."""

    operation: str
    ranks: int
    path: str
    block_bytes: int
    samples: int
    early_bytes: float


@dataclass(frozen=True)
class OneSidedRow:
    """One-sided operations on one kind of window, closed by a flush, nanoseconds.

    `gap_ns` is the shortest time of one among many that share a flush, `left_p95_ns` how long a
    flush takes that follows a local one.
    """

    operation: str
    path: str
    size_bytes: int
    samples: int
    min_ns: float
    median_ns: float
    p95_ns: float
    gap_ns: float
    left_p95_ns: float


@dataclass
class Measurement:
    """All rows of one run of the probes."""

    library: str = ""
    ranks: int = 0
    hosts: list[str] = field(default_factory=list)
    host_of: dict[int, str] = field(default_factory=dict)  # of a rank
    node_of: dict[int, int] = field(default_factory=dict)  # nodes may bear the same name
    max_bytes: int = 0  # the largest message that memory allows
    complete: bool = False
    interrupted: bool = False  # by the user, before the end
    jobs: int = 0  # headers seen: more than one where every rank runs alone
    round_trips: list[RoundTrip] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    collectives: list[CollectiveRow] = field(default_factory=list)
    apart: list[ApartRow] = field(default_factory=list)
    one_sided: list[OneSidedRow] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    progress: dict[str, float] = field(default_factory=dict)  # share measured, per experiment
    spent_s: dict[str, float] = field(default_factory=dict)  # wall time, per experiment
    core_wait: dict[str, float] = field(default_factory=dict)  # share of it without a core
    other: dict[str, list[list[str]]] = field(default_factory=dict)


def read_columns(lines: Iterable[str]) -> Measurement:
    """The measurement in `lines`; other programs' chatter is skipped, torn rows are an error."""
    m = Measurement()
    row_names = _OTHER_ROWS | all_experiments().keys()
    started = False
    for line in lines:
        words = line.split()
        if line.startswith("# imbrex-probes "):
            if words[2] != "1":
                raise ImbrexError(f"the probes speak version {words[2]} of their output, not 1")
            started = True
            m.jobs += 1
        if not started or not words:
            continue
        try:
            if words[0] == "#":
                _metadata(m, words[1:], line)
            else:
                _row(m, words, row_names)
        except (ValueError, IndexError):
            raise ImbrexError(f"the probes printed a torn row: {line.strip()[:80]}") from None
    return m


def _metadata(m: Measurement, words: list[str], line: str) -> None:
    if not words:
        return
    if words[0] == "library":
        m.library = line.split("library", 1)[1].strip()
    elif words[0] == "ranks":
        m.ranks = int(words[1])
    elif words[0] == "max_bytes":
        m.max_bytes = int(words[1])
    elif words[0] == "host":
        name = " ".join(words[3:])
        m.host_of[int(words[1])], m.node_of[int(words[1])] = name, int(words[2])
        if name not in m.hosts:
            m.hosts.append(name)
    elif words[0] == "done":
        m.done.append(words[1])
    elif words[0] == "progress":
        m.progress[words[1]] = float(words[2])
    elif words[0] == "spent":
        m.spent_s[words[1]] = float(words[2])
    elif words[0] == "waited":
        m.core_wait[words[1]] = float(words[2])
    elif words[0] == "end":
        m.complete = True


def _row(m: Measurement, w: list[str], row_names: Set[str]) -> None:
    if w[0] == "pingpong":
        m.round_trips.append(
            RoundTrip(
                w[1], (int(w[2]), int(w[3])), int(w[4]), w[5], int(w[6]), *map(float, w[7:11])
            )
        )
    elif w[0] == "stream":
        m.streams.append(
            Stream(
                w[1],
                (int(w[2]), int(w[3])),
                int(w[4]),
                int(w[5]),
                int(w[6]),
                float(w[7]),
                float(w[8]),
            )
        )
    elif w[0] == "trial":
        pair, times = (int(w[2]), int(w[3])), [float(x) for x in w[6:12]]
        error, sent, posted, received, begin, end = times
        m.trials.append(
            Trial(
                w[1], pair, int(w[4]), w[5], error, sent, posted, received, begin, end, int(w[12])
            )
        )
    elif w[0] == "limit":
        m.limits.append(Limit(w[1], w[4], int(w[5]), int(w[6])))
    elif w[0] == "collective":
        m.collectives.append(
            CollectiveRow(w[1], int(w[2]), w[3], *map(int, w[4:7]), *map(float, w[7:10]))
        )
    elif w[0] == "apart":
        m.apart.append(ApartRow(w[1], int(w[2]), w[3], int(w[4]), int(w[5]), float(w[6])))
    elif w[0] == "rma":
        m.one_sided.append(OneSidedRow(w[1], w[2], int(w[3]), int(w[4]), *map(float, w[5:10])))
    elif w[0] in row_names:
        m.other.setdefault(w[0], []).append(w[1:])
