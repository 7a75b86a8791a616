"""Accesses to memory that clang's instrumentation leaves out, in its intermediate form (LLVM IR).

The thread sanitizer's pass instruments loads and stores of 1, 2, 4, 8 and 16 bytes. Others (wide
vectors, long double, odd bit-fields), masked and other vector intrinsics that are given an address,
structures passed by value on the stack, and inline assembly access memory without a hook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_SEEN_BITS = {8, 16, 32, 64, 128}
_LOAD = re.compile(r"= (?:tail )?load (?:volatile )?(?!atomic)(.*)")
_STORE = re.compile(r"^store (?:volatile )?(?!atomic)(.*)")
_POINTER_ARGUMENT = re.compile(r"(?:\*|\bptr\b)[^,()]*? ([%@][\w.$\-]+|bitcast|getelementptr)")
_INTRINSIC = re.compile(
    r"call .*@llvm\.((?:masked|vp|x86|aarch64|arm|ppc|riscv|s390|loongarch)\.[\w.]+)\((.*)"
)
_HARMLESS = re.compile(r"clflush|clwb|cldemote|prefetch|monitor|rdtscp|fxsave|xsave|xrstor|fxrstor")
_ASSEMBLY = re.compile(r'call .*\basm (?:\w+ )*"((?:[^"\\]|\\.)*)", "([^"]*)"\((.*)')
_BY_VALUE = re.compile(r"\bbyval\b")
_NAME = re.compile(r"(%[\w.$\-]+) = (.*)")
_SCALARS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80}
_SCALARS |= {"fp128": 128, "ppc_fp128": 128, "ptr": 64, "x86_mmx": 64}


def uninstrumented_by_clang(text: str) -> list[str]:
    """The places, as FILE:LINE, or FUNCTION() where there is no debugging information."""
    lines = text.splitlines()
    named = {}
    constants = set()
    for line in lines:
        if match := re.match(r'(%[\w.$\-]+|%"[^"]*") = type (.*)', line):
            named[match[1]] = match[2]
        elif match := re.match(r"(@[\w.$\-]+) = .*\bconstant\b", line):
            constants.add(match[1])
    places = _Places(lines)
    found: dict[str, None] = {}
    for name, body in _functions(lines):
        for line in body:
            if _is_uninstrumented(line, body, named, constants):
                found[places.of(line) or f"{name}()"] = None
    return list(found)


def _functions(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    name, body = "", list[str]()
    for line in lines:
        if line.startswith("define "):
            match = re.search(r'@"?([^"( ]+)', line)
            name, body = match[1] if match else "?", []
        elif line == "}":
            yield name, body
            name, body = "", []
        elif name:
            body.append(line.strip())


class _Places:
    """From `!dbg !N` to the innermost place of the user's that it was inlined into."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._nodes = {}
        for line in lines:
            if line.startswith("!") and (match := re.match(r"!(\d+) = (.*)", line)):
                self._nodes[match[1]] = match[2]

    def of(self, line: str) -> str | None:
        number = _reference(line, "!dbg ")
        first = None
        for _ in range(64):
            node = self._nodes.get(number or "", "")
            at = re.search(r"\bline: (\d+)", node)
            file = self._file(_reference(node, "scope: "))
            if at is None or file is None:
                break
            place = f"{file.rpartition('/')[2]}:{at[1]}"
            first = first or place
            if "/include/" not in file:
                return place
            number = _reference(node, "inlinedAt: ")
        return first

    def _file(self, number: str | None) -> str | None:
        for _ in range(64):
            node = self._nodes.get(number or "", "")
            file = self._nodes.get(_reference(node, "file: ") or "", "")
            if match := re.search(r'filename: "([^"]*)"', file):
                return match[1]
            number = _reference(node, "scope: ")
        return None


def _reference(text: str, field: str) -> str | None:
    match = re.search(rf"{field}!(\d+)", text)
    return match[1] if match else None


