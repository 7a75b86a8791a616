"""Pairs of pointers that never hold the same object, although the sets of what they may hold meet.

Two arrays that a time step exchanges (`t = p; p = q; q = t;`) are the usual case: each pointer may
hold either array, but never do both hold one. The pair is then followed into the routines that it
is passed to; a pair of parameters is distinct if it is so in every call.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations

from imbrex.transform.analysis.aliases import Aliases
from imbrex.transform.analysis.allocators import allocator_of
from imbrex.transform.analysis.elements import different_elements
from imbrex.transform.analysis.points_to import EXTERNAL
from imbrex.transform.model.calls import Argument, Call
from imbrex.transform.model.memory import UNKNOWN_MEMORY
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import NOT_ANALYSED, ReasonKind
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block, Kind, Statement

Pair = frozenset[str]
Place = tuple[str, bytes]  # a pointer: its key, and how the program names it
# What copies nothing out of a structure: filled with zeros, it holds no address.
_FORGETS = ("free", "operator delete", "operator delete[]", "memset")
_UNKNOWN = ""  # in the place of the name of a call through a pointer


def find_distinct(program: Program, aliases: Aliases, named: set[Pair]) -> set[Pair]:
    """Pairs of pointer variables that hold different objects wherever both are valid.

    `named`: those known beforehand.
    """
    if program.unread_code or not program.is_whole:
        return set()
    if any(
        s.stop and s.stop.kind in NOT_ANALYSED for r in program.routines.values() for s in _all(r)
    ):
        return set()
    pairs = named | _exchanged(program, aliases) | _parameters(program, aliases)
    calls: dict[str, list[Call]] = {}
    takers: dict[str, list[Routine]] = {}  # by parameter
    for call in program.calls():
        calls.setdefault(_UNKNOWN if call.unknown else call.name, []).append(call)
    for routine in program.routines.values():
        for key in routine.parameters:
            takers.setdefault(key, []).append(routine)
    shrinking = True
    while shrinking:
        wrong = {pair for pair in pairs if not _holds(aliases, takers, calls, pair, pairs)}
        pairs -= wrong
        shrinking = bool(wrong)
    return pairs


def find_owned(program: Program, aliases: Aliases) -> set[str]:
    """Pointer fields that are only ever set to new allocations, in structures never copied.

    Then two structures never hold the same one. What a field holds is followed through the call
    of the routine that allocates for it, so that each structure's arrays are its own although one
    statement allocates them all. Two structures may exchange what they hold.
    """
    if program.unread_code or not program.is_whole:
        return set()
    found = set()
    moves = between_objects(program)
    copied = maybe_copied(program)
    given: dict[str, list[tuple[str, str]]] = defaultdict(list)  # what each cell is set to
    for target, form, source in program.pointer_facts:
        for cell in aliases.pointees(target[1:]) if target.startswith("*") else {target}:
            given[cell].append((form, source))
    for key, variable in program.variables.items():
        if variable.kind != "field" or not variable.pointer or key.endswith(".*"):
            continue
        if variable.record in copied:
            continue
        if aliases.pointees(key) & {EXTERNAL, UNKNOWN_MEMORY}:
            continue
        set_to = given[key]
        new = [source for form, source in set_to if form == "addr"]
        exchanged = len(set_to) - len(new)
        if new and exchanged == moves[key] and all(name.startswith("heap:") for name in new):
            found.add(key)
    return found


def between_objects(program: Program) -> Counter[str]:
    """How often each field is set where two objects exchange what it holds."""
    found: Counter[str] = Counter()
    for routine in program.routines.values():
        source = program.files.get(routine.file)
        data = b"" if source is None else source.data
        for block in routine.body.every():
            moves = [_move(statement, data) for statement in block.statements]
            for kept, ring in closed(moves):
                keys = {key for key, _ in ring}
                if len(keys) == 1 and len({kept, *ring}) == len(ring) + 1 > 2:
                    found[ring[0][0]] += len(ring)
    return found


def maybe_copied(program: Program) -> frozenset[str]:
    """The structures that are copied as a whole, or that code gets at which is not seen."""
    found = set(program.assigned_records)
    for routine in program.routines.values():
        for key in routine.parameters:
            variable = program.variables.get(key)
            if variable is not None and variable.record and not variable.pointer:
                found.add(variable.record)  # passed by value
        for statement in routine.statements():
            for call in statement.calls:
                if call.name in program.routines or call.unknown or call.name.startswith("MPI_"):
                    continue
                if call.name in _FORGETS:
                    continue
                for argument in call.arguments:
                    base = program.variables.get(argument.base or "")
                    if base is not None and base.kind != "field":
                        found |= {base.record, base.element}
    return frozenset(found)


def _all(routine: Routine) -> list[Statement]:
    return list(routine.statements())


def _parameters(program: Program, aliases: Aliases) -> set[Pair]:
    """Pairs of pointer parameters that keep their values; calls are still to be looked at."""
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    found: set[Pair] = set()
    for routine in program.routines.values():
        if routine.address_taken and not aliases.inside:
            continue
        if f"function:{routine.name}" in aliases.escaped:
            continue  # code that is not seen may call it
        if routine.problem is not None and routine.problem.kind is ReasonKind.IN_CONSTRUCT:
            continue  # a constructor: that it is called is no call of the model
        kept = kept_pointers(program, routine, addressed)
        found |= {frozenset(pair) for pair in combinations(kept, 2)}
    return found


def kept_pointers(program: Program, routine: Routine, addressed: set[str]) -> list[str]:
    """The pointer parameters of a routine that keep their values; `addressed` may be set unseen."""
    written = {a.variable for s in _all(routine) for a in s.accesses if a.write and not a.through}
    pointers = [
        key
        for key in routine.parameters  # a dummy procedure is no variable
        if key in program.variables and program.variables[key].pointer
    ]
    return [key for key in pointers if key not in written and key not in addressed]


def _holds(
    aliases: Aliases,
    takers: dict[str, list[Routine]],
    calls: dict[str, list[Call]],
    pair: Pair,
    pairs: set[Pair],
) -> bool:
    left, right = sorted(pair)
    for routine in takers.get(left, []):
        if right not in routine.parameters:
            continue
        first, second = routine.parameters.index(left), routine.parameters.index(right)
        unknown = calls.get(_UNKNOWN, [])
        if not routine.address_taken:
            unknown = [call for call in unknown if call.name == routine.name]
        for call in calls.get(routine.name, []) + unknown:
            if len(call.arguments) <= max(first, second):
                if call.unknown:
                    continue  # another type of function
                return False
            if not _apart(aliases, call.arguments[first], call.arguments[second], pairs):
                return False
    return True


def _apart(aliases: Aliases, left: Argument, right: Argument, pairs: set[Pair]) -> bool:
    if left.base is None or right.base is None:
        return False
    if left.through and right.through:
        if frozenset((left.base, right.base)) in pairs:
            return True
        mine, other = (left.base, left.slot), (right.base, right.slot)
        if different_elements(aliases.slotted, mine, other):
            return True
    vectors = aliases.is_vector(left.base) and aliases.is_vector(right.base)
    if left.through and right.through and left.base != right.base and vectors:
        return True
    first = aliases.objects(left.base, left.through)
    second = aliases.objects(right.base, right.through)
    return not (first & second) and not {EXTERNAL, UNKNOWN_MEMORY} & (first | second)


def _exchanged(program: Program, aliases: Aliases) -> set[Pair]:
    """Pointers that are set to different allocations, then only exchanged.

    Both are local to one routine, or both have file scope or are fields: then all routines count.
    """
    given: dict[str, list[tuple[str, str]]] = {}
    for target, form, source in program.pointer_facts:
        given.setdefault(target, []).append((form, source))
    addressed = {source for _, form, source in program.pointer_facts if form == "addr"}
    rings = [
        (routine, ring)
        for routine in program.routines.values()
        for block in routine.body.every()
        for ring in _rings(program, routine, block)
    ]
    found: set[Pair] = set()
    for group in joined({ring for _, ring in rings}):
        if group & addressed:
            continue
        mine = [(routine, ring) for routine, ring in rings if group & set(ring)]
        routines = _setters(program, aliases, group, [routine for routine, _ in mine])
        moves = {key: sum(key in ring for _, ring in mine) for key in group}
        if routines and _only_exchanged(given, routines, moves, program.null_writes):
            found |= {frozenset(pair) for pair in combinations(sorted(group), 2)}
    return found


def joined(rings: set[tuple[str, ...]]) -> list[frozenset[str]]:
    """The pointers that exchange what they hold, directly or by way of others."""
    groups: list[frozenset[str]] = []
    for ring in rings:
        group = frozenset(ring)
        for other in [known for known in groups if known & group]:
            groups.remove(other)
            group |= other
        groups.append(group)
    return groups


def _kept_apart(program: Program, aliases: Aliases, pair: Pair) -> bool:
    """Whether two fields are set in no other way than by their names.

    An exchange between any two objects leaves each allocation in one field of one object.
    """
    records = {program.variables[key].record for key in pair}
    if records & maybe_copied(program):
        return False
    return not any(
        target.startswith("*") and pair & aliases.pointees(target[1:])
        for target, _, _ in program.pointer_facts
    )


def _setters(
    program: Program, aliases: Aliases, pair: Pair, exchanging: list[Routine]
) -> list[Routine]:
    """The routines that may set two pointers; none where code may that is not seen."""
    storage = {program.variables[key].kind for key in pair}
    if storage == {"local"}:
        return exchanging[:1]
    every = list(program.routines.values())
    if storage == {"field"}:
        seen = _all_seen(program, aliases) and _kept_apart(program, aliases, pair)
        return every if seen else []
    if storage == {"static"} or (storage <= {"static", "global"} and _all_seen(program, aliases)):
        return every
    return []


def _all_seen(program: Program, aliases: Aliases) -> bool:
    """Whether no code that is not among the files may know a global variable by its name."""
    return all(
        not call.unknown
        and (
            call.name in program.routines
            or call.name in aliases.known
            or (call.name in aliases.outside and program.in_c(routine.file))
            or call.library
            or call.name.startswith("MPI_")
        )
        for routine in program.routines.values()
        for statement in _all(routine)
        for call in statement.calls
    )


def _only_exchanged(
    given: dict[str, list[tuple[str, str]]],
    routines: list[Routine],
    moves: dict[str, int],
    nulls: Counter[str],
) -> bool:
    """Whether pointers hold an allocation each at first, or nothing.

    `moves`: how often each is then set to another. `nulls`: how often to no memory.
    """
    holders: list[set[str]] = []
    for key, count in moves.items():
        facts = given.get(key, [])
        if sum(form == "copy" for form, _ in facts) != count:
            return False
        holders.append({source for form, source in facts if form == "addr"})
        # Each object's field may have an allocation of its own.
        if len(facts) != count + (len(holders[-1]) if key.startswith("field:") else 1):
            return False
    for key, count in moves.items():  # beside the exchanges, an initial value each
        if not _set_by_those(routines, key, given[key], count + nulls[key]):
            return False
    every = [name for names in holders for name in names]
    heap = all(name.startswith("heap:") for name in every)
    return all(holders) and len(every) == len(set(every)) and heap


def _set_by_those(
    routines: list[Routine], key: str, facts: list[tuple[str, str]], swaps: int
) -> bool:
    """Whether a pointer is set in one statement for each allocation besides exchanges.

    A declaration that does not allocate leaves it unset: a value would be among the facts.
    """
    writes = 0
    places = {source for form, source in facts if form == "addr"}
    makers = {maker for source in places if (maker := allocator_of(source, key))}
    for routine in routines:
        inside = f"heap:{routine.file}:"
        mine = {source for source in places if source.startswith(inside)}
        sites = [int(source.rpartition(":")[2]) for source in mine if not allocator_of(source, key)]
        for statement in _all(routine):
            own = sum(a.write and not a.through and a.variable == key for a in statement.accesses)
            fills = any(statement.start <= site < statement.end for site in sites)
            fills = fills or any(call.name in makers for call in statement.calls)
            writes += own if statement.kind is not Kind.DECLARE or own > 1 or fills else 0
    files = tuple(f"heap:{routine.file}:" for routine in routines)
    known = (source.startswith(files) or allocator_of(source, key) for source in places)
    return writes == swaps + len(places) and all(known)


def _rings(program: Program, routine: Routine, block: Block) -> list[tuple[str, ...]]:
    """(p, q, ...) for each `t = p; p = q; q = ...; ... = t;`, and for `std::swap(p, q);`."""
    found: list[tuple[str, ...]] = []
    source = program.files.get(routine.file)
    data = b"" if source is None else source.data
    found += [s.swaps for s in block.statements if s.swaps is not None]
    for kept, ring in closed([_move(statement, data) for statement in block.statements]):
        if len({kept, *ring}) == len(ring) + 1 > 2:
            found.append(tuple(key for key, _ in ring))
    return [ring for ring in found if len(set(ring)) == len(ring)]


def closed(moves: list[tuple[Place, Place] | None]) -> list[tuple[Place, list[Place]]]:
    """Moves (target, source) in a row that end with what the first one has kept.

    Each as the place that keeps it, and the places that exchange what they hold.
    """
    found: list[tuple[Place, list[Place]]] = []
    for number, first in enumerate(moves):
        if first is None:
            continue
        kept, ring = first[0], [first[1]]
        for move in moves[number + 1 :]:
            if move is None or move[0] != ring[-1]:
                break
            if move[1] == kept:
                found.append((kept, ring))
                break
            ring.append(move[1])
    return found


def _move(statement: Statement, data: bytes) -> tuple[Place, Place] | None:
    """(target, source) of a statement that only copies one pointer to another.

    Each is a variable and, for a field, how the statement names it: which object's field it is.
    """
    if statement.kind not in (Kind.SIMPLE, Kind.DECLARE) or statement.calls or statement.stop:
        return None
    written = [a for a in statement.accesses if a.write]
    read = [a for a in statement.accesses if not a.write]
    if statement.kind is Kind.DECLARE:  # the lengths in `double (*t)[m] = u;` are no values
        declared = data[statement.start : statement.end].partition(b"=")[0].decode(errors="replace")
        lengths = set(re.findall(r"\w+", "".join(re.findall(r"\[[^\]]*\]", declared))))
        read = [a for a in read if _name_of(a.variable) not in lengths]
    fields = [a for a in read if a.variable.startswith("field:")]
    target_is_field = bool(written) and written[0].variable.startswith("field:")
    if len(written) != 1 or written[0].through or any(a.through for a in read):
        return None
    if not fields and not target_is_field:
        return ((written[0].variable, b""), (read[0].variable, b"")) if len(read) == 1 else None
    if statement.moves is None or len(fields) > 1:
        return None
    set_to, value = statement.moves
    objects = [a for a in read if a not in fields]  # the objects that the fields are of, and t
    source = fields or [a for a in objects if _name_of(a.variable) == value]
    if len(source) != 1:
        return None
    target = written[0].variable
    return (
        (target, set_to.encode() if target_is_field else b""),
        (source[0].variable, value.encode() if fields else b""),
    )


def _name_of(key: str) -> str:
    """The name in the source of a variable of C, by its key."""
    return key.removeprefix("g:").partition("@")[0]
