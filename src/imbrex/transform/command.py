"""`imbrex transform` without its command line: explain, show or apply the rewrites."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from imbrex.diagnosis import wording
from imbrex.diagnosis.lines import lines as in_width
from imbrex.errors import ImbrexError
from imbrex.network import load
from imbrex.profile.run import Run, load_run
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.given_places import chosen
from imbrex.transform.graph import write_graph
from imbrex.transform.measured import measured_of, transform_measured
from imbrex.transform.model.advice import advice
from imbrex.transform.model.causes import Cause, Reason
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.options import Options
from imbrex.transform.program_sources import flags_of_run, sources_of_run
from imbrex.transform.readers.c_source import compile_database
from imbrex.transform.reading import read_program
from imbrex.transform.rewrites.base import SCHEMA_VERSION, Decision, is_about
from imbrex.transform.rewrites.catalogue import listing
from imbrex.transform.rewrites.progress import ProgressCalls
from imbrex.transform.rewrites.registry import REWRITES
from imbrex.transform.site_map import write_site_map
from imbrex.transform.suggest import suggest
from imbrex.transform.summary import summary
from imbrex.transform.text.edits import replace_files, unified_diff

WORTH_PERCENT = 0.5
_ALL = ",".join(REWRITES)
_INDENT = "    "


class Action(Enum):
    """What becomes of the rewrites that are found."""

    SUMMARY = "summary"
    EXPLAIN = "explain"
    DIFF = "diff"
    APPLY = "apply"


@dataclass(slots=True)
class Request:
    """What the user asked for on the command line."""

    arguments: tuple[str, ...]  # files, then the compiler's flags
    action: Action = Action.SUMMARY
    as_json: bool = False
    database: Path | None = None  # a compile_commands.json, or its directory
    only: tuple[str, ...] = ()  # FILE:LINE each
    rewrites: str = _ALL
    allow_reassociation: bool = False
    single_thread: bool = False
    errors_are_fatal: bool = False
    graph: Path | None = None
    routine: str | None = None  # that `graph` draws
    run_directory: Path | None = None
    worth_percent: float | None = None
    progress_us: float | None = None
    machine: Path | None = None
    dirty: bool = False
    suggest: str | None = None  # FILE:LINE


@dataclass(slots=True)
class Answer:
    """What is to be printed, and what is to be said beside it."""

    text: str
    warnings: list[str] = field(default_factory=list)
    complete: bool = True  # whether all files were read


def answer(request: Request) -> Answer:
    """Do what was asked.

    Raises ImbrexError where the request or a file is not understood; nothing is changed then.
    """
    if request.worth_percent is not None and request.run_directory is None:
        raise ImbrexError("--worth goes with --run")
    if request.rewrites == "list":
        return Answer(listing())
    warnings: list[str] = []
    run = None if request.run_directory is None else load_run(request.run_directory)
    paths, flags = _split(request.arguments, run)
    options = Options(
        flags=flags,
        rewrites=_rewrites(request.rewrites),
        reassociation=request.allow_reassociation,
        single_thread=request.single_thread,
        errors_are_fatal=request.errors_are_fatal,
        progress_interval_s=_interval_s(request.progress_us, request.machine, warnings),
    )
    if request.database is not None:
        options.flags_of = compile_database(request.database)
        missing = [str(path) for path in paths if path.resolve() not in options.flags_of]
        if missing:
            raise ImbrexError(f"{request.database} does not mention {', '.join(missing)}")
    elif run is not None and not flags:
        options.flags_of = flags_of_run(run)
    options.only = chosen(request.only, paths, options)
    if request.graph is not None:
        program = read_program(paths, options)
        text = write_graph(program, request.routine, request.graph) + "\n"
        warnings += [f"not read: {reason}" for reason in program.skipped.values()]
        return Answer(text, warnings, not program.skipped)
    if request.routine is not None:
        raise ImbrexError("--routine goes with --graph")
    if request.suggest is not None:
        if request.action is Action.APPLY:
            raise ImbrexError("--suggest is never applied: what it assumes is yours to check")
        return Answer(suggest(paths, options, request.suggest), warnings)
    outcome = _outcome(request, paths, options, run)
    _check_only(options.only, outcome)
    if request.action is Action.APPLY:
        _apply(outcome, request.dirty)
        warnings += _map(paths, options, outcome)
    if request.as_json:
        text = json.dumps(_as_json(outcome), indent=2) + "\n"
    elif request.action is Action.DIFF:
        text = diff(outcome)
    else:
        text = _said(request, outcome)
    warnings += _empty(outcome, options, shown=request.action is Action.DIFF)
    warnings += [f"note: {note}" for note in outcome.notes]
    warnings += [f"not read: {reason}" for reason in outcome.skipped.values()]
    return Answer(text, warnings, not outcome.skipped)


def _said(request: Request, outcome: Outcome) -> str:
    """What is printed where neither a diff nor JSON is asked for."""
    if request.action is Action.EXPLAIN:
        return _in_lines(explain(outcome))
    before = "BEFORE" if request.run_directory is None else shlex.quote(str(request.run_directory))
    applied = request.action is Action.APPLY
    further = (
        f"Did it help? Build it, imbrex run it as before, then: imbrex compare {before} AFTER"
        if applied
        else f"Do it: {_again(request, '--apply')}  (see it first: --diff)"
    )
    why = _again(request, "--explain")
    return summary(
        outcome.decisions,
        applied=applied,
        further=further,
        explain=why,
        in_part=not (outcome.has_main or outcome.skipped),
    )


def _again(request: Request, action: str) -> str:
    """The same request with another action, as a line to copy."""
    words = ["imbrex", "transform", action]
    given: dict[str, object | None] = {
        "-p": request.database,
        "--run": request.run_directory,
        "--worth": request.worth_percent,
        "--progress": request.progress_us,
        "--machine": request.machine,
        "--rewrites": None if request.rewrites == _ALL else request.rewrites,
    }
    for option, value in given.items():
        words += [] if value is None else [option, str(value)]
    for place in request.only:
        words += ["--only", place]
    switches = {
        "--allow-reassociation": request.allow_reassociation,
        "--single-thread": request.single_thread,
        "--errors-are-fatal": request.errors_are_fatal,
        "--dirty": request.dirty,
    }
    words += [option for option, given_too in switches.items() if given_too]
    files, flags = _files_and_flags(request.arguments)
    return shlex.join([*words, *files, *(["--"] if flags else []), *flags])


def _empty(outcome: Outcome, options: Options, *, shown: bool) -> list[str]:
    """Why a diff is empty, and why there are no progress calls though they were asked for."""
    found = []
    if shown and outcome.before == outcome.after:
        found.append(f"note: the diff is empty: {_most_frequent(outcome.decisions)}")
    if options.progress_interval_s is None:
        return found
    asked = [d for d in outcome.decisions if is_about(d, ProgressCalls.name)]
    if any(d.decision == "rewritten" for d in asked):
        return found
    if outcome.skipped:
        why = "a file was not read"
    elif asked:
        why = _most_frequent(asked)
    else:
        why = "no transfer is under way while the program computes, as far as is known"
    return [*found, f"note: no progress calls: {why}"]


def _most_frequent(decisions: list[Decision]) -> str:
    """How often sites stay as they are, and the reason that most of them have."""
    if not decisions:
        return "no call of MPI that could be rewritten"
    reasons = [_own(d.reason) for d in decisions]
    kind, often = Counter(str(reason.kind) for reason in reasons).most_common(1)[0]
    first = next(reason for reason in reasons if str(reason.kind) == kind)
    those = "this" if len(decisions) == 1 else f"{often} of {len(decisions)} calls"
    return f"{those}: {first} (--explain says it of each)"


def _own(reason: Reason) -> Reason:
    """A reason without the name of the rewrite that gives it."""
    cause = dict(reason.cause.parameters).get("cause")
    if reason.kind is ReasonKind.ABOUT and isinstance(cause, Cause):
        return Reason(cause, reason.location)
    return reason


def _outcome(request: Request, paths: list[Path], options: Options, run: Run | None) -> Outcome:
    if run is None:
        return transform(paths, options)
    worth_percent = WORTH_PERCENT if request.worth_percent is None else request.worth_percent
    return transform_measured(paths, options, measured_of(run), worth_percent / 100)


def _interval_s(
    progress_us: float | None, machine: Path | None, warnings: list[str]
) -> float | None:
    """The interval of progress calls: as given, or as the machine profile recommends."""
    profile = None if machine is None else load(machine)
    if progress_us is not None:
        return progress_us * 1e-6
    if profile is None:
        return None
    if profile.progress_interval_s is None:
        warnings.append(
            f"no progress calls: {machine} recommends none: its library needs none or "
            "is not helped by them, or that was not measured (`imbrex probe` does)"
        )
    return profile.progress_interval_s


def _files_and_flags(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files first; from the first word that looks like a flag on, the compiler's flags."""
    first = next(
        (i for i, argument in enumerate(arguments) if argument.startswith("-")), len(arguments)
    )
    return arguments[:first], arguments[first:]


