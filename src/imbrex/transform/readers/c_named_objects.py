"""Objects that an expression picks, `grids[i]`, `this->left`, `*p`: each a name of its own.

Such an expression names one object as long as nothing that it reads is set. So it is a reference in
the routine, known by its text, that counts as changed where one of these is (`Program.named_by`).
"""

from __future__ import annotations

from typing import Any

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import Variable
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers.c_variables import VariableReader
from imbrex.transform.readers.cxx_library import is_library

_PICK = frozenset({"operator[]", "operator->", "operator*"})
# Those whose elements stay where they are until a method that may move them is called.
_CONTAINERS = frozenset({"vector", "array", "deque", "unique_ptr", "shared_ptr"})
_ARITHMETIC = frozenset({cc.ADD, cc.SUBTRACT, cc.MULTIPLY, cc.DIVIDE, cc.REMAINDER})


class NamedObjectReader(VariableReader):
    """Gives names to the objects that the expressions of one translation unit pick."""

    function = ""  # the function that is read

    def named_object(self, cursor: Any) -> tuple[str, set[str]] | None:
        """The name of an object of a class, and the variables that say which it is.

        None where a variable names it, or none may.
        """
        inner = cursor.stripped
        if inner.kind in (ck.DECL_REF_EXPR, ck.CXX_THIS_EXPR) or not self.function:
            return None
        parts = self._picked_by(inner)
        if not parts:
            return None
        start, end = cc.spelled(inner)
        text = self.source.data[start:end].decode(errors="replace")
        key = f"object:{''.join(text.split())}:{'/'.join(sorted(parts))}@{self.function}"
        if key not in self.program.variables:
            kind = inner.type.canonical
            kind = kind.pointee if kind.is_pointer else kind
            self.program.variables[key] = Variable(
                key,
                text,
                "local",
                element=cc.element_type(kind),
                pointer=True,
                bounds=((Affine(0), None),),
                line=inner.location.line,
                reference=True,
            )
            for part in parts:
                self.program.named_by.setdefault(part, set()).add(key)
            holder = self._holder(inner)
            if holder:
                self.program.member_objects[key] = (holder, self._field_key(inner))
        return key, parts

    def _holder(self, cursor: Any) -> str:
        """The object that one which is a member is in: this one, or a variable; else ""."""
        if cursor.kind is not ck.MEMBER_REF_EXPR or cursor.type.is_address:
            return ""
        field = cursor.referenced
        if field is None or field.kind is not ck.FIELD_DECL or field.type.is_reference:
            return ""
        within = cursor.operands[0].stripped if cursor.operands else None
        if within is None or within.kind is ck.CXX_THIS_EXPR:
            return self.this
        named = within.referenced if within.kind is ck.DECL_REF_EXPR else None
        if named is None or named.kind not in (ck.VAR_DECL, ck.PARM_DECL):
            return ""
        return "" if within.type.is_address else str(self.key_of(named))

    def _picked_by(self, cursor: Any) -> set[str] | None:
        """The variables that say which object it is; None where evaluating it does more."""
        inner = cursor.stripped
        if inner.kind is ck.CXX_THIS_EXPR:
            return {self.this} if self.this else None
        if inner.kind is ck.DECL_REF_EXPR:
            named = inner.referenced
            known = named is not None and named.kind in (ck.VAR_DECL, ck.PARM_DECL)
            return {self.key_of(named)} if known and not inner.type.is_ordered else None
        if inner.kind is ck.MEMBER_REF_EXPR:
            field = inner.referenced
            if field is None or field.kind is not ck.FIELD_DECL or inner.type.is_ordered:
                return None
            own = {self.this} if self.this else None
            within = self._picked_by(inner.operands[0]) if inner.operands else own
            return None if within is None else within | {self._field_key(inner)}
        if inner.type.is_pointer and not self._is_in_variable(inner):
            return None  # of a pointer in other memory it is not known where that is set
        if inner.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            return self._both(self._picked_by(inner.operands[0]), self._index(inner.operands[1]))
        if inner.kind is ck.UNARY_OPERATOR and inner.unary_operator == cc.DEREFERENCE:
            return self._picked_by(inner.operands[0])
        if inner.kind is ck.CALL_EXPR and inner.spelling in _PICK:
            function = inner.referenced
            if function is None or not is_library(function) or not inner.arguments:
                return None
            container, *indices = inner.arguments
            record = container.type.record
            if record is None or record.spelling not in _CONTAINERS:
                return None
            found = self._picked_by(container)
            for index in indices:
                found = self._both(found, self._index(index))
            return found
        return None

    @staticmethod
    def _is_in_variable(cursor: Any) -> bool:
        """Whether an element lies in a variable or a field, not where a pointer leads."""
        while cursor.kind is ck.ARRAY_SUBSCRIPT_EXPR:
            cursor = cursor.operands[0].stripped
            if not cursor.type.is_array:
                return False
        return cursor.kind is not ck.UNARY_OPERATOR

    def _index(self, cursor: Any) -> set[str] | None:
        """The variables that an integer without side effects is computed of."""
        inner = cursor.stripped
        if inner.kind is ck.INTEGER_LITERAL:
            return set()
        if not inner.type.is_number:
            return None
        if inner.kind is ck.BINARY_OPERATOR and inner.binary_operator in _ARITHMETIC:
            return self._both(*(self._index(side) for side in inner.operands))
        plain = inner.kind in (ck.DECL_REF_EXPR, ck.MEMBER_REF_EXPR)
        return self._picked_by(inner) if plain else None

    @staticmethod
    def _both(left: set[str] | None, right: set[str] | None) -> set[str] | None:
        return None if left is None or right is None else left | right
