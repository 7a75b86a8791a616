"""Write the wrappers for the installed mpi.h: `generate.py MPICC OUTPUT_DIR [--without NAMES]`.

Standard library only (Python >= 3.10), so that CMake can run it anywhere.
Output: ix_mpi.h (the header as the runtime sees it), real.c (PMPI functions by name), operations.h,
operations.c, wrappers.c and coverage.json (every function of mpi.h: wrapped how, or why not).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import header
from bodies import Templates, fill, leaves_nothing_open, no_need, template_and_holes
from database import Database, Facts
from observe import C, observed

HERE = Path(__file__).resolve().parent.parent


def parameters_of(function: header.Function, facts: Facts) -> list[tuple[str, str]]:
    """(declaration, name) per parameter, named by role where the database has roles."""
    assert function.parameters is not None
    roles = facts.roles
    names = [p.name for p in function.parameters]
    if roles is not None and len(roles) == len(names):
        names = roles
    for role, place in facts.fields.get("creates", {}).items():
        names[place] = role
    return [
        (p.declaration.format(name), name)
        for p, name in zip(function.parameters, names, strict=True)
    ]


def c_shell(function: header.Function, facts: Facts) -> dict[str, str]:
    """The shell of a C wrapper."""
    parameters = parameters_of(function, facts)
    declared = ", ".join(d for d, _ in parameters) or "void"
    function_name = "ix_init" if function.name == "MPI_Init" else f"P{function.name}"
    call = f"{function_name}({', '.join(n for _, n in parameters)})"
    before, after = observed(facts, C)
    unmeasured = f"IX_UNLESS_MEASURING(return {call});"
    if need := no_need(facts):
        unmeasured = f"IX_UNLESS_NEEDED({need}, return {call});"
    if leaves_nothing_open(facts):
        unmeasured = f"IX_UNLESS_RECORDING(return {call}, int rc = {call}, return rc);"
    return {
        "SIGNATURE": f"IX_EXPORT {function.returns} {function.name}({declared})",
        "UNMEASURED": unmeasured,
        "ARGUMENTS": "",
        "ENTER": f"IX_ENTER({operation_of(function.name)})",
        "CALL": f"{before}int rc = {call}{after}",
        "RETURN": "return rc",
        "LEAVE": "return ix_observed_leave(ix_t, rc)",
    }


def why_not(
    name: str, functions: dict[str, header.Function], facts: Facts, absent: set[str]
) -> str | None:
    """Why `name` is not wrapped, or None if it is."""
    function = functions[name]
    if facts.kind == "none":
        return facts["reason"]
    if "P" + name not in functions:
        return "mpi.h declares no PMPI form of it"
    if name in absent:
        return "the library does not have it, though mpi.h declares it"
    if facts.kind == "pcontrol":
        return None
    if function.parameters is None:
        return "variable number of arguments"
    if function.returns != "int":
        return f"returns {function.returns}, not an error code: local"
    return None


def operation_of(name: str) -> str:
    return "IX_OP_" + name.removeprefix("MPI_")


def coverage(found: header.Header, database: Database, absent: set[str]) -> list[dict[str, object]]:
    """One entry per function of mpi.h, sorted by name."""
    entries: list[dict[str, object]] = []
    for name in sorted(n for n in found.functions if not n.startswith("P")):
        facts = database.facts(name)
        roles = facts.roles
        function = found.functions[name]
        if (
            roles is not None
            and function.parameters is not None
            and len(roles) != len(function.parameters)
        ):
            # A header that differs from the standard: time the call and no more.
            facts = Facts("call", {"group": "unknown"}, known=False)
        reason = why_not(name, found.functions, facts, absent)
        entries.append(
            {
                "name": name,
                "wrapped": reason is None,
                "kind": facts.kind,
                "known": facts.known,
                **({"reason": reason} if reason is not None else {}),
            }
        )
    return entries


def _found_at_run_time(found: header.Header, absent: set[str]) -> tuple[list[str], list[str]]:
    """The functions and the data symbols of the library that are looked up when a job starts."""
    functions = sorted(
        n
        for n in found.functions
        if not n.startswith("P")
        and "P" + n in found.functions
        and n not in absent
        and "P" + n not in found.macros
        and n not in found.macros
    )
    return functions, sorted({symbol for symbol, _ in found.data_constants.values()})


def ix_mpi(found: header.Header, absent: set[str]) -> str:
    """mpi.h, and behind it what a preloaded object must find out at run time instead."""
    functions, symbols = _found_at_run_time(found, absent)
    lines = [
        "/* Generated: mpi.h for an object that must not refer to the library by symbol. */",
        "#ifndef IMBREX_IX_MPI_H",
        "#define IMBREX_IX_MPI_H",
        "#ifndef OMPI_SKIP_MPICXX",
        "#define OMPI_SKIP_MPICXX 1",
        "#endif",
        "#include <mpi.h>",
        "#ifndef IMBREX_DIRECT",
        "typedef struct ix_real_functions {",
        *(f"    __typeof__(&P{n}) {n};" for n in functions),
        "} ix_real_functions;",
        '__attribute__((visibility("hidden"))) extern ix_real_functions ix_real;',
        *(f"#define P{n} ix_real.{n}" for n in functions),
        "enum {",
        *(f"    IX_DATA_{s}," for s in symbols),
        "    IX_DATA_COUNT",
        "};",
        '__attribute__((visibility("hidden"))) extern void *ix_data[];',
    ]
    for macro, (symbol, kind) in sorted(found.data_constants.items()):
        lines += [f"#undef {macro}", f"#define {macro} (({kind})ix_data[IX_DATA_{symbol}])"]
    lines += ["#endif", "#endif", ""]
    return "\n".join(lines)


def real_tables(found: header.Header, absent: set[str]) -> str:
    functions, symbols = _found_at_run_time(found, absent)
    lines = [
        '#include "generated/ix_mpi.h"',
        '#include "mpi/library.h"',
        "#ifndef IMBREX_DIRECT",
        "ix_real_functions ix_real;",
        "const char *const ix_real_names[] = {",
        *(f'    "P{n}",' for n in functions),
        "    0,",
        "};",
        "void *ix_data[IX_DATA_COUNT + 1];",
        "const char *const ix_data_names[] = {",
        *(f'    "{s}",' for s in symbols),
        "    0,",
        "};",
        "#endif",
        "",
    ]
    return "\n".join(lines)


# Of these kinds of functions, and of calls of these groups, no log tells whom they wait for.
_WAITING_KINDS = {"abort", "finalize", "init", "rma_sync", "session_finalize", "session_init"}
_WAITING_KINDS |= {"win_create", "win_free"}
_WAITING_GROUPS = {"buffer", "communicator", "extension", "unknown"}
_MESSAGES = {"mprobe", "mrecv", "probe", "recv", "send", "sendrecv", "sendrecv_replace"}


def waits(facts: Facts) -> str:
    """What a call of the function may wait for: a name of enum ix_waits (analysis/log_view.h)."""
    if facts.kind == "rma_sync" and facts.fields.get("form") == "test":
        return "IX_POLLS_ALL"
    if facts.kind in _WAITING_KINDS or not facts.known:
        return "IX_WAITS_UNKNOWN"
    if facts.kind == "call" and facts.fields.get("group") == "file":
        return "IX_WAITS_FILE"
    if facts.kind == "call" and facts.fields.get("group") in _WAITING_GROUPS:
        return "IX_WAITS_UNKNOWN"
    if facts.kind == "completion" and facts.fields.get("form") == "wait":
        return "IX_WAITS_ANY" if facts["which"] in {"any", "some"} else "IX_WAITS_ALL"
    if facts.kind == "parrived":
        return "IX_POLLS_ALL"
    if facts.kind in {"completion", "peek"}:
        return "IX_POLLS_ANY" if facts["which"] in {"any", "some"} else "IX_POLLS_ALL"
    if facts.kind in {"mprobe", "probe"} and facts.fields.get("form") == "nonblocking":
        return "IX_POLLS_ALL"
    if facts.fields.get("form") == "blocking" and facts.kind in {*_MESSAGES, "collective"}:
        return "IX_WAITS_ALL"
    return "IX_WAITS_NOT"


def operations(names: list[str], database: Database) -> tuple[str, str]:
    """Header and source: numbers and names of operations (0 is none), what their calls wait for,
    and whose calibration holds for them."""
    head = [
        "#ifndef IMBREX_OPERATIONS_H",
        "#define IMBREX_OPERATIONS_H",
        "enum ix_operation {",
        "    IX_OP_NONE,",
    ]
    head += [f"    {operation_of(n)}," for n in names]
    head += [
        "    IX_OP_COUNT",
        "};",
        "extern const char *const ix_operation_names[IX_OP_COUNT];",
        "extern const unsigned char ix_operation_waits[IX_OP_COUNT];",
        "extern const unsigned short ix_operation_calibrations[IX_OP_COUNT];",
        "#endif",
        "",
    ]
    facts = {n: database.facts(n) for n in names}
    calibrations = {n: f.fields.get("calibration") for n, f in facts.items()}
    source = [
        '#include "analysis/log_view.h"',
        '#include "generated/operations.h"',
        "const char *const ix_operation_names[IX_OP_COUNT] = {",
        '    "",',
        *(f'    "{n}",' for n in names),
        "};",
        "const unsigned char ix_operation_waits[IX_OP_COUNT] = {",
        *(f"    [{operation_of(n)}] = {waits(f)}," for n, f in facts.items()),
        "};",
        "const unsigned short ix_operation_calibrations[IX_OP_COUNT] = {",
        *(f"    [{operation_of(n)}] = {operation_of(c)}," for n, c in calibrations.items() if c),
        "};",
        "",
    ]
    return "\n".join(head), "\n".join(source)


def datatypes(found: header.Header, database: Database) -> str:
    present = [n for n in database.datatypes if n in found.macros]
    return "".join(f"IX_DATATYPE({n})\n" for n in present)


def wrappers(found: header.Header, database: Database, entries: list[dict[str, object]]) -> str:
    templates = Templates(HERE / "templates")
    out = ['#include "mpi/wrap.h"\n']
    for entry in entries:
        name = str(entry["name"])
        if not entry["wrapped"] or entry["kind"] == "pcontrol":
            continue
        facts = database.facts(name) if entry["known"] else Facts("call", {}, known=False)
        template, holes = template_and_holes(name, facts)
        holes = {**c_shell(found.functions[name], facts), **holes}
        out.append(fill(templates[template], holes))
    return "\n".join(out)


def write(file: Path, text: str) -> None:
    """Write only what changed, so that nothing is compiled again for nothing."""
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("compiler", help="the mpicc whose mpi.h is read")
    parser.add_argument("output", type=Path)
    parser.add_argument("--database", type=Path, default=HERE / "functions.json")
    parser.add_argument("--without", default="", help="functions that the library lacks, by comma")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    database = Database(options.database)
    with tempfile.TemporaryDirectory() as scratch:
        found = header.read(options.compiler, Path(scratch))
    absent = {n for n in options.without.split(",") if n}
    entries = coverage(found, database, absent)
    for entry in entries:
        if entry["wrapped"] and not entry["known"]:
            print(f"imbrex: {entry['name']} is not in the database: only its call time is measured")
    names = {str(e["name"]) for e in entries if e["wrapped"]}
    names |= {f["calibration"] for f in database.functions.values() if "calibration" in f.fields}
    names |= set(database.linked)
    head, source = operations(sorted(names), database)
    write(options.output / "operations.h", head)
    write(options.output / "operations.c", source)
    write(options.output / "ix_mpi.h", ix_mpi(found, absent))
    write(options.output / "real.c", real_tables(found, absent))
    write(options.output / "datatypes.inc", datatypes(found, database))
    write(options.output / "wrappers.c", wrappers(found, database, entries))
    write(options.output / "coverage.json", json.dumps(entries, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
