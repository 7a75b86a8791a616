"""The assembler as `imbrex cc` calls it: hooks of memory accesses, put in place of their calls.

A call of __tsan_read8 may change every register that a callee need not keep, so at that place they
are free: the question whether anything of the line of memory was ever communicated is asked there,
in four instructions; if it was, whether this word of it, out of the way; and the recorder is called
only for that. Accesses are counted once per straight run
of instructions; a late call is told how many of them have not happened yet. What is not understood
(another processor, Intel syntax) is assembled as it came: then the calls remain.

Run as a script, `python hooks.py AS ARGUMENTS...`. What the compiler accesses without a
hook, as its dump in IMBREX_DUMP says (uninstrumented_gimple.py), is noted in the object.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HOOK = re.compile(
    r"\t(call|jmp)\t\*?__tsan_(?:(unaligned_)?(?:volatile_)?(read|write)(1|2|4|8|16)"
    r"|(func_entry|func_exit))(?:@PLT|@GOTPCREL\(%rip\))?$"
)
# Labels that are no target of a jump: debuggers' and those of regions of exceptions.
_NO_TARGET = re.compile(r"\.L(VL|BB|BE|FB|FE|EHB|EHE|SFDE|COLDB|HOTB|COLDE|HOTE)\d*:")
_LEAVES = re.compile(
    r"\t(j\w+|call\w*|ret\w*|rep|loop\w*|syscall|int\d*|ud2|hlt|notrack|bnd|xbegin)\b"
)
# What gcc says of itself and of how it was called, in the debugging information.
_PRODUCER = re.compile(r'\t\.string\t"GNU (?:C|Fortran)[^"]*"')
_QUIET = ("\t.loc ", "\t.cfi_", "\t.file ")
_WORD_BITS, _LINE_BITS = 3, 5


@dataclass
class _Access:
    """One hook in a run: at which line of the text, and what it accesses."""

    at: int
    is_write: bool
    size: int
    aligned: bool
    place: str  # the .loc in force
    paired: bool = False


def inlined(lines: list[str]) -> list[str]:
    """The lines of an assembler file (AT&T syntax, x86-64), with hooks in place of their calls."""
    if any(line.startswith("\t.intel_syntax") for line in lines):
        return lines
    replaced: dict[int, list[str]] = {}
    number = 0
    direct = _is_of_executable(lines)
    stubs: list[str] = []
    for run in _runs(lines, replaced):
        if isinstance(run, int):
            replaced[run] = [*stubs, lines[run]]
            stubs = []
            continue
        _pair(run)
        for index, access in enumerate(run):
            before = lines[run[index - 1].at : access.at] if index else ["%r11"]
            text, stub = _hook(run, index, number, any("%r11" in line for line in before), direct)
            replaced[access.at] = text
            stubs += stub
            number += 1
    return [new for at, line in enumerate(lines) for new in replaced.get(at, (line,))]


def _is_of_executable(lines: list[str]) -> bool:
    """Whether the code is for a program, not for a shared library: thread-local data are then at
    distances that the linker knows. False where that cannot be told."""
    producers = [line for line in lines if _PRODUCER.match(line)]
    return bool(producers) and not any("-fpic" in line.lower() for line in producers)


def _thread_local(instruction: str, name: str, direct: bool) -> list[str]:
    """An instruction whose last operand is the thread's variable."""
    if direct:
        return [f"\t{instruction}, %fs:imbrex_access_{name}@tpoff"]
    return [
        f"\tmovq\timbrex_access_{name}@gottpoff(%rip), %rax",
        f"\t{instruction}, %fs:(%rax)",
    ]


