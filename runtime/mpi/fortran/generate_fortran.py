"""Write the Fortran wrappers: `generate_fortran.py MPICC OUTPUT_DIR [--without NAMES]`.

Each is the body that the C wrapper has, in another shell: handles, statuses and indices of Fortran
are converted before and after, and the call goes to the library's own Fortran symbol. Entry points
of one MPI function (x is the name in lower case):

* `mpi_x_` and its other spellings: mpif.h and `use mpi`;
* `mpi_x_f08_`: `use mpi_f08` without choice buffers, and all of it in Open MPI;
* `mpi_x_f08ts_`, `mpi_x_f08ts_large_`: `use mpi_f08` with buffers as descriptors. The library turns
  the descriptor into an address and a datatype and calls the C function MPI_X: so these forward
  untouched, and the wrapper of the C function records with the Fortran caller's address;
* `mpi_x_cptr_` where a buffer is a type(c_ptr), `mpi_x_f08_large_` for what has large counts but no
  buffer.

Standard library only. Output: fortran_wrappers.c.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "generate"))

import header  # noqa: E402
from bodies import (  # noqa: E402
    Templates,
    fill,
    leaves_nothing_open,
    no_need,
    template_and_holes,
)
from database import Database, Facts  # noqa: E402
from generate import coverage, operation_of, parameters_of, write  # noqa: E402
from observe import FORTRAN, observed  # noqa: E402

# Handles that are read before the call, not only afterwards: (kind, argument).
_READ_FIRST = {(kind, "request") for kind in ("completion", "start", "request_free", "cancel")}
_READ_FIRST |= {("win_free", "win"), ("mrecv", "message")}


def _has_form(facts: Facts, form: str) -> bool:
    """Whether a function has further symbols in Fortran: `cptr`, of its form with a buffer as a
    type(c_ptr), the same arguments; `large`, of that with large counts, where it has no buffer."""
    return form in str(facts.fields.get("fortran_forms", "")).split()


@dataclass(frozen=True)
class Conversion:
    """What one argument needs: C before and after the call, and what is passed on in its place.

    `room` names an array that may be missing for lack of memory: then nothing is measured."""

    before: str = ""
    after: str = ""
    passed: str = ""
    room: str = ""


def hidden_lengths(function: header.Function) -> int:
    """How many lengths of character arguments follow ierror."""
    assert function.parameters is not None
    return sum(bool(re.search(r"\bchar\b", p.declaration)) for p in function.parameters)


def conversion(declaration: str, name: str, kind: str) -> Conversion:
    """For an argument of the C type `declaration` (with `{}` for its name) that the body uses."""
    given = f"ix_f_{name}"
    if name == "required":
        return Conversion(f"int required = *(const MPI_Fint *){given};", passed="&required")
    ctype = " ".join(declaration.replace("const ", "").replace("{}", "").split()).replace(
        " []", "[]"
    )
    if name in {"status", "statuses"}:
        many = "ES" if name == "statuses" else ""
        return Conversion(
            f"MPI_Status *{name} = IX_F_STATUS{many}({given});",
            passed=f"({name} == MPI_STATUS{many}_IGNORE ? {given} : {name})",
        )
    if name == "index":
        return Conversion(
            "int ix_index = MPI_UNDEFINED, *index = &ix_index;",
            f"ix_index = ix_f_position(*(MPI_Fint *){given}, ix_first)",
        )
    if name == "indices":
        return Conversion(
            "IX_F_ROOM(int, indices, count);",
            "ix_f_positions(indices, "
            f"{given}, ix_is_index(*outcount, count + 1) ? *outcount : 0, ix_first)",
            room="indices",
        )
    if name == "requests":
        before = f"IX_F_REQUESTS(requests, {given}, count)"
        if kind == "start":
            return Conversion(f"{before};", room="requests")
        return Conversion(
            f"{before};", f"IX_F_REFRESH_REQUESTS(requests, {given}, count)", room="requests"
        )
    if ctype in {"MPI_Datatype[]", "MPI_Datatype *"}:
        return Conversion(f"const MPI_Fint *{name} = {given};")
    single = re.fullmatch(r"MPI_(\w+) \*", ctype)
    if single and name in {"request", "message", "win", "newcomm"}:
        macro = "IX_F_HANDLE_IN" if (kind, name) in _READ_FIRST else "IX_F_HANDLE_OUT"
        refresh = (
            "" if kind in {"start", "cancel"} else f"IX_F_REFRESH({single[1]}, {name}, {given})"
        )
        return Conversion(f"{macro}({single[1]}, {name}, {given});", refresh)
    value = re.fullmatch(r"MPI_(Comm|Datatype|Group|Message|Op|Request|Win)", ctype)
    if value:
        return Conversion(f"MPI_{value[1]} {name} = IX_F2C({value[1]}, {given});")
    if ctype == "void *":
        return Conversion(f"const void *{name} = ix_f_buffer({given});")
    if ctype.endswith(("[]", "*")):
        scalar = ctype.removesuffix("[]").removesuffix("*").strip()
        return Conversion(f"{scalar} *{name} = {given};")
    return Conversion(f"{ctype} {name} = *(const {ctype} *){given};")


@dataclass(frozen=True)
class Shape:
    """The arguments of a Fortran form: names, of which the C function knows `parameters`."""

    names: list[str]
    hidden: int
    ierror: bool = True

    @property
    def given(self) -> list[str]:
        return [f"ix_f_{n}" for n in self.names]

    @property
    def declared(self) -> str:
        declared = [f"void *{n}" for n in self.given]
        declared += ["MPI_Fint *ix_f_ierror"] if self.ierror else []
        declared += [f"size_t ix_f_length{i}" for i in range(self.hidden)]
        return ", ".join(declared)

    @property
    def lengths(self) -> list[str]:
        return [f"ix_f_length{i}" for i in range(self.hidden)]

    @property
    def pointer(self) -> str:
        types = ["void *"] * len(self.names) + (["MPI_Fint *"] if self.ierror else [])
        return f"void (*)({', '.join(types + ['size_t'] * self.hidden) or 'void'})"


def shape_of(name: str, parameters: list[tuple[str, str]], function: header.Function) -> Shape:
    """The Fortran arguments: those of C, without argc and argv of MPI_Init and MPI_Init_thread."""
    names = [n for _, n in parameters]
    if name in {"MPI_Init", "MPI_Init_thread"}:
        return Shape(names[2:], 0)
    return Shape(names, hidden_lengths(function))


def counts_positions(facts: Facts, shape: Shape) -> bool:
    """Whether the library returns positions in an array of requests."""
    return facts.kind in {"completion", "peek"} and bool({"index", "indices"} & set(shape.names))


def uses(body: str, name: str) -> bool:
    code = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return re.search(rf"\b{name}\b", code) is not None


def recorder(name: str, function: header.Function, facts: Facts, templates: Templates) -> str:
    """`ix_f_<x>`: the body that `mpi_x_` and `mpi_x_f08_` share."""
    parameters = [
        (p.declaration, n)
        for p, (_, n) in zip(function.parameters or (), parameters_of(function, facts), strict=True)
    ]
    template, holes = template_and_holes(name, facts)
    body = templates[template]
    observe_before, observe_after = observed(facts, FORTRAN)
    told = observe_before + observe_after
    body_used = told + fill(body, {**dict.fromkeys(_SHELL, ""), **holes})
    shape = shape_of(name, parameters, function)
    known = {
        n: conversion(d, n, facts.kind)
        for d, n in parameters
        if n in shape.names and uses(body_used, n)
    }
    # A count comes before the list that it counts.
    ordered = sorted(known, key=lambda n: n in {"requests", "indices", "statuses"})
    passed = [
        known[n].passed if n in known and known[n].passed else f"ix_f_{n}" for n in shape.names
    ]
    call = f"(({shape.pointer})ix_next)"
    if name == "MPI_Init":
        call = f"(({shape.pointer})ix_f_init_of(ix_next))"
    measured = ", ".join([*passed, "&ix_f_rc", *shape.lengths])
    plain = ", ".join([*shape.given, "ix_f_ierror", *shape.lengths])
    before = "\n    ".join(known[n].before for n in ordered if known[n].before)
    for room in (known[n].room for n in ordered if known[n].room):
        before += (
            f"\n    if (IX_UNLIKELY(!{room})) {{\n        {call}({plain});\n        return;\n    }}"
        )
    need = no_need(facts)
    forwarded = f"{call}({plain}); return"
    if need and facts.kind != "completion":  # it asks for the arguments as C has them
        before += f"\n    IX_UNLESS_NEEDED({need}, {forwarded});"
    after = "".join(f";\n    {known[n].after}" for n in ordered if known[n].after)
    first = "int ix_first, " if counts_positions(facts, shape) else ""
    signature = f"static void ix_f_{name}(ix_f_any *ix_next, IX_F_SITE, {first}{shape.declared})"
    unmeasured = f"IX_UNLESS_MEASURING({forwarded});"
    if need and facts.kind == "completion":
        unmeasured = f"IX_UNLESS_NEEDED({need}, {forwarded});"
    if leaves_nothing_open(facts):
        alone = f"{call}({plain})"
        unmeasured = f"IX_UNLESS_RECORDING({alone}; return, {alone}, return);"
    if holes.get("BYTES"):
        for sums in ("SUM_TYPES(", "SUM_PEERS_TYPES("):
            holes["BYTES"] = holes["BYTES"].replace(f"IX_{sums}", f"IX_F_{sums}")
    if holes.get("BLOCKS"):
        holes["BLOCKS"] = holes["BLOCKS"].replace("IX_LOG_BLOCKS_TYPES", "IX_F_LOG_BLOCKS_TYPES")
    declare = "MPI_Fint ix_f_rc = MPI_SUCCESS"
    shell = {
        "SIGNATURE": signature,
        "UNMEASURED": f"{unmeasured}\n    {before}" if before else unmeasured,
        "ARGUMENTS": before,
        "ENTER": f"ix_enter_from({operation_of(name)}, ix_site, NULL)",
        "CALL": f"{observe_before}{declare};\n    {call}({measured});\n"
        f"    int rc = ix_f_rc{after}{observe_after}",
        "RETURN": "IX_F_RETURN(rc)",
        "LEAVE": "ix_observed_leave(ix_t, rc);\n    IX_F_RETURN(rc)",
    }
    return fill(body, {**shell, **holes})


_SHELL = ("SIGNATURE", "UNMEASURED", "ARGUMENTS", "ENTER", "CALL", "RETURN", "LEAVE")


def spellings(stem: str) -> list[str]:
    """A Fortran name as compilers write it; the first is what compilers on Linux use."""
    return [f"{stem}_", f"{stem}__", stem, stem.upper()]


def entry(symbols: list[str], shape: Shape, body: str) -> str:
    """Exported functions that look up the library's own and run `body`."""
    first, *aliases = symbols
    names = ", ".join(f'"{s}"' for s in symbols)
    lines = [
        f"IX_EXPORT void {first}({shape.declared or 'void'})",
        "{",
        "    static ix_f_any *ix_found;",
        f"    ix_f_any *ix_next = IX_F_NEXT(ix_found, {names});",
        f"    {body}",
        "}",
    ]
    lines += [f"IX_F_ALSO({other}, {first}, ({shape.declared or 'void'}))" for other in aliases]
    return "\n".join(lines)


