"""A schedule of a whole program as GOAL text, which goal_file.py and LogGOPSim read.

What a rank does one after the other is a chain: a computation `requires` what is before it, what
follows a nonblocking send or receive `irequires` it, and what stands behind a wait requires what is
waited for. Threads of a rank are its processors; a nonblocking collective has one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from imbrex.replay.arrays import NONE, PAGE, Algorithm, ArraySchedule, Flag, Kind
from imbrex.replay.rounds import rounds

_COLLECTIVE_TAG = 1 << 30
_LEAST_BYTES = 1
"""LogGOPSim charges (bytes - 1) G."""


@dataclass
class Lacking:
    """What GOAL cannot say, in operations."""

    one_sided: int = 0
    probes: int = 0
    neighbours: int = 0


@dataclass
class _Place:
    """Where a rank is: what must be over (True) or begun before what comes next."""

    after: dict[str, bool] = field(default_factory=dict)

    def wait(self, label: str) -> None:
        """Waits stand in their order, which decides when what came is taken."""
        self.after.pop(label, None)
        self.after[label] = True


def goal_lines(
    schedule: ArraySchedule,
    named: Callable[[int], str],
    lacking: Lacking,
    tell: Callable[[float], None] = lambda share: None,
) -> Iterator[str]:
    """The lines of a schedule, each with its end; `named` tells a call site's name, `lacking` is
    counted up."""
    yield from _Writer(schedule, named, lacking, tell).lines()


class _Writer:
    def __init__(
        self,
        schedule: ArraySchedule,
        named: Callable[[int], str],
        lacking: Lacking,
        tell: Callable[[float], None],
    ) -> None:
        self.schedule, self.named, self.lacking, self.tell = schedule, named, lacking, tell
        ops = schedule.operations
        self.kind, self.partner = ops["kind"].tolist(), ops["partner"].tolist()
        self.flags, self.peer = ops["flags"].tolist(), ops["peer"].tolist()
        size = ops["bytes"].astype(np.int64)
        paged = (ops["flags"] & Flag.PAGES) != 0
        self.size = np.where(paged, size * PAGE, size).tolist()
        self.calc = schedule.calc_ns.astype(np.int64).tolist()
        sites = schedule.site if schedule.site is not None else np.zeros(len(ops), np.uint32)
        self.site = sites.tolist()
        self.member = {int(op): k for k, op in enumerate(schedule.members.tolist())}
        self.finish: dict[int, str] = {}
        self.text: list[str] = []
        self.rank = 0

    def lines(self) -> Iterator[str]:
        schedule = self.schedule
        yield f"num_ranks {schedule.ranks}\n"
        for site in np.unique(schedule.site).tolist() if schedule.site is not None else ():
            if site:
                name = " ".join(self.named(site).split())
                yield f"// s{site}: {name}\n"
        ends = schedule.first.tolist()
        streams = {rank: np.flatnonzero(schedule.rank == rank) for rank in range(schedule.ranks)}
        for rank, own in streams.items():
            self.rank = rank
            self.text = [f"rank {rank} {{\n"]
            for thread, stream in enumerate(own.tolist()):
                self._stream(stream, ends[stream], ends[stream + 1], thread, len(own) + thread)
            yield "".join((*self.text, "}\n"))
            self.tell((rank + 1) / schedule.ranks)

    def _stream(self, stream: int, begin: int, end: int, cpu: int, other_cpu: int) -> None:
        place = _Place()
        late = int(self.schedule.start_ns[stream])
        if late:
            self._put(place, f"a{stream}", f"calc {late}", cpu, True)
        for i in range(begin, end):
            if self.calc[i]:
                self._put(place, f"c{i}", f"calc {self.calc[i]}", cpu, True)
            self._operation(place, i, cpu, other_cpu)
        self._put(place, f"z{stream}", "calc 0", cpu, True)

    def _put(self, place: _Place, label: str, operation: str, cpu: int, over: bool) -> None:
        """An operation behind all that `place` names; then the rank is behind it."""
        self._line(label, operation, cpu, place.after)
        place.after = {label: over}

    def _line(self, label: str, operation: str, cpu: int, after: dict[str, bool]) -> None:
        on = f" cpu {cpu}" if cpu else ""
        self.text.append(f"{label}: {operation}{on}\n")
        for other, over in after.items():
            self.text.append(f"{label} {'requires' if over else 'irequires'} {other}\n")

    def _label(self, i: int) -> str:
        site = self.site[i]
        return f"l{i}_s{site}" if site else f"l{i}"

    def _operation(self, place: _Place, i: int, cpu: int, other_cpu: int) -> None:
        kind, partner, blocking = self.kind[i], self.partner[i], bool(self.flags[i] & Flag.BLOCKING)
        if kind in (Kind.SEND, Kind.RECV):
            if partner == NONE:
                self.lacking.one_sided += 1
                return
            # Each message has a tag of its own, so that nobody can take another.
            peer = int(self.schedule.rank[self.peer[i]])
            send = i if kind == Kind.SEND else partner
            way = f"send {{}}b to {peer}" if kind == Kind.SEND else f"recv {{}}b from {peer}"
            operation = f"{way.format(self._bytes(self.size[send]))} tag {send % _COLLECTIVE_TAG}"
            self._put(place, self._label(i), operation, cpu, blocking)
        elif kind == Kind.WAIT_SEND:
            place.wait(self._label(partner))
        elif kind == Kind.WAIT_RECV:
            place.wait(self._label(self.partner[partner]))
        elif kind == Kind.WAIT_ARRIVAL:
            self.lacking.probes += 1
        elif kind == Kind.MEET and blocking:
            place.after = self._meet(i, place.after, cpu)
        elif kind == Kind.MEET:
            last = self._meet(i, place.after, other_cpu)
            self.finish[i] = f"m{i}"
            self._line(f"m{i}", "calc 0", other_cpu, last)
        elif kind == Kind.WAIT_MEET:
            place.wait(self.finish[partner])

    @staticmethod
    def _bytes(size: float) -> int:
        return max(round(size), _LEAST_BYTES)

    def _meet(self, i: int, after: dict[str, bool], cpu: int) -> dict[str, bool]:
        """The messages of a collective that this rank sends and takes; what it is over with."""
        number = self.partner[i]
        meeting = self.schedule.meetings[number]
        first = int(meeting["first"])
        own = self.member[i] - first
        members = self.schedule.members[first : first + int(meeting["count"])].tolist()
        if meeting["algorithm"] == Algorithm.DIRECT:
            self.lacking.neighbours += 1
        entered, place, tag = after, after, _COLLECTIVE_TAG + number

        def rank_of(member: int) -> int:
            return int(self.schedule.rank[self.peer[members[member]]])

        site = f"_s{self.site[i]}" if self.site[i] else ""
        blocks = self.schedule.blocks_of(number)
        pairs = blocks if blocks is not None and blocks.ndim == 2 else None
        of_members = () if blocks is None or pairs is not None else tuple(blocks.tolist())
        key = (int(meeting["algorithm"]), len(members), int(meeting["root"]))
        for k, messages in enumerate(_of_members(*key, float(meeting["bytes"]), of_members)[own]):
            done: dict[str, bool] = {}
            for part, (receives, other, size) in enumerate(messages):
                name = f"{'y' if receives else 'x'}{i}_{k}_{part}{site}"
                if pairs is not None:
                    size = float(pairs[other, own] if receives else pairs[own, other])
                way = "recv {}b from {} tag {}" if receives else "send {}b to {} tag {}"
                operation = way.format(self._bytes(size), rank_of(other), tag)
                # What comes may come from the beginning on.
                self._line(name, operation, cpu, entered if receives else place)
                done[name] = receives
            # A send stands behind all that was before; a receive alone does not.
            place = done if not all(done.values()) else {**place, **done}
        return place


Exchange = list[tuple[bool, int, float]]
"""What a member does in a round: whether it receives, the other member, bytes; sends first."""


@lru_cache(maxsize=64)
def _of_members(
    algorithm: int, members: int, root: int, size: float, blocks: tuple[float, ...]
) -> list[list[Exchange]]:
    """The rounds of each member that it has a part in."""
    found: list[list[Exchange]] = [[] for _ in range(members)]
    for round_ in rounds(Algorithm(algorithm), members, root, size, blocks):
        own: dict[int, Exchange] = {}
        for sender, receiver, moved in round_:
            own.setdefault(sender, []).append((False, receiver, moved))
        for sender, receiver, moved in round_:
            own.setdefault(receiver, []).append((True, sender, moved))
        for member, exchange in own.items():
            found[member].append(exchange)
    return found
