"""Record a program: run it for times and with every access recorded; `imbrex record`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from imbrex.errors import ImbrexError
from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import (
    LauncherLine,
    parse_launcher_line,
    program_file,
    take_environment,
)
from imbrex.mpi_environment.mpi_library import library_of_line
from imbrex.profile.blind_lines import blind_lines
from imbrex.profile.run import RECORDING
from imbrex.recorder.documents import elements_table, messages_json, model_toml, name_sites
from imbrex.recorder.rank_record import RankRecord, read_ranks
from imbrex.recorder.recorded_run import Say, TimedCalls, follow
from imbrex.recorder.switched import from_one_cut, has_plain_code, shares_of_plain_code
from imbrex.recorder.trace import read_trace
from imbrex.recorder.twins import twin_of
from imbrex.recorder.wildcards import without_wildcards

_RAW = "raw"
RAW_OF_A_RUN = f"{RECORDING}/{_RAW}"
"""Where a measured run leaves the lengths of its computation for the recording in it."""
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_MOST_PARANOID = 2
"""Up to which everybody may set watchpoints on memory of their own."""
_MARKS = ("messages.json", _RAW)
# What a program exports that was linked with the recorder; the runtime has the name as a text.
_MARK = "imbrex_access_memory"
_OUTPUTS = ("timed.out", "recorded.out")


@dataclass(frozen=True)
class Recording:
    """A recording that is ready to start: the line, the plain program, the runtime."""

    line: LauncherLine
    plain: Path
    preload: Path

    @property
    def has_plain_code(self) -> bool:
        """Whether the recorded program has its plain code in it."""
        return has_plain_code(program_file(self.line.programs()[0], self.line.segments[0].folder))

    @property
    def plain_line(self) -> list[str]:
        """The launcher line with the plain program in the place of the recorded one."""
        return self.line.with_users_program([str(self.plain), *self.line.programs()[0][1:]])


def prepare_recording(command: Sequence[str], plain: Path | None, mpicc: Path | None) -> Recording:
    """Find the program and its plain twin.

    ImbrexError where the line starts several programs, the program was not built with imbrex cc,
    cxx or fc, or there is no plain program to take times from.
    """
    line = parse_launcher_line(command)
    programs = line.programs()
    if len(programs) != 1:
        raise ImbrexError("a recording is of one program: several in one line are not supported")
    program = program_file(programs[0], line.segments[0].folder)
    if not _is_recorded(program):
        raise ImbrexError(f"{program}: was not built with imbrex cc, cxx or fc")
    plain = twin_of(program) if plain is None else plain
    if not plain.exists():
        raise ImbrexError(
            f"{plain}: not found; times come from the program without recording: build it with "
            "imbrex cc, cxx or fc in all steps, or name it with --plain"
        )
    program_file([str(plain.absolute())])
    if _is_recorded(plain):
        raise ImbrexError(f"{plain}: was built with imbrex cc, cxx or fc; times need a plain build")
    library = library_of_line(line, mpicc)
    preload = native.build("runtime", library) / "lib" / "libimbrex.so"
    return Recording(line, plain.absolute(), preload)


def may_watch() -> bool:
    """Whether the system lets a program set watchpoints, as far as its settings say."""
    try:
        return os.geteuid() == 0 or int(_PARANOID.read_text()) <= _MOST_PARANOID
    except (OSError, ValueError):
        return False


def slowed_program(command: Sequence[str]) -> Path | None:
    """The first program of a line that was built for recording, whose times are therefore not
    those of its source; None without one."""
    line = parse_launcher_line(command)
    for arguments, segment in zip(line.programs(), line.segments, strict=True):
        program = program_file(arguments, segment.folder)
        if _is_recorded(program):
            return program
    return None


def _is_recorded(program: Path) -> bool:
    try:
        if _MARK.encode() not in program.read_bytes():
            return False
        with program.open("rb") as stream:
            exported = ELFFile(stream).get_section_by_name(".dynsym")
            if not isinstance(exported, SymbolTableSection):
                return False
            return bool(exported.get_symbol_by_name(_MARK))
    except OSError as error:
        raise ImbrexError(f"{program}: cannot be read ({error.strerror})") from error
    except ELFError:
        return False


def lines_of_runs(
    recording: Recording, raw: Path, sample: float | None = None
) -> tuple[list[str], list[str]]:
    """The timed run (the plain program) and the recorded one, as command lines."""
    before = os.environ.get("LD_PRELOAD")
    loaded = f"{recording.preload}:{before}" if before else str(recording.preload)

    def prefix(purpose: str) -> list[str]:
        return [
            *("env", f"IMBREX_ACCESS={purpose}", f"IMBREX_ACCESS_DIR={raw}"),
            *(f"IMBREX_DIR={raw / purpose}", f"LD_PRELOAD={loaded}"),
        ]

    line = recording.line
    part = [] if sample is None else [f"IMBREX_ACCESS_SAMPLE={sample!r}"]
    plain = [str(recording.plain), *line.programs()[0][1:]]
    return (
        line.with_users_program([*prefix("clean"), *plain]),
        line.with_prefix([*prefix("record"), *part]),
    )


def make_recording(
    recording: Recording,
    folder: Path,
    *,
    quiet: bool,
    sample: float | None = None,
    say: Say = lambda line: None,
    is_timed: bool = False,
) -> list[RankRecord]:
    """Both runs, and what they say, in the new directory `folder`.

    `is_timed`: a run has left the lengths of its computation in `folder` already (RAW_OF_A_RUN), so
    that only the recorded run is made, and times of single elements are counted.

    Of the recorded run only the first calls of each rank, the share `sample` of them, are recorded
    where it is given, and the run is ended there. `say` is told how long it takes where that is
    long. With `quiet` the program's output goes into files there, and it reads what the first run
    read where that was a file. ImbrexError where a run fails or the two differ: then the
    directory is gone again (ProgramFailedError: with the program's exit code).
    """
    raw = folder / _RAW
    try:
        raw.mkdir(parents=True, exist_ok=is_timed)
    except OSError as error:
        raise ImbrexError(f"{folder}: cannot be written ({error.strerror})") from error
    try:
        outputs = [folder / name if quiet else None for name in _OUTPUTS]
        timed, recorded = lines_of_runs(recording, raw, sample)
        if not is_timed:
            _start(timed, "timed", outputs[0], subprocess.Popen.wait)
        calls = TimedCalls(raw, sample)
        _start(
            recorded,
            "recorded",
            outputs[1],
            lambda running: follow(running, calls, say, sample is not None),
        )
        return write_recording(folder, sample)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class ProgramFailedError(ImbrexError):
    """The program ended with `code` in one of the two runs."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def _start(
    command: list[str],
    purpose: str,
    output: Path | None,
    wait: Callable[[subprocess.Popen[bytes]], int],
) -> None:
    """Run one of the two; ProgramFailedError where the program fails."""
    try:
        with contextlib.ExitStack() as open_files:
            stream = open_files.enter_context(output.open("wb")) if output else None
            stdin = None if output is None else _same_input()
            with subprocess.Popen(command, stdin=stdin, stdout=stream, stderr=stream) as running:
                try:
                    code = wait(running)
                except BaseException:
                    running.kill()
                    raise
    except OSError as error:
        raise ImbrexError(f"{command[0]}: cannot be started ({error.strerror})") from error
    if code:
        said = output.read_bytes().decode(errors="replace").strip() if output else ""
        last = f": {said.splitlines()[-1]}" if said else ""
        raise ProgramFailedError(
            f"the {purpose} run failed (exit code {code}); nothing was recorded{last}",
            code if code > 0 else 128 - code,
        )


