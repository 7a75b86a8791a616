"""Hooks in a straight run of instructions: one question for all that lie near each other.

Accesses of which the addresses are the same sum of registers but for a constant are asked for
together, at the run's first hook: the marks of all lines between them are read at once. If any is
set, the rest of the run is carried out as a copy far from it, which has a hook for every access.
Only MPI calls mark lines, and the recorder where a hook calls it: then the run goes on in the copy,
too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.recorder.addresses import Registers, Sum, mentioned, operand
from imbrex.recorder.hook_text import (
    DEBUG_LABEL,
    LINE_BITS,
    LINE_BYTES,
    MARKS,
    Access,
    Code,
    ask,
    hook,
    remember,
    stub,
    thread_local,
)

_ARGUMENT = re.compile(r"\t(movq\t%\w+|leaq\t-?\d*\([^)]*\)), %rdi$")
# The question needs these.
_ASKED_WITH = re.compile(r"%(rax|r11)|%rdi.*%rdi|%rip")
# Compares so many lines.
_COMPARES = {1: "cmpb", 2: "cmpw", 4: "cmpl", 8: "cmpq"}


def argument_line(lines: list[str], access: Access) -> int | None:
    """The line right before a hook that does nothing but put its address into rdi, of registers
    that are the same behind the question."""
    at = access.at - 1
    while lines[at].startswith("\t.loc ") or DEBUG_LABEL.match(lines[at]):
        at -= 1
    line = lines[at]
    return at if _ARGUMENT.match(line) and not _ASKED_WITH.search(line) else None


def argument_behind(lines: list[str], hook: int, least: int) -> int | None:
    """The line behind `least` that does nothing but put the address of the hook's access into
    rdi, which nothing else uses."""
    at = hook - 1
    while at > least and "rdi" not in mentioned(lines[at]):
        at -= 1
    line = lines[at]
    if at > least and line.startswith(("\tmovq\t", "\tleaq\t")) and line.endswith(", %rdi"):
        return at if line.count("rdi") == 1 else None
    return None


@dataclass(frozen=True)
class _Group:
    """Accesses, by their numbers in the run, and the bytes from the first of them on."""

    members: tuple[int, ...]
    begin: Sum
    size: int

    @property
    def lines(self) -> int:
        """How many lines they may touch, wherever the first one begins; as many as are compared."""
        least = (self.size - 2) // LINE_BYTES + 2
        return next(count for count in _COMPARES if count >= least)


def grouped_run(
    lines: list[str], run: list[Access], numbers: Iterator[int], code: Code
) -> tuple[dict[int, list[str]], list[str]] | None:
    """What stands in place of lines of the run, and what is put far from it. None where no two
    accesses lie near each other."""
    between = [line for line in lines[run[0].at : run[-1].at] if not _is_quiet(line)]
    if any(line.startswith(("\t.", ".")) for line in between):
        return None
    groups = _groups(_addresses(lines, run, code), run)
    if not groups:
        return None
    return _Writer(lines, run, groups, numbers, code).written()


def _is_quiet(line: str) -> bool:
    return line.startswith("\t.loc ") or bool(DEBUG_LABEL.match(line)) or not line.strip()


def _addresses(lines: list[str], run: list[Access], code: Code) -> list[Sum | None]:
    """The addresses of the accesses, as sums of what the registers hold at the first of them."""
    registers = Registers()
    hooks = {access.at for access in run}
    first = argument_line(lines, run[0])
    if first is not None:
        registers.follow(lines[first])
    found: list[Sum | None] = []
    for at in range(run[0].at, run[-1].at + 1):
        line = lines[at]
        if at in hooks:
            found.append(registers.held("rdi"))
            registers.call(code.changed)
        elif not _is_quiet(line) and not registers.follow(line):
            return found + [None] * (len(run) - len(found))
    return found


def _groups(addresses: list[Sum | None], run: list[Access]) -> list[_Group]:
    by_terms: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for index, address in enumerate(addresses):
        if address and not address.symbol:
            by_terms.setdefault(address.terms, []).append(index)
    groups = []
    for terms, members in by_terms.items():
        by_place = sorted(members, key=lambda index: _constant(addresses[index]))
        while by_place:
            begin = _constant(addresses[by_place[0]])
            near, end = [], begin
            for index in by_place:
                stop = max(end, _constant(addresses[index]) + run[index].size)
                if stop - begin > LINE_BYTES * 7 + 1:
                    break
                near.append(index)
                end = stop
            by_place = by_place[len(near) :]
            if len(near) > 1 and operand(Sum(begin, terms), 0):
                groups.append(_Group(tuple(sorted(near)), Sum(begin, terms), end - begin))
    return groups


def _constant(address: Sum | None) -> int:
    return address.constant if address else 0


class _Writer:
    def __init__(
        self,
        lines: list[str],
        run: list[Access],
        groups: list[_Group],
        numbers: Iterator[int],
        code: Code,
    ) -> None:
        self._lines, self._run, self._groups, self._numbers = lines, run, groups, numbers
        self._code, self._number = code, next(numbers)
        self._asked = {index for group in groups for index in group.members}
        self._copied = [next(numbers) for _ in run]  # the hooks of the copy
        self._far: list[str] = []

    def written(self) -> tuple[dict[int, list[str]], list[str]]:
        replaced: dict[int, list[str]] = {}
        loaded = True
        for index, access in enumerate(self._run):
            between = self._lines[self._run[index - 1].at : access.at] if index else []
            loaded = loaded and not any("%r11" in line for line in between)
            replaced[access.at], loaded = self._near(index, loaded)
            at = self._argument(index)
            if at is not None and not replaced[access.at]:
                replaced[at] = []
        first = self._run[0].at
        replaced[first] = [*self._question(), *replaced[first]]
        last = self._run[-1].at
        replaced[last] += [f".Limbrex_done{self._number}:"]
        return replaced, [*self._copy(), *self._far]

    def _argument(self, index: int) -> int | None:
        """The line that does nothing but put the address of an access into rdi; of the first, one
        that the copy can carry out too."""
        if index == 0:
            return argument_line(self._lines, self._run[0])
        return argument_behind(self._lines, self._run[index].at, self._run[index - 1].at)

    def _question(self) -> list[str]:
        """Whether nothing near what the groups access was communicated."""
        text = thread_local(f"addq\t${len(self._run)}", "clock")
        if any(self._run[index].paired and self._run[index].is_write for index in self._asked):
            text += thread_local("cmpq\t$0", "pending")
            text += [f"\tjne\t.Limbrex_copy{self._number}"]
        text += [MARKS]
        for group in self._groups:
            text += [
                f"\tleal\t{operand(group.begin, 0)}, %eax",
                f"\tshrl\t${LINE_BITS}, %eax",
                f"\t{_COMPARES[group.lines]}\t$0, (%r11,%rax)",
                f"\tjne\t.Limbrex_copy{self._number}",
            ]
        return text

    def _near(self, index: int, loaded: bool) -> tuple[list[str], bool]:
        """What is in place of a hook where the groups need none; and whether r11 holds the
        marks."""
        access = self._run[index]
        if index in self._asked:
            # Only what is asked for by itself may call the recorder, which wants to know.
            within = len(self._asked) < len(self._run)
            return (remember(access) if within else []), loaded
        number = next(self._numbers)
        later = len(self._run) - 1 - index
        behind = f".Limbrex_back{self._copied[index]}"
        self._far += stub(access, number, later, [], self._code, behind)
        question = ask(access, number, not loaded)
        return [*remember(access), *question, f".Limbrex_back{number}:"], True

    def _copy(self) -> list[str]:
        """The run from its first access on, with all hooks, counted already."""
        text = [f".Limbrex_copy{self._number}:"]
        first = argument_line(self._lines, self._run[0])
        text += [] if first is None else [self._lines[first]]
        hooks = {access.at: index for index, access in enumerate(self._run)}
        for at in range(self._run[0].at, self._run[-1].at + 1):
            line = self._lines[at]
            if at in hooks:
                index = hooks[at]
                before = self._lines[self._run[index - 1].at : at] if index else ["%r11"]
                used = any("%r11" in earlier for earlier in before)
                asked, far = hook(
                    self._run, index, self._copied[index], used, self._code, counted=True
                )
                text += asked
                self._far += far
            elif line.startswith("\t.loc "):
                text += [line.partition(" view ")[0]]
            elif line.startswith("\t"):
                text += [line]
        return [*text, f"\tjmp\t.Limbrex_done{self._number}"]
