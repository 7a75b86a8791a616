"""Find the programs in the launcher line that the user already uses.

`mpirun -n 2 -x FOO ./app 1 : -n 1 ./boss` is split into segments at ':'; in each, the program is
the first word that no option takes. What stands before the programs stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from imbrex.errors import ImbrexError
from imbrex.mpi_environment import launcher_options as options
from imbrex.mpi_environment.wrapping_commands import (
    changed_environment,
    commands_before,
    launcher_in_shell,
)

Family = Literal["openmpi", "hydra", "srun", "none", "other"]
"""Of the launcher; `none`: no launcher, one process; `other`: known only by imbrex-exec."""

MARKER = "imbrex-exec"
_VERSION_TIMEOUT_S = 20


@dataclass(frozen=True)
class Segment:
    """One program of a line: words[start:end], of which words[program] is the program.

    `prefix` is the first word that runs on the node: the program, or the user's imbrex-exec.
    `folder` is the working directory that the launcher was told, or None; `search` is where it was
    told to look for programs, as in PATH.
    """

    start: int
    prefix: int
    program: int
    end: int
    folder: str | None = None
    search: str = ""


@dataclass(frozen=True)
class LauncherLine:
    """A command line taken apart. `launcher` is the launcher's file, None without one.

    `wrapping` are the words of commands that start the launcher (`timeout 60 taskset 3`): part of
    the user's run. Of them `binding` (`taskset 3`) also stand before what Imbrex itself starts.
    """

    words: tuple[str, ...]
    family: Family
    launcher: Path | None
    segments: tuple[Segment, ...]
    wrapping: tuple[str, ...] = ()
    binding: tuple[str, ...] = ()

    @property
    def launcher_words(self) -> tuple[str, ...]:
        """The launcher and its options: the line without what stands around, and its programs."""
        return tuple(self._rebuilt(lambda _: []))

    @property
    def circumstances(self) -> tuple[str, ...]:
        """What of the line decides how fast messages move: the launcher, and where it is bound."""
        return self.binding + self.launcher_words

    def programs(self) -> list[list[str]]:
        """The programs with their arguments, one list per segment."""
        return [self._program(s) for s in self.segments]

    def with_prefix(self, prefix: Sequence[str]) -> list[str]:
        """The line with `prefix` before every program (in place of imbrex-exec)."""
        return list(self.wrapping) + self._rebuilt(lambda s: [*prefix, *self._program(s)])

    def with_program(self, argv: Sequence[str]) -> list[str]:
        """The line for `argv` of Imbrex's own in place of every program and its arguments."""
        return list(self.binding) + self._rebuilt(lambda _: list(argv))

    def with_users_program(self, argv: Sequence[str]) -> list[str]:
        """The user's whole line with `argv` in place of every program and its arguments."""
        return list(self.wrapping) + self._rebuilt(lambda _: list(argv))

    def _program(self, segment: Segment) -> list[str]:
        """The words of a program; by its file where only the launcher knows where to look for it.

        Behind a prefix the launcher looks for the prefix alone.
        """
        name, *arguments = self.words[segment.program : segment.end]
        if segment.search and "/" not in name:
            file = shutil.which(name, path=segment.search)
            name = str(Path(file).absolute()) if file else name
        return [name, *arguments]

    def _rebuilt(self, tail: Callable[[Segment], list[str]]) -> list[str]:
        line: list[str] = []
        for segment in self.segments:
            line += self.words[segment.start : segment.prefix]
            line += tail(segment)
            line += self.words[segment.end : segment.end + 1]  # the ':' between segments
        return line


def take_environment(words: Sequence[str]) -> tuple[str, ...]:
    """The line without the `env` before its launcher, whose changes this process makes its own.

    They then hold for all that Imbrex does for the line, as if they stood before `imbrex`.
    """
    words = tuple(words)
    before = commands_before(words)
    if not before.changes or not _starts_ranks(words, before.at):
        return words
    changed_environment(before.changes)
    return before.without_env + words[before.at :]


def unseen_launcher(words: Sequence[str]) -> str | None:
    """One line where a launcher is started by a shell's command line, which is not taken apart."""
    launcher = launcher_in_shell(words, _is_launcher)
    if launcher is None or MARKER in (Path(argument).name for argument in words):
        return None
    return (
        f"the {launcher} inside the shell's command is not seen, so that the times of its line are "
        f"not measured: write `imbrex run -- {launcher} ...` inside, or leave the shell out"
    )


