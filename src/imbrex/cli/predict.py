"""`imbrex predict`: its options, and where the answer goes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from imbrex.cli.output import Kind, json_wanted, kind_of
from imbrex.cli.parameters import FILE
from imbrex.cli.terminal import write_text
from imbrex.errors import ImbrexError
from imbrex.model.command import Request, answer
from imbrex.network.message import MODES
from imbrex.replay import goal_command, run_command
from imbrex.replay.goal_file import SUFFIX as GOAL
from imbrex.replay.situation import PROGRESS
from imbrex.replay.whole import Settings


@click.command()
@click.argument("model_path", metavar="MODEL.toml|RUN|FILE.goal", type=FILE)
@click.option(
    "--network",
    "-n",
    "networks",
    multiple=True,
    metavar="NAME|FILE",
    help="A network of the collection, 'all', a TOML file, or a machine profile. Repeatable.",
)
@click.option("--mode", type=click.Choice(MODES[1:]), help="Which work may hide messages.")
@click.option(
    "--process",
    type=click.Choice(["worst", "mean"]),
    help="Where the file gives numbers per process: the worst or the mean.",
)
@click.option("--cpu-speed", default=1.0, show_default=True, help="Processor speed, x today's.")
@click.option("--table", type=click.Choice(["latency"]), help="Run time over latency, as a table.")
@click.option(
    "--figure",
    type=click.Choice(["1", "6", "7", "8", "9", "10"]),
    help="Draw a figure into the file of -o: 1 (of a run) produced and consumed over time, "
    "6 normalized overlap, 7 elements, 8 run time over bandwidth, 9 equivalent bandwidth, "
    "10 shares.",
)
@click.option(
    "--sweep",
    metavar="latency=LO:HI:N,bandwidth=LO:HI:N",
    help="Run times on a grid of networks (us, MB/s), as CSV, or .npz with -o.",
)
@click.option(
    "--tolerate",
    metavar="5%",
    help="List the networks that keep run time within this slow-down (exit 1 if none does).",
)
@click.option(
    "--slow-down",
    show_default="5%",
    help="The slow-down at which an assessment says what latency is tolerated.",
)
@click.option(
    "--progress",
    type=click.Choice(PROGRESS),
    default=PROGRESS[0],
    show_default=True,
    help="When large messages of a run move: as the probe saw here, always, or in calls alone.",
)
@click.option(
    "--ranks-per-node",
    type=click.IntRange(min=1),
    help="Place a run's ranks anew, so many on each node.",
)
@click.option(
    "--collectives",
    type=FILE,
    help="A TOML file with the algorithms of a run's collectives.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (seconds and bytes).")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to a file: .txt or .json; .csv or .npz of a sweep; .png, .svg or .pdf of a figure.",
)
def predict(
    model_path: Path,
    networks: tuple[str, ...],
    mode: str | None,
    process: str | None,
    cpu_speed: float,
    table: str | None,
    figure: str | None,
    sweep: str | None,
    tolerate: str | None,
    slow_down: str | None,
    progress: str,
    ranks_per_node: int | None,
    collectives: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Say how much a program could overlap, and what that is worth on a network.

    MODEL.toml describes the program (docs/reference/predict.md). Without a further option every
    program is assessed on the networks of --network, or on those that the file describes.

    RUN is the directory of `imbrex run`: from the log of its calls what could be saved, in per cent
    of the run; its run time on the measured network and others, what its critical path is made of,
    which latency it tolerates, and what hiding the transfers of each call site would save at most.
    Of `imbrex run --record`: run time with today's overlap and with all that it could have, and
    what each call site would save.

    FILE.goal is a schedule of LogGOPSim (imbrex export RUN --format goal writes one): its run time
    on networks, and what its critical path is made of.
    """
    asked = [table is not None, figure is not None, sweep is not None, tolerate is not None]
    if sum(asked) > 1:
        raise ImbrexError("--table, --figure, --sweep and --tolerate exclude each other")
    number = None if figure is None else int(figure)
    as_json = _json_wanted(output, as_json, number, sweep)
    of_run = model_path.is_dir()
    if of_run or model_path.suffix == GOAL:
        if any([table, sweep, tolerate, mode, process, slow_down]) or cpu_speed != 1:
            raise ImbrexError(
                "a run takes --network, --progress, --ranks-per-node, --collectives, --figure and "
                f"--json only{_rest(model_path)}"
            )
        settings = Settings(networks, progress, ranks_per_node, collectives)
        if not of_run:
            if number is not None:
                raise ImbrexError(f"{model_path}: --figure is of a run or a parameter file")
            _emit(goal_command.answer(model_path, settings, as_json), output)
            return
        _emit(run_command.answer(model_path, settings, number, as_json, output), output)
        return
    if progress != PROGRESS[0] or ranks_per_node is not None or collectives is not None:
        raise ImbrexError(
            "--progress, --ranks-per-node and --collectives are of a run: give its directory"
        )
    if number == 1:
        raise ImbrexError("figure 1 is of a recorded run: give its directory, not a parameter file")
    found = answer(
        Request(
            model=model_path,
            networks=networks,
            mode=mode,
            process=process,
            cpu_speed=cpu_speed,
            table=table,
            figure=number,
            sweep=sweep,
            tolerate=tolerate,
            slow_down=slow_down,
            as_json=as_json,
            output=output,
        )
    )
    _emit(found.text, output)
    if not found.holds:
        sys.exit(1)


def _json_wanted(output: Path | None, as_json: bool, figure: int | None, sweep: str | None) -> bool:
    """Whether JSON is wanted, by --json and the suffix of -o, which must be one of the answer."""
    if figure is not None:
        kind_of(output, "imbrex predict --figure", (Kind.FIGURE,))
        return as_json
    if sweep is None:
        return json_wanted(output, "imbrex predict", as_json=as_json)
    formats = (Kind.CSV, Kind.ARRAYS, Kind.JSON, Kind.TEXT)
    kind = kind_of(output, "imbrex predict --sweep", formats)
    if as_json and kind in (Kind.CSV, Kind.ARRAYS) and output is not None and output.suffix:
        raise ImbrexError(f"-o {output}: --json and {output.suffix} contradict each other")
    return as_json or kind is Kind.JSON


def _rest(folder: Path) -> str:
    """Where a run's parameter file is, which takes all options; it needs messages to describe."""
    for file in (folder / "recording" / "model.toml", folder / "model.toml"):
        if file.exists():
            return f"; for the rest: imbrex predict {file}"
    return ""


def _emit(text: str | None, output: Path | None) -> None:
    if text is None:
        return
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)
