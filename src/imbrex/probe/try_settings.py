"""`imbrex probe --try-settings`: the same short probe without and with each setting."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import MARKER, LauncherLine
from imbrex.network.assemble import assemble
from imbrex.network.measure import run_probes
from imbrex.probe.answer import Answer, answer
from imbrex.probe.knobs import Knob, Tried, compare, free_knobs, knobs_of
from imbrex.steps import step

QUICK_MOST_BYTES = 8 << 20
EXPERIMENTS = ("delay", "moved", "pingpong", "earlylate")
"""What it takes to see whether a setting changed anything."""
PROGRESS = Knob(
    libraries=[],
    variables={"IMBREX_PROGRESS": "on"},
    effect="a thread of Imbrex makes MPI progress while the program computes and large transfers "
    "are open",
    cost="up to 3 % of a core for looks in vain, and MPI_THREAD_MULTIPLE",
    prefix=(MARKER, "--progress"),
)
"""Of every library: the thread is Imbrex's own."""


def try_settings_of(
    line: LauncherLine,
    binary: Path,
    found: Answer,
    limit_s: float,
    max_bytes: int = QUICK_MOST_BYTES,
    script: Callable[[], Path] | None = None,
) -> tuple[list[Tried], list[str]]:
    """Probe quickly without and with each knob, one after the other, each with the time limit.
    `script` gives the imbrex-exec of this library; None: the progress thread is not tried.

    Before and after are of the same experiments, so that times and memory compare. Notes, a line
    each, tell of settings that gave no result (a library may refuse one), and of an interrupt.
    """
    profile = found.profile
    knobs, left = free_knobs(knobs_of(profile), line.launcher_words, os.environ)
    notes = list(left)
    if script is not None and "IMBREX_PROGRESS" not in os.environ:
        knobs.append(PROGRESS)
    if not knobs:
        none = f"no setting is known to change overlap of {profile.library_name} as it is set"
        return [], [none, *notes]
    tried: list[Tried] = []
    before: Answer | None = None
    rest: list[Knob | None] = [None, *knobs]
    while rest and (before or rest[0] is None):
        knob = rest.pop(0)
        variables = knob.variables if knob else {}
        setting = ", ".join(variables) or "the probe without any setting"
        try:
            prefix = [str(script()), *knob.prefix[1:]] if knob and knob.prefix and script else []
            argv = [*prefix, str(binary)]
            after = _probed(line, argv, found, variables, limit_s, max_bytes)
        except ImbrexError as error:
            notes.append(f"{setting}: {error}")
            continue
        except KeyboardInterrupt:
            names = ", ".join(n for k in (knob, *rest) if k for n in k.variables)
            notes.append(f"not tried, because it was interrupted: {names}")
            break
        if knob is None:
            before = after
        elif before:
            tried += compare(knob, before, after)
    return tried, notes


def _probed(
    line: LauncherLine,
    program: list[str],
    found: Answer,
    variables: Mapping[str, str],
    limit_s: float,
    max_bytes: int,
) -> Answer:
    """The answer with these variables set; KeyboardInterrupt where the user has enough."""
    argv = [*program, "--quick", "--experiments", ",".join(EXPERIMENTS)]
    argv += ["--time-limit", f"{max(1.0, 0.8 * limit_s):.0f}", "--max-bytes", str(max_bytes)]
    shares = {name: 1 / len(EXPERIMENTS) for name in EXPERIMENTS}
    title = f"trying {', '.join(variables)}" if variables else "probing without a setting"
    environment = {**os.environ, **variables}
    environment.pop("IMBREX_DIR", None)  # imbrex-exec would measure
    with step(title) as report:
        measured = run_probes(line.with_program(argv), environment, limit_s, report, shares)
    if measured.interrupted:
        raise KeyboardInterrupt
    if not measured.round_trips:
        raise ImbrexError(f"nothing was calibrated within {limit_s:.0f} s")
    now = {**found.profile.settings, **variables}
    return answer(measured, assemble(measured, now, True), EXPERIMENTS)
