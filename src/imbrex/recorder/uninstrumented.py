"""Accesses that a compiler's instrumentation leaves out: said once at the build, and to the guard.

Their places go into a section of the object, which the recorder in the program finds by its bounds;
then nobody claims that every access was seen.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from imbrex.recorder.twins import SOURCES, without_dependencies, without_output
from imbrex.recorder.uninstrumented_ir import uninstrumented_by_clang

_SECTION = "imbrex_unseen"
_NO_CODE = {"-E", "-M", "-MM", "-fsyntax-only", "-S"}
_SHOWN = 4


def section(places: Sequence[str]) -> list[str]:
    """Lines of assembler that note the places in an object."""
    if not places:
        return []
    texts = (place.replace("\\", "/").replace('"', "'") for place in places)
    # A section of notes is kept by every linker, and text before it ends where it began.
    return [
        f'\t.pushsection {_SECTION},"a"',
        *(f'\t.asciz "{text}"' for text in texts),
        "\t.popsection",
        "",
    ]


def warning(compiler: str, places: Sequence[str]) -> str:
    """One line for who builds the program."""
    shown = ", ".join(places[:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
    return (
        f"imbrex: warning: {compiler} does not instrument the accesses to memory at {shown}: "
        "the guard and the recorder will not see them (docs/guide/guard.md)"
    )


def clang_notes(command: Sequence[str], scratch: Path) -> list[str]:
    """Options that put the places of a call of clang into its objects, said once.

    Each source is compiled to clang's intermediate form for that; where that fails the compiler
    itself will say why.
    """
    sources = [a for a in command if Path(a).suffix in SOURCES and Path(a).is_file()]
    # In an assembler source the note would be no assembler.
    if not sources or _NO_CODE.intersection(command) or any(w.endswith(".S") for w in sources):
        return []
    options = [w for w in without_output(without_dependencies(command)) if w not in sources]
    kept = [w for w in options if w != "-c" and not w.startswith(("-Wl,", "-flto", "-save-temps"))]
    places: dict[str, None] = {}
    form = scratch / "form.ll"
    for source in sources:
        done = subprocess.run(
            [*kept, "-w", "-S", "-emit-llvm", source, "-o", str(form)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode == 0 and form.is_file():
            text = form.read_text(encoding="utf-8", errors="replace")
            places.update(dict.fromkeys(uninstrumented_by_clang(text)))
    if not places:
        return []
    print(warning("clang", list(places)), file=sys.stderr)
    notes = scratch / "unseen.h"
    lines = "".join(f"{line}\n" for line in section(list(places)))
    escaped = lines.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    notes.write_text(f'__asm__("{escaped}");\n', encoding="utf-8")
    return ["-include", str(notes)]
