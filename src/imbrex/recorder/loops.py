"""Hooks in a loop that is one straight stretch of code: asked for many rounds in one question.

Where the address of an access moves evenly from round to round (addresses.py), the marks of all
lines that it passes in the next rounds are read at once. If none is set, these rounds run without
that hook. Else, and until a round finds none set, the loop's body runs as a copy far from it, which
has a hook for every access. Only MPI calls mark lines, and the recorder where a hook calls it: then
the round ends in the copy, and the next one asks anew.

The accesses of the rounds ahead are counted at once; a register holds how many of them are still to
come. Where the loop is left, or the recorder called, they are taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from imbrex.recorder.addresses import Moving, mentioned, moving_addresses, operand
from imbrex.recorder.groups import argument_behind
from imbrex.recorder.hook_text import (
    DEBUG_LABEL,
    LINE_BITS,
    LINE_BYTES,
    MARKS,
    Access,
    Code,
    ask,
    ask_pending,
    hook,
    remember,
    stub,
    thread_local,
)

_LABEL = re.compile(r"(\.L\d+):$")
_BACK = re.compile(r"\t(j(?!mp|[er]?cxz)[a-z]+)\t(\.L\d+)$")
_LEAVES = re.compile(r"\t(j\w+|call\w*|ret\w*)\b")
# No instruction names these without saying so.
_COUNTERS = ("r10", "r9", "r8", "r11")
_ROUNDS = 29
_LEAST_ROUNDS = 7
_LINES_ASKED = 8
_MOST_ASKED = 4
"""So many times eight lines at most for one access; the table of marks goes on that far beyond its
end (IXA_LINES_AHEAD)."""


@dataclass(frozen=True)
class Loop:
    """Lines of the label at a loop's start and of the jump back to it, and that jump."""

    begin: int
    end: int
    jump: str
    label: str


def enclosing_loop(lines: list[str], run: list[Access]) -> Loop | None:
    """The loop whose body is one straight stretch that has all of a run's hooks, if it is one."""
    inner = {access.at for access in run}
    begin = run[0].at - 1
    while _is_straight(lines[begin]):
        begin -= 1
    end = run[-1].at + 1
    while end < len(lines) and _is_straight(lines[end]):
        end += 1
    label = _LABEL.match(lines[begin])
    back = _BACK.match(lines[end]) if end < len(lines) else None
    if not label or not back or label[1] != back[2]:
        return None
    if not all(at in inner or _is_straight(lines[at]) for at in range(begin + 1, end)):
        return None
    return Loop(begin, end, back[1], label[1])


def _is_straight(line: str) -> bool:
    if line.startswith("\t."):
        return line.startswith("\t.loc ")
    if not line.startswith("\t"):
        return bool(DEBUG_LABEL.match(line))
    return not _LEAVES.match(line)


@dataclass(frozen=True)
class _Window:
    """An access that is asked for many rounds ahead, by its number in the run."""

    index: int
    address: Moving
    wider: int  # bytes that it may reach beyond the line of its address


def windowed_loop(
    lines: list[str], run: list[Access], loop: Loop, numbers: Iterator[int], code: Code
) -> tuple[dict[int, list[str]], list[str]] | None:
    """What stands in place of lines of the loop, and what is put far from it. None where no access
    can be asked for ahead."""
    places = [
        at for at in range(loop.begin + 1, loop.end) if not lines[at].startswith(("\t.", "."))
    ]
    body = [lines[at] for at in places]
    hooks = [places.index(access.at) for access in run]
    addresses = moving_addresses(body, hooks, code.changed)
    if addresses is None:
        return None
    rounds, windows = _windows(run, addresses)
    used = set().union(*(mentioned(line) for line in body))
    free = [name for name in _COUNTERS if name in code.changed and name not in used]
    asks_within = len(windows) < len(run)
    if asks_within and "r11" in free:
        free.remove("r11")
        free.append("r11")
    if not windows or len(free) < 3 or free[0] == "r11":
        return None
    return _Writer(lines, run, loop, numbers, code, rounds, windows, free).written()


def _windows(run: list[Access], addresses: list[Moving | None]) -> tuple[int, list[_Window]]:
    """How many rounds are asked for at once, and the accesses for which they are."""
    rounds, windows = _ROUNDS, []
    for index, (access, address) in enumerate(zip(run, addresses, strict=True)):
        if address is None:
            continue
        wider = 0 if access.in_one_word else access.size - 1
        most = (_LINES_ASKED * _MOST_ASKED - 1) * LINE_BYTES - wider
        own = most // abs(address.stride) + 1 if address.stride else _ROUNDS
        last = (rounds - 1) * address.stride
        if own >= _LEAST_ROUNDS and all(operand(address.now, by) for by in (0, last)):
            rounds = min(rounds, own)
            windows.append(_Window(index, address, wider))
    return rounds, windows


