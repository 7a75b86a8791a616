"""A routine of C or Fortran: its names, its parameters and its body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from imbrex.transform.model.causes import Cause
from imbrex.transform.model.interface_body import InterfaceBody
from imbrex.transform.model.module_access import ModuleAccess
from imbrex.transform.model.scopes import Scope
from imbrex.transform.model.statements import Block, Statement, walk


@dataclass(slots=True)
class Routine:
    key: str
    name: str
    file: str
    line: int
    parameters: list[str]
    body: Block
    visible: bool = True  # callable from other files
    problem: Cause | None = None  # why nothing in it may be rewritten
    declare_after: int = -1  # byte offset behind the declarations
    first_executable: int = -1
    # Of Fortran: the pointers that the routine sets at its top for good, and how.
    views: dict[str, str] = field(default_factory=dict)
    interface: str = ""  # Fortran: "mpif.h", "mpi" or "mpi_f08"
    address_taken: bool = False
    conditional: bool = False  # of Fortran: other builds may have another one, or none
    generic: bool = False  # of Fortran: it is known by a generic name too
    interface_body: InterfaceBody | None = None  # of Fortran: where that is apart from it
    access: ModuleAccess = field(default_factory=ModuleAccess)  # of Fortran
    bound: bool = False  # of Fortran: it is bound to a type, by which it may be called
    exported: frozenset[str] = frozenset()  # names that are taken already
    scope: Scope | None = None  # of C++: its class and its namespaces, where it has some
    host: str = ""  # of Fortran: the unit that it stands in; "" where it stands alone
    shares_name: bool = False  # of Fortran: others have its name in other scopes
    renames: frozenset[str] = frozenset()  # of Fortran: routines that have another name in it
    result: str = ""  # of a function of Fortran: the variable that is its value
    declared_by: tuple[str, ...] = ()  # of Fortran: integers that its declarations read
    # Of Fortran: what a name means in it, the same text for the same thing; None if not known.
    meaning: Callable[[str], str | None] | None = None
    # All its statements, while nothing puts any elsewhere (`Program.keeping_statements`).
    kept_statements: list[Statement] | None = field(default=None, repr=False, compare=False)

    @property
    def plain_name(self) -> str:
        """Its name within its class or namespace, without what a template is instantiated for."""
        return self._parts[1]

    @property
    def of_template(self) -> bool:
        """Whether it is an instance of a template itself, and not only of its class's."""
        return bool(self._parts[2])

    def beside(self, name: str) -> str:
        """The whole name of a routine with this name in the same place."""
        outer, _, given = self._parts
        return name if self.shares_name else f"{outer}{name}{given}"

    @property
    def _parts(self) -> tuple[str, str, str]:
        """Its class or namespace, its name there, and what its template is instantiated for."""
        name = self.name
        if name.endswith(">") and "operator" not in name:
            depth = 0
            for position in range(len(name) - 1, -1, -1):
                depth += {">": 1, "<": -1}.get(name[position], 0)
                if not depth:
                    name = name[:position]
                    break
        outer, separator, plain = name.rpartition("::")
        return f"{outer}{separator}", plain, self.name[len(name) :]

    @property
    def stem(self) -> str:
        """What names of routines made of it begin with: of Fortran no other one has these."""
        return self.name.replace("::", "_") if self.shares_name else self.plain_name

    @property
    def taken(self) -> frozenset[str]:
        """The names that are taken already, in small letters."""
        return _in_small_letters(self.exported)

    @property
    def stays(self) -> bool:
        """Whether something names it that is no call: a type, or a generic name."""
        return self.bound or self.generic

    @property
    def on_object(self) -> bool:
        """Whether its first parameter is the object that it is called on."""
        return self.scope is not None and self.scope.on_object

    def statements(self) -> list[Statement]:
        """All statements as they are now, in textual order."""
        kept = self.kept_statements
        return walk(self.body.statements) if kept is None else kept.copy()


@lru_cache(maxsize=16)
def _in_small_letters(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
