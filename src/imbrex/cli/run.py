"""`imbrex run`: its options, and what is told around the run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from imbrex.cli.parameters import FOLDER, LAUNCHER, LOG_SIZE, SHARE
from imbrex.cli.shown_steps import shown_steps
from imbrex.cli.terminal import console, json_text, leave, warn
from imbrex.diagnosis.as_json import diagnosis_json
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.weaknesses import endings
from imbrex.errors import ImbrexError
from imbrex.launch.collect import add_warning
from imbrex.launch.event_sources import event_sources
from imbrex.launch.measure import Outcome, Settings, measure, prepare
from imbrex.launch.progress import AUTOMATIC, ProgressOptions
from imbrex.mpi_environment.launcher_line import take_environment, unseen_launcher
from imbrex.profile.run import RECORDING
from imbrex.profile.summary import rows
from imbrex.recorder.rank_record import RankRecord
from imbrex.recorder.record import (
    RAW_OF_A_RUN,
    Recording,
    make_recording,
    may_watch,
    prepare_recording,
    slowed_program,
    write_recording,
)
from imbrex.recorder.regions import DOCUMENT, MODEL, write_regions
from imbrex.recorder.switched import more_rounds, recorded_share
from imbrex.recorder.twins import twin_of
from imbrex.report.verdict import print_verdict

_ROUNDS = 10


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="Example: imbrex run -o before -- mpirun -n 4 ./app input.txt",
)
@click.option("-o", "--output", type=FOLDER, help="The run directory [imbrex-run, imbrex-run-2..].")
@click.option("--force", is_flag=True, help="Replace the run directory if it exists.")
@click.option("--machine", type=FOLDER, help="The machine profile to use (imbrex calibrate).")
@click.option("--mpicc", type=FOLDER, help="The mpicc that belongs to the program's MPI library.")
@click.option(
    "--runtime",
    type=FOLDER,
    envvar="IMBREX_RUNTIME",
    show_envvar=True,
    help="The prefix of a runtime that was installed with CMake, or its libimbrex.so.",
)
@click.option(
    "--events",
    type=click.Choice(event_sources()),
    default="auto",
    show_default=True,
    help="Where events come from: the MPI calls, or a layer below them that all messages pass.",
)
@click.option(
    "--log",
    "log_bytes",
    type=LOG_SIZE,
    default="64M",
    envvar="IMBREX_LOG",
    show_default=True,
    help="Memory for the log of calls in each rank, or off: then no causes are found.",
)
@click.option(
    "--keep-log/--no-keep-log",
    default=None,
    help="Keep the log of calls in the run directory, for imbrex predict.  [default: where all of "
    "it is at most 256 MiB]",
)
@click.option(
    "--call-paths/--no-call-paths",
    default=True,
    help="Look now and then through which callers a call is reached.  [default: look]",
)
@click.option(
    "--record",
    "recorded",
    is_flag=True,
    help="Run a program built with imbrex cc, cxx or fc again, for imbrex predict.",
)
@click.option(
    "--times",
    type=click.Choice(["watched", "counted", "switched"]),
    help="With --record: watch single elements in a run more; take the measured run's times and "
    "each access for equally long; or, of a program of cc --duplicate, record and then measure in "
    "one run.  [default: watched, where the system allows it]",
)
@click.option("--plain", type=FOLDER, help="With --record: the program built without recording.")
@click.option(
    "--sample",
    type=SHARE,
    help="With --record: only this part of the calls, as 10%, the first; the recorded run ends "
    "there.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1 << 20),
    help="With --times switched: so many rounds of the program's innermost loop with MPI calls run "
    "plain, then as many recorded, before it is measured.  [default: 10]",
)
@click.option(
    "--guard",
    is_flag=True,
    help="Report forbidden uses of buffers in flight (all of them if built with imbrex cc, fc).",
)
@click.option(
    "--progress",
    is_flag=False,
    flag_value=AUTOMATIC,
    default="",
    metavar="[=MICROSECONDS]",
    help="A thread moves data while the program computes; how often it looks at first.",
)
@click.option(
    "--progress-share",
    type=float,
    metavar="PERCENT",
    help="The most of a core that its looks in vain may take [3].",
)
@click.option("--json", "as_json", is_flag=True, help="Print totals and sites as one JSON line.")
@click.option("-q", "--quiet", is_flag=True, help="No verdict, only warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Say what was found before the start.")
@click.argument("command", nargs=-1, type=LAUNCHER, metavar="COMMAND...")
def run(
    output: Path | None,
    force: bool,
    machine: Path | None,
    mpicc: Path | None,
    runtime: Path | None,
    events: str,
    log_bytes: int,
    keep_log: bool | None,
    call_paths: bool,
    recorded: bool,
    times: str | None,
    plain: Path | None,
    sample: float | None,
    rounds: int | None,
    guard: bool,
    progress: str,
    progress_share: float | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    command: tuple[str, ...],
) -> None:
    """Measure the overlap of an MPI program: put this before the line that starts it.

    The program's output, exit code and signals stay its own; the verdict goes to stderr.
    """
    recording: Recording | None = None
    if recorded and guard:
        raise ImbrexError("--guard watches the recorded program, --record measures the plain one")
    if keep_log and not log_bytes:
        raise ImbrexError("--keep-log wants a log: leave out --log off")
    written = command
    command = take_environment(command)
    if (unseen := unseen_launcher(command)) is not None:
        warn(unseen)
    switched = times == "switched"
    if recorded:
        recording = prepare_recording(command, plain, mpicc)
        if switched:
            _refuse_switched(recording, plain, sample)
        else:
            command = written = tuple(recording.plain_line)
    elif plain is not None:
        raise ImbrexError("--plain belongs to --record")
    elif sample is not None:
        raise ImbrexError("--sample belongs to --record")
    elif times is not None:
        raise ImbrexError("--times belongs to --record")
    if rounds is not None and not switched:
        raise ImbrexError("--rounds belongs to --times switched")
    if not recorded and not guard and (slow := slowed_program(command)) is not None:
        warn(f"{slow} records every access to memory, which takes time: measure {twin_of(slow)}")
    watches = may_watch() if times is None else times == "watched"
    is_timed = recording is not None and not watches
    settings = Settings(
        command,
        output,
        force,
        machine,
        mpicc,
        events,
        guard,
        written,
        runtime,
        log_bytes,
        keep_log,
        call_paths=call_paths,
        progress=ProgressOptions(progress, progress_share),
        intervals=RAW_OF_A_RUN if is_timed else None,
        switched_rounds=(rounds or _ROUNDS) if switched else None,
    )
    with shown_steps(quiet=quiet):
        ready = prepare(settings)
    if verbose:
        warn(f"library {ready.library.file} ({ready.library.name}), mpicc {ready.library.mpicc}")
        warn(f"runtime {ready.runtime}; machine profile {ready.transfers.machine.origin}")
    outcome = measure(ready)
    try:
        _tell(outcome, quiet=quiet, as_json=as_json)
        sys.stdout.flush()
    except OSError as error:
        leave(sys.stdout)
        warn(f"the verdict could not be printed ({error.strerror})")
    if outcome.run is not None:
        _mark_regions(outcome.run.directory, quiet=quiet)
    if recording is not None:
        if switched:
            _take_recorded(outcome, rounds or _ROUNDS, quiet=quiet)
        else:
            _record(recording, outcome, sample, is_timed=is_timed, quiet=quiet)
    # Whatever became of the measurement, the exit code is the program's.
    sys.exit(outcome.exit_code)


def _mark_regions(folder: Path, *, quiet: bool) -> None:
    """What the user marked with imbrex_produce and imbrex_consume; a failure is a warning."""
    try:
        marked = write_regions(folder)
    except (ImbrexError, OSError) as error:
        warn(f"marked regions were not kept: {error}")
        return
    if marked and not quiet:
        warn(f"marked regions: {folder / DOCUMENT}, and for imbrex predict {MODEL} beside it")


def _record(
    recording: Recording, outcome: Outcome, sample: float | None, *, is_timed: bool, quiet: bool
) -> None:
    """The further runs of --record; what goes wrong in them is a warning of the run."""
    if outcome.run is None or outcome.exit_code:
        if outcome.run is not None:
            shutil.rmtree(outcome.run.directory / RECORDING, ignore_errors=True)
        warn("nothing was recorded: the measured run did not end well")
        return
    folder = outcome.run.directory
    try:
        with shown_steps(quiet=quiet):
            ranks = make_recording(
                recording,
                folder / RECORDING,
                quiet=True,
                sample=sample,
                say=warn,
                is_timed=is_timed,
            )
    except ImbrexError as error:
        _not_recorded(folder, error)
        return
    _tell_recorded(ranks, folder, quiet=quiet)


def _refuse_switched(recording: Recording, plain: Path | None, sample: float | None) -> None:
    """What a run that is recorded and measured at once cannot be asked for."""
    if plain is not None or sample is not None:
        raise ImbrexError(
            f"--{'plain' if plain else 'sample'} does not go with --times switched, which runs one "
            "program and records its first iterations"
        )
    if not recording.has_plain_code:
        raise ImbrexError(
            "--times switched wants the plain code beside the recorded one: build the program "
            "with imbrex cc --duplicate (fc)"
        )


def _take_recorded(outcome: Outcome, rounds: int, *, quiet: bool) -> None:
    """What a run with --times switched has recorded; what goes wrong is a warning of the run."""
    if outcome.run is None:
        return
    folder = outcome.run.directory
    try:
        share = recorded_share(folder / RAW_OF_A_RUN, rows(outcome.run, "site"))
        more = more_rounds(folder / RAW_OF_A_RUN, share, rounds)
        ranks = write_recording(folder / RECORDING, share, switched=True)
    except ImbrexError as error:
        shutil.rmtree(folder / RECORDING, ignore_errors=True)
        _not_recorded(folder, error)
        return
    _tell_recorded(ranks, folder, quiet=quiet)
    if more is not None and not quiet:
        warn(
            f"{rounds} rounds are {100 * share:.2g} % of the calls: "
            f"with --rounds {more} prediction rests on more of the run"
        )


def _not_recorded(folder: Path, error: ImbrexError) -> None:
    """Why the run has no recording: a warning now, and of the run."""
    text = f"not recorded: {error}"
    warn(text)
    add_warning(folder, text)


def _tell_recorded(ranks: list[RankRecord], folder: Path, *, quiet: bool) -> None:
    if not quiet:
        count = sum(len(rank.messages) for rank in ranks)
        warn(f"recorded {count} messages of {len(ranks)} ranks: imbrex predict {folder}")


def _tell(outcome: Outcome, *, quiet: bool, as_json: bool) -> None:
    if outcome.run is None:
        for line in outcome.warnings:
            warn(line)
        return
    diagnosis = diagnose(outcome.run)
    if as_json:
        click.echo(json_text(diagnosis_json(diagnosis, "site"), indent=None))
    if quiet:
        for line in (*endings(outcome.run), *outcome.warnings):
            warn(line)
        return
    screen = console(stderr=True)
    screen.print()
    print_verdict(diagnosis, screen)
