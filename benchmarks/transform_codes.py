"""How much of real MPI codes `imbrex transform` rewrites, and why it leaves the rest.

    python benchmarks/transform_codes.py                      # the kernels in tests/mpi/transform
    python benchmarks/transform_codes.py --sources DIR hpcc gerris
    python benchmarks/transform_codes.py --only lu --sites    # also each site with its reason
    python benchmarks/transform_codes.py --each --flag=-I/usr/include sundials:examples/ida/parallel

Each code is analysed whole, as one program. Printed are: files read; sites that carry data (sends,
receives, starts of either, collectives other than MPI_Barrier), those of them that a loop comes to,
in the same routine or through calls; of these the ones rewritten; the processor time of the
analysis; and the most frequent reasons for the others. Names are packages, which
`benchmarks/transform_robustness.py` fetches from Debian, or `package:folder` for a part of one.
With --each the files of a folder are programs of their own, as examples of a library are, with the
headers that are installed with it (--flag); one row adds up those with sites.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.transform import mpi_calls
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.model.causes import Cause
from imbrex.transform.model.program import Program
from imbrex.transform.model.statements import Kind, Statement
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import C_SUFFIXES, HEADERS
from imbrex.transform.readers.fortran_units import FORTRAN_SUFFIXES
from imbrex.transform.reading import read_program
from imbrex.transform.rewrites.base import Decision
from transform_packages import SELECTIONS, Selection
from transform_robustness import fetch

KERNELS = Path(__file__).resolve().parents[1] / "tests" / "mpi" / "transform" / "kernels"
# What is compiled by itself: a header is read with the sources that include it.
SUFFIXES = (C_SUFFIXES | FORTRAN_SUFFIXES) - {".h"}
FATAL = "--errors-are-fatal"  # as users give it to `imbrex transform`
CARRIES = (set(mpi_calls.BLOCKING) | set(mpi_calls.STARTS) | set(mpi_calls.COLLECTIVES)) - {
    "MPI_Barrier",
    "MPI_Ibarrier",
}


def in_loop(statement: Statement) -> bool:
    while statement.parent is not None and statement.parent.owner is not None:
        statement = statement.parent.owner
        if statement.kind is Kind.LOOP:
            return True
    return False


def repeated(program: Program) -> set[tuple[str, int]]:
    """File and line of each MPI call that a loop comes to, in its routine or through calls.

    What a program gives a library to call, as the right-hand side of an equation, is called often.
    """
    called: dict[str, set[str]] = {}  # by routine, those that it calls
    given = {name for _, _, name in program.pointer_facts}
    often = {key for key, each in program.routines.items() if f"function:{each.name}" in given}
    for routine in program.routines.values():
        for statement in routine.statements():
            looped = in_loop(statement)
            for call in statement.calls:
                callee = program.callee(call.name, routine.file)
                if callee is not None:
                    called.setdefault(routine.key, set()).add(callee.key)
                    often |= {callee.key} if looped else set()
    left = list(often)
    while left:
        for key in called.get(left.pop(), set()) - often:
            often.add(key)
            left.append(key)
    return {
        (routine.file, call.line)
        for routine in program.routines.values()
        for statement in routine.statements()
        for call in statement.calls
        if call.name in CARRIES and (routine.key in often or in_loop(statement))
    }


def processor_time_s() -> float:
    """Of this process and of those that read files for it."""
    return sum(os.times()[:4])


def kind_of(decision: Decision) -> str:
    """The kind of the reason, with the kinds of the causes inside it."""
    cause: Any = decision.reason.cause
    names = []
    while isinstance(cause, Cause):
        names.append(cause.name)
        parameters = dict(cause.parameters)
        cause = parameters.get("cause") or parameters.get("behind")
        cause = getattr(cause, "cause", cause)
    return " < ".join(names)


def sources(tree: Path) -> tuple[list[Path], list[str]]:
    """The sources below a folder that tell of MPI or belong to those that do, and the flags."""
    if tree.is_file():
        return [tree], [f"-I{tree.parent}"]
    endings = SUFFIXES | {suffix.upper() for suffix in FORTRAN_SUFFIXES}
    paths = [p for p in sorted(tree.rglob("*")) if p.suffix in endings and p.is_file()]
    headers = {p.parent for p in tree.rglob("*.h")} | {p.parent for p in tree.rglob("*.inc")}
    return paths, [f"-I{path}" for path in sorted(headers)]


def selected(tree: Path, selection: Selection) -> tuple[list[Path], list[str]]:
    """The files of one program in a package, and the flags."""
    flags = sources(tree)[1]
    return selection.paths(tree), [*flags, *selection.flags]


def analyse(tree: Path, name: str, given: list[str], folder: Path) -> dict[str, Any]:
    """What `transform` makes of a code; run in a process of its own.

    Headers that the package's configure makes are taken as empty; `folder` gets them. Files that
    cannot be read are left out and counted.
    """
    paths, flags = selected(tree, SELECTIONS[name]) if name in SELECTIONS else sources(tree)
    headers = folder / "of" / "configure"  # two deep: one that is included as `../config.h` too
    fatal = FATAL in given
    flags = [*flags, f"-I{headers}", *(flag for flag in given if flag != FATAL)]
    make_missing(paths, flags, headers)
    options = Options(flags=flags, errors_are_fatal=fatal)
    kept, program = readable(paths, options)
    begin = processor_time_s()
    outcome = transform(kept, options) if kept else Outcome([], {}, {}, {})
    seconds = processor_time_s() - begin
    loops = repeated(program)
    carrying = [d for d in outcome.decisions if d.site.call.name in CARRIES]
    looped = [d for d in carrying if (d.site.routine.file, d.site.call.line) in loops]
    lines = sum(data.count(b"\n") for data in outcome.before.values())
    left = [d for d in looped if d.decision != "rewritten"]
    return {
        "files": len(paths),
        "read": len(kept) - len(outcome.skipped),
        "lines": lines,
        "sites": len(carrying),
        "looped": len(looped),
        "rewritten": len(looped) - len(left),
        "seconds": seconds,
        "reasons": Counter(kind_of(d) for d in left).most_common(),
        "each": [
            f"{Path(d.site.routine.file).name}:{d.site.call.line} {d.site.call.name} "
            f"{d.decision}: {d.reason.text} ({d.reason.location})"
            for d in outcome.decisions
        ],
    }


def make_missing(paths: list[Path], flags: list[str], headers: Path) -> None:
    """Make empty files of the headers that C sources include and that are nowhere.

    The compiler lists them without reading anything else, so that each source is read but once.
    """
    headers.mkdir(parents=True)
    files = [str(path) for path in paths if path.suffix in C_SUFFIXES]
    if not files:
        return
    command = ["cc", "-M", "-MG", *flags, "-idirafter", str(HEADERS), *files]
    rules = subprocess.run(command, capture_output=True, text=True, cwd=headers, check=False)
    for name in sorted(set(rules.stdout.replace("\\\n", " ").split())):
        missing = headers / name
        if not name.endswith(":") and not missing.exists() and "mpi" not in name:
            missing.parent.mkdir(parents=True, exist_ok=True)
            missing.write_text("")


def readable(paths: list[Path], options: Options) -> tuple[list[Path], Program]:
    """The files that can be read, and what is read of them."""
    program = Program()
    try:
        program = read_program(paths, options)
        skipped = program.skipped
    except ImbrexError as error:
        skipped = {str(path): str(error) for path in paths}
    for why, count in Counter(skipped.values()).most_common(5):
        print(f"not read: {why[:300]} ({count})", file=sys.stderr)
    return [path for path in paths if str(path) not in skipped], program


def in_process(
    tree: Path, flags: list[str], limit_s: float, name: str = ""
) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--analyse", str(tree), name, folder, *flags]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return None
    print(done.stderr[:3000], file=sys.stderr, end="")
    if done.returncode:
        sys.exit(f"{tree}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def programs(tree: Path, flags: list[str], limit_s: float) -> dict[str, Any] | None:
    """What becomes of each file of a folder as a program of its own, added up."""
    found: dict[str, Any] = {"each": []}
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for path in sources(tree)[0]:
        one = in_process(path, flags, limit_s)
        if one is None:
            return None
        if one["sites"] or not one["read"]:
            total.update({name: n for name, n in one.items() if isinstance(n, int | float)})
            reasons.update(dict(one["reasons"]))
            found["each"] += one["each"]
    return {**found, **total, "reasons": reasons.most_common()}


def row(name: str, found: dict[str, Any], reasons: int) -> str:
    looped, rewritten = found["looped"], found["rewritten"]
    share = f"{100 * rewritten / looped:.0f} %" if looped else "-"
    why = "; ".join(f"{kind} ({n})" for kind, n in found["reasons"][:reasons])
    return (
        f"| {name} | {found['read']} of {found['files']} | {found['lines']} | {found['sites']} | "
        f"{looped} | {rewritten} ({share}) | {found['seconds']:.1f} | {why or '-'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--each", action="store_true", help="each file is a program of its own")
    parser.add_argument("--flag", action="append", default=[], help="for the compiler")
    parser.add_argument(FATAL, action="store_true", help="as in `imbrex transform`")
    parser.add_argument("--only", help="of the kernels, those whose name begins so")
    parser.add_argument("--sites", action="store_true", help="each site with its reason")
    parser.add_argument("--reasons", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one code")
    if sys.argv[1:2] == ["--analyse"]:
        tree, name, headers, *flags = sys.argv[2:]
        print(json.dumps(analyse(Path(tree), name, flags, Path(headers))))
        return
    arguments = parser.parse_args()
    flags = [*arguments.flag, *([FATAL] if arguments.errors_are_fatal else [])]
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.sources or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        trees: list[tuple[str, Path]] = []
        for package in arguments.packages:
            name, _, part = package.partition(":")
            tree = fetch(name, folder.resolve())
            trees.append((package, tree if package in SELECTIONS else tree / part))
        if not arguments.packages:
            trees = [(p.name, p) for p in sorted(KERNELS.iterdir()) if p.suffix in SUFFIXES]
            trees = [(n, p) for n, p in trees if n.startswith(arguments.only or "")]
        print("| code | files read | lines | sites | in loops | rewritten | seconds | others |")
        print("|---|---|---|---|---|---|---|---|")
        total: Counter[str] = Counter()
        for name, tree in trees:
            if arguments.each:
                found = programs(tree, flags, arguments.limit)
            else:
                found = in_process(tree, flags, arguments.limit, name)
            if found is None:
                print(f"| {name} | | | | | | over {arguments.limit:.0f} | |", flush=True)
                continue
            total.update({key: found[key] for key in ("sites", "looped", "rewritten", "lines")})
            print(row(name, found, arguments.reasons), flush=True)
            if arguments.sites:
                print("\n".join(f"    {line}" for line in found["each"]), flush=True)
        share = 100 * total["rewritten"] / max(1, total["looped"])
        print(
            f"| all | | {total['lines']} | {total['sites']} | {total['looped']} | "
            f"{total['rewritten']} ({share:.0f} %) | | |"
        )


if __name__ == "__main__":
    main()
