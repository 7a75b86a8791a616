"""`imbrex transform --graph`: the MPI-CFG of a routine as a picture.

Statements stand below each other in the order of the source, deeper ones to the right; flow that
does not simply go on is drawn at the left, messages at the right, dashed.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.transform.analysis.mpi_cfg import Edge, Graph, MpiCfg, Node
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine

_LINE, _GAP, _TOP = 26, 16, 56
_INDENT, _WIDTH = 28, 430
_LANE = 12
_FILL = {
    "code": "#f2f2ef",
    "call": "#e3ecf7",
    "if": "#fdf3d8",
    "loop": "#fdf3d8",
    "mpi": "#d9efe0",
    "jump": "#f6dedb",
    "entry": "#ffffff",
    "exit": "#ffffff",
}
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.n{stroke:#777;stroke-width:1}"
    ".f{stroke:#555;fill:none;stroke-width:1.2}.l{fill:#666;font-size:10px}"
    ".m{stroke:#0a7d4f;fill:none;stroke-width:1.4;stroke-dasharray:5 4}"
    ".ml{fill:#0a7d4f;font-size:10px}.h{font-size:14px;font-weight:600}"
)


def find_routine(program: Program, name: str | None) -> Routine:
    """The routine to draw.

    Raises ImbrexError where there is none of that name, or where several communicate and none was
    named.
    """
    routines = program.routines.values()
    if name is not None:
        for routine in routines:
            if routine.name.lower() == name.lower():
                return routine
        known = ", ".join(sorted(routine.name for routine in routines)[:12])
        raise ImbrexError(f"--routine {name}: there is no such routine; known are {known}")
    found = [r for r in routines if any(n.kind == "mpi" for n in MpiCfg(program, r).build().nodes)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise ImbrexError("--graph: no routine of these files calls MPI")
    names = ", ".join(routine.name for routine in found[:12])
    raise ImbrexError(f"--graph: several routines call MPI: choose by --routine among {names}")


def write_graph(program: Program, name: str | None, path: Path) -> str:
    """Draw a routine into `path` and say what was drawn.

    Raises ImbrexError where the routine is not known or the file cannot be written.
    """
    routine = find_routine(program, name)
    graph = MpiCfg(program, routine).build()
    try:
        path.write_text(svg(graph, f"{routine.name} ({Path(routine.file).name})"))
    except OSError as error:
        raise ImbrexError(f"{path} cannot be written: {error.strerror}") from error
    messages = sum(edge.kind == "message" for edge in graph.edges)
    return (
        f"{path}: {routine.name}, {len(graph.nodes)} nodes, {messages} communication "
        f"edge{'' if messages == 1 else 's'}"
    )


def svg(graph: Graph, title: str) -> str:
    """The graph as a picture of its own, without fonts or scripts from elsewhere."""
    drawing = _Drawing(graph)
    body = drawing.draw()
    width, height = drawing.width, drawing.height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="MPI-CFG of {escape(title)}">'
        f"<style>{_STYLE}</style>"
        '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#555"/>'
        '</marker><marker id="b" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#0a7d4f"/>'
        f'</marker></defs><rect width="{width}" height="{height}" fill="#fff"/>'
        f'<text class="h" x="16" y="28">MPI-CFG of {escape(title)}</text>{body}</svg>\n'
    )


class _Drawing:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.left = self._lanes([e for e in graph.edges if self._aside(e)])
        self.right = self._lanes([e for e in graph.edges if e.kind == "message"])
        self.margin = 24 + _LANE * (1 + max(self.left.values(), default=0))
        deepest = max(node.depth for node in graph.nodes)
        self.edge_of_boxes = self.margin + deepest * _INDENT + _WIDTH
        lanes = max(self.right.values(), default=-1) + 1
        self.width = self.edge_of_boxes + 40 + (_LANE * lanes + 30 if lanes else 0)
        self.height = _TOP + len(graph.nodes) * (_LINE + _GAP) + 16

    def _aside(self, edge: Edge) -> bool:
        return edge.kind != "message" and edge.target != edge.source + 1

    @staticmethod
    def _lanes(edges: list[Edge]) -> dict[Edge, int]:
        """Lanes for edges that are drawn beside the boxes: the shortest nearest to them."""
        lanes: dict[Edge, int] = {}
        for edge in sorted(edges, key=lambda e: abs(e.target - e.source)):
            low, high = sorted((edge.source, edge.target))
            used = {
                lane
                for other, lane in lanes.items()
                if low <= max(other.source, other.target)
                and min(other.source, other.target) <= high
            }
            lanes[edge] = next(n for n in range(len(edges)) if n not in used)
        return lanes

    def _x(self, node: Node) -> int:
        return self.margin + node.depth * _INDENT

    def _y(self, number: int) -> int:
        return _TOP + number * (_LINE + _GAP)

    def draw(self) -> str:
        parts = [self._edge(edge) for edge in self.graph.edges]
        parts += [self._box(node) for node in self.graph.nodes]
        return "".join(parts)

    def _box(self, node: Node) -> str:
        x, y = self._x(node), self._y(node.number)
        lines = (
            f"{node.first_line}"
            if node.first_line == node.last_line or node.kind in ("loop", "if")
            else f"{node.first_line}-{node.last_line}"
        )
        text = node.text or "statements"
        if len(text) > 52:
            text = text[:51] + "\u2026"
        prefix = {"if": "if ", "loop": ""}.get(node.kind, "")
        label = text if node.kind == "if" and text.startswith("if") else prefix + text
        radius = 13 if node.kind in ("entry", "exit") else 3
        return (
            f'<rect class="n" x="{x}" y="{y}" width="{_WIDTH}" height="{_LINE}" rx="{radius}" '
            f'fill="{_FILL[node.kind]}"/><text x="{x + 8}" y="{y + 17}">{escape(label)}</text>'
            f'<text class="l" x="{x + _WIDTH - 8}" y="{y + 17}" text-anchor="end">{lines}</text>'
        )

    def _edge(self, edge: Edge) -> str:
        source, target = self.graph.nodes[edge.source], self.graph.nodes[edge.target]
        if edge.kind == "message":
            return self._message(edge, source, target)
        label = escape(edge.label)
        if not self._aside(edge):
            x = max(self._x(source), self._x(target)) + 16
            top, bottom = self._y(edge.source) + _LINE, self._y(edge.target)
            text = f'<text class="l" x="{x + 6}" y="{bottom - 4}">{label}</text>' if label else ""
            return f'<path class="f" d="M{x} {top}L{x} {bottom - 1}" marker-end="url(#a)"/>{text}'
        lane = self.margin - 14 - _LANE * self.left[edge]
        top, bottom = self._y(edge.source) + _LINE - 8, self._y(edge.target) + 9
        place = f'x="{self._x(source) - 5}" y="{top - 3}" text-anchor="end"'
        text = f'<text class="l" {place}>{label}</text>' if label else ""
        return (
            f'<path class="f" d="M{self._x(source)} {top}L{lane} {top}L{lane} {bottom}'
            f'L{self._x(target) - 1} {bottom}" marker-end="url(#a)"/>{text}'
        )

    def _message(self, edge: Edge, source: Node, target: Node) -> str:
        lane = self.edge_of_boxes + 54 + _LANE * self.right[edge]
        first, last = self._x(source) + _WIDTH, self._x(target) + _WIDTH
        top, bottom = self._y(edge.source) + 9, self._y(edge.target) + _LINE - 9
        if edge.source == edge.target:
            top, bottom = top - 4, bottom + 4
        text = f'<text class="ml" x="{first + 8}" y="{top - 3}">'
        return (
            f'<path class="m" d="M{first} {top}L{lane} {top}L{lane} {bottom}L{last + 1} {bottom}" '
            f'marker-end="url(#b)"/>{text}{escape(edge.label)}</text>'
        )