def _split(arguments: tuple[str, ...], run: Run | None) -> tuple[list[Path], list[str]]:
    """The files and the flags. Where there is no file, those of the program that was measured."""
    files, flags = _files_and_flags(arguments)
    paths = [Path(file) for file in files]
    if not paths and run is not None:
        paths = sources_of_run(run)
    if not paths:
        raise ImbrexError("no files were given")
    if len({path.resolve() for path in paths}) != len(paths):
        raise ImbrexError("a file was given twice")
    return paths, list(flags)


def _rewrites(text: str) -> frozenset[str]:
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(names - set(REWRITES))
    if unknown or not names:
        wrong = ", ".join(unknown) or "none"
        raise ImbrexError(f"--rewrites: {wrong} is not among {', '.join(REWRITES)}")
    return names


def _check_only(only: frozenset[tuple[str, int]], outcome: Outcome) -> None:
    """Each place names a call: else a slip of the pen would look like nothing to gain."""
    calls = {(d.site.routine.file, d.site.call.line) for d in outcome.decisions}
    for name, line in sorted(only):
        if (name, line) not in calls and name not in outcome.skipped:
            raise ImbrexError(f"--only {name}:{line}: no call that could be rewritten stands there")


def _apply(outcome: Outcome, dirty: bool) -> None:
    if outcome.skipped:
        raise ImbrexError(f"nothing was changed: {next(iter(outcome.skipped.values()))}")
    changed = [name for name in outcome.before if outcome.before[name] != outcome.after[name]]
    if not dirty:
        for name in changed:
            if _is_dirty(Path(name)):
                raise ImbrexError(f"{name} has changes that are not committed: commit or --dirty")
    replace_files([(Path(name), outcome.before[name], outcome.after[name]) for name in changed])


