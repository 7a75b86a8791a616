"""GOAL, the schedules of LogGOPSim and LLAMP as text: a graph of operations for each rank.

    num_ranks 2
    rank 0 {
    l1: calc 100
    l2: send 1024b to 1 tag 7
    l2 requires l1
    }
    rank 1 {
    l1: recv 1024b from 0 tag 7
    }

`calc` is in ns. What `requires` another begins after that is over, what `irequires` it after that
has begun. `cpu` says on which processor of the rank it is; -1 is any source, or any tag.
Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language", 2009; the syntax is that of
LogGOPSim's reader. A label that ends in `_s3` is of the call site that a comment names:
`// s3: halo.c:17 MPI_Isend`; other readers see a label and a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from imbrex.errors import ImbrexError

SUFFIX = ".goal"
ANY = -1
MOST_RANKS = 65535
MOST_CPUS = 256


class Op(IntEnum):
    """What an operation is."""

    CALC = 0
    SEND = 1
    RECV = 2


@dataclass(slots=True)
class Node:
    """An operation: `size` in ns or bytes. `needs` are those that must be over before it begins,
    `follows` those that must have begun: numbers in the file."""

    rank: int
    line: int
    op: Op
    label: str
    size: int
    peer: int = ANY
    tag: int = 0
    cpu: int = 0
    site: int = 0
    needs: list[int] = field(default_factory=list)
    follows: list[int] = field(default_factory=list)

    @property
    def told(self) -> str:
        """As an error names it."""
        name = f" {self.label}" if self.label else ""
        if self.op == Op.CALC:
            return f"calc{name}"
        way = "to" if self.op == Op.SEND else "from"
        peer = "any rank" if self.peer == ANY else str(self.peer)
        tag = "any" if self.tag == ANY else str(self.tag)
        return f"{self.op.name.lower()}{name} {way} {peer} tag {tag}"


@dataclass(frozen=True)
class GoalFile:
    """`nodes` as they stand in the file; `sites` names call sites: text and operation."""

    file: Path
    ranks: int
    nodes: list[Node]
    sites: dict[int, tuple[str, str]]

    def error(self, node: Node, problem: str) -> ImbrexError:
        return _error(self.file, node.line, node.rank, f"{node.told} {problem}")


def _error(file: Path, line: int, rank: int | None, problem: str) -> ImbrexError:
    where = f"rank {rank}: " if rank is not None else ""
    return ImbrexError(f"{file}:{line}: {where}{problem}")


_LABEL = r"[A-Za-z][A-Za-z0-9_]*"
_NUMBER = r"[0-9]{1,18}"
_OPERATION = re.compile(
    rf"(?:({_LABEL})\s*:\s*)?"
    rf"(?:(calc)\s+({_NUMBER})"
    rf"|(send)\s+({_NUMBER})\s*b\s+to\s+({_NUMBER})(?:\s+tag\s+({_NUMBER}))?"
    rf"|(recv)\s+({_NUMBER})\s*b\s+from\s+({_NUMBER}|-1)(?:\s+tag\s+({_NUMBER}|-1))?)"
    rf"(?:\s+cpu\s+({_NUMBER}))?(?:\s+nic\s+({_NUMBER}))?"
)
_DEPENDENCY = re.compile(rf"({_LABEL})\s+(i?requires)\s+({_LABEL})")
_RANK = re.compile(rf"rank\s+({_NUMBER})\s*\{{")
_RANKS = re.compile(rf"num_ranks\s+({_NUMBER})")
_SITE = re.compile(r"//\s*s([0-9]{1,9}): (.+?)(?: (MPI_\w+))?$")
_OF_SITE = re.compile(r"_s([0-9]{1,9})$")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def read_goal(file: Path) -> GoalFile:
    """The schedule of a file; ImbrexError with rank and line where it is none."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ImbrexError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ImbrexError(f"{file}: is no GOAL text; binary schedules are not read") from error
    if "/*" in text:
        text = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
    return _Reader(file).read(text)


