"""A machine profile for this MPI, hosts and settings: given, kept from before, or measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.network import cache, settings
from imbrex.network.assemble import assemble
from imbrex.network.idle import is_idle
from imbrex.network.measure import run_probes
from imbrex.network.profile import MachineProfile
from imbrex.network.quality import cut_short, is_better, was_busy
from imbrex.network.reading import load
from imbrex.network.thread_price import thread_price
from imbrex.steps import Tell, step

QUICK_LIMIT_S = 60.0
FULL_LIMIT_S = 240.0

WithProgram = Callable[[Sequence[str]], list[str]]
"""The user's launcher line with every program replaced by the one given."""


def calibrate(
    with_program: WithProgram,
    binary: Path,
    launcher_words: Sequence[str],
    *,
    quick: bool,
    environment: Mapping[str, str] | None = None,
    progress: Tell | None = None,
    time_limit_s: float | None = None,
    least_ranks: int = 2,
    most_bytes: int | None = None,
) -> MachineProfile:
    """Measure with the probes `binary` on the ranks that the launcher starts.

    `most_bytes` is the largest message, where that is not the probes' own choice.
    ImbrexError when they measured nothing, or not to their end within the time limit.
    """
    env = dict(os.environ if environment is None else environment)
    limit_s = time_limit_s or (QUICK_LIMIT_S if quick else FULL_LIMIT_S)
    argv = [str(binary), "--time-limit", f"{0.8 * limit_s:.0f}"]
    argv += [] if most_bytes is None else ["--max-bytes", str(most_bytes)]
    measured = run_probes(
        with_program([*argv, "--quick"] if quick else argv), env, limit_s, progress
    )
    if measured.interrupted:
        raise KeyboardInterrupt  # there is no profile of half a calibration
    if measured.jobs > 1:
        raise ImbrexError(
            "every rank runs alone: the launcher belongs to another MPI library "
            f"than {measured.library[:40]}"
        )
    if measured.ranks < least_ranks:
        raise ImbrexError(
            f"the launcher started {measured.ranks} rank; calibrating needs two or more: "
            "imbrex calibrate -- mpirun -n 2"
        )
    if not measured.complete:
        raise ImbrexError(
            f"the calibration did not end within {limit_s:.0f} s; try --quick, or a longer limit"
        )
    profile = assemble(measured, settings.relevant(launcher_words, env), quick)
    return replace(profile, thread_multiple=thread_price(measured, with_program, binary, env))


def obtain(
    with_program: WithProgram,
    binary: Path | Callable[[], Path],
    library_id: str,
    launcher_words: Sequence[str],
    *,
    quick: bool = True,
    environment: Mapping[str, str] | None = None,
    machine_file: Path | None = None,
) -> tuple[MachineProfile, str]:
    """The profile for a run, and its origin: "given", "cached", or "quick" (just measured).

    `binary` may be a function that builds the probes; it is called only when they are needed.
    `library_id` names the MPI library and its version. A quick calibration that was cut short is
    used once and not kept, and one of a busy machine until that is idle. ImbrexError as for
    reading and calibrating.
    """
    if machine_file is not None:
        return load(machine_file), "given"
    env = os.environ if environment is None else environment
    name = cache.key(library_id, launcher_words, env)
    kept = cache.find(name, env)
    if kept is not None and not _wants_another(kept):
        return kept, "cached"
    probes = binary() if callable(binary) else binary
    with step("calibrating this MPI, hosts and settings (once)") as tell:
        profile = calibrate(
            with_program,
            probes,
            launcher_words,
            quick=quick,
            environment=env,
            progress=tell,
            least_ranks=1,  # a program of one rank still sends to itself
        )
    if not (quick and cut_short(profile)):
        cache.keep(name, profile, env)
    if kept is not None and was_busy(kept) and is_better(kept, profile):
        return kept, "cached"
    return profile, "quick" if quick else "measured"


def _wants_another(kept: MachineProfile) -> bool:
    """Whether a quick profile that is kept is measured anew: it was cut short, or the machine was
    busy then and is idle now."""
    return kept.quick and (cut_short(kept) is not None or (was_busy(kept) and is_idle()))
