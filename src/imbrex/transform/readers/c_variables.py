"""C variables: the keys by which the model knows them, fields and allocated memory among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from clang.cindex import LinkageKind, StorageClass

from imbrex.transform.model.affine import Affine
from imbrex.transform.model.memory import UNKNOWN_MEMORY, Variable
from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.readers import c_cursor as cc
from imbrex.transform.readers import c_cursor_kinds as ck
from imbrex.transform.readers import c_methods, c_tables, c_vectors
from imbrex.transform.readers.c_lengths import written_lengths
from imbrex.transform.readers.cxx_library import is_library


class VariableReader(ABC):
    """Names the variables of one translation unit."""

    def __init__(self, program: Program, source: SourceFile) -> None:
        self.program = program
        self.source = source
        self.this = ""  # `this` of the method that is read
        self.lifetime: tuple[int, int] | None = None
        self.wanted: dict[str, Any] = {}  # instances of templates that are called, by name
        # Values of functions that are one expression: indices and strides, in their own terms.
        self.returned: dict[str, tuple[tuple[Affine, ...], tuple[Affine, ...]]] = {}

    @abstractmethod
    def affine(self, cursor: Any) -> Affine | None:
        """The expression as an affine form of integer variables, if it is one."""

    def key_of(self, declaration: Any) -> str:
        """The model's key of a declared variable; the variable is entered on first sight."""
        known: str | None = declaration.key
        if known is not None:
            return known
        if declaration.kind is ck.FIELD_DECL:
            known = declaration.key = self._key_of_field(declaration)
            return known
        location = declaration.location
        name = declaration.spelling
        external = declaration.linkage == LinkageKind.EXTERNAL
        key = f"g:{name}" if external else f"{name}@{location.file}:{location.offset}"
        if not external and declaration.tree.plus_plus:
            key += self._instance_of(declaration)
        if key not in self.program.variables:
            variable = self._variable(declaration, key, external)
            self.program.variables[key] = variable
            if c_vectors.declared(declaration):
                c_vectors.enter(self.program, key, variable, declaration)
        declaration.key = key
        return key

    @staticmethod
    def _instance_of(declaration: Any) -> str:
        """The instance of a template that a variable or parameter is of: each has its own."""
        parent = declaration.semantic_parent
        routines = (ck.FUNCTION_DECL, ck.CXX_METHOD, ck.CONSTRUCTOR)
        if parent is None or parent.kind not in routines or not parent.is_instance:
            return ""
        return str(parent.get_usr())

    def want(self, function: Any) -> None:
        """Have the instance of a template read that something of the program may run."""
        if not function.tree.plus_plus or not function.is_instance:
            return
        if is_library(function) or function.in_system_header:
            return
        definition = function.get_definition()
        if definition is not None:
            self.wanted.setdefault(function.get_usr(), definition)

    def _variable(self, declaration: Any, key: str, external: bool) -> Variable:
        kind_of = declaration.type
        named = kind_of.is_reference and (
            declaration.kind is ck.PARM_DECL or c_methods.names_object(declaration)
        )
        if named:  # as a pointer that is never set
            kind_of = kind_of.canonical.pointee
        if cc.points_to_rows(kind_of):
            self.program.to_rows.add(key)
        extents = cc.array_extents(kind_of)
        pointer = named or kind_of.is_pointer
        if named:
            extents = [None, *extents]
        elif pointer:
            extents = [None, *cc.array_extents(kind_of.canonical.pointee)]
        lengths = [None if extent is None else Affine(extent) for extent in reversed(extents)]
        for number, length in enumerate(written_lengths(declaration)):
            lengths[number] = lengths[number] or self.affine(length)
        bounds = tuple(
            (Affine(0), None if length is None else length.plus(Affine(-1))) for length in lengths
        )
        if declaration.kind is ck.PARM_DECL:
            kind = "parameter"
        elif external:
            kind = "global"
        elif (
            declaration.storage_class == StorageClass.STATIC
            or declaration.linkage == LinkageKind.INTERNAL
        ):
            kind = "static"
        else:
            kind = "local"
        return Variable(
            key,
            declaration.spelling,
            kind,
            element=cc.element_type(kind_of),
            element_bytes=_record_bytes(kind_of),
            pointer=pointer,
            bounds=bounds,
            volatile=kind_of.is_ordered,
            record="" if pointer else cc.record_of(kind_of),
            lifetime=self.lifetime if kind == "local" else None,
            line=declaration.location.line,
            reference=named,
            restricted=declaration.type.is_restricted,
            constant=kind == "static" and c_tables.is_constant(declaration),
        )

    def _field_key(self, cursor: Any) -> str:
        if cursor.referenced is not None and cursor.referenced.kind is ck.VAR_DECL:
            return self.key_of(cursor.referenced)  # a static member
        return self._key_of_field(cursor.referenced)

    def _key_of_field(self, declaration: Any) -> str:
        parent = declaration.semantic_parent if declaration is not None else None
        if declaration is None or parent is None:
            return UNKNOWN_MEMORY
        record = parent.type.canonical.spelling.replace("struct ", "")
        # The members of a union share their memory.
        union = parent.kind is ck.UNION_DECL
        key = f"field:{record}.{'*' if union else declaration.spelling}"
        if key not in self.program.variables:
            variable = self._variable(declaration, key, False)
            variable.kind, variable.record = "field", record
            # Many structures share the key, so that equal indices prove nothing but a difference.
            self.program.variables[key] = variable
            if not union and c_vectors.declared(declaration):
                c_vectors.enter(self.program, key, variable, declaration)
                variable.record = record
            if union and parent.type.holds_address:
                # What is stored as a pointer may be read as a number, and the reverse.
                self.program.pointer_facts += [("escape", "copy", key), (key, "addr", "external")]
                self.program.numbers.add((key, True))
        return key

    def _heap(self, cursor: Any) -> str:
        location = cursor.location
        key = f"heap:{location.file}:{location.offset}"
        if key not in self.program.variables:
            self.program.variables[key] = Variable(
                key, "allocated memory", "heap", line=location.line
            )
        return key

    def owner(self, cursor: Any) -> str | None:
        """The variable that the object of a member, or a pointer to it, is."""
        if cursor.kind is not ck.MEMBER_REF_EXPR:
            return None
        owners = cursor.operands
        if owners:
            return self._named(owners[0])
        of_object = cursor.referenced is not None and cursor.referenced.kind is ck.FIELD_DECL
        return self.this or None if of_object else None

    def enter_this(self, routine: str, declaration: Any) -> str:
        """The key of `this` in a method."""
        key = f"this@{routine}"
        record = declaration.semantic_parent.type.canonical.spelling
        self.program.variables[key] = Variable(
            key,
            "this",
            "parameter",
            element=record,
            pointer=True,
            bounds=((Affine(0), None),),
            line=declaration.location.line,
            reference=True,
        )
        return key

    def _named(self, cursor: Any) -> str | None:
        """The variable that is a structure or a pointer to one, as written."""
        cursor = cursor.stripped
        if cursor.kind is ck.UNARY_OPERATOR and cursor.unary_operator == cc.ADDRESS_OF:
            cursor = cursor.operands[0].stripped
            if cursor.type.is_pointer:
                return None
        if cursor.kind is ck.CXX_THIS_EXPR:
            return self.this or None
        if cursor.kind is not ck.DECL_REF_EXPR or cursor.referenced is None:
            return None
        if cursor.referenced.kind not in (ck.VAR_DECL, ck.PARM_DECL):
            return None
        if cursor.referenced.type.is_reference and cursor.referenced.kind is ck.VAR_DECL:
            return None
        return self.key_of(cursor.referenced)


def _record_bytes(kind: Any) -> int:
    """The size of the structures of numbers, or complex ones, that a pointer or an array leads to.

    0: there are none.
    """
    element = kind.innermost
    if element.is_pointer:
        element = element.pointee.innermost
    counted = element.is_record_of_numbers or element.is_complex
    return max(element.size_bytes, 0) if counted else 0
