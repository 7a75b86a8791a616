"""Expressions over vectors: their elements as memory, their methods, their declarations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from clang.cindex import TypeKind

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.calls import Argument
from imbrex.transform.model.list_change import ListChange
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Access
from imbrex.transform.model.program import Program
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_nested, c_std_arrays, c_vectors
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.c_owned import made_anew
from imbrex.transform.readers.c_request_lists import TAKES, identity, is_change, is_no_request
from imbrex.transform.readers.c_values import ValueReader

_NUMBERS = frozenset(
    {
        *(TypeKind.from_id(number) for number in range(TypeKind.BOOL.value, 24)),
        TypeKind.ENUM,
    }
)
NAMED = frozenset({ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR})
_TAKES_ANEW = frozenset({"operator=", "reset"})
_AROUND = frozenset({ck.UNEXPOSED_EXPR, ck.CXX_FUNCTIONAL_CAST_EXPR})  # a constructor's call
_ARRAYS = NAMED | {ck.ARRAY_SUBSCRIPT_EXPR}


def _given(call: Any) -> list[Any]:
    """The arguments of a call without those that are default values."""
    return [c for c in call.arguments if c.kind is not ck.UNEXPOSED_EXPR or c.operands]


def _made_by(value: Any | None) -> Any | None:
    """The call of a constructor, or what else an initializer is."""
    inner = None if value is None else value.stripped
    while inner is not None and inner.kind is ck.UNEXPOSED_EXPR and inner.operands:
        inner = inner.operands[0].stripped
    return inner


def by_reference(formals: list[Any], position: int) -> bool:
    return position < len(formals) and bool(formals[position].type.is_reference)


class VectorReader(ValueReader, ABC):
    """What the reader of expressions does with vectors."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        super().__init__(program, source)
        # References whose object is known: the elements that a loop goes through.
        self.bound: dict[str, Memory] = {}
        self.lists: frozenset[int] = frozenset()  # of requests, in the function that is read

    @abstractmethod
    def read(self, cursor: Any, effects: Effects) -> None: ...

    @abstractmethod
    def memory(self, cursor: Any, effects: Effects) -> Memory: ...

    @abstractmethod
    def points(self, cell: str, value: Any) -> None: ...

    @abstractmethod
    def place(self, cursor: Any, effects: Effects) -> Memory: ...

    @abstractmethod
    def _record(self, effects: Effects, place: Memory, cursor: Any, *, write: bool) -> None: ...

    def _elements(self, vector: Any, effects: Effects) -> Memory:
        """The memory that the vector which an expression names holds."""
        line = vector.location.line
        member = c_vectors.owner_of(vector)
        if member is None:
            found = Memory(self.key_of(c_vectors.one(vector)), True)
        else:
            held = self.place(member, effects)
            found = Memory(held.key, True, owner=held.owner)
        for index in c_vectors.row_of(vector):
            if index is not None:
                self.read(index, effects)
            found.indices.append(None if index is None else self.affine(index))
        effects.accesses.append(Access(found.key, False, False, line))
        return found

    def _element(self, cursor: Any, effects: Effects) -> Memory | None:
        """The element of a vector that a call of a method names."""
        name, vector = c_vectors.method(cursor)
        if vector is None or not self.is_element(name, c_vectors.ELEMENTS):
            return None
        found = self._elements(vector, effects)
        if name in ("operator[]", "at"):
            index = cursor.operands[-1]
            self.read(index, effects)
            found.indices.append(self.affine(index))
            if len(found.indices) == 1:
                found.parts, found.strides = self._split(index)
            if not found.strides:
                found.parts = ()
        else:
            found.indices.append(Affine(0) if name == "front" else None)
        return found

    def is_element(self, name: str, known: frozenset[str]) -> bool:
        """Whether a method names an element: `at` does where the program ends if there is none."""
        if name != "at" or not self.program.aborts:
            return name in known
        self.program.throws = True
        return True

    def vector_text(self, cursor: Any) -> str:
        """How the vector is named whose elements a pointer is to, wherever that means the same."""
        inner = cursor.stripped
        if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.ADDRESS_OF:
            inner = inner.operands[0].stripped
        _, vector = c_vectors.method(inner)
        if vector is None:
            return ""
        member = c_vectors.owner_of(vector)
        if member is not None and self.owner(member) is None:
            return ""
        if any(index is None or index.integer is None for index in c_vectors.row_of(vector)):
            return ""
        start, end = cc.spelled(vector)
        return self.source.data[start:end].decode(errors="replace")

    def copy_each(self, elements: Memory, variable: Any, effects: Effects) -> None:
        """Read that a variable becomes a copy of one element after the other."""
        self._record(effects, elements, variable, write=False)
        line = variable.location.line
        effects.accesses.append(Access(self.key_of(variable), False, True, line))

    @staticmethod
    def _is_whole_array(cursor: Any) -> bool:
        return cursor.type.is_array or c_std_arrays.extent_of(cursor.type) is not None

    def whole(self, cursor: Any, effects: Effects) -> Memory | None:
        """All elements of the array or vector that an expression names."""
        if c_vectors.named(cursor) is not None:
            found = self._elements(cursor, effects)
        elif c_vectors.is_vector(cursor.type):
            return None  # each element is a vector
        elif self._is_whole_array(cursor) and cursor.stripped.kind in _ARRAYS:
            found = self.place(cursor, effects)
            if found.inside is not None:  # which element that is in may change meanwhile
                element = replace(found.inside.element, exact=False)
                found.inside = replace(found.inside, element=element)
        else:
            return None
        found.exact = False
        return None if found.key == UNKNOWN_MEMORY else found

    def _method(self, cursor: Any, effects: Effects) -> bool:
        """Read the call of a vector's method; False where it is none."""
        name, vector = c_vectors.method(cursor)
        if vector is None:
            return self._row(cursor, effects)
        if self.is_element(name, c_vectors.ELEMENTS):
            self._record(effects, self.place(cursor, effects), cursor, write=False)
            return True
        found = self._elements(vector, effects)
        if name in c_vectors.ADDRESSES or name in c_vectors.SIZES:
            return True
        moves = name in c_vectors.MOVES
        declaration: Any = c_vectors.one(vector)
        line = cursor.location.line
        local = identity(declaration) in self.lists and found.key in self.program.request_lists
        if local or self._is_change(cursor, name, found, effects):
            self._change_list(cursor, name, vector, found.key, effects)
            self.program.resized_vectors.add(found.key)
            effects.accesses.append(Access(self._size_of(declaration), False, True, line))
            return True
        kind = ReasonKind.VECTOR_MOVES if moves else ReasonKind.VECTOR_METHOD
        effects.stop = effects.stop or kind(vector=declaration.spelling, method=name)
        effects.accesses.append(Access(self._size_of(declaration), False, True, line))
        given = _given(cursor)
        own = name in c_vectors.GROWS and all(self._converted(c, effects) for c in given)
        if c_vectors.is_owned(declaration.type):
            taken = given[1:] if name.startswith("operator") else given
            own = name in _TAKES_ANEW and self._made_anew(taken[0] if taken else None, effects)
        partners = [c_vectors.one(self._unmoved(child)) for child in given]
        facts = self.program.pointer_facts
        exchanged = name in ("swap", "operator=") and self._are_variables([declaration, *partners])
        if exchanged:  # each may hold the other's memory from now on
            other = self.key_of(partners[-1])
            facts += [(found.key, "copy", other), (other, "copy", found.key)]
        elif not own:
            form = "copy" if name in c_vectors.ITERATORS else "addr"
            facts.append(("escape", form, found.key))
        if name not in c_vectors.ITERATORS:
            self.note_sizes([vector, *map(self._unmoved, given)], exchanged=exchanged)
        if given and (not own or name != "resize" or len(given) > 1):
            effects.accesses.append(Access(found.key, True, True, line))
        for argument in [] if own else given:
            named = self._unmoved(argument)
            self.read(named, effects)
            if named.type.is_address:  # what a unique_ptr has from now on
                self.points("escape", named)
            if c_vectors.one(named) is not None:
                held = self._elements(named, effects)
                if not exchanged:
                    facts.append(("escape", "addr", held.key))
                effects.accesses += [Access(held.key, True, w, line) for w in (False, True)]
        return True

    def note_sizes(self, vectors: list[Any], *, exchanged: bool) -> None:
        """Note of what expressions name that the numbers of elements may change."""
        whole = [v for v in vectors if c_vectors.one(v) is not None and not c_vectors.row_of(v)]
        keys = [self.key_of(c_vectors.one(vector)) for vector in whole]
        if exchanged and len(keys) == len(vectors) == 2:
            self.program.exchanged_vectors.append((keys[0], keys[1]))
        else:
            self.program.resized_vectors.update(keys)

    def _row(self, cursor: Any, effects: Effects) -> bool:
        """Read a row of a vector of vectors; False where it is none, or not known of which."""
        array, _ = c_nested.row(cursor)
        if array is None or c_vectors.one(cursor) is None:
            return False
        found = self._elements(cursor, effects)
        found.indices += [None] * (1 + c_nested.depth_of(cursor.type))
        self._record(effects, found, cursor, write=False)
        return True

    def _is_change(self, cursor: Any, name: str, found: Memory, effects: Effects) -> bool:
        """Whether a method does to a list of requests what is followed through the program."""
        if found.key not in self.program.request_vectors or found.indices:
            return False
        whole = effects.alone
        if whole is None or whole.raw.second != cursor.raw.second:
            return False
        return is_change(cursor, name, self.source.data)

    def _change_list(self, cursor: Any, name: str, vector: Any, key: str, effects: Effects) -> None:
        """Read a method that changes a list of requests."""
        line = cursor.location.line
        taken = ""
        for child in _given(cursor):
            if is_no_request(self.source.data[slice(*cc.spelled(child))]):
                continue
            if name in TAKES:
                taken = self.key_of(child.stripped.referenced)
                if key in self.program.request_lists:
                    self.program.request_lists[key].add(taken)
            self.read(child.stripped, effects)
        place = self.source.data[slice(*cc.spelled(vector))].decode(errors="replace")
        effects.list_change = ListChange(key, place, name, taken)
        effects.accesses.append(Access(key, False, True, line))
        effects.accesses += [Access(key, True, write, line) for write in (False, True)]

    @staticmethod
    def _unmoved(cursor: Any) -> Any:
        """The expression that `std::move` is called on."""
        inner = cursor.stripped
        moved = inner.kind is ck.CALL_EXPR and inner.spelling == "move"
        return inner.operands[-1] if moved and len(inner.operands) == 2 else cursor

    @staticmethod
    def _are_variables(vectors: list[Any | None]) -> bool:
        """Whether two vectors are named, neither by a parameter: that is the caller's vector."""
        known = [vector for vector in vectors if vector is not None]
        named = len(known) == len(vectors) >= 2
        return named and all(vector.kind is not ck.PARM_DECL for vector in known)

    def construct(self, cursor: Any, effects: Effects) -> None:
        """Read the declaration of a vector."""
        plain = self.fill(cursor, cursor.initializer, effects)
        if plain and identity(cursor) in self.lists:
            self.program.request_lists.setdefault(self.key_of(cursor), set())
        size = self._size_of(cursor)
        effects.accesses.append(Access(size, False, True, cursor.location.line))
        count = self._made_with(cursor.initializer) if plain else None
        if count is not None and self.program.variables[size].kind == "local":
            self.program.definitions[size] = count

    def _made_with(self, value: Any | None) -> Affine | None:
        """The number of elements that a vector is constructed with."""
        inner = _made_by(value)
        if inner is None or inner.kind is not ck.CALL_EXPR or inner.spelling != "vector":
            return None
        given = _given(inner)
        if not given:
            return Affine(0)
        if c_vectors.one(given[0]) is not None:  # a copy
            return None if c_vectors.row_of(given[0]) else self._size(given[0])
        return self.affine(given[0]) if given[0].stripped.type.is_integer else None

    def fill(self, cursor: Any, value: Any | None, effects: Effects) -> bool:
        """Read what a vector, a variable or a member, is constructed from.

        False where it may have gotten handles of requests, or memory that is known elsewhere.
        """
        key = self.key_of(cursor)
        if c_vectors.is_owned(cursor.type) and self._made_anew(value, effects):
            return True
        inner = _made_by(value)
        plain = inner is None or (inner.kind is ck.CALL_EXPR and inner.spelling == "vector")
        for child in [] if inner is None or not plain else _given(inner):
            if c_vectors.one(child) is not None and not self._moved_from(child):
                found = self._elements(child, effects)
                effects.accesses.append(Access(found.key, True, False, child.location.line))
                plain = plain and not c_vectors.is_request(cursor.type)  # handles are copied
            else:
                plain = self._converted(child, effects) and plain
        if not plain:
            if inner is not None:
                self.read(inner, effects)
                self.note_sizes([self._unmoved(c) for c in inner.arguments], exchanged=False)
            effects.stop = effects.stop or ReasonKind.CONSTRUCT()
            self.program.pointer_facts.append(("escape", "addr", key))
        return plain

    def _made_anew(self, value: Any | None, effects: Effects) -> bool:
        """Whether a unique_ptr is given memory that nothing else knows; reads what makes it."""
        made = made_anew(value)
        own = made is not None
        for part in made or []:
            if part.kind is ck.CXX_NEW_EXPR:
                own = own and self.memory(part, effects).key.startswith("heap:")
            else:
                self.read(part, effects)
        return own

    def _converted(self, cursor: Any, effects: Effects) -> bool:
        """Whether an argument is a number that becomes one of another type, or no request.

        Of a vector of vectors also a vector that is made for it, of such arguments.
        """
        inner = cursor.stripped
        made = inner
        while made.kind in _AROUND and made.operands:  # the name of what is made comes first
            made = made.operands[-1].stripped
        if made.kind is ck.CALL_EXPR and made.spelling == "vector":
            return all(self._converted(child, effects) for child in _given(made))
        if inner.type.canonical.kind not in _NUMBERS and not self.is_null_request(cursor):
            return False
        self.read(inner, effects)
        return True

    def is_null_request(self, cursor: Any) -> bool:
        start, end = cc.spelled(cursor)
        return self.source.data[start:end] == b"MPI_REQUEST_NULL"

    @staticmethod
    def _moved_from(cursor: Any) -> bool:
        """Whether the vector is named through a cast, which may give its memory away."""
        while cursor.kind in (ck.UNEXPOSED_EXPR, ck.PAREN_EXPR):
            (cursor,) = cursor.operands
        return cursor.kind not in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR)

    def _vector(self, cursor: Any, name: str, position: int, effects: Effects) -> Argument:
        """A vector passed by reference: as the address of its first element."""
        start, end = cc.spelled(cursor)
        found = self._elements(cursor, effects)
        key = found.key
        self.program.pointer_facts.append((f"argument:{name}:{position}", "copy", key))
        self.program.passed_vectors.append((name, position, key))
        text = self.source.data[start:end].decode(errors="replace")
        argument = Argument(text, start, end, base=key, through=True)
        if None not in found.indices:
            inner = (Affine(0),) * (1 + c_nested.depth_of(cursor.stripped.type))
            argument.origin = (*inner, *reversed(found.indices))
        argument.owner = found.owner
        argument.pointer, argument.reads = True, effects.accesses
        return argument
