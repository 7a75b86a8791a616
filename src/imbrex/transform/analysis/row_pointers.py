"""Pointers to rows that can be read as one array: `double **u = alloc(n, m);`, `u[i][j]`.

All pointers that exchange what they hold must point to rows which one routine sets, each row as far
behind the one before as its length says, or to memory of its own; nothing sets a row anew, and no
code that is not seen gets at one. `u[i][j]` of rows of `m` elements is then element `i * m + j` of
one array, as long as `j` stays in its row, which is looked at where elements are told apart.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.declared_lengths import from_declaration
from imbrex.transform.analysis.footprint import Footprints
from imbrex.transform.analysis.lasting_rows import LASTING, LastingRows, Returned
from imbrex.transform.analysis.library import Libraries
from imbrex.transform.analysis.own_variables import is_of_another, place_in_c
from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Call
from imbrex.transform.model.program import Program
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.row_pointers import RowLengths, RowsSet, RowStore
from imbrex.transform.model.statements import Kind, Statement

_ARGUMENT, _RETURN, _HEAP = "argument:", "return:", "heap:"
_FREED = frozenset(
    f"{_ARGUMENT}{name}:0" for name in ("free", "operator delete", "operator delete[]")
)


def find_row_lengths(program: Program, known: frozenset[str], libraries: Libraries) -> RowLengths:
    """The pointers that can be read so, and the lengths of their rows where these are known.

    `known`: routines of libraries that keep no pointer.
    """
    candidates = {key for key in program.to_rows if _is_candidate(program, key)}
    if not candidates or not program.is_whole or program.unread_code:
        return {}
    family = _families(program, candidates)
    wrong = {
        family[store.rows]
        for store in program.row_stores
        if store.rows in family and not store.known
    }
    wrong |= _mixed(program, family) | _unfilled(program, family)
    good = {key for key in candidates if family[key] not in wrong}
    if not good:
        return {}
    footprints = Footprints(program, Aliases(program, known), libraries)
    while True:
        keys = {key for key in good if program.variables[key].kind in LASTING}
        lasting = LastingRows(program, footprints, keys)
        lengths = _Lengths(program, footprints, good - keys)
        told = lengths.lasting = lasting.lengths(lengths.returned(lengths.found()))
        found = lengths.found()
        again = lasting.lengths(lengths.returned(found))  # with what is told by these
        left = {key for key in keys if key not in told or again.get(key) != told[key]}
        left |= lasting.given_away(told, found)
        if not left:
            found |= told
            return {key: found.get(key) for key in sorted(good)}
        apart = {family[key] for key in left}  # read as one array are all of a family, or none
        good = {key for key in good if family[key] not in apart}


def _is_candidate(program: Program, key: str) -> bool:
    """Whether it is a variable, a parameter, or a field of structures, that points to pointers."""
    variable = program.variables.get(key)
    if variable is None or key not in program.to_rows or key.endswith(".*"):
        return False
    plain = variable.kind in ("local", "parameter", *LASTING) and len(variable.bounds) == 1
    return plain and not (variable.volatile or variable.reference)


def _node(program: Program, cell: str) -> str:
    """The parameter that an argument becomes."""
    if not cell.startswith(_ARGUMENT):
        return cell
    name, _, position = cell.removeprefix(_ARGUMENT).rpartition(":")
    routine = program.routines.get(name)
    if routine is None or int(position) >= len(routine.parameters):
        return cell
    return routine.parameters[int(position)]


def _families(program: Program, candidates: set[str]) -> dict[str, str]:
    """By pointer, and by routine that returns one, what all have in common that exchange values."""
    above: dict[str, str] = {}

    def top(cell: str) -> str:
        while above.get(cell, cell) != cell:
            cell = above[cell]
        return cell

    for target, form, source in program.pointer_facts:
        one, two = _node(program, target), _node(program, source)
        related = {one, two} & candidates or one.startswith(_RETURN) or two.startswith(_RETURN)
        if form == "copy" and related:
            above[top(one)] = top(two)
    return {cell: top(cell) for cell in candidates | above.keys()}


def _mixed(program: Program, family: dict[str, str]) -> set[str]:
    """Families of which one is set to, or given to, something else than a pointer to rows."""
    wrong = {
        root for cell, root in family.items() if cell not in _FREED and not _may_hold(program, cell)
    }
    for target, form, source in program.pointer_facts:
        one = _node(program, target)
        if form == "addr" and one in family and not source.startswith(_HEAP):
            wrong.add(family[one])
        if form == "addr" and source in family:
            wrong.add(family[source])
    return wrong


def _may_hold(program: Program, cell: str) -> bool:
    if cell in program.variables:
        return _is_candidate(program, cell)
    name = cell.removeprefix(_RETURN)
    return cell.startswith(_RETURN) and name in program.routines


def _unfilled(program: Program, family: dict[str, str]) -> set[str]:
    """Families with memory for rows that its routine does not set, or not in one way."""
    given: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for target, form, source in program.pointer_facts:
        given[target].append((form, source))
    stores: dict[str, list[RowStore]] = defaultdict(list)
    for store in program.row_stores:
        stores[store.rows].append(store)
    users: dict[str, set[str]] = defaultdict(set)
    for store in program.row_stores:
        users[store.base].add(store.rows)
    once = _set_once(program, users.keys() - {""})

    def is_new(key: str) -> bool:
        """Whether a pointer holds one allocation for good."""
        facts = given[key]
        return len(facts) == 1 and facts[0][0] == "addr" and facts[0][1].startswith(_HEAP)

    wrong: set[str] = set()
    for key, root in family.items():
        made = sum(form == "addr" for form, _ in given[key])
        mine = stores[key]
        if made != (1 if mine else 0):
            wrong.add(root)
        counted = {store.base for store in mine} - {"", key}
        if len(counted) > 1:
            wrong.add(root)
        if not all(base in once and is_new(base) and len(users[base]) == 1 for base in counted):
            wrong.add(root)
    return wrong


def _set_once(program: Program, keys: set[str]) -> set[str]:
    """The pointers that one statement sets, in no other way than by their names."""
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    written: Counter[str] = Counter()
    for routine in program.routines.values() if keys else ():
        for statement in routine.statements():
            written.update(
                a.variable
                for a in statement.accesses
                if a.write and not a.through and a.variable in keys
            )
    return {key for key in keys - addressed if written[key] == 1}


class _Lengths:
    """Finds the lengths of rows in terms of the routines that know the pointers."""

    def __init__(self, program: Program, footprints: Footprints, good: set[str]) -> None:
        self.program = program
        self.footprints = footprints
        self.good = good
        # Of pointers that routines share; of a field in terms of fields of the same object.
        self.lasting: dict[str, Affine] = {}
        self.set_to: dict[str, list[RowsSet]] = defaultdict(list)
        for made in program.rows_set:
            self.set_to[made.rows].append(made)
        self.sources: dict[str, list[str]] = defaultdict(list)
        for target, form, source in program.pointer_facts:
            if form == "copy":
                self.sources[target].append(source)
        self.calls: dict[str, list[Call]] = defaultdict(list)
        for call in program.calls():
            self.calls[call.name].append(call)
        self.owner = {
            key: routine
            for routine in program.routines.values()
            for key in good
            if key in routine.parameters or not is_of_another(program, routine, key)
        }

    def found(self) -> dict[str, Affine]:
        lengths: dict[str, Affine] = {}
        while True:
            more = {
                key: length
                for key in self.good - lengths.keys()
                if (length := self._of(key, lengths)) is not None
            }
            if not more:
                break
            lengths |= more
        while True:  # what came later may tell another one, or none
            wrong = {key for key in lengths if self._of(key, lengths, all_known=True) is None}
            if not wrong:
                return lengths
            lengths = {key: length for key, length in lengths.items() if key not in wrong}

    def _of(
        self, key: str, lengths: dict[str, Affine], *, all_known: bool = False
    ) -> Affine | None:
        """The one length that all say of it who know it already; `all_known`: all must know it."""
        routine = self.owner.get(key)
        if routine is None or routine.problem is not None:
            return None
        said = self._set(key, lengths, all_known)
        if said is not None and key in routine.parameters:
            given = self._given(routine, key, lengths)
            said = None if given is None else said | given
        if said is None or len(said) != 1:
            return None
        (length,) = said
        return length if self._stays(routine, key, length) else None

    def _set(self, key: str, lengths: dict[str, Affine], all_known: bool) -> set[Affine] | None:
        """What a pointer is set to in its routine."""
        said = {s.length for s in self.program.row_stores if s.rows == key and s.length is not None}
        for source in self.sources[key]:
            if source in lengths:
                said.add(lengths[source])
            elif source in self.lasting or source.startswith((_RETURN, _ARGUMENT)):
                continue  # told below
            elif all_known:
                return None
        for made in self.set_to[key]:
            if made.source in self.lasting:
                length = self._shared(made.source, made.source_owner)
            elif made.routine:
                length = self._returned(made, lengths)
            else:
                continue
            if length is None:
                return None
            said.add(length)
        return said

    def _shared(self, key: str, owner: str) -> Affine | None:
        """The length of rows that routines share, of those of this object."""
        of_field = self.program.variables[key].kind == "field"
        return self.lasting[key].of_object(owner) if owner or not of_field else None

    def returned(self, lengths: dict[str, Affine]) -> Returned:
        """What tells the length of the rows that a routine returns, in terms of its caller."""
        return lambda made: self._returned(made, lengths)

    def _returned(self, made: RowsSet, lengths: dict[str, Affine]) -> Affine | None:
        """The length of the rows that a routine returns, in terms of its caller."""
        routine = self.program.routines.get(made.routine)
        if routine is None:
            return None
        results = {lengths.get(source) for source in self.sources[f"{_RETURN}{made.routine}"]}
        changed = self.footprints.changed_by(routine.body.statements, routine.file)
        entered = zip(routine.parameters, made.arguments, strict=False)
        given = {name: value for name, value in entered if name not in changed}
        for key in {key for length in results if length for key in length.variables()} - changed:
            if self._is_shared(key):
                given[key] = Affine.variable(key)
        found = {length and length.replace(given.get) for length in results}
        return found.pop() if len(found) == 1 else None

    def _given(self, routine: Routine, key: str, lengths: dict[str, Affine]) -> set[Affine] | None:
        """What a parameter is given, in terms of the routine: of another argument, or of what is at
        file scope."""
        position = routine.parameters.index(key)
        pairs: list[tuple[Call, Affine]] = []
        for call in self.calls[routine.name]:
            argument = call.arguments[position] if position < len(call.arguments) else None
            base = None if argument is None else argument.base
            if argument is None or base is None:
                return None
            length = lengths.get(base)
            if base in self.lasting:
                length = self._shared(base, argument.owner)
            if length is None:
                return None
            pairs.append((call, length))
        if not pairs or routine.address_taken:
            return None
        told = {length for _, length in pairs}
        if len(told) == 1 and all(map(self._is_shared, next(iter(told)).variables())):
            return told
        for number, name in enumerate(routine.parameters):
            variable = self.program.variables.get(name)
            if variable is None or variable.pointer or variable.bounds:
                continue
            values = [call.arguments[number].value for call, _ in pairs]
            more = {
                None if value is None else length.plus(value, -1)
                for value, (_, length) in zip(values, pairs, strict=True)
            }
            rest = more.pop() if len(more) == 1 else None
            if rest is not None and not rest.terms:
                return {Affine.variable(name).plus(rest)}
        return None

    def _is_shared(self, key: str) -> bool:
        """Whether all routines mean the same by a variable."""
        variable = self.program.variables.get(key)
        return variable is not None and variable.kind in ("static", "global")

    def _stays(self, routine: Routine, key: str, length: Affine) -> bool:
        """Whether what the length is made of keeps its value from where the pointer is set on."""
        changed = self.footprints.changed_by(self._behind(routine, key), routine.file)
        return length.variables().isdisjoint(changed)

    def _behind(self, routine: Routine, key: str) -> list[Statement]:
        """The statements of a pointer's block from the first on that sets it."""
        place = None if key in routine.parameters else place_in_c(key)
        block = None if place is None else from_declaration(routine, place[1])
        if block is None:
            return routine.body.statements
        name = re.escape(self.program.variables[key].name.encode())
        data = self.program.files[routine.file].data if routine.file in self.program.files else b""
        for number, statement in enumerate(block):
            inside = (a for s in statement.walk() for a in s.accesses)
            if not any(a.variable == key and a.write and not a.through for a in inside):
                continue
            text = data[statement.start : statement.end]
            begins = not text or re.search(rb"\b%s\s*=" % name, text) is not None
            if statement.kind is not Kind.DECLARE or begins:
                return block[number:]
        return block
