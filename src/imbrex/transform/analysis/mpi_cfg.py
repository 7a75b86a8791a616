"""The MPI-CFG of a routine: its control flow, and edges between calls whose messages may match.

The graph is that of source-transformation, section 3: control-flow edges, and communication edges
from each sending to each receiving call that communicator, tag and kind allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from imbrex.transform import mpi_calls
from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

_CODE = "code"


@dataclass(slots=True)
class Node:
    """A run of statements, a condition, the head of a loop, an MPI call, a jump, or an end."""

    number: int
    kind: str  # "code", "call", "if", "loop", "mpi", "jump", "entry" or "exit"
    text: str
    first_line: int
    last_line: int
    depth: int
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    source: int
    target: int
    kind: str  # "flow", "back", "jump" or "message"
    label: str = ""


@dataclass(slots=True)
class Graph:
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


# Ends of paths that still want a successor: (node, label of the edge).
_Open = list[tuple[int, str]]


class MpiCfg:
    """Builds the graph of one routine."""

    def __init__(self, program: Program, routine: Routine) -> None:
        self.program = program
        self.routine = routine
        self.graph = Graph()
        self.breaks: list[_Open] = []
        self.heads: list[int] = []
        self.returns: _Open = []

    def build(self) -> Graph:
        entry = self._node("entry", self.routine.name, self.routine.line, self.routine.line, 0)
        ends = self._block(self.routine.body, [(entry.number, "")], 0)
        last = max((s.end_line for s in self.routine.body.statements), default=self.routine.line)
        leave = self._node("exit", "end", last, last, 0)
        self._join(ends + self.returns, leave)
        self._messages()
        return self.graph

    def _node(
        self, kind: str, text: str, first: int, last: int, depth: int, call: Call | None = None
    ) -> Node:
        node = Node(len(self.graph.nodes), kind, text, first, last, depth, call)
        self.graph.nodes.append(node)
        return node

    def _join(self, ends: _Open, node: Node) -> None:
        for source, label in ends:
            self.graph.edges.append(Edge(source, node.number, "flow", label))

    def _block(self, block: Block, ends: _Open, depth: int) -> _Open:
        run: Node | None = None
        for statement in block.statements:
            call = self._call_of(statement)
            plain = not statement.blocks and call is None and not statement.leaves
            if plain and not _calls(statement):
                if run is None:
                    run = self._node(_CODE, "", statement.line, statement.end_line, depth)
                    self._join(ends, run)
                    ends = [(run.number, "")]
                run.last_line = max(run.last_line, statement.end_line)
                continue
            run = None
            ends = self._statement(statement, call, ends, depth)
        return ends

    def _statement(self, statement: Statement, call: Call | None, ends: _Open, depth: int) -> _Open:
        first, last = statement.line, statement.end_line
        if call is not None and not statement.blocks:
            node = self._node("mpi", self._label(call), first, last, depth, call)
            self._join(ends, node)
            return [(node.number, "")]
        if statement.leaves:
            node = self._node("jump", statement.text, first, last, depth)
            self._join(ends, node)
            self._jump(node, statement.text)
            return []
        if statement.kind is Kind.LOOP:
            return self._loop(statement, ends, depth)
        if statement.kind in (Kind.IF, Kind.SWITCH):
            return self._branch(statement, ends, depth)
        if statement.kind in (Kind.BLOCK, Kind.CONSTRUCT):
            return self._block(statement.blocks[0], ends, depth)
        text = ", ".join(_calls(statement)) or str(statement.stop or "")
        node = self._node("call" if _calls(statement) else _CODE, text, first, last, depth)
        self._join(ends, node)
        open_ends: _Open = [(node.number, "")]
        for block in statement.blocks:  # a label, a construct that is not analysed
            open_ends = self._block(block, open_ends, depth)
        return open_ends

    def _jump(self, node: Node, text: str) -> None:
        if text in ("break", "exit") and self.breaks:
            self.breaks[-1].append((node.number, ""))
        elif text in ("continue", "cycle") and self.heads:
            self.graph.edges.append(Edge(node.number, self.heads[-1], "back"))
        else:
            self.returns.append((node.number, ""))

    def _loop(self, statement: Statement, ends: _Open, depth: int) -> _Open:
        text = self._source(statement).split("\n")[0].strip()
        node = self._node("loop", text, statement.line, statement.end_line, depth)
        self._join(ends, node)
        self.breaks.append([])
        self.heads.append(node.number)
        inner: _Open = [(node.number, "")]
        for block in statement.blocks:
            inner = self._block(block, inner, depth + 1)
        for source, _ in inner:
            self.graph.edges.append(Edge(source, node.number, "back"))
        self.heads.pop()
        return [(node.number, "done"), *self.breaks.pop()]

    def _branch(self, statement: Statement, ends: _Open, depth: int) -> _Open:
        text = statement.condition or self._source(statement).split("\n")[0].strip()
        node = self._node("if", text, statement.line, statement.line, depth)
        self._join(ends, node)
        switch = statement.kind is Kind.SWITCH
        if switch:
            self.breaks.append([])
        found: _Open = []
        for number, block in enumerate(statement.blocks):
            label = ("yes" if number == 0 else "no") if not switch else ""
            found += self._block(block, [(node.number, label)], depth + 1)
        if len(statement.blocks) < 2 or switch:
            found.append((node.number, "no" if not switch else ""))
        if switch:
            found += self.breaks.pop()
        return found

    def _source(self, statement: Statement) -> str:
        source = self.program.files.get(self.routine.file)
        if source is None:
            return ""
        return source.data[statement.code_start : statement.end].decode(errors="replace")

    @staticmethod
    def _call_of(statement: Statement) -> Call | None:
        for call in statement.calls:
            if call.name.startswith("MPI_") and call.name not in mpi_calls.LOCAL:
                return call
        return None

    @staticmethod
    def _label(call: Call) -> str:
        parts = mpi_calls.PARTS.get(call.name, ())
        names = [
            call.arguments[p.buffer].text.strip() for p in parts if p.buffer < len(call.arguments)
        ]
        return call.name + (f" ({', '.join(names)})" if names else "")

    def _messages(self) -> None:
        calls = [node for node in self.graph.nodes if node.call is not None]
        for source in calls:
            for target in calls:
                label = self._matched(source, target)
                if label is not None:
                    self.graph.edges.append(Edge(source.number, target.number, "message", label))

    @staticmethod
    def _matched(source: Node, target: Node) -> str | None:
        """What a message from one call to another goes by; None where it cannot be."""
        assert source.call is not None and target.call is not None
        sends = mpi_calls.SENDS.get(source.call.name)
        receives = mpi_calls.RECEIVES.get(target.call.name)
        if sends is None or receives is None:
            return None
        if len(source.call.arguments) <= sends.communicator:
            return None
        if len(target.call.arguments) <= receives.communicator:
            return None
        one = source.call.arguments[sends.communicator].text.strip()
        other = target.call.arguments[receives.communicator].text.strip()
        if one.upper() != other.upper() and {one.upper(), other.upper()} <= mpi_calls.WORLDS:
            return None
        tag = source.call.arguments[sends.tag]
        wanted = target.call.arguments[receives.tag]
        if wanted.constant in mpi_calls.WILDCARDS:
            return "any tag"
        if tag.value is not None and wanted.value is not None:
            difference = tag.value.plus(wanted.value, -1)
            if not difference.terms and difference.constant:
                return None
        return f"tag {tag.text.strip()}"


def _calls(statement: Statement) -> list[str]:
    return [
        call.name
        for call in statement.calls
        if call.is_statement and not call.name.startswith("MPI_")
    ]
