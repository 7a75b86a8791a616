"""Private buffers: webs of one local array that need not wait for each other get arrays apart."""

from __future__ import annotations

import math
import re

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.webs import Web, WebFinder
from imbrex.transform.edits import Edit
from imbrex.transform.model.program import (
    Kind,
    Language,
    Location,
    Program,
    Reason,
    Routine,
    SourceFile,
    Variable,
)
from imbrex.transform.rewrites.base import Refusal
from imbrex.transform.rewrites.halves import Halves
from imbrex.transform.rewrites.layout import after_line, indent_at, line_start
from imbrex.transform.rewrites.proposals import Preparing, Proposal

NAME = "private-buffers"
_MOST = 4  # arrays in the place of one
_MOST_ELEMENTS = 1 << 16  # of a copy that stands beside shared memory
_FIXED_WIDTH = 72


class PrivateBuffers(Preparing):
    """A second copy of a local array that one routine uses for several messages."""

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self._known_users: dict[str, set[str]] = {}

    def proposals(self) -> list[Proposal]:
        found = []
        for routine in self.program.editable():
            for key in self._shared(routine):
                variable = self.program.variables[key]
                try:
                    webs = self.validate(routine, key)
                    found.append(self.apply(routine, variable, webs))
                except Refusal as refusal:
                    line = refusal.reason.location.line
                    refused = Proposal(self.name, routine, line, refusal.reason)
                    refused.about = variable.name
                    found.append(refused)
        return found

    def _shared(self, routine: Routine) -> list[str]:
        """Arrays that are the buffer of more than one blocking message in the routine."""
        uses: dict[str, int] = {}
        for statement in routine.statements():
            for call in statement.calls:
                for part in mpi_calls.BLOCKING.get(call.name, ()):
                    if len(call.arguments) > part.communicator:
                        base = call.arguments[part.buffer].base or ""
                        uses[base] = uses.get(base, 0) + 1
        variables = self.program.variables
        return [
            key
            for key, count in uses.items()
            if count > 1 and key in variables and variables[key].bounds
        ]

    # Conditions ------------------------------------------------------------------------

    def validate(self, routine: Routine, key: str) -> list[Web]:
        """The webs of an array that may be separated, at least two that can overlap in time.

        Raises Refusal where values may pass between uses, or outlive the routine.
        """
        variable = self.program.variables[key]
        place = Location(routine.file, variable.line or routine.line)
        text = self._shares(routine, variable)
        if text is not None:
            reason = Reason(f"`{variable.name}` has no copy of its own: {text}", place)
            raise Refusal(self.name, reason)
        webs = WebFinder(self.program, self.footprints, routine, key).find()
        if isinstance(webs, Reason):
            raise Refusal(self.name, webs)
        colours = _colours(webs)
        if max(colours, default=0) == 0:
            raise Refusal(
                self.name,
                Reason(f"`{variable.name}` is used for one message at a time only", place),
            )
        if max(colours) >= _MOST:
            raise Refusal(
                self.name, Reason(f"`{variable.name}` would need more than {_MOST} copies", place)
            )
        if self.declared(routine, variable) is None:
            raise Refusal(
                self.name, Reason(f"the declaration of `{variable.name}` is not a plain one", place)
            )
        return webs

    def _shares(self, routine: Routine, variable: Variable) -> str | None:
        """Why the array's values may be seen by others."""
        if variable.pointer or not (variable.kind == "local" or self._only_here(routine, variable)):
            return "it is not a local array, so other routines or later calls may see its values"
        if variable.key in self.program.overlays:
            return "it shares its memory"
        aliases = self.footprints.aliases
        if variable.key in aliases.escaped:
            return "its address is known elsewhere"
        for cell, held in aliases.cells.items():
            kept = self.program.variables.get(cell)
            passed = cell.startswith("argument:") or (kept is not None and kept.kind == "parameter")
            if variable.key in held and not passed:
                return "its address is kept"
        return None

    def _only_here(self, routine: Routine, variable: Variable) -> bool:
        """Whether no other routine of the whole program names a shared array of small size."""
        if not self.program.has_main or self.program.hidden_code:
            return False
        if (
            variable.kind not in ("static", "global")
            or (elements(variable) or _MOST_ELEMENTS + 1) > _MOST_ELEMENTS
        ):
            return False
        return self._users().get(variable.key, set()) <= {routine.key}

    def _users(self) -> dict[str, set[str]]:
        """The routines that name each variable."""
        if not self._known_users:
            for routine in self.program.routines.values():
                for statement in routine.statements():
                    used = [access.variable for access in statement.accesses]
                    used += [a.base for c in statement.calls for a in c.arguments if a.base]
                    for key in used:
                        self._known_users.setdefault(key, set()).add(routine.key)
        return self._known_users

    def declared(self, routine: Routine, variable: Variable) -> tuple[str, int, str] | None:
        """The bounds as declared; where another declaration may stand, and its indentation."""
        source = self.program.files[routine.file]
        if variable.kind != "local":
            return self._beside(source, routine, variable)
        name = re.escape(variable.name)
        if source.language is Language.C:
            for statement in routine.statements():
                if statement.kind is not Kind.DECLARE:
                    continue
                if any(a.variable == variable.key and a.write for a in statement.accesses):
                    text = source.data[statement.start : statement.end].decode(errors="replace")
                    match = re.search(rf"\b{name}\s*((?:\[[^\]]*\])+)\s*[,;]", text)
                    qualified = re.search(r"\b(const|static|_Alignas|alignas)\b|=", text)
                    if match is None or qualified:
                        return None
                    indent = indent_at(source.data, statement.start)
                    return match[1], after_line(source.data, statement.end), indent
            return None
        end = routine.declare_after
        lines = source.data[:end].decode(errors="replace").splitlines()
        first = max(routine.line - 1, 0)
        pattern = re.compile(rf"(?<![\w%]){name}\s*(\((?:[^()]|\([^()]*\))*\))", re.IGNORECASE)
        for line in lines[first:]:
            bare = line.split("!")[0]
            if re.match(r"\s*(data|save|equivalence|common|dimension)\b", bare, re.IGNORECASE):
                continue
            match = pattern.search(bare)
            if match:
                indent = indent_at(source.data, line_start(source.data, max(end - 1, 0)))
                return match[1], source.data.find(b"\n", end), indent
        return None

    @staticmethod
    def _beside(
        source: SourceFile, routine: Routine, variable: Variable
    ) -> tuple[str, int, str] | None:
        """The same of an array that is declared elsewhere: behind the routine's declarations."""
        extents = Halves.extents(variable)
        if extents is None or routine.declare_after < 0:
            return None
        indent = indent_at(source.data, line_start(source.data, max(routine.declare_after - 1, 0)))
        if source.language is Language.C:
            bounds = "".join(f"[{high + 1}]" for _, high in reversed(extents))
            return bounds, after_line(source.data, routine.declare_after), indent
        bounds = ", ".join(str(b) if a == 1 else f"{a}:{b}" for a, b in extents)
        return f"({bounds})", source.data.find(b"\n", routine.declare_after), indent

    # Doing it --------------------------------------------------------------------------

    def apply(self, routine: Routine, variable: Variable, webs: list[Web]) -> Proposal:
        source = self.program.files[routine.file]
        declared = self.declared(routine, variable)
        assert declared is not None
        bounds, behind, indent = declared
        colours = _colours(webs)
        names = [variable.name]
        taken = {name.lower() for name in routine.exported}
        for number in range(1, max(colours) + 1):
            names.append(
                _name(variable.name, number + 1, taken, self._tight(source, variable, webs))
            )
            taken.add(names[-1].lower())
        edits = []
        for web, colour in zip(webs, colours, strict=True):
            if colour:
                for statement in web.statements:
                    edits += _renamed(
                        source, statement.start, statement.end, variable, names[colour]
                    )
        declaration = self.declaration(source, variable, names, bounds, indent)
        edits.append(Edit(behind, behind, declaration))
        text = f"each message in `{variable.name}` gets an array of its own: {', '.join(names)}"
        line = webs[0].statements[0].line
        return Proposal(
            self.name,
            routine,
            line,
            Reason(text, Location(routine.file, line)),
            {routine.file: edits},
            for_work=True,
        )

    @staticmethod
    def declaration(
        source: SourceFile, variable: Variable, names: list[str], bounds: str, indent: str
    ) -> str:
        if source.language is Language.C:
            texts = ", ".join(f"{name}{bounds}" for name in names[1:])
            storage = "" if variable.kind == "local" else "static "
            return f"\n{indent}{storage}{variable.element} {texts};"
        if source.language is Language.FORTRAN_FIXED:
            indent = indent if len(indent) >= 6 else " " * 6
            return "".join(f"\n{indent}{variable.element} {n}{bounds}" for n in names[1:])
        texts = ", ".join(f"{name}{bounds}" for name in names[1:])
        return f"\n{indent}{variable.element} :: {texts}"

    @staticmethod
    def _tight(source: SourceFile, variable: Variable, webs: list[Web]) -> bool:
        """Whether one more character would pass the last column of a fixed-form line."""
        if source.language is not Language.FORTRAN_FIXED:
            return False
        pattern = re.compile(rf"(?<![\w%]){re.escape(variable.name)}(?!\w)", re.IGNORECASE)
        return any(
            len(line) + 2 * len(pattern.findall(line)) > _FIXED_WIDTH
            for web in webs
            for statement in web.statements
            for line in source.data[statement.start : statement.end].decode().splitlines()
        )


