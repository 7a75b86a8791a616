"""Plain code beside the recorded code of one source file, in one object.

With `imbrex cc --duplicate` each function is there twice, and its entry asks which of both is to
run: `imbrex_access_plain`, which the runtime sets when it has recorded enough (full duplication:
Arnold and Ryder, "A Framework for Reducing the Cost of Instrumented Code", PLDI 2001). Both use the
same variables, which only the recorded text defines. Where it is not certain that they are the
same, the file stays recorded throughout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

SAME_FUNCTIONS = (
    # A caller may keep values in registers that it knows its callee to leave alone.
    "-fno-ipa-ra",
    # Clones with arguments of their own, of which the other code may have others.
    "-fno-ipa-sra",
    "-fno-ipa-cp",
    "-fno-ipa-icf",
    "-fno-partial-inlining",
    # What a call returns to must be behind it.
    "-fno-optimize-sibling-calls",
    # Code that main took in would stay recorded: main is entered once.
    "-fno-inline-functions-called-once",
)
"""Options of both compilations that let a function have one entry and one convention in both."""

_SUFFIX = ".imbrex_plain"
_SECTION = re.compile(r"\t\.(?:section\t([^,\s]+)(?:,\"(\w*)\")?|(text|data|bss)\b)")
_TYPE = re.compile(r"\t\.type\t([^,\s]+), @(\w+)")
_COMMON = re.compile(r"\t\.l?comm\t([^,\s]+),(\d+)")
_SIZE = re.compile(r"\t\.size\t([^,\s]+), (\S+)")
_FILE = re.compile(r"\t\.file (\d+) (.*)")
_LOC = re.compile(r"\t\.loc (\d+) (.*)")
_LOCAL = re.compile(r"(?<![\w.])\.L(?=\w)")
_LABEL = re.compile(r"([^\s:]+):")
_TEXT = ("\t.string", "\t.ascii")
# Of the file as a whole, of names that others see, or of the entry that the recorded text has.
_LEFT_OUT = re.compile(
    r"\t\.(?:file\t|ident|globl|weak|hidden|internal|protected|local|l?comm\b|set\b)"
)
# Constants that have no name in the source, and may have another number in each code.
_OF_THE_COMPILER = re.compile(r"(?:CSWTCH\.\d+|C\.\d+\.\d+)$")
_CALLS = re.compile(r"\t(?:call|j\w+)\t([^\s@*]+)$")
_NOT_READ = {
    "\t.pushsection": "it has assembler of its own in other sections",
    "\t.section\t.gcc_except_table": "it catches exceptions",
}
_END = ".Letext0:"
_MPI_CALL = re.compile(r"\tcall\t\*?(?:P?MPI_|mpi_)\w+")


class NotDuplicatedError(Exception):
    """Why a file cannot have both."""


@dataclass
class _Text:
    """What one assembler file defines: functions, and variables with their sizes in order."""

    functions: set[str] = field(default_factory=set)
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def _read(lines: Iterable[str]) -> _Text:
    text = _Text()
    for line in lines:
        if not line.startswith("\t."):
            continue
        if of_type := _TYPE.match(line):
            if of_type[2] == "function":
                text.functions.add(of_type[1])
            elif not _OF_THE_COMPILER.match(of_type[1]):
                text.variables.setdefault(of_type[1], "")
        elif common := _COMMON.match(line):
            text.variables[common[1]] = common[2]
        elif (size := _SIZE.match(line)) and size[1] in text.variables:
            text.variables[size[1]] = size[2]
        elif file := _FILE.match(line):
            text.files.setdefault(file[2], file[1])
    return text


def with_plain_code(recorded: list[str], plain: list[str]) -> list[str]:
    """The recorded text with the plain code in it, both of one source.

    NotDuplicatedError where variables may differ, or the text is not as gcc writes it.
    """
    own, other = _read(recorded), _read(plain)
    if _END not in recorded:
        raise NotDuplicatedError("its code has no end that is known")
    for odd, reason in _NOT_READ.items():
        if any(line.startswith(odd) for line in plain):
            raise NotDuplicatedError(reason)
    used = {name: size for name, size in own.variables.items() if name in other.variables}
    if list(used.items()) != list(other.variables.items()):
        names = sorted(set(other.variables) ^ set(used)) or sorted(used)
        raise NotDuplicatedError(f"its variables are not the same in both, as {names[0]}")
    code, constants = _code(plain, own, other)
    both = _replaceable(recorded) & code.functions
    at = recorded.index(_END)
    files = [f"\t.file {number} {name}" for name, number in code.new_files.items()]
    added = [*files, "\t.text", *code.lines, *constants, "\t.text"]
    numbered = {number: name for name, number in {**own.files, **code.new_files}.items()}
    return _with_places([*_with_choices(recorded[:at], both), *added], numbered) + recorded[at:]


@dataclass
class _Code:
    lines: list[str] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    new_files: dict[str, str] = field(default_factory=dict)


def _code(plain: list[str], own: _Text, other: _Text) -> tuple[_Code, list[str]]:
    """The functions of the plain text, and the constants that they use."""
    code, constants = _Code(), ["\t.section\t.rodata"]
    numbers = _file_numbers(own, other, code)
    everywhere = _names(name for name in other.functions if "." in name)
    kept: list[str] | None = code.lines
    skipped = False
    for line in plain:
        if section := _SECTION.match(line):
            kept, skipped = _where(section, code.lines, constants), False
            if kept is constants:
                constants.append(line)
            continue
        if kept is None or _LEFT_OUT.match(line) or _FILE.match(line):
            continue
        if kept is constants:
            skipped = _is_skipped(line, skipped)
            if not skipped:
                constants.append(_renamed(line, everywhere))
            continue
        if line.startswith("\t.loc "):
            place = _LOC.match(line.partition(" view ")[0])
            line = f"\t.loc {numbers[place[1]]} {place[2]}" if place else ""
        else:
            line = _defined(_renamed(line, everywhere), other.functions, code)
        code.lines.append(line)
    code.lines = [_called(line, code.functions) for line in code.lines]
    return code, constants


def _where(section: re.Match[str], code: list[str], constants: list[str]) -> list[str] | None:
    """Where the lines of a section go; None: the recorded text has them."""
    name = section[1] or f".{section[3]}"
    if "G" in (section[2] or ""):  # one for all files, which may take another's
        return None
    if name.startswith(".text"):
        return code
    return constants if name.startswith(".rodata") else None


def _is_skipped(line: str, skipped: bool) -> bool:
    """Whether a line of constants belongs to a variable, which the recorded text has."""
    if of_type := _TYPE.match(line):
        return not _OF_THE_COMPILER.match(of_type[1])
    return skipped and not line.startswith((".L", "\t.align", "\t.p2align"))


def _names(names: Iterable[str]) -> re.Pattern[str]:
    """Functions that only the plain code calls, wherever they are named; and constants of it."""
    escaped = sorted((re.escape(name) for name in names), key=len, reverse=True)
    found = "|".join([*escaped, r"CSWTCH\.\d+", r"C\.\d+\.\d+"])
    return re.compile(rf"(?<![\w.$])({found})(?![\w.])")


def _renamed(line: str, everywhere: re.Pattern[str]) -> str:
    if line.startswith(_TEXT):
        return line
    return everywhere.sub(rf"\1{_SUFFIX}", _LOCAL.sub(".Limbrex_plain_", line))


def _defined(line: str, functions: set[str], code: _Code) -> str:
    """A line with the name of the function that it defines, if it does."""
    if (label := _LABEL.match(line)) and label[1] in functions:
        code.functions.add(label[1])
        return f"{label[1]}{_SUFFIX}:{line[label.end() :]}"
    if (of_type := _TYPE.match(line)) and of_type[1] in functions:
        return f"\t.type\t{of_type[1]}{_SUFFIX}, @function"
    if (size := _SIZE.match(line)) and size[1] in functions:
        return f"\t.size\t{size[1]}{_SUFFIX}, .-{size[1]}{_SUFFIX}"
    return line


def _called(line: str, functions: set[str]) -> str:
    """A call from plain code of plain code: the compiler may have fitted one to the other."""
    call = _CALLS.match(line)
    return line + _SUFFIX if call and call[1] in functions and "." not in call[1] else line


def _replaceable(recorded: list[str]) -> set[str]:
    """Functions that call others, so that their callers align the stack for any code.

    For one that does not, gcc lets a caller of the same file align it less. Nothing is lost: it has
    no hook.
    """
    found: set[str] = set()
    name = ""
    for line in recorded:
        if not line.startswith("\t"):
            label = _LABEL.match(line)
            name = label[1] if label and not label[1].startswith(".L") else name
        elif line.startswith("\tcall\t"):
            found.add(name)
    return {name for name in found if "." not in name}


def _file_numbers(own: _Text, other: _Text, code: _Code) -> dict[str, str]:
    """Of source files: the recorded text's numbers by the plain one's."""
    highest = max((int(number) for number in own.files.values()), default=0)
    numbers = {}
    for name, number in other.files.items():
        if name in own.files:
            numbers[number] = own.files[name]
        else:
            highest += 1
            numbers[number] = code.new_files[name] = str(highest)
    return numbers


def _with_choices(lines: list[str], both: set[str]) -> list[str]:
    """Ask at the entry of every function that is there twice. r11 is no argument's register."""
    found: list[str] = []
    entered: str | None = None
    for at, line in enumerate(lines):
        found.append(line)
        if not line.startswith("\t") and (label := _LABEL.match(line)) and label[1] in both:
            entered = label[1]
        following = lines[at + 1] if at + 1 < len(lines) else ""
        is_entry = line == "\t.cfi_startproc" or line == "\tendbr64"
        if entered and is_entry and following != "\tendbr64":
            found += [
                "\tmovq\timbrex_access_plain@GOTPCREL(%rip), %r11",
                "\tcmpl\t$0, (%r11)",
                f"\tjne\t{entered}{_SUFFIX}",
            ]
            entered = None
    return found


def _with_places(lines: list[str], files: dict[str, str]) -> list[str]:
    """Behind each call of MPI a label, and a table of them (ixa_site_t): a call has the same place
    in the source in both codes."""
    found: list[str] = []
    table: list[str] = []
    place = ""
    for line in lines:
        found.append(line)
        if loc := _LOC.match(line):
            place = f"{files.get(loc[1], loc[1])} {' '.join(loc[2].split()[:2])}"
        elif _MPI_CALL.match(line):
            label = f".Limbrex_site{len(table)}"
            found.append(f"{label}:")
            table.append(f"\t.quad\t{label}, {_number(place)}")
    section = '\t.section\timbrex_sites,"aw",@progbits'
    return [*found, section, "\t.align 8", *table, "\t.text"] if table else found


def _number(text: str) -> int:
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogateescape"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value
