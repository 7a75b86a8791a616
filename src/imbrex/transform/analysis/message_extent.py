"""Messages that reach beyond the variable that their buffer names.

A message from the first field of a structure may hold all of it, by a derived datatype or a count;
one from a variable in a common block may go on into the next ones. Messages whose count or first
element is not constant are taken to stay in an array (docs/reference/transform-conditions.md).
"""

from __future__ import annotations

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.joined import Joined
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Variable
from imbrex.transform.model.program import Program


def mark_extents(program: Program, aliases: Aliases) -> None:
    """Note in each buffer of a message which further variables it may reach into."""
    joined = Joined(program, aliases)
    for call in program.calls():
        for part in mpi_calls.BUFFERS.get(call.name, ()):
            if len(call.arguments) > max(part.address, part.count, part.datatype):
                number = None if part.lists else call.arguments[part.count].value
                buffer = call.arguments[part.address]
                mark = _Message(program, aliases, buffer, number, part.per_process)
                mark.reach(
                    call.arguments[part.datatype].meaning
                    or call.arguments[part.datatype].text.strip(),
                    joined,
                    displaced=part.lists,
                )


class _Message:
    """The memory of one message in a call."""

    def __init__(
        self,
        program: Program,
        aliases: Aliases,
        buffer: Argument,
        count: Affine | None,
        per_process: bool,
    ) -> None:
        self.program = program
        self.aliases = aliases
        self.buffer = buffer
        self.count = count  # of one block; there may be one for each process
        self.per_process = per_process

    def reach(self, datatype: str, joined: Joined, *, displaced: bool) -> None:
        """`displaced`: each process's block begins where a list says."""
        if self.buffer.base is None:
            return
        plain = datatype.upper() in mpi_calls.ELEMENT_SIZE
        objects = self.aliases.objects(self.buffer.base, self.buffer.through)
        found: set[str] = set()
        if displaced or datatype.upper() not in mpi_calls.PREDEFINED:
            found |= joined.reached_from(objects)
        if UNKNOWN_MEMORY in found:
            self.buffer.extends_into = (UNKNOWN_MEMORY,)
            return
        for item in objects:
            variable = self.program.variables.get(item)
            if variable is None or self._fits(variable, datatype.upper() if plain else None):
                continue
            if variable.kind == "field" and not variable.apart:
                found |= self.aliases.records.family(item)
            elif item.startswith("common:") and plain:
                block = item.partition(".")[0] + "."
                found |= {key for key in self.program.variables if key.startswith(block)}
        self.buffer.extends_into = tuple(sorted(found - {self.buffer.base}))

    def _fits(self, variable: Variable, datatype: str | None) -> bool:
        """Whether the message surely stays in the variable, or is taken to."""
        if datatype is None:
            return variable.kind != "field"
        size = mpi_calls.ELEMENT_SIZE[datatype]
        known = [s for n, s in mpi_calls.ELEMENT_SIZE.items() if _holds(n, variable.element)]
        room = known[0] if known else None
        before = 0  # the bytes in front of the message, as far as they are known
        first = self.buffer.first or self.buffer.origin or ()
        if len(first) != len(variable.bounds):
            first = (None,) * len(variable.bounds)
        for (low, high), index in zip(variable.bounds, first, strict=True):
            extent = None if low is None or high is None else high.plus(low, -1)
            if not room or low is None or extent is None or extent.terms:
                room = None
                break
            skipped = Affine(0) if index is None else index.plus(low, -1)
            before += 0 if skipped.terms else skipped.constant * room
            room *= extent.constant + 1
        if self.per_process and not variable.bounds:
            return False
        if self.count is None or self.count.terms:
            return bool(variable.bounds)
        if room is None:
            return bool(variable.bounds) or (self.count == Affine(1) and not variable.record)
        return before + self.count.constant * size <= room


def _holds(datatype: str, element: str) -> bool:
    return element in mpi_calls.ELEMENT_OF.get(datatype, frozenset())
