"""Addresses in a straight loop of assembler (AT&T syntax, x86-64), as sums of its registers.

A loop's body is followed once, register by register. What is certain is kept: constants, sums and
multiples of what the registers held when the body began. Everything else is not known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

CALLEE_SAVED = ("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15")
CALLER_SAVED = ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")
_FAMILY = {name: name for name in (*CALLEE_SAVED, *CALLER_SAVED)}
for _letter in "abcd":
    _FAMILY |= {f"{part}": f"r{_letter}x" for part in (f"e{_letter}x", f"{_letter}x")}
    _FAMILY |= {f"{_letter}{half}": f"r{_letter}x" for half in "lh"}
for _name in ("si", "di", "bp", "sp"):
    _FAMILY |= dict.fromkeys((f"e{_name}", _name, f"{_name}l"), f"r{_name}")
for _number in range(8, 16):
    _FAMILY |= {f"r{_number}{width}": f"r{_number}" for width in "dwb"}

_NAME = re.compile(r"%([a-z0-9]+)")
_SPLIT = re.compile(r",\s*(?![^(]*\))")
_VECTOR = re.compile(r"%[xy]mm\d")
# Of these, what is written is the last operand, and nothing is that is not named.
_EXPLICIT = re.compile(
    r"mov(abs|s[bwl][wlq]|z[bw][wlq])?[bwlq]?"
    r"|(lea|add|sub|and|or|xor|adc|sbb|sal|shl|sar|shr|neg|not|inc|dec)[bwlq]?"
    r"|set[a-z]+|cmov[a-z]+"
)
_NOTHING = re.compile(r"(cmp|test)[bwlq]?|nop[wlq]?")
# These write rax and rdx.
_WIDE = re.compile(r"cltq|cqto|cltd|cwtl|i?(div|mul)[bwlq]")
_MEMORY = re.compile(r"([^()%]*)\((%\w+)?(?:,(%\w+)(?:,([1248]))?)?\)")
_NUMBER = re.compile(r"-?\d+")
_LARGEST = 1 << 31


@dataclass(frozen=True)
class Sum:
    """A constant and multiples of registers as they were when the body began; or the address of
    `symbol`, an operand."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()
    symbol: str = ""

    def plus(self, other: Sum, times: int = 1) -> Sum | None:
        if self.symbol or other.symbol:
            if other == Sum():
                return self
            return other if self == Sum() and times == 1 else None
        terms = dict(self.terms)
        for name, count in other.terms:
            terms[name] = terms.get(name, 0) + times * count
        kept = tuple(sorted((name, count) for name, count in terms.items() if count))
        return Sum(self.constant + times * other.constant, kept)


def family(register: str) -> str:
    """The register of 64 bits that `register`, without its %, is a part of; or its own name."""
    return _FAMILY.get(register, register)


def lower_half(register: str) -> str:
    """The lower 32 bits of a register of 64, both with their %."""
    name = register[1:]
    return f"%{name}d" if name[1].isdigit() else f"%e{name[1:]}"


def mentioned(text: str) -> set[str]:
    """The registers that a line of assembler mentions, by their names of 64 bits."""
    return {family(name) for name in _NAME.findall(text)}


