"""`imbrex record`: run a program clean and recorded; what its messages could hide behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import LauncherLine, parse_launcher_line, program_file
from imbrex.mpi_environment.mpi_library import library_of_line
from imbrex.potential.record_library import recorder_library
from imbrex.potential.record_model import elements_table, messages_json, model_toml, name_sites
from imbrex.potential.record_rank import RankRecord, read_ranks

_RAW = "raw"
_MARKS = ("messages.json", _RAW)


def lines_of_runs(
    line: LauncherLine, plain: Path, raw: Path, preload: Path
) -> tuple[list[str], list[str]]:
    """The clean run (the plain program) and the recorded one, as command lines.

    ImbrexError for a line that starts several programs.
    """
    programs = line.programs()
    if len(programs) != 1:
        raise ImbrexError("record starts one program only: several in one line are not supported")
    here = [f"IMBREX_ACCESS_DIR={raw}"]
    before = os.environ.get("LD_PRELOAD")
    loaded = f"{preload}:{before}" if before else str(preload)
    clean = ["env", "IMBREX_ACCESS=clean", *here, f"LD_PRELOAD={loaded}", str(plain)]
    return (
        line.with_program([*clean, *programs[0][1:]]),
        line.with_prefix(["env", "IMBREX_ACCESS=record", *here]),
    )


def _prepare(folder: Path, force: bool) -> Path:
    """The folder of the raw files, in a result folder that is new or that --force may replace."""
    if folder.exists():
        if not folder.is_dir() or not force:
            raise ImbrexError(f"{folder}: exists; choose another with -o, or give --force")
        content = list(folder.iterdir())
        if content and not any((folder / mark).exists() for mark in _MARKS):
            raise ImbrexError(f"{folder}: is no recording, so --force does not replace it")
        shutil.rmtree(folder)
    try:
        (folder / _RAW).mkdir(parents=True)
    except OSError as error:
        raise ImbrexError(f"{folder}: cannot be written ({error.strerror})") from error
    return folder / _RAW


def _start(command: list[str], what: str) -> None:
    """Run one of the two; where it fails this ends as the program did."""
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise ImbrexError(f"{command[0]}: cannot be started ({error.strerror})") from error
    if code:
        click.echo(f"imbrex: the {what} run failed; nothing was recorded", err=True)
        sys.exit(code if code > 0 else 128 - code)


def write_recording(folder: Path) -> list[RankRecord]:
    """Turn the raw files in `folder` into messages.json, elements.npy and model.toml.

    Errors: ImbrexError as in `read_ranks`, and where no send was recorded with its receive.
    """
    ranks = read_ranks(folder / _RAW)
    names = name_sites(ranks)
    np.save(folder / "elements.npy", elements_table(ranks))
    document = json.dumps(messages_json(ranks, names), indent=1)
    (folder / "messages.json").write_text(document + "\n", encoding="utf-8")
    model = model_toml(folder.name, ranks, names)
    (folder / "model.toml").write_text(model, encoding="utf-8")
    shutil.rmtree(folder / _RAW)
    return ranks


def summary(document: dict[str, object]) -> str:
    """The messages of a messages.json as lines for a reader."""
    lines = []
    ranks = document["ranks"]
    assert isinstance(ranks, list)
    for rank in ranks:
        for m in rank["messages"]:
            sending = m["kind"] == "send"
            period = m["t_produce_s" if sending else "t_consume_s"]
            beside = m["after_produce_s" if sending else "before_consume_s"]
            one, other = ("T_P", "T_AP") if sending else ("T_C", "T_AC")
            arrow = "to" if sending else "from"
            lines.append(
                f"rank {rank['rank']} {m['site']}: {m['kind']} {arrow} {m['peer']}, tag {m['tag']}"
                f": {m['seen']} of {m['elements']} elements seen, {one} {period * 1e9:.3g} ns, "
                f"{other} {beside * 1e6:.3g} us ({m['times']})"
            )
    return "\n".join(lines)


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: imbrex record --plain ./app -o rec -- mpirun -n 2 ./app.recorded input.txt",
)
@click.option(
    "--plain",
    required=True,
    type=click.Path(path_type=Path),
    help="The same program as built without imbrex cc: times come from it.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("imbrex-recording"))
@click.option("--force", is_flag=True, help="Replace the result if it exists.")
@click.option("--mpicc", type=click.Path(path_type=Path), help="The mpicc of the program's MPI.")
@click.option("--json", "as_json", is_flag=True, help="Print messages.json.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
def record(
    plain: Path,
    output: Path,
    force: bool,
    mpicc: Path | None,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Record when a program writes what it sends and reads what it receives.

    Starts the program twice: as the user builds it, for times, and as imbrex cc, cxx or fc built
    it, for the order of its accesses. `imbrex predict OUTPUT/model.toml` goes on from there.
    """
    line = parse_launcher_line(command)
    plain = plain.absolute()
    program_file([str(plain)])
    library = library_of_line(line, mpicc)
    built = recorder_library(str(library.mpicc))
    raw = _prepare(output.absolute(), force)
    clean, recorded = lines_of_runs(line, plain, raw, built.preload)
    _start(clean, "clean")
    _start(recorded, "recorded")
    folder = output.absolute()
    write_recording(folder)
    text = (folder / "messages.json").read_text(encoding="utf-8")
    click.echo(text if as_json else summary(json.loads(text)))
