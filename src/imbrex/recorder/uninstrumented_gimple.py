"""Accesses to memory that gcc's instrumentation leaves out, in its dump of a compilation.

gcc instruments assignments. A structure that a call returns into memory or takes by value, a vector
builtin that is given an address (masked, gathering, non-temporal, half a register), and inline
assembly access memory without a hook. `-fdump-tree-optimized-lineno` names each with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FUNCTION = re.compile(r";; Function (\S+)")
_PLACE = re.compile(r"\[([^\[\]\n]*?):(\d+):\d+(?: discrim \d+)?\] ")
# "[return slot optimization]", "[tail call]" behind a call.
_REMARK = re.compile(r"(?: \[[a-z ]+\])+$")
_CALL = re.compile(r"(?:(?P<to>[^=\"]*?) = )?(?P<name>[^=\"]*?\S) \((?P<given>.*)\);")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MEMORY = re.compile(r"\*|->|MEM\b|\[|\bVIEW_CONVERT_EXPR\b|\.\w")
_BUILTIN = re.compile(r"__builtin_(?:ia32|neon|aarch64|altivec|vsx|s390)_?(\w+)")
# Instructions that name an address without an access to data there.
_HARMLESS = re.compile(r"clflush|clwb|cldemote|prefetch|monitor|rdtscp|fxsave|xsave|xrstor|fxrstor")
# A memmove of more bytes is a call: sixteen moves of 64 bytes are the most that gcc makes of one.
_IN_PIECES = 1024
_SSA = re.compile(r"([\w.$#]*?)_\d+$")
_MPI = re.compile(r"\bp?mpi_\w+ \(", re.IGNORECASE)


def uninstrumented_by_gcc(dump: str) -> list[str]:
    """The places, as FILE:LINE, or FUNCTION() where only a compiler's header is named."""
    found: dict[str, None] = {}
    for function, lines in _functions(dump):
        for place in _of_function(function, lines):
            found[place] = None
    return list(found)


def _functions(dump: str) -> Iterator[tuple[str, list[str]]]:
    name, lines = "", list[str]()
    for line in dump.splitlines():
        if match := _FUNCTION.match(line):
            yield name, lines
            name, lines = match[1], []
        else:
            lines.append(line)
    yield name, lines


def _of_function(function: str, lines: Sequence[str]) -> Iterator[str]:
    if function.startswith(("__builtin___tsan_", "__tsan_")):  # our own (registers.h)
        return
    plain = [_REMARK.sub("", _PLACE.sub("", line)).strip().replace("(D)", "") for line in lines]
    types = _types(plain)
    for line, text in zip(lines, plain, strict=True):
        if not text.endswith((");", ")")) or text.startswith("__builtin___tsan"):
            continue
        if _is_uninstrumented(text, types, plain):
            places = [match for match in _PLACE.finditer(line) if "/include/" not in match[1]]
            yield (
                f"{places[0][1].rpartition('/')[2]}:{places[0][2]}"
                if places
                else (f"{re.split('[<(]', function)[0]}()")
            )


def _types(plain: Sequence[str]) -> dict[str, str]:
    """Types of parameters and local variables, as far as the dump declares them."""
    found = {}
    header = next((line for line in plain if line.endswith(")") and " (" in line), "")
    declared = header.partition(" (")[2][:-1].split(", ")
    for line in plain:
        if line.startswith("<bb "):
            break
        if line.endswith(";") and not line.startswith((";", "#")):
            declared.append(line[:-1])
    for one in declared:
        if match := re.match(r"(?:static )?(.*?)\b([\w.$]+)((?:\[[^\]]*\])*)(?: = .*)?$", one):
            found[match[2]] = match[1] + match[3]
    return found


def _is_uninstrumented(text: str, types: dict[str, str], plain: Sequence[str]) -> bool:
    if text.startswith("__asm__"):
        code = _STRING.search(text)
        inside = code[0][1:-1] if code else ""
        in_memory = re.search(r'"[=+&]*[moV]"', text[code.end() :] if code else "")
        return bool(inside) and ("(" in inside or bool(in_memory))
    call = _CALL.fullmatch(_STRING.sub('""', text))
    if call is None or text.startswith(("if (", "switch (", "return", "goto")):
        return False
    given = _split(call["given"])
    if builtin := _BUILTIN.fullmatch(call["name"]):
        return not _HARMLESS.search(builtin[1]) and any(
            _is_address(operand, types, plain) for operand in given
        )
    if re.fullmatch("__builtin_mem(cpy|move|set|pcpy)(_chk)?", call["name"]):
        # Of a constant size it becomes instructions, where a program says __builtin_ itself and
        # where Fortran sets text.
        size = int(given[2]) if given[2].isdigit() else 0
        inlined = size > 0 and ("memmove" not in call["name"] or size <= _IN_PIECES)
        return inlined and any(_is_address(operand, types, plain) for operand in given[:2])
    if call["name"].startswith("__builtin_") or call["name"] == "__complex__":
        return False
    # A bare name that the function does not declare is another function.
    operands = [
        operand for operand in given if operand in types or not re.fullmatch(r"[\w.$:]+", operand)
    ]
    if call["to"]:
        operands.append(call["to"].strip())
    return any(_is_memory(operand, types, plain) for operand in operands)


def _split(text: str) -> list[str]:
    """Arguments, at commas outside of brackets."""
    parts, depth, start = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>" and text[at - 1] != "-")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [operand for operand in [*parts, text[start:].strip()] if operand]


def _is_memory(operand: str, types: dict[str, str], plain: Sequence[str]) -> bool:
    """Whether an operand of a call is memory that others may know, not a register."""
    if not operand or operand[0] in "&{-\"'" or operand[0].isdigit() or _SSA.fullmatch(operand):
        return False
    if re.match(r"\*|MEM\b|\(\*", operand) or "->" in operand:
        return True
    base = _base_of(operand)
    if base == "<retval>":  # the caller's, where it is looked at
        return False
    if base in types:
        return _is_sent(base, plain)
    return bool(re.match(r"[A-Za-z_]\w*", operand)) or bool(_MEMORY.search(operand))


def _base_of(operand: str) -> str:
    if operand.startswith("<retval>"):
        return "<retval>"
    match = re.match(r"[\w$]+(?:\.\d+)?", operand)
    return match[0] if match else ""


def _is_sent(variable: str, plain: Sequence[str]) -> bool:
    """Whether MPI is given the address of a local variable in this function."""
    address = re.compile(rf"&(?:MEM\[[^&]*&)?{re.escape(variable)}\b")
    held = {variable}
    for line in plain:
        if match := re.match(rf"([\w.$]+) = &{re.escape(variable)}\b", line):
            held.add(match[1])
    return any(
        _MPI.search(line) and (address.search(line) or any(f"({h}" in line for h in held))
        for line in plain
    )


def _is_address(operand: str, types: dict[str, str], plain: Sequence[str]) -> bool:
    if match := re.match(r"&(?:MEM\b.*?&)?([\w$]+)", operand):
        base = match[1]
        return base not in types or _is_sent(base, plain)
    if match := _SSA.fullmatch(operand):
        return "*" in types.get(operand, types.get(match[1], ""))
    return "*" in types.get(operand, "")