class _Writer:
    def __init__(
        self,
        lines: list[str],
        run: list[Access],
        loop: Loop,
        numbers: Iterator[int],
        code: Code,
        rounds: int,
        windows: list[_Window],
        free: list[str],
    ) -> None:
        self._lines, self._run, self._loop, self._numbers = lines, run, loop, numbers
        self._code, self._rounds, self._windows = code, rounds, windows
        self._counter, *self._scratch = free
        self._number = next(numbers)
        self._ahead = {window.index for window in windows}
        self._copied = [next(numbers) for _ in run]  # the hooks of the copy
        self._far: list[str] = []

    def written(self) -> tuple[dict[int, list[str]], list[str]]:
        loop, number = self._loop, self._number
        replaced: dict[int, list[str]] = {}
        loaded = False
        for index, access in enumerate(self._run):
            between = self._lines[self._run[index - 1].at : access.at]
            loaded = loaded and not any("%r11" in line for line in between)
            replaced[access.at], loaded = self._near(index, loaded)
        begins_known = 0 in self._ahead
        for index in self._ahead:
            least = self._run[index - 1].at if index else self._loop.begin
            at = argument_behind(self._lines, self._run[index].at, least)
            if not replaced[self._run[index].at] and at is not None:
                replaced[at] = []
        first = self._run[0].at
        replaced[first] = [
            f"\tsubq\t${len(self._run)}, %{self._counter}",
            f"\tjs\t.Limbrex_ask{number}",
            f".Limbrex_on{number}:",
            *replaced[first],
        ]
        replaced[loop.begin] = [
            self._lines[loop.begin],
            f"\tmovl\t$0, %{self._counter}d",
            f".Limbrex_round{number}:",
        ]
        replaced[loop.end] = [
            f"\t{loop.jump}\t.Limbrex_round{number}",
            *self._settled_where_left(),
            f".Limbrex_done{number}:",
        ]
        return replaced, [*self._question(), *self._copy(begins_known), *self._far]

    def _near(self, index: int, loaded: bool) -> tuple[list[str], bool]:
        """What a round without marks has in place of a hook; and whether r11 holds the marks."""
        access = self._run[index]
        within = len(self._ahead) < len(self._run)
        text = remember(access) if within else []
        number = next(self._numbers)
        if index in self._ahead:
            question = ask_pending(access, number) if within else []
        else:
            question = ask(access, number, not loaded)
            loaded = True
        if not question:
            return text, loaded
        later = len(self._run) - 1 - index
        settled = thread_local(f"subq\t%{self._counter}", "clock")
        behind = f".Limbrex_back{self._copied[index]}"
        self._far += stub(access, number, later, settled, self._code, behind)
        return [*text, *question, f".Limbrex_back{number}:"], loaded

    def _question(self) -> list[str]:
        """Whether the rounds ahead touch nothing that was communicated."""
        number, every = self._number, len(self._run)
        copies = any(access.paired and access.is_write for access in self._run)
        text = [f".Limbrex_ask{number}:"]
        text += [self._run[0].place] if self._run[0].place else []
        if copies:
            text += thread_local("cmpq\t$0", "pending")
            text += [f"\tjne\t.Limbrex_copy{number}"]
        text += [MARKS]
        for window in self._windows:
            last = (self._rounds - 1) * window.address.stride
            lines = -(-(abs(last) + window.wider) // LINE_BYTES) + 1
            begin = operand(window.address.now, min(0, last))
            wide = "leaq" if window.address.now.symbol else "leal"
            text += [f"\t{wide}\t{begin}, %{'rax' if wide == 'leaq' else 'eax'}"]
            text += [f"\tshrl\t${LINE_BITS}, %eax"]
            for asked in range(0, lines, _LINES_ASKED):
                compare = "cmpb" if lines == 1 else "cmpq"
                text += [f"\t{compare}\t$0, {asked}(%r11,%rax)", f"\tjne\t.Limbrex_copy{number}"]
        return [
            *text,
            f"\tmovl\t${every * (self._rounds - 1)}, %{self._counter}d",
            *thread_local(f"addq\t${every * self._rounds}", "clock"),
            f"\tjmp\t.Limbrex_on{number}",
        ]

    def _copy(self, begins_known: bool) -> list[str]:
        """The rest of the body, from its first access on, with all hooks."""
        number = self._number
        text = [f".Limbrex_copy{number}:"]
        if begins_known:
            address = next(window.address for window in self._windows if window.index == 0)
            text += [f"\tleaq\t{operand(address.now, 0)}, %rdi"]
        hooks = {access.at: index for index, access in enumerate(self._run)}
        for at in range(self._run[0].at, self._loop.end):
            line = self._lines[at]
            if at in hooks:
                index = hooks[at]
                before = self._lines[self._run[index - 1].at : at] if index else ["%r11"]
                used = any("%r11" in earlier for earlier in before)
                asked, far = hook(self._run, index, self._copied[index], used, self._code)
                text += asked
                self._far += far
            elif line.startswith("\t.loc "):
                text += [line.partition(" view ")[0]]
            elif line.startswith("\t"):
                text += [line]
        return [
            *text,
            f"\tmovl\t$0, %{self._counter}d",
            f"\t{self._loop.jump}\t.Limbrex_round{number}",
            f"\tjmp\t.Limbrex_done{number}",
        ]

    def _settled_where_left(self) -> list[str]:
        """Take back what was counted of rounds that did not come. The flags may be in use."""
        counter, total, pointer = self._counter, *self._scratch[:2]
        return [
            f"\tmovq\timbrex_access_clock@gottpoff(%rip), %{pointer}",
            f"\tmovq\t%fs:(%{pointer}), %{total}",
            f"\tnotq\t%{counter}",
            f"\tleaq\t1(%{total},%{counter}), %{total}",
            f"\tmovq\t%{total}, %fs:(%{pointer})",
        ]