def parse_launcher_line(words: Sequence[str]) -> LauncherLine:
    """Take a command line apart.

    ImbrexError where there is no program, an option is unknown, or the programs stand in a file;
    such lines are served by writing imbrex-exec before the program.
    """
    if not words:
        raise ImbrexError("no command: write it after --, as in `-- mpirun -n 2 ./app`")
    words = tuple(words)
    before = commands_before(words)
    if before.at and _starts_ranks(words, before.at):
        if _which(words[0]) is None:
            raise ImbrexError(f"{words[0]}: program not found")
        line = parse_launcher_line(words[before.at :])
        return replace(line, wrapping=words[: before.at], binding=before.binding)
    first = Path(words[0]).name
    if MARKER in (Path(argument).name for argument in words):
        return _parse_marked(words)
    if first in options.UNKNOWN_LAUNCHERS:
        raise ImbrexError(
            f"the launcher {first} is not known: write {MARKER} before your program, "
            f"as in `{first} ... {MARKER} ./app`"
        )
    family = launcher_family(words[0])
    if family == "none":
        return LauncherLine(words, "none", None, (Segment(0, 0, 0, len(words)),))
    segments = []
    start = 0
    while True:
        end = words.index(":", start) if ":" in words[start:] else len(words)
        segments.append(_parse_segment(words, start, end, family, first))
        if end == len(words):
            break
        start = end + 1
    return LauncherLine(words, family, _which(words[0]), tuple(segments))


