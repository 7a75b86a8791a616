"""libclang's functions as its C interface has them, with structures that cost little to read.

The binding's own structures hold arrays and convert results in ways that cost more than the calls.
"""

from __future__ import annotations

import ctypes
from typing import Any

from clang import cindex

_LIB = ctypes.CDLL(cindex.conf.lib._name)


class RawCursor(ctypes.Structure):
    """CXCursor."""

    _fields_ = (
        ("kind_id", ctypes.c_int),
        ("more", ctypes.c_int),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("third", ctypes.c_void_p),
    )


class RawType(ctypes.Structure):
    """CXType."""

    _fields_ = (
        ("kind_id", ctypes.c_int),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
    )


class Location(ctypes.Structure):
    """CXSourceLocation."""

    _fields_ = (
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("number", ctypes.c_uint),
    )


class Extent(ctypes.Structure):
    """CXSourceRange."""

    _fields_ = (
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("start", ctypes.c_uint),
        ("end", ctypes.c_uint),
    )


class _String(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("flags", ctypes.c_uint))


def _function(name: str, result: Any, *arguments: Any) -> Any:
    found = getattr(_LIB, name)
    found.argtypes, found.restype = list(arguments), result
    return found


_VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, RawCursor, RawCursor, ctypes.py_object)
_visit = _function("clang_visitChildren", ctypes.c_uint, RawCursor, _VISITOR, ctypes.py_object)
extent_of = _function("clang_getCursorExtent", Extent, RawCursor)
range_start = _function("clang_getRangeStart", Location, Extent)
range_end = _function("clang_getRangeEnd", Location, Extent)
location_of = _function("clang_getCursorLocation", Location, RawCursor)
_location_at = _function(
    "clang_getLocationForOffset", Location, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint
)
_file_of_name = _function("clang_getFile", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_is_of_the_system = _function("clang_Location_isInSystemHeader", ctypes.c_int, Location)
referenced = _function("clang_getCursorReferenced", RawCursor, RawCursor)
initializer = _function("clang_Cursor_getVarDeclInitializer", RawCursor, RawCursor)
_null = _function("clang_getNullCursor", RawCursor)
type_of = _function("clang_getCursorType", RawType, RawCursor)
canonical = _function("clang_getCanonicalType", RawType, RawType)
element_type = _function("clang_getElementType", RawType, RawType)
pointee = _function("clang_getPointeeType", RawType, RawType)
declaration_of = _function("clang_getTypeDeclaration", RawCursor, RawType)
is_plain = _function("clang_isPODType", ctypes.c_uint, RawType)
result_type = _function("clang_getResultType", RawType, RawType)
size_of = _function("clang_Type_getSizeOf", ctypes.c_longlong, RawType)
element_count = _function("clang_getNumElements", ctypes.c_longlong, RawType)
binary_operator = _function("clang_getCursorBinaryOperatorKind", ctypes.c_int, RawCursor)
unary_operator = _function("clang_getCursorUnaryOperatorKind", ctypes.c_int, RawCursor)
linkage = _function("clang_getCursorLinkage", ctypes.c_int, RawCursor)
is_virtual = _function("clang_CXXMethod_isVirtual", ctypes.c_uint, RawCursor)
is_pure = _function("clang_CXXMethod_isPureVirtual", ctypes.c_uint, RawCursor)
is_defaulted = _function("clang_CXXMethod_isDefaulted", ctypes.c_uint, RawCursor)
is_deleted = _function("clang_CXXMethod_isDeleted", ctypes.c_uint, RawCursor)
is_static = _function("clang_CXXMethod_isStatic", ctypes.c_uint, RawCursor)
template_of = _function("clang_getSpecializedCursorTemplate", RawCursor, RawCursor)
_count_type_arguments = _function("clang_Type_getNumTemplateArguments", ctypes.c_int, RawType)
_type_argument = _function("clang_Type_getTemplateArgumentAsType", RawType, RawType, ctypes.c_uint)
storage_class = _function("clang_Cursor_getStorageClass", ctypes.c_int, RawCursor)
_evaluate = _function("clang_Cursor_Evaluate", ctypes.c_void_p, RawCursor)
_result_kind = _function("clang_EvalResult_getKind", ctypes.c_int, ctypes.c_void_p)
_result = _function("clang_EvalResult_getAsLongLong", ctypes.c_longlong, ctypes.c_void_p)
_forget = _function("clang_EvalResult_dispose", None, ctypes.c_void_p)
_count_arguments = _function("clang_Cursor_getNumArguments", ctypes.c_int, RawCursor)
_argument = _function("clang_Cursor_getArgument", RawCursor, RawCursor, ctypes.c_uint)
_file_name = _function("clang_getFileName", _String, ctypes.c_void_p)
_cursor_spelling = _function("clang_getCursorSpelling", _String, RawCursor)
_type_spelling = _function("clang_getTypeSpelling", _String, RawType)
_characters = _function("clang_getCString", ctypes.c_char_p, _String)
_dispose = _function("clang_disposeString", None, _String)
_expansion = _function(
    "clang_getInstantiationLocation",
    None,
    Location,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint),
)
_line, _offset, _file = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_void_p()
_LINE, _OFFSET, _FILE = ctypes.byref(_line), ctypes.byref(_offset), ctypes.byref(_file)