def forms(name: str, facts: Facts, shape: Shape) -> str:
    """All entry points of one function."""
    arguments = ", ".join([*shape.given, "ix_f_ierror", *shape.lengths])
    old, new = ("1, ", "ix_f_first_f08(), ") if counts_positions(facts, shape) else ("", "")
    record = f"ix_f_{name}(ix_next, __builtin_return_address(0), {old}{arguments});"
    record_f08 = f"ix_f_{name}(ix_next, __builtin_return_address(0), {new}{arguments});"
    delegate = f"IX_F_DELEGATE((({shape.pointer})ix_next)({arguments}));"
    x = name.lower()
    out = [
        entry(spellings(x), shape, record),
        entry([f"{x}_f08_"], shape, record_f08),
        "#ifdef IX_F_DESCRIPTORS",
        entry([f"{x}_f08ts_"], shape, delegate),
        entry([f"{x}_f08ts_large_"], shape, delegate),
        "#endif",
    ]
    if _has_form(facts, "cptr"):
        out.append(entry(spellings(f"{x}_cptr"), shape, record))
    return "\n".join(out)


def wrappers(found: header.Header, database: Database, absent: set[str]) -> str:
    """The whole file."""
    templates = Templates(HERE.parent / "templates")
    out = ['#include "mpi/fortran/fortran.h"\n']
    for item in coverage(found, database, absent):
        name = str(item["name"])
        if not item["wrapped"] or item["kind"] in {"pcontrol", "none"}:
            continue
        facts = database.facts(name) if item["known"] else Facts("call", {}, known=False)
        large = name.endswith("_c") and _has_form(facts, "large")
        if name.endswith("_c") and not large:
            continue
        function = found.functions[name]
        shape = shape_of(name, parameters_of(function, facts), function)
        out.append(recorder(name, function, facts, templates))
        if large:
            arguments = ", ".join([*shape.given, "ix_f_ierror"])
            body = f"ix_f_{name}(ix_next, __builtin_return_address(0), {arguments});"
            out.append(entry([f"{name.removesuffix('_c').lower()}_f08_large_"], shape, body))
        else:
            out.append(forms(name, facts, shape))
    return "\n".join(out) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("compiler", help="the mpicc whose mpi.h is read")
    parser.add_argument("output", type=Path)
    parser.add_argument("--database", type=Path, default=HERE.parent / "functions.json")
    parser.add_argument("--without", default="", help="functions that the library lacks, by comma")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        found = header.read(options.compiler, Path(scratch))
    absent = {n for n in options.without.split(",") if n}
    write(
        options.output / "fortran_wrappers.c", wrappers(found, Database(options.database), absent)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