def launcher_family(argument: str) -> Family:
    """The kind of a launcher by its name, where it leads, and what it says of its version.

    `none` where the word does not name a launcher; ImbrexError where it does but is not there.
    """
    name = Path(argument).name
    if name == "srun":
        _found(argument)
        return "srun"
    if not _names_launcher(argument):
        return "none"
    file = _found(argument)
    for candidate in (name, file.resolve().name):
        if candidate.startswith(("orterun", "prterun")) or candidate.endswith("openmpi"):
            return "openmpi"
        if "hydra" in candidate or candidate.endswith("mpich"):
            return "hydra"
    try:
        answer = subprocess.run(
            [str(file), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ImbrexError(f"{file} --version did not answer ({error})") from error
    text = answer.stdout + answer.stderr
    if "Open MPI" in text or "OpenRTE" in text or "PRRTE" in text or "prterun" in text:
        return "openmpi"
    if "HYDRA" in text or "Intel(R) MPI" in text or "MVAPICH" in text:
        return "hydra"
    raise ImbrexError(
        f"{argument} is neither Open MPI's nor a Hydra launcher: write {MARKER} before your program"
    )


def _names_launcher(argument: str) -> bool:
    name = Path(argument).name
    known = ("mpirun", "mpiexec", "orterun", "prterun")
    return name == "srun" or any(name == k or name.startswith((k + ".", k + "-")) for k in known)


def _is_launcher(argument: str) -> bool:
    return _names_launcher(argument) or Path(argument).name in options.UNKNOWN_LAUNCHERS


def _starts_ranks(words: Sequence[str], at: int) -> bool:
    """Whether a launcher stands at words[at], a known one or one that the user marked."""
    return _is_launcher(words[at]) or MARKER in (Path(argument).name for argument in words[at:])


def _which(argument: str) -> Path | None:
    found = shutil.which(argument)
    return Path(found) if found else None


def _found(argument: str) -> Path:
    file = _which(argument)
    if file is None:
        raise ImbrexError(f"{argument}: launcher not found, or not executable")
    return file


def _parse_marked(words: tuple[str, ...]) -> LauncherLine:
    """A line in which the user wrote imbrex-exec before each program."""
    segments = []
    start = 0
    while start < len(words):
        marker = next((i for i in range(start, len(words)) if Path(words[i]).name == MARKER), None)
        if marker is None:
            raise ImbrexError(
                f"{MARKER} stands before some programs of the line but not before all"
            )
        end = words.index(":", marker) if ":" in words[marker:] else len(words)
        if end == marker + 1:
            raise ImbrexError(f"no program after {MARKER}")
        if words[marker + 1].startswith("--progress"):
            raise ImbrexError(
                f"{words[marker + 1]} behind {MARKER} is for a line without `imbrex run`: write it "
                "behind `imbrex run`"
            )
        segments.append(Segment(start, marker, marker + 1, end))
        start = end + 1
    family: Family = "other" if segments[0].prefix else "none"
    launcher = _which(words[0]) if family == "other" else None
    if launcher is not None and family == "other":
        try:
            known = launcher_family(words[0])
        except ImbrexError:
            known = "none"
        family = known if known != "none" else "other"
    return LauncherLine(words, family, launcher, tuple(segments))


def _parse_segment(
    words: tuple[str, ...], start: int, end: int, family: Family, launcher: str
) -> Segment:
    index = start + 1 if start == 0 else start
    folder: str | None = None
    search = ""
    while index < end:
        argument = words[index]
        if argument == "--":
            index += 1
            break
        if not argument.startswith("-") or argument == "-":
            break
        name, arity = (_srun if family == "srun" else _dashed)(words, index, family, launcher)
        folders = {
            "openmpi": options.OPENMPI_FOLDER,
            "hydra": options.HYDRA_FOLDER,
            "srun": options.SRUN_FOLDER,
        }[family]
        if name in folders or (name == "path" and family != "srun"):
            value = argument.split("=", 1)[1] if "=" in argument else ""
            if not value and arity and index + 1 < end:
                value = words[index + 1]
            if name in folders:
                folder = value or folder
            else:
                search = value or search
        index += 1 + arity
    if index >= end:
        raise ImbrexError(
            f"no program in `{' '.join(words[start:end])}`; if there is one, "
            f"write {MARKER} before it"
        )
    return Segment(start, index, index, end, folder, search)


def _unknown(option: str, launcher: str) -> ImbrexError:
    return ImbrexError(
        f"{launcher}: the option {option} is not known here; write {MARKER} before your program, "
        f"as in `{launcher} ... {MARKER} ./app`"
    )


def _refused(option: str, launcher: str) -> ImbrexError:
    return ImbrexError(
        f"{launcher} {option} takes the programs from a file: write {MARKER} before each program "
        f"in that file, and start it with IMBREX_DIR set (see docs/guide/run.md)"
    )


def _dashed(words: Sequence[str], index: int, family: Family, launcher: str) -> tuple[str, int]:
    """Name and arity of an option of Open MPI or Hydra: one dash or two, all the same."""
    argument = words[index]
    name = argument.lstrip("-").split("=", 1)[0]
    one, two, none, refused = (
        (options.OPENMPI_ONE, options.OPENMPI_TWO, options.OPENMPI_NONE, options.OPENMPI_REFUSED)
        if family == "openmpi"
        else (options.HYDRA_ONE, options.HYDRA_TWO, options.HYDRA_NONE, options.HYDRA_REFUSED)
    )
    if name in refused:
        raise _refused(argument, launcher)
    if "=" in argument and (name in one or name in none):
        return name, 0
    if name in two:
        # Hydra also takes `-genv NAME=VALUE`.
        joined = family == "hydra" and index + 1 < len(words) and "=" in words[index + 1]
        return name, 1 if joined else 2
    if name in one:
        return name, 1
    if name in none:
        return name, 0
    raise _unknown(argument, launcher)


def _srun(words: Sequence[str], index: int, family: Family, launcher: str) -> tuple[str, int]:
    """Name and arity of an srun option, as getopt_long reads it."""
    argument = words[index]
    if argument.startswith("--"):
        name, equals, _ = argument[2:].partition("=")
        everything = options.SRUN_ONE | options.SRUN_NONE | options.SRUN_REFUSED
        if name not in everything:
            # getopt_long completes an unambiguous abbreviation.
            full = [known for known in everything if known.startswith(name)]
            if len(full) != 1:
                raise _unknown(argument, launcher)
            name = full[0]
        if name in options.SRUN_REFUSED:
            raise _refused(argument, launcher)
        return name, 1 if name in options.SRUN_ONE and not equals else 0
    for position, letter in enumerate(argument[1:], 1):
        if letter in options.SRUN_SHORT_ONE:
            return letter, 0 if position < len(argument) - 1 else 1
        if letter == "I":  # --immediate: a value only when attached
            return letter, 0
        if letter not in options.SRUN_SHORT_NONE:
            raise _unknown(argument, launcher)
        if letter == "K":  # --kill-on-bad-exit: likewise
            return letter, 0
    return argument[-1], 0


def program_file(segment_words: Sequence[str], folder: str | None = None) -> Path:
    """The file of a program as the launcher will find it, checked.

    ImbrexError where it is not there, a directory, not executable or not readable.
    """
    name = segment_words[0]
    if not name:
        raise ImbrexError("the name of the program is empty")
    base = Path(folder) if folder else Path.cwd()
    if "/" in name:
        file = base / name
    else:
        on_path = shutil.which(name)
        file = Path(on_path) if on_path else base / name
    if not file.exists():
        raise ImbrexError(f"{name}: program not found")
    if file.is_dir():
        raise ImbrexError(f"{name}: is a directory, not a program")
    if not os.access(file, os.X_OK):
        raise ImbrexError(f"{name}: not executable (chmod +x {name})")
    if not os.access(file, os.R_OK):
        raise ImbrexError(f"{name}: not readable, so its MPI library cannot be found out")
    return file