def _same_input() -> int:
    """Standard input from its start again where it is a file, else nothing."""
    try:
        if stat.S_ISREG(os.fstat(0).st_mode):
            os.lseek(0, 0, os.SEEK_SET)
            return 0
    except OSError:
        pass
    return subprocess.DEVNULL


def write_recording(
    folder: Path, sample: float | None = None, *, switched: bool = False
) -> list[RankRecord]:
    """Turn the raw files in `folder` into messages.json, elements.npy, trace.npy and model.toml.
    `sample`: the share of each rank's calls that was recorded, where it was not all; `switched`:
    by a run that recorded itself and was measured then.

    Errors: ImbrexError as in `read_ranks`. model.toml is left out where no send was recorded
    together with its receive.
    """
    ranks = read_ranks(folder / _RAW, sampled=sample is not None)
    trace, functions = read_trace(folder / _RAW, [rank.rank for rank in ranks])
    ranks, trace = without_wildcards(ranks, trace)
    if switched:
        ranks, trace = from_one_cut(ranks, trace)
    names = name_sites(ranks)
    np.save(folder / "elements.npy", elements_table(ranks))
    np.save(folder / "trace.npy", trace)
    content = messages_json(ranks, names) | {"functions": functions, "sampled": sample}
    if switched:
        content["plain_code"] = shares_of_plain_code(ranks)
    document = json.dumps(content, indent=1)
    (folder / "messages.json").write_text(document + "\n", encoding="utf-8")
    model = model_toml(folder.name, ranks, names)
    if model is not None:
        (folder / "model.toml").write_text(model, encoding="utf-8")
    shutil.rmtree(folder / _RAW)
    return ranks


