"""What a recorded call costs: docs/theory/cost.md has the table, README and CHANGELOG a line of it.

call_overhead.py --insert writes all three from one measurement; a test asks whether they agree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from page import insert, standing

PAGE = Path("docs/theory/cost.md")
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
ROWS = (
    "`MPI_Iprobe`",
    "mean of `MPI_Irecv`, `MPI_Isend`, `MPI_Waitall` of 8 bytes",
    "the same with the log of calls",
    "two readings of the time-stamp counter alone",
)
LINES = {
    "README.md": r"\*\*Cost\*\*: [^()]* \(",
    "CHANGELOG.md": r"- A recorded call adds [^.]*\.",
}
"""By file, the sentence that is replaced."""


@dataclass(frozen=True)
class Cost:
    """What is added to a call with one library, ns, rounded; in the order of ROWS."""

    iprobe_ns: int
    exchange_ns: int
    logged_ns: int
    floor_ns: int


def table(costs: Mapping[str, Cost]) -> str:
    """By library; also as multiples of the two readings."""
    lines = [
        f"| ns a call | {' | '.join(NAMES[name] for name in costs)} |",
        "|---|" + "--:|" * len(costs),
    ]
    for place, row in enumerate(ROWS):
        cells = []
        for cost in costs.values():
            ns = astuple(cost)[place]
            times = "" if ns == cost.floor_ns else f" ({ns / cost.floor_ns:.2f})"
            cells.append(f"{ns}{times}")
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def read_table(text: str) -> list[Cost]:
    """The costs in a table, one for each library."""
    rows = [
        [int(cell.split()[0]) for cell in line.strip("|").split("|")[1:]]
        for line in text.splitlines()[2:]
    ]
    return [Cost(*column) for column in zip(*rows, strict=True)]


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def sentences(costs: list[Cost]) -> dict[str, str]:
    """By file of LINES, what stands there."""
    plain = [ns for c in costs for ns in (c.iprobe_ns, c.exchange_ns)]
    log = [c.logged_ns - c.exchange_ns for c in costs]
    return {
        "README.md": f"**Cost**: {_range(plain)} ns a call, {_range(log)} more with the call log (",
        "CHANGELOG.md": (
            f"- A recorded call adds {_range([c.iprobe_ns for c in costs])} ns (`MPI_Iprobe`), or\n"
            f"  {_range([c.exchange_ns for c in costs])} ns (mean of `MPI_Irecv`, `MPI_Isend` and "
            f"`MPI_Waitall`), where two\n  readings of the processor's counter alone take "
            f"{_range([c.floor_ns for c in costs])} ns; the call log adds\n  {_range(log)} ns to "
            "each of these."
        ),
    }


def write(root: Path, costs: Mapping[str, Cost]) -> None:
    """Into the page, README and CHANGELOG below `root`."""
    insert(root / PAGE, table(costs), "cost")
    for file, sentence in sentences(list(costs.values())).items():
        text = (root / file).read_text()
        if len(re.findall(LINES[file], text)) != 1:
            raise SystemExit(f"{file}: {LINES[file]} stands there not once")
        (root / file).write_text(re.sub(LINES[file], lambda _, s=sentence: s, text))


def disagreements(root: Path) -> list[str]:
    """The files whose sentence is not that of the table."""
    expected = sentences(read_table(standing(root / PAGE, "cost")))
    texts = {file: (root / file).read_text() for file in expected}
    return [file for file, sentence in expected.items() if sentence not in texts[file]]