class Registers:
    """What the registers hold, as far as it is known."""

    def __init__(self) -> None:
        self._held: dict[str, Sum | None] = {
            name: Sum(terms=((name, 1),)) for name in (*CALLEE_SAVED, *CALLER_SAVED)
        }

    def held(self, register: str) -> Sum | None:
        return self._held.get(register)

    def call(self, changed: Iterable[str]) -> None:
        for name in changed:
            self._held[name] = None

    def follow(self, line: str) -> bool:
        """An instruction is carried out. False where it may change what it does not name."""
        mnemonic, _, rest = line.strip().partition("\t")
        operands = [operand.strip() for operand in _SPLIT.split(rest)] if rest else []
        if _WIDE.fullmatch(mnemonic) and len(operands) < 2:
            self._held |= {"rax": None, "rdx": None}
            return True
        if not operands or "%es:" in rest:
            return False
        if _NOTHING.fullmatch(mnemonic):
            return True
        if _VECTOR.search(rest):
            if "str" in mnemonic or "gather" in mnemonic or "scatter" in mnemonic:
                return False
        elif not _EXPLICIT.fullmatch(mnemonic) and not (
            mnemonic.startswith("imul") and len(operands) > 1
        ):
            return False
        target = operands[-1]
        if target.startswith("%"):
            name = family(target[1:])
            is_whole = target[1:] == name and name in self._held
            value = self._result(mnemonic, operands) if is_whole else None
            if name in self._held:
                self._held[name] = value
        return True

    def _result(self, mnemonic: str, operands: list[str]) -> Sum | None:
        """What an instruction leaves in its last operand, a whole register."""
        before = self._held[operands[-1][1:]]
        if mnemonic == "leaq":
            return self._address(operands[0])
        if mnemonic == "movq":
            return self._value(operands[0])
        if before is None:
            return None
        if mnemonic in ("incq", "decq") and len(operands) == 1:
            return before.plus(Sum(1 if mnemonic == "incq" else -1))
        source = self._value(operands[0])
        if source is None or len(operands) != 2:
            return None
        if mnemonic in ("addq", "subq"):
            return before.plus(source, 1 if mnemonic == "addq" else -1)
        if mnemonic in ("salq", "shlq") and not source.terms and 0 < source.constant < 32:
            return Sum().plus(before, 1 << source.constant)
        return None

    def _value(self, operand: str) -> Sum | None:
        if operand.startswith("$") and _NUMBER.fullmatch(operand[1:]):
            return Sum(int(operand[1:]))
        if operand.startswith("%"):
            return self._held.get(operand[1:])
        return None

    def _address(self, operand: str) -> Sum | None:
        parts = _MEMORY.fullmatch(operand)
        if not parts:
            return None
        displacement, base, index, scale = parts.groups()
        if base == "%rip":
            return Sum(symbol=operand)
        if displacement and not _NUMBER.fullmatch(displacement):
            return None
        total: Sum | None = Sum(int(displacement or 0))
        for register, times in ((base, 1), (index, int(scale or 1))):
            value = self._value(register) if register else Sum()
            if total is None or value is None:
                return None
            total = total.plus(value, times)
        return total


@dataclass(frozen=True)
class Moving:
    """An address: `now`, of what the registers hold at the first access of the body; and by how
    many bytes it moves from one round to the next."""

    now: Sum
    stride: int


def moving_addresses(
    body: list[str], accesses: Iterable[int], changed: Collection[str] = CALLER_SAVED
) -> list[Moving | None] | None:
    """For each access of a loop's body, the numbers of their lines in order, the address in rdi.
    A hook may change the registers `changed`.

    None for an address that is not certain to move evenly, or that no operand can express. None
    for all where the body has an instruction that is not understood.
    """
    places = set(accesses)
    kept = [name for name in (*CALLEE_SAVED, *CALLER_SAVED) if name not in changed]
    registers = Registers()
    found: list[Sum | None] = []
    first: dict[str, Sum | None] = {}
    for at, line in enumerate(body):
        if at in places:
            if not found:
                first = {name: registers.held(name) for name in kept}
            found.append(registers.held("rdi"))
            registers.call(changed)
        elif not registers.follow(line):
            return None
    steps = {}
    moved = {}
    for name in kept:
        own = ((name, 1),)
        end, then = registers.held(name), first[name]
        if end and then and end.terms == own and then.terms == own:
            steps[name], moved[name] = end.constant, then.constant
    return [_moving(address, steps, moved) for address in found]


def _moving(address: Sum | None, steps: dict[str, int], moved: dict[str, int]) -> Moving | None:
    if address is None or any(name not in steps for name, _ in address.terms):
        return None
    stride = sum(count * steps[name] for name, count in address.terms)
    since = sum(count * moved[name] for name, count in address.terms)
    now = Sum(address.constant - since, address.terms, address.symbol)
    return Moving(now, stride) if operand(now, 0) else None


def operand(address: Sum, offset: int) -> str | None:
    """The operand of lea for an address and so many bytes behind it; None without one."""
    displacement = address.constant + offset
    if abs(displacement) >= _LARGEST >> 1:
        return None
    if address.symbol:
        return address.symbol if displacement == 0 else f"{displacement}+{address.symbol}"
    if len(address.terms) == 1 and address.terms[0][1] == 1:
        return f"{displacement}(%{address.terms[0][0]})"
    scaled = [term for term in address.terms if term[1] in (1, 2, 4, 8) and term[0] != "rsp"]
    if len(address.terms) == 1 and scaled:
        return f"{displacement}(,%{scaled[0][0]},{scaled[0][1]})"
    if len(address.terms) != 2:
        return None
    for base, index in (address.terms, address.terms[::-1]):
        if base[1] == 1 and index in scaled:
            return f"{displacement}(%{base[0]},%{index[0]},{index[1]})"
    return None
