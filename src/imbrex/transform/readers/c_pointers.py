"""What pointers of C hold: the facts that assignments, arguments and initial values add."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.linear_indices import index_of_parts
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Meant
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods
from imbrex.transform.readers.c_initial_values import pointers
from imbrex.transform.readers.c_memory import Effects, Memory
from imbrex.transform.readers.c_new_reader import NewReader, is_null
from imbrex.transform.readers.c_row_pointers import note_rows_set


class PointerReader(NewReader, ABC):
    """Notes what pointers of one translation unit may hold."""

    @abstractmethod
    def keep_reference(self, function: Any) -> None: ...

    @staticmethod
    def _cell(place: Memory) -> str:
        return f"*{place.key}" if place.through else place.key

    def points(self, cell: str, value: Any, owner: str = "") -> None:
        """Record what pointer values `cell` takes on from the expression `value`.

        `owner`: the object whose field the cell is.
        """
        inner = value.stripped
        facts = self.program.pointer_facts
        if inner.kind is ck.CONDITIONAL_OPERATOR:
            for branch in inner.operands[1:]:
                self.points(cell, branch, owner)
            return
        if is_null(inner):
            return
        note_rows_set(self, cell, owner, inner)
        if inner.kind is ck.INIT_LIST_EXPR:
            for child in inner.operands:
                self.points(cell, child)
            return
        named = inner
        if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.ADDRESS_OF:
            named = inner.operands[0].stripped
        function = named.referenced if named.kind is ck.DECL_REF_EXPR else None
        if function is not None and function.kind is ck.FUNCTION_DECL:
            self.want(function)
            self.keep_reference(function)
            facts.append((cell, "addr", f"function:{c_methods.routine_name(function)}"))
            return
        found = self.memory(value, Effects())
        self._note(cell, found.key, found.through, begins=found.begins)

    def _first(self, found: Memory) -> tuple[Affine | None, ...] | None:
        variable = self.program.variables.get(found.key)
        if variable is None:
            return None
        rank = len(variable.bounds)
        indices = list(found.indices)
        if found.parts and rank == 1 and len(indices) == 1 and found.offset is None:
            return tuple(reversed(found.parts))
        if len(indices) < rank:
            indices.append(found.offset if found.offset is not None else Affine(0))
        elif found.offset is not None:
            return None
        while len(indices) < rank:
            indices.append(Affine(0))
        return tuple(reversed(indices))

    def meant(self, declaration: Any, value: Any) -> Meant | None:
        """The memory that a local pointer of C is declared to name."""
        kind = declaration.type
        if declaration.linkage != LinkageKind.NO_LINKAGE or not kind.is_pointer:
            return None
        if declaration.storage_class == StorageClass.STATIC or is_null(value.stripped):
            return None
        if cc.element_type(kind) != cc.element_type(value.type):
            return None
        inner = Effects()
        found = self.memory(value, inner)
        plain = not (inner.calls or inner.stop or any(a.write for a in inner.accesses))
        if not plain or found.key not in self.program.variables:
            return None
        first = self._first(found) if found.exact else None
        if found.parts:
            parts = tuple(reversed(found.parts)), tuple(reversed(found.strides))
            first = (index_of_parts(*parts),) if found.exact else None
        owner, slot = found.owner, found.slot if found.through else ()
        return Meant(found.key, found.through, first, owner, slot)

    def initialize(self, kind: Any, value: Any) -> None:
        """Record what pointers in a structure, or in an array of them, are set to by a list."""
        fields = [field for field in kind.fields if field.type.holds_address]
        if not fields:
            return
        if value.stripped.kind is not ck.INIT_LIST_EXPR:
            return  # another structure, whose fields are the same to the model
        for field, leaf in pointers(kind, value.stripped):
            for each in fields if field is None else [field]:
                self.points(self._key_of_field(each), leaf)

    def _note_record(self, key: str, within: Memory) -> None:
        """Record the memory that a structure lies in, of which a field is named."""
        variable = self.program.variables.get(key)
        if variable is not None:
            cell = f"record:{variable.record}"
            if within.key == UNKNOWN_MEMORY:
                self.program.record_facts.add((cell, "addr", "external"))
            else:
                form = "copy" if within.through else "addr"
                self.program.record_facts.add((cell, form, within.key))

    def _note(self, cell: str, key: str, through: bool, *, begins: bool) -> None:
        """Record that a cell may hold the address of a variable, or what it holds.

        `begins`: not an address inside it.
        """
        if not begins:
            self.program.inner_addresses.add(cell)
        if key == UNKNOWN_MEMORY:
            self.program.pointer_facts.append((cell, "addr", "external"))
        else:
            self.program.pointer_facts.append((cell, "copy" if through else "addr", key))
