"""Variables that may begin with another value than that of success, as declarations say.

Assignments are read as statements. What variables of modules and files begin with is looked for in
the text: where a name is given another value anywhere, each variable of that name counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from imbrex.transform.model.program import Program
from imbrex.transform.model.sources import SourceFile, code_of_c

_OUTLIVING = ("static", "global", "host")
_CODE = rb"(?:(?:0|MPI_SUCCESS)\b|\(?\s*(?:MPI|mpi)_\w+\s*\()"
_VALUE = re.compile(rb"[=({]")
# A DATA statement of Fortran with the lines that go on with it, in either form.
_DATA = re.compile(
    rb"(?im)^[ \t]*(?:\d+[ \t]+)?data\b(?:[^\n&]*&[^\n]*\n|[^\n]*\n {5}[^ 0\n])*[^\n]*"
)


def begun_otherwise(program: Program, keys: Iterable[str]) -> set[str]:
    """Those of some variables that may have another value before a statement sets them."""
    known = [program.variables[key] for key in keys if key in program.variables]
    outliving = {variable.name for variable in known if variable.kind in _OUTLIVING}
    every = outliving | {variable.name for variable in known if variable.kind == "local"}
    found: set[str] = set()
    filled: set[str] = set()
    for source in (*program.files.values(), *program.headers.values()):
        found |= _begun_in(source, outliving) if outliving else set()
        filled |= _filled_in(source, every) if every and source.is_fortran else set()
    return {
        variable.key
        for variable in known
        if variable.name.lower() in (found if variable.kind in _OUTLIVING else filled)
    }


def begins_otherwise(declaration: bytes, name: str) -> bool:
    """Whether a declaration of C or C++ gives a variable another value than that of success."""
    if not _VALUE.search(declaration):
        return False
    found = re.search(rb"\b%s\s*(?:=(?!=)|[({])\s*([^,;)}]*)" % name.encode(), declaration)
    return found is not None and found[1].strip() not in (b"", b"0", b"MPI_SUCCESS")


def _begun_in(source: SourceFile, names: set[str]) -> set[str]:
    """The names, in small letters, that a file gives another value somewhere."""
    named = _any_of(names)
    if source.is_fortran:
        given = re.compile(rb"(?i)\b(%s)\s*=(?![=>]|\s*(?:0|MPI_SUCCESS)\b)" % named)
        return _filled_in(source, names) | _names(given.finditer(source.data))
    code = code_of_c(source.data)
    given = re.compile(rb"\b(%s)\s*=(?!=|\s*%s)" % (named, _CODE))
    braced = rb"\b(?:int|auto)\s+(%s)\s*[({](?!\s*(?:0|MPI_SUCCESS)?\s*[)}])" % named
    return _names(given.finditer(code)) | _names(re.finditer(braced, code))


def _filled_in(source: SourceFile, names: set[str]) -> set[str]:
    """Those that DATA statements and the like, `integer code /5/`, of a file of Fortran name."""
    named = _any_of(names)
    data = b"\n".join(match[0] for match in _DATA.finditer(source.data))
    return _names(re.finditer(rb"(?i)\b(%s)\b" % named, data)) | _names(
        re.finditer(rb"(?i)\b(%s)\s*/\s*[-+\w]" % named, source.data)
    )


def _any_of(names: set[str]) -> bytes:
    return b"|".join(re.escape(name.encode()) for name in sorted(names))


def _names(found: Iterator[re.Match[bytes]]) -> set[str]:
    return {match[1].decode(errors="replace").lower() for match in found}
