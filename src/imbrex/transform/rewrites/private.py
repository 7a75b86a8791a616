"""Private buffers: uses of one array that need not wait for each other get arrays apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

from imbrex.transform import mpi_calls
from imbrex.transform.analysis.def_use import DefUseChain, DefUseChains
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.named import names_untold
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.location import Location
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import Language, SourceFile
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.rewrites.base import Plan, Refusal
from imbrex.transform.rewrites.proposals import Preparing, Proposal
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.halves import Halves
from imbrex.transform.text.keywords import is_keyword
from imbrex.transform.text.layout import after_line, indent_at, line_start

NAME = "private-buffers"
MOST_COPIES = 4  # arrays in the place of one
_MOST_ELEMENTS = 1 << 16  # of a copy that stands beside shared memory
_FIXED_WIDTH = 72
_COMMENT = re.compile(r"(?m)^[cC*].*\n|!.*$|^\s*\n")
_FIXED_GOES_ON = re.compile(r"\s*\n(?: {5}[^ 0]|\t[1-9])")
_FREE_GOES_ON = re.compile(r"&[ \t]*\n\s*&")


@dataclass(frozen=True, slots=True)
class SharedVariable:
    """A variable that several messages of a routine use in turn: a buffer, or a request."""

    routine: Routine
    variable: Variable

    @property
    def line(self) -> int:
        return self.variable.line or self.routine.line


class _Excluding(Protocol):
    """What may not happen together with another one."""

    def excludes(self, other: Any) -> bool: ...


class PrivateBuffers(Preparing[SharedVariable, list[DefUseChain]]):
    """An array that is the buffer of several messages in turn gets a second copy.

    Def-use chains of one array that need not wait for each other then use arrays apart.

    Before:
        pack(buffer, east);
        MPI_Send(buffer, n, MPI_DOUBLE, right, 0, comm);
        pack(buffer, west);
        MPI_Send(buffer, n, MPI_DOUBLE, left, 1, comm);

    After:
        pack(buffer, east);
        MPI_Send(buffer, n, MPI_DOUBLE, right, 0, comm);
        pack(buffer2, west);
        MPI_Send(buffer2, n, MPI_DOUBLE, left, 1, comm);
    """

    name = NAME

    def __init__(self, program: Program, footprints: Footprints) -> None:
        super().__init__(program, footprints)
        self._known_users: dict[str, set[str]] = {}

    def sites(self) -> Iterator[SharedVariable]:
        for routine in self.program.editable():
            for key in self._shared(routine):
                yield SharedVariable(routine, self.program.variables[key])

    def refused(self, site: SharedVariable, refusal: Refusal) -> Proposal:
        line = refusal.reason.location.line
        return Proposal(self.name, site.routine, line, refusal.reason, about=site.variable.name)

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

    def conditions(self, site: SharedVariable) -> list[DefUseChain]:
        """The def-use chains of an array that may be separated, two of which can overlap.

        Raises Refusal where values may pass between uses, or outlive the routine.
        """
        routine, variable = site.routine, site.variable
        place = Location(routine.file, site.line)
        shared = self.shares(routine, variable)
        if shared is not None:
            reason = Reason(ReasonKind.NO_OWN_COPY(variable=variable.name, cause=shared), place)
            raise Refusal(self.name, reason)
        chains = DefUseChains(self.program, self.footprints, routine, variable.key).find()
        if isinstance(chains, Reason):
            raise Refusal(self.name, chains)
        source = self.program.files[routine.file]
        if is_cut(source, [variable], [s for chain in chains for s in chain.statements]):
            cause = ReasonKind.USED_IN_CONSTRUCT()
            reason = Reason(ReasonKind.NO_OWN_COPY(variable=variable.name, cause=cause), place)
            raise Refusal(self.name, reason)
        colours = colours_of(chains)
        if max(colours, default=0) == 0:
            raise Refusal(
                self.name,
                Reason(ReasonKind.ONE_MESSAGE(variable=variable.name), place),
            )
        if max(colours) >= MOST_COPIES:
            raise Refusal(
                self.name,
                Reason(ReasonKind.TOO_MANY_COPIES(variable=variable.name, most=MOST_COPIES), place),
            )
        if self.declared(routine, variable) is None:
            raise Refusal(self.name, Reason(ReasonKind.DECLARATION(variable=variable.name), place))
        return chains

    def shares(self, routine: Routine, variable: Variable) -> Cause | None:
        """Why the array's values may be seen by others."""
        if variable.pointer or not (variable.kind == "local" or self._only_here(routine, variable)):
            return ReasonKind.BUFFER_NOT_LOCAL()
        if variable.key in self.program.overlays:
            return ReasonKind.BUFFER_SHARED()
        aliases = self.footprints.aliases
        if variable.key in aliases.escaped:
            return ReasonKind.BUFFER_KNOWN()
        for cell, held in aliases.cells.items():
            kept = self.program.variables.get(cell)
            passed = cell.startswith("argument:") or (kept is not None and kept.kind == "parameter")
            if variable.key in held and not passed:
                return ReasonKind.BUFFER_ADDRESS()
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
            named: dict[str, list[str]] = {}
            for key, variable in self.program.variables.items():
                named.setdefault(variable.name.lower(), []).append(key)
            for routine in self.program.routines.values():
                for statement in routine.statements():
                    for name in names_untold(self.program, routine, statement):
                        for key in named.get(name, ()):
                            self._known_users.setdefault(key, set()).add(routine.key)
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

    def apply(self, plan: Plan[SharedVariable, list[DefUseChain]]) -> Proposal:
        routine, variable, chains = plan.site.routine, plan.site.variable, plan.content
        source = self.program.files[routine.file]
        declared = self.declared(routine, variable)
        assert declared is not None
        bounds, behind, indent = declared
        colours = colours_of(chains)
        names = [variable.name]
        statements = [statement for chain in chains for statement in chain.statements]
        tight = would_pass_margin(source, [variable], statements)
        taken = set(routine.taken)
        for number in range(1, max(colours) + 1):
            names.append(fresh_name(variable.name, number + 1, taken, tight))
            taken.add(names[-1].lower())
        edits = []
        for chain, colour in zip(chains, colours, strict=True):
            if colour:
                for statement in chain.statements:
                    edits += renamed(
                        source, statement.start, statement.end, variable, names[colour]
                    )
        declaration = self.declaration(source, variable, names, bounds, indent)
        edits.append(Edit(behind, behind, declaration))
        text = ReasonKind.OWN_ARRAYS(variable=variable.name, names=", ".join(names))
        line = chains[0].statements[0].line
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