class _Reader:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.ranks = 0
        self.rank: int | None = None
        self.line = 0
        self.nodes: list[Node] = []
        self.sites: dict[int, tuple[str, str]] = {}
        self.labels: dict[str, int] = {}
        self.waiting: list[tuple[int, str, bool, str]] = []
        self.seen: dict[int, int] = {}

    def read(self, text: str) -> GoalFile:
        for number, raw in enumerate(text.split("\n"), 1):
            self.line = number
            line = raw.strip()
            if line.startswith("//"):
                if found := _SITE.match(line):
                    self.sites[int(found[1])] = (found[2], found[3] or "")
            elif line:
                self._line(line.partition("//")[0].rstrip())
        if self.rank is not None:
            raise self._wrong("its operations do not end with }")
        if not self.ranks:
            raise ImbrexError(f"{self.file}: is no GOAL file: num_ranks is missing")
        missing = next((r for r in range(self.ranks) if r not in self.seen), None)
        if missing is not None:
            raise self._wrong(f"rank {missing} of {self.ranks} is missing")
        return GoalFile(self.file, self.ranks, self.nodes, self.sites)

    def _wrong(self, problem: str) -> ImbrexError:
        return _error(self.file, self.line, self.rank, problem)

    def _line(self, line: str) -> None:
        if self.rank is None:
            self._outside(line)
        elif found := _OPERATION.fullmatch(line):
            self._operation(found)
        elif found := _DEPENDENCY.fullmatch(line):
            self.waiting.append((self.line, found[1], found[2] == "irequires", found[3]))
        elif line == "}":
            self._depend()
            self.rank = None
        else:
            raise self._wrong(f"'{line[:40]}' is neither an operation nor a dependency")

    def _outside(self, line: str) -> None:
        if found := _RANKS.fullmatch(line):
            if self.ranks:
                raise self._wrong("num_ranks is there already")
            self.ranks = int(found[1])
            if not 1 <= self.ranks <= MOST_RANKS:
                raise self._wrong(f"num_ranks must be from 1 to {MOST_RANKS}")
        elif found := _RANK.fullmatch(line):
            rank = int(found[1])
            if rank >= self.ranks:
                told = f"num_ranks is {self.ranks}" if self.ranks else "num_ranks must come before"
                raise self._wrong(f"there is no rank {rank}: {told}")
            if rank in self.seen:
                raise self._wrong(f"rank {rank} is there already, in line {self.seen[rank]}")
            self.seen[rank] = self.line
            self.rank = rank
            self.labels, self.waiting = {}, []
        else:
            raise self._wrong(f"'{line[:40]}' is neither num_ranks nor a rank")

    def _operation(self, found: re.Match[str]) -> None:
        assert self.rank is not None
        label, calc, ns, send, sent, to, to_tag, _, came, source, from_tag, cpu, nic = (
            found.groups()
        )
        if calc:
            node = Node(self.rank, self.line, Op.CALC, label or "", int(ns))
        elif send:
            node = Node(self.rank, self.line, Op.SEND, label or "", int(sent), int(to))
            node.tag = int(to_tag or 0)
        else:
            node = Node(self.rank, self.line, Op.RECV, label or "", int(came), int(source))
            node.tag = int(from_tag or 0)
        node.cpu = int(cpu or 0)
        if node.peer >= self.ranks:
            raise self._wrong(f"{node.told}: num_ranks is {self.ranks}")
        if node.cpu >= MOST_CPUS:
            raise self._wrong(f"{node.told}: cpu must be below {MOST_CPUS}")
        if int(nic or 0):
            raise self._wrong(f"{node.told}: nic {nic}: a replay has one link for each rank, nic 0")
        if label:
            if label in self.labels:
                there = self.nodes[self.labels[label]].line
                raise self._wrong(f"the label {label} is there already, in line {there}")
            self.labels[label] = len(self.nodes)
            if site := _OF_SITE.search(label):
                node.site = int(site[1])
        self.nodes.append(node)

    def _depend(self) -> None:
        """The dependencies of a rank, which may stand before what they name."""
        for line, one, begins, other in self.waiting:
            for label in (one, other):
                if label not in self.labels:
                    self.line = line
                    raise self._wrong(f"the label {label} is of no operation of this rank")
            node = self.nodes[self.labels[one]]
            (node.follows if begins else node.needs).append(self.labels[other])