def _is_uninstrumented(
    line: str, body: Sequence[str], named: dict[str, str], constants: set[str]
) -> bool:
    if load := _LOAD.search(line):
        parts = _split(load[1])
        bits = _bits(parts[0], named)
        pointer = parts[1] if len(parts) > 1 else ""
        if bits in _SEEN_BITS or any(f"{name} " in f"{pointer} " for name in constants):
            return False
        return not _is_private(_named(pointer), body)
    if store := _STORE.match(line):
        parts = _split(store[1])
        kind, _ = _type_of(parts[0])
        pointer = parts[1] if len(parts) > 1 else ""
        return _bits(kind, named) not in _SEEN_BITS and not _is_private(_named(pointer), body)
    if "call " not in line:
        return False
    if assembly := _ASSEMBLY.search(line):
        code, constraints, given = assembly.groups()
        touches = "(" in code or "*" in constraints
        return bool(code.strip()) and touches and bool(_POINTER_ARGUMENT.search(given))
    if intrinsic := _INTRINSIC.search(line):
        pointers = _POINTER_ARGUMENT.findall(intrinsic[2]) or re.findall(
            r"<\d+ x (?:ptr|[^>]*\*)>", intrinsic[2]
        )
        harmless = _HARMLESS.search(intrinsic[1])
        return bool(pointers) and not harmless and not all(_is_private(p, body) for p in pointers)
    if _BY_VALUE.search(line):
        given = [operand for operand in _split(line.partition("(")[2]) if _BY_VALUE.search(operand)]
        return not all(_is_private(_last_name(operand), body) for operand in given)
    return False


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, start = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _type_of(text: str) -> tuple[str, str]:
    """A value's type, and the rest."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([{<") - (character in ")]}>")
        if character == " " and depth == 0 and text[at + 1 : at + 2] != "(":
            return text[:at], text[at + 1 :]
    return text, ""


def _bits(kind: str, named: dict[str, str]) -> int:
    """How many bits a store of the type writes; 0 where that is not known."""
    kind = kind.strip()
    if kind.endswith("*"):
        return 64
    if kind in _SCALARS:
        return _SCALARS[kind]
    if match := re.fullmatch(r"i(\d+)", kind):
        return (int(match[1]) + 7) // 8 * 8
    if match := re.fullmatch(r"<(\d+) x (.*)>", kind):
        element = re.fullmatch(r"i(\d+)", match[2])
        bits = int(element[1]) if element else _bits(match[2], named)
        return (int(match[1]) * bits + 7) // 8 * 8
    if match := re.fullmatch(r"\[(\d+) x (.*)\]", kind):
        return int(match[1]) * _bits(match[2], named)
    if kind in named:
        return _bits(named[kind], named)
    if match := re.fullmatch(r"(<?)\{(.*)\}>?", kind):
        return _structure([_bits(m, named) for m in _split(match[2])], packed=bool(match[1]))
    return 0


def _structure(members: Sequence[int], packed: bool) -> int:
    at = largest = 0
    for bits in members:
        align = 8 if packed else min(1 << max(bits - 1, 7).bit_length(), 128)
        at = -(-at // align) * align + bits
        largest = max(largest, align)
    return -(-at // largest) * largest if largest else 0


def _named(pointer: str) -> str:
    return pointer.rpartition(" ")[2]


def _last_name(argument: str) -> str:
    found = re.findall(r"[%@][\w.$\-]+", argument)
    return found[-1] if found else ""


def _is_private(pointer: str, body: Sequence[str]) -> bool:
    """Whether it points into a local variable whose address only loads and stores use."""
    for _ in range(64):
        made = next((line for line in body if line.startswith(f"{pointer} = ")), "")
        match = re.match(r"\S+ = (bitcast|getelementptr)\b(.*)", made)
        if not match:
            break
        inner = re.search(r"(?:\*|\bptr) (%[\w.$\-]+)", match[2])
        pointer = inner[1] if inner else ""
    if not pointer or " = alloca " not in made:
        return False
    known = [pointer]
    for name in known:
        for line in body:
            if not re.search(rf"{re.escape(name)}(?![\w.$\-])", line):
                continue
            if line.startswith(f"{name} = "):
                continue
            derived = re.match(r"(\S+) = (?:bitcast|getelementptr)\b", line)
            if derived:
                known.append(derived[1])
            elif not _keeps_private(line, name):
                return False
    return True


def _keeps_private(line: str, name: str) -> bool:
    if _LOAD.search(line):
        return True
    if store := _STORE.match(line):
        return _type_of(_split(store[1])[0])[1] != name
    return bool(
        re.search(r"@llvm\.(?:lifetime|dbg|mem)|@__tsan_|@mem(?:cpy|move|set)\(|\bbyval\b", line)
    )