_NULL = _null().kind_id  # only the null cursor is of this kind


def is_null(raw: Any) -> bool:
    """Whether a cursor stands for nothing; asking libclang costs a call per reference."""
    return bool(raw.kind_id == _NULL)


def raw_cursor(cursor: Any) -> Any:
    """The structure of a cursor of the binding."""
    return RawCursor.from_buffer_copy(cursor)


def binding_cursor(raw: Any, unit: Any) -> Any:
    """A cursor of the binding, which looks for its unit in an attribute."""
    found = cindex.Cursor.from_buffer_copy(raw)
    found._tu = unit
    return found


def location_at(unit: Any, name: str, offset: int) -> Any:
    """The location of a byte of a file of a unit."""
    return _location_at(unit.obj, cindex.File.from_name(unit, name).obj, offset)


def numbers_of_header(unit: Any, name: str, size: int) -> range:
    """The numbers of all locations in a header of the system that has so many bytes, but for what
    macros make; none where the unit has not read it as such.
    """
    handle = _file_of_name(unit.obj, name.encode())
    first = _location_at(unit.obj, handle, 0)
    if not handle or not _is_of_the_system(first):
        return range(0)
    return range(first.number, first.number + size + 1)


def where(location: Any) -> tuple[int, int]:
    """Line and byte offset (of the macro's use, where the place comes from one)."""
    _expansion(location, None, _LINE, None, _OFFSET)
    return _line.value, _offset.value


def file_of(location: Any) -> int | None:
    """The handle of the file of a location; None where it is in none."""
    _expansion(location, _FILE, None, None, None)
    return _file.value


def _append(child: Any, _parent: Any, found: Any) -> int:
    found.append(child)
    return 1  # go on with the next child


_collect = _VISITOR(_append)


def children(raw: Any) -> list[Any]:
    found: list[Any] = []
    _visit(raw, _collect, found)
    return found


def arguments(raw: Any) -> list[Any]:
    return [_argument(raw, number) for number in range(_count_arguments(raw))]


def type_arguments(raw: Any) -> list[Any]:
    """The types that a class template is instantiated for."""
    return [_type_argument(raw, number) for number in range(_count_type_arguments(raw))]


_count_arguments_of = _function("clang_Cursor_getNumTemplateArguments", ctypes.c_int, RawCursor)
_argument_kind = _function(
    "clang_Cursor_getTemplateArgumentKind", ctypes.c_int, RawCursor, ctypes.c_uint
)
_argument_type = _function(
    "clang_Cursor_getTemplateArgumentType", RawType, RawCursor, ctypes.c_uint
)
_argument_value = _function(
    "clang_Cursor_getTemplateArgumentValue", ctypes.c_longlong, RawCursor, ctypes.c_uint
)
_TYPE, _NUMBER = 1, 4  # kinds of template arguments


def function_arguments(raw: Any) -> list[tuple[str, str]]:
    """What a function template is instantiated for: whether each is a type or number, its text."""
    found = []
    for number in range(_count_arguments_of(raw)):
        kind = _argument_kind(raw, number)
        if kind == _TYPE:
            found.append(("type", type_spelling(canonical(_argument_type(raw, number)))))
        elif kind == _NUMBER:
            found.append(("number", str(_argument_value(raw, number))))
        else:
            found.append(("", ""))
    return found


_FIELD_VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, RawCursor, ctypes.py_object)
_visit_fields = _function(
    "clang_Type_visitFields", ctypes.c_uint, RawType, _FIELD_VISITOR, ctypes.py_object
)


def _append_field(field: Any, found: Any) -> int:
    found.append(field)
    return 1


_collect_field = _FIELD_VISITOR(_append_field)


def fields(raw: Any) -> list[Any]:
    """The fields of a class, also of an instance of a template."""
    found: list[Any] = []
    _visit_fields(raw, _collect_field, found)
    return found


def integer(raw: Any) -> int | None:
    """The value of an integer constant expression."""
    result = _evaluate(raw)
    if not result:
        return None
    try:
        return int(_result(result)) if _result_kind(result) == 1 else None
    finally:
        _forget(result)


def _text(string: Any) -> str:
    found = (_characters(string) or b"").decode(errors="surrogateescape")
    _dispose(string)
    return found


def spelling(raw: Any) -> str:
    return _text(_cursor_spelling(raw))


def type_spelling(raw: Any) -> str:
    return _text(_type_spelling(raw))


def file_name(handle: int) -> str:
    return _text(_file_name(handle))