def _may_be_made(folder: Path, force: bool) -> None:
    """Refuse a result folder that exists, or with --force one that is no recording."""
    if not folder.exists():
        return
    if not folder.is_dir() or not force:
        raise ImbrexError(f"{folder}: exists; choose another with -o, or give --force")
    content = list(folder.iterdir())
    if content and not any((folder / mark).exists() for mark in _MARKS):
        raise ImbrexError(f"{folder}: is no recording, so --force does not replace it")
    shutil.rmtree(folder)


def summary(document: dict[str, object]) -> str:
    """The messages of a messages.json as lines for a reader."""
    lines = []
    ranks = document["ranks"]
    assert isinstance(ranks, list)
    for rank in ranks:
        for m in (*rank["messages"], *rank["collectives"]):
            sending = m["kind"] == "send"
            period = m["t_produce_s" if sending else "t_consume_s"]
            beside = m["after_produce_s" if sending else "before_consume_s"]
            one, other = ("T_P", "T_AP") if sending else ("T_C", "T_AC")
            arrow = "to" if sending else "from"
            lines.append(
                f"rank {rank['rank']} {m['site']}: {m['operation']} {m['kind']} {arrow} "
                f"{'all' if m['peer'] < 0 else m['peer']}, tag {m['tag']}"
                f": {m['seen']} of {m['elements']} elements seen, {one} {period * 1e9:.3g} ns, "
                f"{other} {beside * 1e6:.3g} us ({m['times']})"
            )
    lines += blind_lines(document)
    return "\n".join(lines)


def record(
    command: Sequence[str],
    output: Path,
    *,
    plain: Path | None,
    mpicc: Path | None,
    force: bool,
    sample: float | None = None,
    say: Say = lambda line: None,
) -> dict[str, object]:
    """Record a launcher line into the directory `output`; the document of its messages.json.

    ProgramFailedError where the program ends badly, ImbrexError where it cannot be recorded.
    """
    recording = prepare_recording(take_environment(command), plain, mpicc)
    folder = output.absolute()
    _may_be_made(folder, force)
    make_recording(recording, folder, quiet=False, sample=sample, say=say)
    document: dict[str, object] = json.loads((folder / "messages.json").read_text(encoding="utf-8"))
    return document
