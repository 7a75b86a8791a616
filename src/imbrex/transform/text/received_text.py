"""The text around an MPI_Sendrecv that receives into memory of its own.

It declares and allocates the memory, copies as much of it as has come, and frees it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from imbrex.transform.model.calls import Call
from imbrex.transform.model.memory import Variable
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.sources import SourceFile
from imbrex.transform.text.edits import Edit
from imbrex.transform.text.second_buffers import declarations
from imbrex.transform.text.wrapping import wrapped

_LONGEST = 90


@dataclass(frozen=True, slots=True)
class Names:
    """The names of what is declared."""

    came: str  # the memory
    number: str  # how many elements have come
    index: str  # of one of them
    extents: str  # of the array
    status: str  # one of its own, or ""


@dataclass(frozen=True, slots=True)
class Selected:
    """The elements of an array of Fortran that are received."""

    low: str  # the lower bound where they are the first of one dimension, else ""
    count: str


@dataclass(frozen=True, slots=True)
class Texts:
    """What stands in front of the loop, behind the call and behind the loop."""

    front: str
    status: str  # the argument of MPI_Sendrecv
    behind_call: str
    behind_loop: str
    declared: tuple[Edit, ...] = ()


def c_texts(
    source: SourceFile,
    variable: Variable,
    call: Call,
    names: Names,
    numbers: int,
    indents: tuple[str, str],
) -> Texts:
    """What C needs. `numbers`: in an element that is a structure of them, else 0.

    `indents`: of the loop and of the call.
    """
    buffer, count, kind, *_, status = (argument.text.strip() for argument in call.arguments)
    outside, here = indents
    came, number = names.came, names.number
    element = named_type(source, variable)
    if source.is_cxx:
        front = f"{outside}{element} *{came} = new {element}[{count}];\n"
        release = f"delete[] {came};"
    else:
        front = f"{outside}{element} *{came} = malloc(sizeof({element}) * (size_t)({count}));\n"
        release = f"free({came});"
    front += f"{outside}int {number};\n"
    if names.status:
        front += f"{outside}MPI_Status {names.status};\n"
        status = f"&{names.status}"
    asks = "MPI_Get_elements" if numbers else "MPI_Get_count"
    copy = f"\n{here}{asks}({status}, {kind}, &{number});\n{here}"
    if numbers:
        size = f"sizeof({element}) / {numbers} * (size_t){number}"
        copy += f"memcpy({buffer}, {came}, {size});"
    else:
        index = "imbrex_i"
        copy += f"for (int {index} = 0; {index} < {number}; {index}++)"
        copy += f"\n{here}    {buffer}[{index}] = {came}[{index}];"
    return Texts(front, status, copy, f"\n{outside}{release}")


def named_type(source: SourceFile, variable: Variable) -> str:
    """The elements' type as the language says it: C has structures by their tag or by a name."""
    tag = re.search(rb"\bstruct\s+%b\b" % re.escape(variable.element.encode()), source.data)
    tagged = variable.of_structures and tag is not None and not source.is_cxx
    return f"struct {variable.element}" if tagged else variable.element


def fortran_texts(
    source: SourceFile,
    routine: Routine,
    variable: Variable,
    call: Call,
    names: Names,
    part: Selected,
    indents: tuple[str, str],
) -> Texts:
    """What Fortran in free form needs: declarations stand where the routine has its own.

    `indents`: of the loop and of the call.
    """
    outside, here = indents
    came, number, array = names.came, names.number, variable.name
    rank = len(variable.bounds)
    status = names.status or call.arguments[8].text.strip()
    kind = call.arguments[2].text.strip()
    error = [argument.text.strip() for argument in call.arguments[9:]]
    asked = f"call MPI_Get_count({', '.join([status, kind, number, *error])})"
    lines = [wrapped(source.language, asked, len(here), here)]
    if part.low:
        ahead = "" if part.low == "1" else f"{part.low} - 1 + "
        bounds, last = f"{part.low}:{ahead}{part.count}", f"{ahead}{number}"
        lines.append(f"{array}({part.low}:{last}) = {came}({part.low}:{last})")
    else:
        bounds = ", ".join(f"lbound({array}, {n}):ubound({array}, {n})" for n in range(1, rank + 1))
        everything = ", ".join([":"] * rank)
        to, origin = (_element(each, array, rank, names, here + "    ") for each in (array, came))
        lines += [
            f"if ({number} == {part.count}) {array}({everything}) = {came}({everything})",
            f"if ({number} < {part.count}) then",
            f"  do {names.index} = 0, {number} - 1",
            f"    {to} = &",
            f"        {origin}",
            "  end do",
            "end if",
        ]
    shape = ", ".join([":"] * rank)
    integers = [number, *([] if part.low else [names.index, f"{names.extents}({rank})"])]
    declared = [
        f"{variable.element}, allocatable :: {came}({shape})",
        f"integer :: {', '.join(integers)}",
    ]
    if names.status and routine.interface == "mpi_f08":
        declared.append(f"type(MPI_Status) :: {names.status}")
    elif names.status:
        declared.append(f"integer :: {names.status}(MPI_STATUS_SIZE)")
    front = wrapped(source.language, f"allocate({came}({bounds}))", len(outside), outside)
    if not part.low:
        front += f"\n{outside}{names.extents} = ubound({array}) - lbound({array}) + 1"
    return Texts(
        f"{outside}{front}\n",
        status,
        "".join(f"\n{here}{line}" for line in lines),
        f"\n{outside}deallocate({came})",
        tuple(declarations(source, routine, declared)),
    )


def _element(name: str, array: str, rank: int, names: Names, indent: str) -> str:
    """An element of the array, or of the memory for it, numbered from 0 in the array's order."""
    found, left = [], names.index
    for dimension in range(1, rank + 1):
        extent = f"{names.extents}({dimension})"
        index = left if dimension == rank else f"mod({left}, {extent})"
        found.append(f"lbound({array}, {dimension}) + {index}")
        left = f"{left} / {extent}"
    line = f"{name}({', '.join(found)})"
    if len(indent) + len(line) <= _LONGEST:
        return line
    between = f", &\n{indent}        "
    return f"{name}({between.join(found)})"