def elements(variable: Variable) -> int | None:
    """The number of elements of an array, where it is a constant."""
    extents = Halves.extents(variable)
    return None if extents is None else math.prod(high - low + 1 for low, high in extents)


def _name(base: str, number: int, taken: set[str], tight: bool) -> str:
    """A new name like `base`; of the same length where lines are full."""
    candidate = f"{base[:-1] if tight and len(base) > 1 else base}{number}"
    while candidate.lower() in taken:
        number += 1
        candidate = f"{base[:-1] if tight and len(base) > 1 else base}{number}"
    return candidate


def _renamed(source: SourceFile, start: int, end: int, variable: Variable, name: str) -> list[Edit]:
    flags = 0 if source.language is Language.C else re.IGNORECASE
    pattern = re.compile(
        rb"(?<![\w%.'\"])(?<!->)" + re.escape(variable.name).encode() + rb"(?![\w'\"])", flags
    )
    return [Edit(m.start(), m.end(), name) for m in pattern.finditer(source.data, start, end)]


def _colours(webs: list[Web]) -> list[int]:
    """A number for each web; webs that exclude each other may have the same."""
    colours: list[int] = []
    for number, web in enumerate(webs):
        near = {colours[other] for other in range(number) if not web.excludes(webs[other])}
        colours.append(next(c for c in range(len(webs)) if c not in near))
    return colours
