"""What an installed mpi.h declares: functions and the constants that are addresses of data."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_ASM = re.compile(r"__asm__\s*\([^()]*\)")
_PROTOTYPE = re.compile(
    r"(?<!\w)(?:extern\s+)?"
    r"(?P<returns>(?:const\s+)?(?:unsigned\s+)?[A-Za-z_]\w*(?:\s*\*+)?)\s*"
    r"\b(?P<name>P?MPIX?_\w+)\s*\((?P<parameters>[^;{}]*?)\)\s*;"
)
_ADDRESS = re.compile(r"&\s*\(?\s*([A-Za-z_]\w*)\s*\)?")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its C declaration with `{}` for the name, and the name in the header."""

    declaration: str
    name: str

    @property
    def type(self) -> str:
        """The type alone, e.g. `const int *`."""
        return " ".join(self.declaration.replace("[]", "").format("").split()) + (
            " *" if "[]" in self.declaration else ""
        )


@dataclass(frozen=True)
class Function:
    """A prototype. `parameters` is None when it takes a variable number of arguments."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...] | None


@dataclass(frozen=True)
class Header:
    """Functions by name (MPI_ and PMPI_), and constants (macro name -> data symbol, C type)."""

    functions: dict[str, Function]
    data_constants: dict[str, tuple[str, str]]
    macros: dict[str, str]


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [" ".join(part.split()) for part in parts]


def _parameter(text: str, index: int) -> Parameter:
    match = re.fullmatch(r"(.*?[\s*])([A-Za-z_]\w*)\s*((?:\[\d*\])*)", text)
    keywords = {"int", "char", "void", "long", "double"}
    if match is None or match.group(2) in keywords or re.fullmatch(r"const\s+", match.group(1)):
        return Parameter(f"{text} {{}}", f"a{index}")
    before, name, arrays = match.groups()
    # An array parameter without its size: sizes such as [][3] stay, [3] decays all the same.
    return Parameter(f"{before}{{}}{arrays}", name)


def _functions(text: str) -> dict[str, Function]:
    functions = {}
    for match in _PROTOTYPE.finditer(text):
        returns = match["returns"].strip()
        if returns in {"typedef", "return", "else"}:
            continue
        inside = match["parameters"].strip()
        if "..." in inside:
            parameters = None
        elif inside in {"", "void"}:
            parameters = ()
        else:
            parameters = tuple(_parameter(p, i) for i, p in enumerate(_split(inside)))
        functions.setdefault(match["name"], Function(match["name"], returns, parameters))
    return functions


def read(compiler: str, scratch: Path) -> Header:
    """Preprocess mpi.h with `compiler` and read it. Raises CalledProcessError if that fails."""

    def preprocess(source: str, *flags: str) -> str:
        file = scratch / "header.c"
        file.write_text(source)
        return subprocess.run(
            [compiler, *flags, "-E", "-P", str(file)], check=True, capture_output=True, text=True
        ).stdout

    text = preprocess("#include <mpi.h>\n")
    text = _ASM.sub("", _ATTRIBUTE.sub("", text))
    macros = dict(
        re.findall(
            r"^#define (P?MPIX?_\w+)(?:\([^)]*\))?[ \t]+(\S.*)$",
            preprocess("#include <mpi.h>\n", "-dM"),
            flags=re.MULTILINE,
        )
    )
    names = [name for name in macros if re.fullmatch(r"MPIX?_\w+", name)]
    expanded = preprocess(
        "#include <mpi.h>\n" + "".join(f"IX_EXPAND({i}) {n}\n" for i, n in enumerate(names))
    )
    constants = {}
    for number, expansion in re.findall(r"IX_EXPAND\((\d+)\) ?(.*)", expanded):
        address = _ADDRESS.search(expansion)
        kind = re.match(r"[\s(]*(MPI_\w+)\s*\)", expansion)
        if address and kind:
            constants[names[int(number)]] = (address.group(1), kind.group(1))
    return Header(_functions(text), constants, macros)
