"""Hooks of memory accesses in an assembler file, put in place of their calls.

What a hook may change is free at its place: every register that a callee need not keep, or the few
that registers.h tells the compiler of. The question whether anything of the line of memory was ever
communicated is asked there, in four instructions; if it was, whether this word of it, out of the
way; and the recorder is called only for that (hook_text.py). In straight loops one question is for
many rounds (loops.py). Accesses are counted once per straight run of instructions; a late call is
told how many of them have not happened yet. What is not understood (another processor, Intel
syntax) stays as it came: then the calls remain.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from imbrex.recorder.groups import argument_line, grouped_run
from imbrex.recorder.hook_text import Access, Code, hook
from imbrex.recorder.loops import enclosing_loop, windowed_loop

_HOOK = re.compile(
    r"\t(call|jmp)\t\*?__tsan_(?:(unaligned_)?(?:volatile_)?(read|write)(1|2|4|8|16)"
    r"|(func_entry|func_exit))(?:@PLT|@GOTPCREL\(%rip\))?$"
)
# Labels that are no target of a jump: debuggers' and those of regions of exceptions.
_NO_TARGET = re.compile(r"\.L(VL|BB|BE|FB|FE|EHB|EHE|SFDE|COLDB|HOTB|COLDE|HOTE)\d*:")
_LEAVES = re.compile(
    r"\t(j\w+|call\w*|ret\w*|rep|loop\w*|syscall|int\d*|ud2|hlt|notrack|bnd|xbegin)\b"
)
_KEEPER = "imbrex_access_kept"
_KEEPS = f"\tcall\t{_KEEPER}"
# Vectors of more than 16 bytes, or more than 16 of them.
_WIDE = re.compile(r"%[yz]mm|%k[0-7]|%xmm(1[6-9]|[23]\d)")
_QUIET = ("\t.loc ", "\t.cfi_", "\t.file ")


def inlined(lines: list[str]) -> list[str]:
    """The lines of an assembler file (AT&T syntax, x86-64), with hooks in place of their calls."""
    if any(line.startswith("\t.intel_syntax") for line in lines):
        return lines
    replaced: dict[int, list[str]] = {}
    numbers = itertools.count()
    code = Code(_keeper(lines))
    stubs: list[str] = []
    for run in _runs(lines, replaced):
        if isinstance(run, int):
            replaced[run] = [*stubs, lines[run]]
            stubs = []
            continue
        _pair(run)
        loop = enclosing_loop(lines, run)
        if loop and (windowed := windowed_loop(lines, run, loop, numbers, code)):
            replaced |= windowed[0]
            stubs += windowed[1]
            continue
        if grouped := grouped_run(lines, run, numbers, code):
            replaced |= grouped[0]
            stubs += grouped[1]
            continue
        for index, access in enumerate(run):
            at = argument_line(lines, access)
            if at is not None and access.in_one_word and not access.is_source:
                access.argument = lines[at]
                replaced[at] = []
            before = lines[run[index - 1].at : access.at] if index else ["%r11"]
            used = any("%r11" in line for line in before)
            text, stub = hook(run, index, next(numbers), used, code)
            replaced[access.at] = text
            stubs += stub
    return [new for at, line in enumerate(lines) for new in replaced.get(at, (line,))]


def _keeper(lines: list[str]) -> str:
    """The function of keep.c that keeps all that is to be kept, if the compiler saw registers.h."""
    if not any(line.startswith(_KEEPS) for line in lines):
        return ""
    return f"{_KEEPER}_wide" if any(_WIDE.search(line) for line in lines) else _KEEPER


def _runs(lines: list[str], replaced: dict[int, list[str]]) -> Iterator[list[Access] | int]:
    """Straight runs of hooks; and, as a number, each line that ends a stretch of code."""
    run: list[Access] = []
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
            run.append(Access(at, hook[3] == "write", int(hook[4]), not hook[2], place))
            continue
        ends = (
            _LEAVES.match(line)
            if line.startswith("\t")
            else not _NO_TARGET.match(line) and bool(line.strip())
        )
        if ends and run:
            yield run
            run = []


def _pair(run: list[Access]) -> None:
    """The last read of the same size before a write may be what it writes: a copy."""
    reads: dict[int, Access] = {}
    for access in run:
        if access.size not in (4, 8) or not access.aligned:
            continue
        if not access.is_write:
            reads[access.size] = access
        elif access.size in reads:
            reads[access.size].paired = access.paired = True