def would_pass_margin(
    source: SourceFile, variables: list[Variable], statements: list[Statement]
) -> bool:
    """Whether names longer by a character would pass the last column of a fixed-form line."""
    if source.language is not Language.FORTRAN_FIXED:
        return False
    names = "|".join(re.escape(variable.name) for variable in variables)
    pattern = re.compile(rf"(?<![\w%])(?:{names})(?!\w)", re.IGNORECASE)
    return any(
        len(line) + 2 * len(pattern.findall(line)) > _FIXED_WIDTH
        for statement in statements
        for line in source.data[statement.start : statement.end].decode().splitlines()
    )


def is_cut(source: SourceFile, variables: list[Variable], statements: list[Statement]) -> bool:
    """Whether the end of a line of Fortran stands within one of some names."""
    if source.language is Language.C:
        return False
    goes_on = _FIXED_GOES_ON if source.language is Language.FORTRAN_FIXED else _FREE_GOES_ON
    names = "|".join(re.escape(variable.name) for variable in variables)
    pattern = re.compile(rf"(?<![\w%])(?:{names})(?!\w)", re.IGNORECASE)
    for statement in statements:
        text = source.data[statement.start : statement.end].decode("latin-1")
        code = _COMMENT.sub("", text)
        if len(pattern.findall(code)) != len(pattern.findall(goes_on.sub("", code))):
            return True
    return False


def elements(variable: Variable) -> int | None:
    """The number of elements of an array, where it is a constant."""
    extents = Halves.extents(variable)
    return None if extents is None else math.prod(high - low + 1 for low, high in extents)


def taken_names(data: bytes, routine: Routine) -> set[str]:
    """The names of a file in C, and of those that a routine sees, in small letters."""
    in_text = {name.decode().lower() for name in re.findall(rb"[A-Za-z_]\w*", data)}
    return in_text | routine.taken


def free_name(base: str, taken: Set[str]) -> str:
    """A name, or the same with the first number from 2 on that makes it one that is not taken."""
    name, number = base, 2
    while name.lower() in taken:
        name, number = f"{base}{number}", number + 1
    return name


def fresh_name(base: str, number: int, taken: set[str], tight: bool) -> str:
    """A new name like `base`; of the same length where lines are full."""
    candidate = f"{base[:-1] if tight and len(base) > 1 else base}{number}"
    while candidate.lower() in taken:
        number += 1
        candidate = f"{base[:-1] if tight and len(base) > 1 else base}{number}"
    return candidate


def renamed(source: SourceFile, start: int, end: int, variable: Variable, name: str) -> list[Edit]:
    flags = 0 if source.language is Language.C else re.IGNORECASE
    pattern = re.compile(
        rb"(?<![\w%.'\"])(?<!->)" + re.escape(variable.name).encode() + rb"(?![\w'\"])", flags
    )
    text = source.data.decode("latin-1") if source.is_fortran else ""
    return [
        Edit(m.start(), m.end(), name)
        for m in pattern.finditer(source.data, start, end)
        if not (source.is_fortran and is_keyword(text, *m.span()))
    ]


def colours_of(chains: Sequence[_Excluding]) -> list[int]:
    """A number for each web; webs that exclude each other may have the same."""
    colours: list[int] = []
    for number, chain in enumerate(chains):
        near = {colours[other] for other in range(number) if not chain.excludes(chains[other])}
        colours.append(next(c for c in range(len(chains)) if c not in near))
    return colours
