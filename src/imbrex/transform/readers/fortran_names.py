"""Fortran names: the variables that they stand for, and integer expressions of them."""

from __future__ import annotations

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import BY_EQUIVALENCE, BY_POINTER, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.shapes import enter_bounds, extent_of
from imbrex.transform.readers.fortran_bound import Bindings
from imbrex.transform.readers.fortran_components import Components
from imbrex.transform.readers.fortran_defined import Own
from imbrex.transform.readers.fortran_handles import is_handle
from imbrex.transform.readers.fortran_hosts import SUBMODULE
from imbrex.transform.readers.fortran_integers import AffineParser
from imbrex.transform.readers.fortran_kinds import kind_meant, of_used_kind
from imbrex.transform.readers.fortran_library import MODULE_FUNCTIONS
from imbrex.transform.readers.fortran_scopes import OWNS, Declarations, Scope, Symbol
from imbrex.transform.readers.fortran_types import Definition, Types

UNKNOWN_TYPE = "?"
Named = tuple[Scope, str]
_DEEPEST = 20  # modules that use modules, which no compiler lets use each other


class Names:
    """Resolves names in a scope to variables of the model."""

    def __init__(self, program: Program, modules: dict[str, Scope]) -> None:
        self.program = program
        self.modules = modules
        self.own = Own()
        self.types = Types([], [], "")
        self.bindings = Bindings()
        self.single: frozenset[str] = frozenset()  # types, as `type(name)`, that have one object
        self.swapped: set[str] = set()  # names of arrays, and of components, that are swapped
        # Targets, the pointers that may point to each, and those that the program points to it by
        # name; each as a scope in which it is named.
        self.pointed: list[tuple[Named, list[Named], list[Named]]] = []
        # The same by key of the target.
        self.pointers: dict[str, tuple[list[Variable], list[Variable]]] = {}
        # What uses lead to, by scope.
        self._reached_from: dict[int, list[tuple[Scope, dict[str, str] | None]]] = {}
        self._interfaces: dict[int, str] = {}

    def find(self, scope: Scope, name: str) -> tuple[Scope, Symbol] | None:
        """The scope that owns a name, and its symbol; None for a name nobody declares."""
        where: Scope | None = scope
        while where is not None:
            symbol = where.symbols.get(name)
            if symbol is not None:
                return where, symbol
            found = self._used(where, name)
            if found is not None:
                return found
            where = where.parent
        return None

    def _used(self, scope: Scope, name: str) -> tuple[Scope, Symbol] | None:
        for module, names in self._reached(scope):
            remote = name if names is None else names.get(name)
            symbol = None if remote is None else module.symbols.get(remote)
            if symbol is not None:
                return module, symbol
        return None

    def _reached(self, scope: Scope) -> list[tuple[Scope, dict[str, str] | None]]:
        """The modules whose names a scope has from its uses, also by way of others, each once.

        With each the names there by those here, where not all of them are known as they are there.
        """
        known = self._reached_from.get(id(scope))
        if known is None:
            known = self._reached_from[id(scope)] = []
            self._reach(scope, None, known, set(), 0)
        return known

    def _reach(
        self,
        scope: Scope,
        outer: dict[str, str] | None,
        found: list[tuple[Scope, dict[str, str] | None]],
        seen: set[tuple[int, tuple[tuple[str, str], ...] | None]],
        depth: int,
    ) -> None:
        """`outer`: the scope's names by those that are looked for; None: the same ones."""
        for module_name, inner in scope.uses if depth <= _DEEPEST else ():
            module = self.modules.get(module_name)
            names = _through(outer, inner)
            if module is None or names == {}:
                continue
            key = (id(module), None if names is None else tuple(sorted(names.items())))
            if key not in seen:
                seen.add(key)
                found.append((module, names))
                self._reach(module, names, found, seen, depth + 1)

    def procedure(self, scope: Scope, name: str) -> str:
        """The key of the procedure that a name stands for in a scope."""
        return self.bindings.written.get(name) or scope.meant.get(name, name)

    def specifics(self, scope: Scope, name: str) -> set[str] | None:
        """The procedures that a generic name stands for in a scope; None where it is none, or
        where not all of them are known."""
        if name in self.bindings.several:
            return self.bindings.several[name]
        found: list[set[str] | None] = []
        self._generics(scope, name, 0, found)
        if not found or None in found:
            return None
        return set().union(*(names for names in found if names is not None))

    def _generics(self, scope: Scope, name: str, depth: int, found: list[set[str] | None]) -> None:
        where: Scope | None = scope
        while where is not None and depth <= 20:
            if name in where.generics:
                found.append(where.generics[name])
            for module_name, names in where.uses:
                remote = name if names is None else names.get(name)
                module = self.modules.get(module_name)
                if module is None:
                    if remote is not None and module_name not in MODULE_FUNCTIONS:
                        found.append(None)  # it may add some to the name
                elif remote is not None:
                    self._generics(module, remote, depth + 1, found)
            where = where.parent

    def of_intrinsic_module(self, scope: Scope, name: str, depth: int = 0) -> bool:
        """Whether a name is a function of an intrinsic module that the scope uses."""
        where: Scope | None = scope
        while where is not None and depth <= 20:
            for module_name, names in where.uses:
                remote = name if names is None else names.get(name)
                module = self.modules.get(module_name)
                if remote is None:
                    continue
                if module is None and remote in MODULE_FUNCTIONS.get(module_name, ()):
                    return True
                if module is not None and self.of_intrinsic_module(module, remote, depth + 1):
                    return True
            where = where.parent
        return False

    def interface(self, scope: Scope) -> str:
        """How MPI's names are known in a scope, also by way of modules.

        "" if not all are, and none are imported where more can be added.
        """
        return self._whole_interface(scope) or self._imported(scope)

    @staticmethod
    def _imported(scope: Scope) -> str:
        where: Scope | None = scope
        while where is not None:
            if where.imports is not None:
                return where.imports.interface
            if where.kind == SUBMODULE:
                return ""  # names are added to the lists of one unit
            where = where.parent
        return ""

    def _whole_interface(self, scope: Scope) -> str:
        where: Scope | None = scope
        while where is not None:
            if found := where.interface or self._used_interface(where):
                return found
            where = where.parent
        return ""

    def _used_interface(self, scope: Scope) -> str:
        """How a scope knows MPI's names by modules of the program that it uses as a whole."""
        if id(scope) in self._interfaces:
            return self._interfaces[id(scope)]
        self._interfaces[id(scope)] = ""  # of modules that use each other
        for module_name, names in scope.uses:
            module = self.modules.get(module_name)
            if names is None and module is not None and not module.withholds:
                renamed = [n for m, n in scope.uses if m == module_name and n is not None]
                if any("mpi_" in "".join(pairs.values()) for pairs in renamed):
                    continue
                if found := self._whole_interface(module):
                    self._interfaces[id(scope)] = found
                    break
        return self._interfaces[id(scope)]

    def variable(self, scope: Scope, name: str) -> Variable | None:
        """The variable of a name; None for constants, procedures and MPI's own names."""
        found = self.find(scope, name)
        if found is None:
            if name.startswith("mpi_"):
                return None
            if self._from_unread_module(scope):
                return self._enter(
                    f"module:?.{name}", name, scope, Symbol(name, UNKNOWN_TYPE), "global"
                )
            return self._enter_local(scope, scope, scope.symbol(name))
        owner, symbol = found
        if symbol.value is not None or symbol.attributes & {"external", "intrinsic"}:
            return None
        return self._enter_local(scope, owner, symbol)

    @staticmethod
    def constant(owner: Scope, name: str) -> str:
        """The text of a named constant's value, as far as it can be followed."""
        return Declarations.constant(owner, name)

    def meaning(self, scope: Scope, name: str) -> str | None:
        """A text that is the same wherever a name stands for the same; None if nobody declares it.

        It is a variable's key, or the value of a constant; of `kind(1d0)` what its constants are.
        """
        found = self.find(scope, name)
        if found is None:
            return kind_meant(name)
        owner, symbol = found
        if symbol.value is not None:
            value = Declarations.constant(owner, name)
            plain = value.lstrip("-").isdigit() or value in (".true.", ".false.")
            return f"={value}" if plain else kind_meant(value)
        variable = self.variable(scope, name)
        return None if variable is None else variable.key

    def _from_unread_module(self, scope: Scope) -> bool:
        where: Scope | None = scope
        while where is not None:
            if any(module not in self.modules for module, _ in where.uses):
                return True
            where = where.parent
        return False

    def _enter_local(self, scope: Scope, owner: Scope, symbol: Symbol) -> Variable:
        name = symbol.name
        if symbol.common is not None:
            return self._enter(f"common:{symbol.common}.{name}", name, owner, symbol, "global")
        if owner.kind in ("module", "submodule"):
            return self._enter(f"module:{owner.name}.{name}", name, owner, symbol, "global")
        key = f"{name}@{owner.file}:{owner.key}:{owner.line}"
        saved = "save" in symbol.attributes or owner.saves_all
        if name in owner.dummies:
            kind = "dummy"
        elif owner.shares(name):
            kind = "host"
        else:
            kind = "static" if saved else "local"
        variable = self._enter(key, name, owner, symbol, kind)
        variable.saved = saved and kind != "dummy"
        return variable

    def _enter(self, key: str, name: str, owner: Scope, symbol: Symbol, kind: str) -> Variable:
        known = self.program.variables.get(key)
        if known is not None:
            return known
        element = of_used_kind(self, owner, symbol.type)
        if not element:
            letters = owner.implicit
            default = "integer" if name[0] in "ijklmn" else "real"
            element = default if letters is None else letters.get(name[0], default)
        variable = Variable(key, name, kind, element=element, line=symbol.line)
        variable.volatile = "volatile" in symbol.attributes
        variable.optional = "optional" in symbol.attributes
        variable.only_read = "intent(in)" in symbol.attributes
        variable.by_value = "value" in symbol.attributes
        variable.allocatable = "allocatable" in symbol.attributes
        variable.keeps_shape = OWNS in symbol.attributes
        self.program.variables[key] = variable
        variable.bounds = tuple(
            (self.affine(owner, low), self.affine(owner, high)) for low, high in symbol.bounds
        )
        self._take_shape(variable, symbol)
        enter_bounds(self.program, variable)
        shared = self.program.overlays
        derived = element.startswith(("type(", "class(")) or element == UNKNOWN_TYPE
        derived = derived and not is_handle(self.own, self.interface(owner), owner, element)
        if derived and self.types.of(element) is not None:
            self._note_object(variable)
            derived = False
        if derived or symbol.attributes & {"pointer", "target", "codimension"}:
            shared.setdefault(key, set()).add(BY_POINTER)
        where: Scope | None = owner
        while where is not None:
            if name in where.equivalences:
                shared.setdefault(key, set()).add(BY_EQUIVALENCE)
            where = where.parent
        return variable

    def _take_shape(self, variable: Variable, symbol: Symbol) -> None:
        """Give a dummy argument of assumed shape its bounds, by the extents that it will have."""
        shape = symbol.bounds
        if variable.kind != "dummy" or symbol.attributes & {"allocatable", "pointer"}:
            return
        if not shape or any(high or low == ".." for low, high in shape):
            return
        variable.assumed_shape = True
        variable.scattered = "contiguous" not in symbol.attributes
        found: list[tuple[Affine | None, Affine | None]] = []
        for number, (text, (low, _)) in enumerate(zip(shape, variable.bounds, strict=True)):
            first = low if text[0] else Affine(1)
            extent = Affine.variable(extent_of(variable.key, number))
            last = None if first is None else first.plus(extent).plus(Affine(-1))
            found.append((first, last))
        variable.bounds = tuple(found)

    def _note_object(self, variable: Variable) -> None:
        """Note that a variable or a component is an object, in which components lie."""
        record = variable.object = self.types.record(variable.element)
        if variable.kind != "field":
            variable.record = record
        self.program.record_facts.add((f"record:{record}", "addr", variable.key))

    def component(self, definition: Definition, symbol: Symbol) -> Variable:
        """The field that a component of a derived type is."""
        declared = f"type({definition.scope.name})"
        record = self.types.record(declared)
        family = self.types.families.members(definition.scope.name)
        alone = sum(symbol.name in each.scope.symbols for each in family) == 1
        name = symbol.name if alone else f"{definition.scope.name}%{symbol.name}"
        key = f"field:{record}.{name}"
        known = self.program.variables.get(key)
        if known is not None:
            return known
        variable = Variable(
            key,
            symbol.name,
            "field",
            element=of_used_kind(self, definition.scope, symbol.type),
            record=record,
            line=symbol.line,
        )
        variable.apart = variable.allocatable = "allocatable" in symbol.attributes
        variable.keeps_shape = OWNS in symbol.attributes
        variable.begun = "save" in symbol.attributes
        self.program.variables[key] = variable
        variable.bounds = tuple(
            (self.affine(definition.scope, low), self.affine(definition.scope, high))
            for low, high in symbol.bounds
        )
        enter_bounds(self.program, variable)
        if self.types.of(symbol.type) is not None:
            self._note_object(variable)
        return variable

    def note_targets(self) -> None:
        """Note what pointers may name a target too: touching it touches what each points to."""
        for target, pointers, first in self.pointed:
            variable = self.variable(*target)
            held = [found for each in pointers if (found := self.variable(*each)) is not None]
            begun = [found for each in first if (found := self.variable(*each)) is not None]
            if variable is not None:
                self.pointers[variable.key] = held, begun
                self.program.overlays[variable.key] = {each.key for each in held}

    def may_move(self, name: str) -> bool:
        """Whether an array of this name may be given the memory of another one."""
        return self.program.moved or name in self.swapped

    def is_array(self, scope: Scope, name: str) -> bool:
        found = self.find(scope, name)
        return found is not None and bool(found[1].bounds)

    def affine(self, scope: Scope, text: str) -> Affine | None:
        """An integer expression as an affine form; None where it is not one."""
        return AffineParser(self, scope, text).parse() if text else None

    def integer_of(self, scope: Scope, text: str) -> Affine | None:
        """An integer component of one object, `a%b%c`, as an affine form."""
        return Components(self, scope).value(text)

    def atom(self, scope: Scope, name: str) -> Affine | None:
        found = self.find(scope, name)
        if found is not None and found[1].value is not None:
            owner, symbol = found
            text = Declarations.constant(owner, symbol.name)
            return None if text == name else self.affine(owner, text)
        variable = self.variable(scope, name)
        if variable is None or variable.bounds or variable.volatile:
            return None
        if not variable.element.startswith("integer") or variable.key in self.program.overlays:
            return None
        return Affine.variable(variable.key)


def _through(outer: dict[str, str] | None, inner: dict[str, str] | None) -> dict[str, str] | None:
    """What names stand for behind two uses; None where each stands for itself."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    return {name: inner[middle] for name, middle in outer.items() if middle in inner}