def _runs(lines: list[str], replaced: dict[int, list[str]]) -> Iterator[list[_Access] | int]:
    """Straight runs of hooks; and, as a number, each line that ends a stretch of code."""
    run: list[_Access] = []
    place = ""
    inside = False
    for at, line in enumerate(lines):
        if line.startswith("\t."):
            if line.startswith("\t.loc "):
                place = line.partition(" view ")[0]
            elif line.startswith("\t.cfi_startproc"):
                inside, place = True, ""
            elif line.startswith("\t.cfi_endproc"):
                if run:
                    yield run
                    run = []
                if inside:
                    yield at
                inside = False
            elif not line.startswith(_QUIET) and run:
                yield run
                run = []
            continue
        hook = _HOOK.match(line) if inside and "__tsan_" in line else None
        if hook and hook[5]:
            replaced[at] = [] if hook[1] == "call" else ["\tret"]
            if hook[1] == "call":
                continue
        elif hook and hook[1] == "call":
            run.append(_Access(at, hook[3] == "write", int(hook[4]), not hook[2], place))
            continue
        ends = (
            _LEAVES.match(line)
            if line.startswith("\t")
            else not _NO_TARGET.match(line) and bool(line.strip())
        )
        if ends and run:
            yield run
            run = []


def _pair(run: list[_Access]) -> None:
    """The last read of the same size before a write may be what it writes: a copy."""
    reads: dict[int, _Access] = {}
    for access in run:
        if access.size not in (4, 8) or not access.aligned:
            continue
        if not access.is_write:
            reads[access.size] = access
        elif access.size in reads:
            reads[access.size].paired = access.paired = True


def _hook(
    run: list[_Access], index: int, number: int, load: bool, direct: bool
) -> tuple[list[str], list[str]]:
    """Instructions in place of a call, and those far from it that call after all.

    r11 holds where lines are marked; `load`: it does not yet, or something else used it. `direct`:
    as _is_of_executable.
    """
    access = run[index]
    text = []
    if index == 0:
        text += _thread_local(f"addq\t${len(run)}", "clock", direct)
    if access.paired and not access.is_write:
        text += _thread_local("movq\t%rdi", f"source{access.size}_at", direct)
    marks = "\tmovq\timbrex_access_words@GOTPCREL(%rip), %r11"
    text += [
        "\tmovl\t%edi, %eax",
        *([marks] if load else []),
        f"\tshrl\t${_LINE_BITS}, %eax",
        "\tcmpb\t$0, (%r11,%rax)",
        f"\tjne\t.Limbrex_call{number}",
    ]
    in_one_word = access.size <= 8 and access.aligned
    if not in_one_word:
        text += [
            f"\tleal\t{access.size - 1}(%rdi), %eax",
            f"\tshrl\t${_LINE_BITS}, %eax",
            "\tcmpb\t$0, (%r11,%rax)",
            f"\tjne\t.Limbrex_call{number}",
        ]
    leave = f".Limbrex_back{number}"
    if access.paired and access.is_write:
        leave = f".Limbrex_pending{number}"
        text += [f"{leave}:", *_thread_local("cmpq\t$0", "pending", direct)]
        text += [f"\tjne\t.Limbrex_late{number}"]
    kind = ("copy" if access.paired else "write") if access.is_write else "read"
    if access.paired and not access.is_write:
        kind = "source"
    name = f"imbrex_access_{kind}{access.size}"
    stub = [
        f".Limbrex_call{number}:",
        *(_leave_unless_marked(leave) if in_one_word else []),
        f".Limbrex_late{number}:",
        *([access.place] if access.place else []),
        f"\tmovl\t${len(run) - 1 - index}, %esi",
        f"\tcall\t{name}@PLT",
        marks,
        f"\tjmp\t.Limbrex_back{number}",
    ]
    return [*text, f".Limbrex_back{number}:"], stub


def _leave_unless_marked(label: str) -> list[str]:
    """To the label, if this word of the line was never communicated. eax is the line's number."""
    return [
        "\tmovzbl\t(%r11,%rax), %eax",
        "\tmovl\t%edi, %ecx",
        f"\tshrl\t${_WORD_BITS}, %ecx",
        "\tandl\t$7, %ecx",
        "\tbtl\t%ecx, %eax",
        f"\tjnc\t{label}",
    ]


def _uninstrumented() -> list[str]:
    """A section that names the accesses without a hook; one line to the user, too."""
    dump = Path(os.environ.get("IMBREX_DUMP", ""))
    if not dump.is_file():
        return []
    # The package is not installed for this interpreter (-I -S).
    sys.path.append(str(Path(__file__).resolve().parents[2]))
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
        text = "\n".join([*inlined(text.split("\n")), *_uninstrumented()])
    data = text.encode("utf-8", "surrogateescape")
    return subprocess.run([assembler, *options, "-"], input=data, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
