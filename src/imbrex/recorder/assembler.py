"""The assembler as `imbrex cc` calls it: hooks in place of their calls (hooks.py), then `as`.

Run as a script, `python assembler.py AS ARGUMENTS...`. What the compiler accesses without a hook,
as its dump in IMBREX_DUMP says (uninstrumented_gimple.py), is noted in the object.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def _uninstrumented() -> list[str]:
    """A section that names the accesses without a hook; one line to the user, too."""
    dump = Path(os.environ.get("IMBREX_DUMP", ""))
    if not dump.is_file():
        return []
    from imbrex.recorder.uninstrumented import section, warning
    from imbrex.recorder.uninstrumented_gimple import uninstrumented_by_gcc

    try:
        places = uninstrumented_by_gcc(dump.read_text(encoding="utf-8", errors="replace"))
        dump.unlink()
    except OSError:
        return []
    if places:
        print(warning("gcc", places), file=sys.stderr)
    return section(places)


def _with_plain(lines: list[str]) -> list[str]:
    """With the plain code of the same source, where the wrapper has left it (duplicates.py)."""
    file = Path(os.environ.get("IMBREX_PLAIN_TEXT", ""))
    if not file.is_file():
        return lines
    from imbrex.recorder.duplicates import NotDuplicatedError, with_plain_code

    plain = file.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    try:
        return with_plain_code(lines, plain)
    except NotDuplicatedError as error:
        print(f"imbrex: no plain code beside the recorded one: {error}", file=sys.stderr)
        return lines


def main(command: list[str]) -> int:
    """Assemble: the input file, or standard input, goes through `inlined`."""
    assembler, *arguments = command
    if "--32" in arguments or "--x32" in arguments or os.uname().machine != "x86_64":
        return subprocess.run([assembler, *arguments], check=False).returncode
    inputs = [a for a in arguments if a.endswith((".s", ".S"))]
    options = [a for a in arguments if a not in inputs and a != "-"]
    asked = {"--version", "--help"}.intersection(arguments)
    if len(inputs) > 1 or asked or any(a.startswith("@") for a in arguments):
        return subprocess.run([assembler, *arguments], check=False).returncode
    if inputs:
        text = Path(inputs[0]).read_text(encoding="utf-8", errors="surrogateescape")
    else:
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    if "__tsan_" in text:
        # The package is not installed for this interpreter (-I -S).
        sys.path.append(str(Path(__file__).resolve().parents[2]))
        from imbrex.recorder.hooks import inlined

        text = "\n".join([*inlined(_with_plain(text.split("\n"))), *_uninstrumented()])
    data = text.encode("utf-8", "surrogateescape")
    return subprocess.run([assembler, *options, "-"], input=data, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
