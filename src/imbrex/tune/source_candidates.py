"""Candidates that change the source: rewritten in a copy, built there, run once under the guard."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imbrex.errors import ImbrexError
from imbrex.launch.measure import Settings, measure, prepare
from imbrex.mpi_environment.launcher_line import parse_launcher_line, program_file
from imbrex.mpi_environment.mpi_library import library_of_line
from imbrex.profile.run import Run
from imbrex.steps import step
from imbrex.tune.building import build
from imbrex.tune.candidate import Candidate, Setup, Tried
from imbrex.tune.copied import copy
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.rewriting import Rewriting, find_rewritings
from imbrex.tune.sources import Sources, Told, find_sources
from imbrex.tune.staying import Staying
from imbrex.whole_file import write_whole

BUILT = "build"
"""Where the copies are, in the folder of a search."""
MOST_UNREAD = 2
"""Of so many files it is said why they could not be read."""


@dataclass(frozen=True)
class Place:
    """Where candidates are made: the line as it is run, the folder of the search, its measured run,
    the machine profile, and how much time is left (s)."""

    words: tuple[str, ...]
    folder: Path
    run: Run
    machine: Path | None
    left_s: Callable[[], float]


def source_candidates(
    place: Place, told: Told, most: float, worth: float, interval_s: float | None
) -> tuple[list[Tried], tuple[str, ...]]:
    """The candidates; those that cannot be built or that the guard objects to are out already. And
    a line for each call that stays although it could save `worth`.

    NotPossibleError with what stands in the way of all of them.
    """
    line = parse_launcher_line(place.words)
    programs = {words[0] for words in line.programs()}
    if len(programs) != 1:
        raise NotPossibleError("the line starts several programs")
    program = program_file(line.programs()[0], line.segments[0].folder).resolve()
    with step("reading the sources"):
        sources = find_sources(program, told, library_of_line(line).mpicc, place.folder)
        rewritings, stays, unread = find_rewritings(
            sources, place.run.directory, worth, interval_s, most
        )
    notes = unread[:MOST_UNREAD] + _suggested(place.folder, stays, told.suggest)
    if not rewritings:
        return [], notes
    plain = _built(place, sources, None, "as-it-is")
    beside = Setup(words=_line(place.words, plain))
    found = []
    for number, rewriting in enumerate(rewritings, start=1):
        name = f"rewrite-{number}"
        patch = place.folder / f"{name}.patch"
        write_whole(patch, rewriting.patch)
        candidate = Candidate(
            kind="source",
            label=rewriting.label,
            beside=beside,
            effect="starts messages earlier, or completes them later, around the program's work",
            cost=f"a change of the source ({patch.name}), to be built with `{sources.build}`",
            most=min(most, rewriting.most),
            commands=_carried_out(sources, patch),
        )
        try:
            built = _built(place, sources, rewriting, name)
            found.append(Tried(replace(candidate, setup=Setup(words=_line(place.words, built)))))
        except NotPossibleError as error:
            found.append(Tried(candidate, failed=str(error), finished=True))
    return found, notes


def _carried_out(sources: Sources, patch: Path) -> tuple[str, ...]:
    """The lines that change the user's sources, and build the program of them."""
    apply = shlex.join(["git", "-C", str(sources.root), "apply", str(patch.resolve())])
    return (apply, sources.again) if sources.again else (apply,)


def _suggested(folder: Path, stays: Sequence[Staying], wanted: bool) -> tuple[str, ...]:
    """A line for each call that stays; where `wanted`, with a patch that is not proven."""
    for old in folder.glob("suggestion-*.patch"):
        old.unlink()
    notes = []
    for number, staying in enumerate(stays, start=1):
        line = staying.told
        if wanted:
            with step("writing down what a rewrite would take"):
                patch = staying.suggestion()
            file = folder / f"suggestion-{number}.patch"
            if patch is not None:
                write_whole(file, patch)
                line += f". How: {file.name} (not proven, not applied)"
            else:
                line += ". No assumption helps: nothing is suggested"
        notes.append(line)
    return tuple(notes)


def _built(place: Place, sources: Sources, rewriting: Rewriting | None, name: str) -> Path:
    """The program, built with the edits of a rewriting, after one run under the guard."""
    tree = place.folder.resolve() / BUILT / name
    if place.left_s() <= 0:
        raise NotPossibleError("the time was over before it was built")
    with step(f"building the program {'as it is' if rewriting is None else name} in a copy"):
        copy(sources.root, sources.copied, tree)
        for file, text in (rewriting.files if rewriting is not None else {}).items():
            (tree / file).write_bytes(text)
        program = build(sources, tree, place.left_s())
    with step(f"running {'that' if rewriting is None else name} under the guard"):
        _guarded(place, program, tree.with_name(f"{name}-guard"))
    return program


def _guarded(place: Place, program: Path, folder: Path) -> None:
    """Run a build once, measured, so that a use of a buffer in flight shows, and another MPI."""
    words = _line(place.words, program)
    settings = Settings(
        words,
        folder,
        force=folder.exists(),
        machine=place.machine or place.run.directory / "machine.json",
        guard=True,
        silent=True,
    )
    try:
        outcome = measure(prepare(settings))
    except ImbrexError as error:
        raise NotPossibleError(str(error)) from error
    run = outcome.run
    if outcome.exit_code or run is None:
        raise NotPossibleError(f"its run under the guard ended with exit code {outcome.exit_code}")
    if len(run.ranks) != len(place.run.ranks) or run.job.library != place.run.job.library:
        raise NotPossibleError(
            f"`make` or the like built it for {' '.join(run.job.library)[:40]}: give --build"
        )
    if run.guard is not None and run.guard.findings:
        first = run.guard.findings[0]
        raise NotPossibleError(
            f"the guard saw a forbidden {first.access} of a buffer of {first.operation}"
        )


def _line(words: tuple[str, ...], program: Path) -> tuple[str, ...]:
    """The launcher line with another build of its program."""
    line = parse_launcher_line(words)
    before = len(words) - len(line.words)  # what stands around the launcher
    changed = list(words)
    for segment in line.segments:
        changed[before + segment.program] = str(program)
    return tuple(changed)