def _map(paths: list[Path], options: Options, outcome: Outcome) -> list[str]:
    """Leave the map of sites, so that `imbrex compare` pairs what was rewritten."""
    try:
        file = write_site_map(paths, options, outcome)
    except ImbrexError as error:
        return [f"note: imbrex compare will have to pair call sites by their places: {error}"]
    return [f"note: {file} says which calls stand for which, for imbrex compare"] if file else []


def _is_dirty(path: Path) -> bool:
    """Whether git knows the file and has another version of it."""
    try:
        answer = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "--", path.name],
            cwd=path.resolve().parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return False
    return answer.returncode == 0 and bool(answer.stdout.strip())


def diff(outcome: Outcome) -> str:
    return "".join(
        unified_diff(name, outcome.before[name], outcome.after[name])
        for name in sorted(outcome.before)
        if outcome.before[name] != outcome.after[name]
    )


def _as_json(outcome: Outcome) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "sites": [decision.as_json() for decision in outcome.decisions],
        "skipped": outcome.skipped,
    }


def explain(outcome: Outcome) -> str:
    """Each call with its window or its reason, and all that is known of it."""
    lines = []
    for decision in outcome.decisions:
        lines += _explain_site(decision)
    count = sum(decision.decision == "rewritten" for decision in outcome.decisions)
    begun = sum(decision.wait_moves for decision in outcome.decisions)
    more = (
        f"; {begun} more start{'s' * (begun == 1)} what is waited for later there" if begun else ""
    )
    lines.append(f"{count} of {len(outcome.decisions)} call sites can be rewritten{more}.")
    return "\n".join(lines) + "\n"


def _in_lines(text: str) -> str:
    """What is said of a site in lines of a screen; the line that names its place stays one."""
    found = []
    for line in text.splitlines():
        told = line.startswith(_INDENT)
        found += in_width(line, indent=2 * _INDENT, cut=False) if told else [line]
    return "\n".join(found) + "\n"


def _explain_site(decision: Decision) -> list[str]:
    site = decision.site
    head = f"{site.location}: {site.call.name} in {site.routine.name}: "
    if decision.wait_moves:
        return [f"{head}stays, and {decision.reason}"]
    hindered = decision.hindered
    arguments = {
        "rewritten": f"rewrite ({', '.join(decision.rewrites)}), "
        f"window lines {decision.first_line}-{decision.last_line}",
        "refused": "refused",
        "nothing-to-gain": "cannot be moved" if hindered else "nothing to gain",
    }
    lines = [head + arguments[decision.decision], f"{_INDENT}{decision.obstacle_text}"]
    help_with = "" if decision.decision == "rewritten" else advice(decision.obstacle.cause)
    if help_with and (hindered or decision.decision == "refused"):
        lines.append(f"{_INDENT}what to do: {help_with}")
    if decision.measured is not None:
        lines.append(f"{_INDENT}{_measured(decision.measured)}")
    said = {f"{name}: {decision.obstacle_text}" for name in decision.rewrites}
    return lines + [f"{_INDENT}{detail}" for detail in decision.details if detail not in said]


def _measured(values: dict[str, float]) -> str:
    exposed = (
        f"of at most {wording.seconds(values['transfer_max_s'])} of transfer "
        f"{wording.interval(values['exposed_min_s'], values['exposed_max_s'])} exposed; "
        if values["transfer_max_s"] > 0  # of what a wait completes the starts tell it
        else ""
    )
    return (
        f"measured: {values['count']:,.0f} calls, {wording.seconds(values['call_s'])} in them; "
        f"{exposed}at most {wording.percent(values['share'])} of the ranks' time to save"
    )
