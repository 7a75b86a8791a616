"""Commands that stand before a launcher, as in `env A=1 taskset -c 0-3 mpirun -n 2 ./app`.

Each is read as its manual says, so that an argument which merely has a launcher's name
(`nice ./app mpirun`) is not taken for one. Sources: the manuals of coreutils 9, util-linux 2.38 to
2.40, numactl 2.0.14 to 2.0.18 and GNU time 1.9.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wrapper:
    """How a command is written that starts another one: its options, then `operands` words.

    `valued` and `plain` are options with and without a value. `binds`: it says where all that it
    starts runs, so that a calibration belongs behind it as much as the program.
    """

    valued: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    operands: int = 0
    binds: bool = False


def _options(text: str) -> frozenset[str]:
    """`n k` are short options, longer words are long ones."""
    return frozenset(text.split())


WRAPPERS = {
    "ionice": Wrapper(_options("c n class classdata"), _options("t ignore")),
    "nice": Wrapper(_options("n adjustment")),
    "nohup": Wrapper(),
    "setsid": Wrapper(plain=_options("c f w ctty fork wait")),
    "stdbuf": Wrapper(_options("i o e input output error")),
    "time": Wrapper(
        _options("f o format output"), _options("a p q v append portability quiet verbose")
    ),
    "timeout": Wrapper(
        _options("k s kill-after signal"), _options("v foreground preserve-status verbose"), 1
    ),
    "taskset": Wrapper(plain=_options("a c all-tasks cpu-list"), operands=1, binds=True),
    "chrt": Wrapper(
        _options("D P T sched-deadline sched-period sched-runtime"),
        _options("R a b d f i o r v all-tasks batch deadline fifo idle other reset-on-fork rr")
        | {"verbose"},
        1,
        binds=True,
    ),
    "numactl": Wrapper(
        _options("C N P i m p w cpunodebind interleave membind physcpubind preferred")
        | _options("preferred-many weighted-interleave"),
        _options("a b l all balancing localalloc"),
        binds=True,
    ),
}
_ENV = Wrapper(_options("C u chdir unset"), _options("i v debug ignore-environment"))
_SHELLS = frozenset(["ash", "bash", "dash", "ksh", "sh", "zsh"])
_ASSIGNMENT = re.compile(r"[^=]+=")


@dataclass(frozen=True)
class WrappingCommands:
    """The commands before words[at], of which those in `binding` concern all that is started.

    `changes` are what the `env` among them say, in the order of the line: a name and its value,
    None to unset it, and an empty name to unset all. `without_env` are the words without `env`.
    """

    at: int
    binding: tuple[str, ...] = ()
    without_env: tuple[str, ...] = ()
    changes: tuple[tuple[str, str | None], ...] = ()


def commands_before(words: Sequence[str]) -> WrappingCommands:
    """Read the commands that start another one from the start of a line on.

    It ends at the first word that is none of them, or that is not written as its manual says.
    """
    found = WrappingCommands(0)
    while found.at < len(words):
        name = Path(words[found.at]).name
        if name == "env":
            after = _after_env(words, found)
        elif name in WRAPPERS:
            after = _after_wrapper(words, found, WRAPPERS[name])
        else:
            break
        if after is None or after.at >= len(words):
            break
        found = after
    return found


def changed_environment(changes: Sequence[tuple[str, str | None]]) -> None:
    """Make the changes to this process's environment, as if they stood before `imbrex`."""
    for name, value in changes:
        if not name:
            os.environ.clear()
        elif value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def launcher_in_shell(words: Sequence[str], names_launcher: Callable[[str], bool]) -> str | None:
    """The launcher that `sh -c "... mpirun ..."` names; None where the line is nothing of that."""
    rest = list(words[commands_before(words).at :])
    if not rest or Path(rest[0]).name not in _SHELLS:
        return None
    command = False
    for argument in rest[1:]:
        if argument.startswith(("-", "+")) and argument not in ("-", "--"):
            command |= "c" in argument[1:] and not argument.startswith("--")
        elif argument not in ("-", "--"):
            inside = re.split(r"[\s;&|(){}\"'`]+", argument) if command else []
            return next((w for w in inside if w and names_launcher(w)), None)
    return None


def _after_wrapper(
    words: Sequence[str], found: WrappingCommands, wrapper: Wrapper
) -> WrappingCommands | None:
    index = _after_options(words, found.at + 1, wrapper)
    if index is None:
        return None
    index += wrapper.operands
    own = tuple(words[found.at : index])
    binding = found.binding + (own if wrapper.binds else ())
    return WrappingCommands(index, binding, found.without_env + own, found.changes)


def _after_env(words: Sequence[str], found: WrappingCommands) -> WrappingCommands | None:
    changes: list[tuple[str, str | None]] = []

    def option(name: str, value: str) -> bool:
        if name in ("i", "ignore-environment"):
            changes.append(("", None))
        elif name in ("u", "unset"):
            changes.append((value, None))
        return name not in ("C", "chdir", "v", "debug")

    index = _after_options(words, found.at + 1, _ENV, option)
    if index is None:
        return None
    if index < len(words) and words[index] == "-":
        changes.append(("", None))
        index += 1
    while index < len(words) and _ASSIGNMENT.match(words[index]):
        name, _, value = words[index].partition("=")
        changes.append((name, value))
        index += 1
    binding = found.binding + tuple(words[found.at : index])
    return WrappingCommands(index, binding, found.without_env, (*found.changes, *changes))


def _after_options(
    words: Sequence[str],
    index: int,
    wrapper: Wrapper,
    use: Callable[[str, str], bool] = lambda name, value: True,
) -> int | None:
    """The index behind the options, as getopt_long reads them up to the first operand.

    None at an option that is not known, or that `use` declines.
    """
    while index < len(words) and words[index].startswith("-") and words[index] != "-":
        argument = words[index]
        index += 1
        if argument == "--":
            return index
        if re.fullmatch(r"-\d+", argument) and "adjustment" in wrapper.valued:
            continue  # nice -5
        following = words[index] if index < len(words) else ""
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            if len(name) < 2 or name not in wrapper.valued | wrapper.plain:
                return None
            if name in wrapper.valued and not equals:
                value = following
                index += 1
            if not use(name, value):
                return None
            continue
        for position, letter in enumerate(argument[1:], 2):
            value = ""
            if letter in wrapper.valued:
                value = argument[position:] or following
                index += not argument[position:]
            elif letter not in wrapper.plain:
                return None
            if not use(letter, value):
                return None
            if letter in wrapper.valued:
                break
    return index
