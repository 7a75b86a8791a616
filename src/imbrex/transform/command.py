"""`imbrex transform`: explain, show or apply the rewrites."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import click

from imbrex.errors import ImbrexError
from imbrex.network import load
from imbrex.transform.edits import replace_files, unified_diff
from imbrex.transform.engine import REWRITES, Options, Outcome, read_program, transform
from imbrex.transform.graph import write_graph
from imbrex.transform.measured import read_measured, transform_measured
from imbrex.transform.readers.c_source import compile_database
from imbrex.transform.rewrites.base import SCHEMA_VERSION, Decision

WORTH_PERCENT = 0.5


@click.command("transform")
@click.option(
    "--explain",
    is_flag=True,
    help="Say for each communication call what would be done, or why not (the default).",
)
@click.option("--diff", is_flag=True, help="Print the rewrites as a unified diff.")
@click.option("--apply", is_flag=True, help="Change the files in place.")
@click.option("--json", "as_json", is_flag=True, help="Print the call sites as JSON.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write what is printed to a file.",
)
@click.option(
    "-p",
    "--database",
    type=click.Path(path_type=Path),
    help="A compile_commands.json, or the directory that holds it.",
)
@click.option("--only", multiple=True, metavar="FILE:LINE", help="Only these call sites.")
@click.option(
    "--rewrites",
    default=",".join(REWRITES),
    show_default=True,
    help="The rewrites to use, separated by commas.",
)
@click.option(
    "--allow-reassociation",
    is_flag=True,
    help="Rewrite floating-point reductions too: their last digits may change.",
)
@click.option(
    "--graph",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT.svg",
    help="Draw the control flow and the communication of a routine, and do nothing else.",
)
@click.option("--routine", metavar="NAME", help="The routine that --graph draws.")
@click.option(
    "--progress",
    type=click.FloatRange(min=1),
    metavar="MICROSECONDS",
    help="Put progress calls into the loops of windows, about so far apart.",
)
@click.option(
    "--machine",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A machine profile: progress calls at the interval that it recommends, if it does.",
)
@click.option(
    "--run",
    "run_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="A measured run: sites by exposed time, those below --worth left alone.",
)
@click.option(
    "--worth",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="With --run: the least share of the ranks' time that a site must expose "
    f"({WORTH_PERCENT}).",
)
@click.option("--dirty", is_flag=True, help="Apply also to files with changes not committed.")
@click.argument("words", nargs=-1, required=True, metavar="FILES... [-- FLAGS...]")
def command(
    explain: bool,
    diff: bool,
    apply: bool,
    as_json: bool,
    output: Path | None,
    database: Path | None,
    only: tuple[str, ...],
    rewrites: str,
    allow_reassociation: bool,
    graph: Path | None,
    routine: str | None,
    run_directory: Path | None,
    worth: float | None,
    progress: float | None,
    machine: Path | None,
    dirty: bool,
    words: tuple[str, ...],
) -> None:
    """Rewrite MPI sources so that communication overlaps computation.

    Give all files of the program: what the others do then counts as known. FLAGS are the
    compiler's (-I, -D, -std).
    """
    if explain + diff + apply > 1:
        raise ImbrexError("--explain, --diff and --apply: give one of them")
    if worth is not None and run_directory is None:
        raise ImbrexError("--worth goes with --run")
    paths, flags = _split(words)
    options = Options(
        flags=flags,
        rewrites=_rewrites(rewrites),
        only=_only(only),
        reassociation=allow_reassociation,
        progress_interval_s=_interval_s(progress, machine),
    )
    if database is not None:
        options.flags_of = compile_database(database)
        missing = [str(path) for path in paths if path.resolve() not in options.flags_of]
        if missing:
            raise ImbrexError(f"{database} does not mention {', '.join(missing)}")
    if graph is not None:
        program = read_program(paths, options)
        click.echo(write_graph(program, routine, graph))
        for reason in program.skipped.values():
            click.echo(f"imbrex: not read: {reason}", err=True)
        raise SystemExit(2 if program.skipped else 0)
    if routine is not None:
        raise ImbrexError("--routine goes with --graph")
    if run_directory is None:
        outcome = transform(paths, options)
    else:
        measured = read_measured(run_directory)
        outcome = transform_measured(
            paths, options, measured, (WORTH_PERCENT if worth is None else worth) / 100
        )
    _check_only(options.only, outcome)
    if apply:
        _apply(outcome, dirty)
    if as_json:
        text = json.dumps(_as_json(outcome), indent=2) + "\n"
    elif diff:
        text = _diff(outcome)
    else:
        text = _explain(outcome, applied=apply)
    if output is None:
        click.echo(text, nl=False)
    else:
        try:
            output.write_text(text)
        except OSError as error:
            raise ImbrexError(f"{output} cannot be written: {error.strerror}") from error
    for note in outcome.notes:
        click.echo(f"imbrex: note: {note}", err=True)
    for reason in outcome.skipped.values():
        click.echo(f"imbrex: not read: {reason}", err=True)
    if outcome.skipped:
        raise SystemExit(2)


def _interval_s(progress_us: float | None, machine: Path | None) -> float | None:
    """The interval of progress calls: as given, or as the machine profile recommends."""
    profile = None if machine is None else load(machine)
    if progress_us is not None:
        return progress_us * 1e-6
    if profile is None:
        return None
    if profile.progress_interval_s is None:
        click.echo(
            f"imbrex: no progress calls: {machine} recommends none: its library needs none or "
            "is not helped by them, or that was not measured (`imbrex probe` does)",
            err=True,
        )
    return profile.progress_interval_s


def _split(words: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Files first; from the first word that looks like a flag on, the compiler's flags."""
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    paths = [Path(word) for word in words[:first]]
    if not paths:
        raise ImbrexError("no files were given")
    if len({path.resolve() for path in paths}) != len(paths):
        raise ImbrexError("a file was given twice")
    return paths, list(words[first:])


def _rewrites(text: str) -> frozenset[str]:
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(names - set(REWRITES))
    if unknown or not names:
        wrong = ", ".join(unknown) or "none"
        raise ImbrexError(f"--rewrites: {wrong} is not among {', '.join(REWRITES)}")
    return names


def _only(places: tuple[str, ...]) -> frozenset[tuple[str, int]]:
    found = set()
    for place in places:
        name, _, line = place.rpartition(":")
        if not name or not line.isdigit():
            raise ImbrexError(f"--only {place}: give it as FILE:LINE")
        found.add((name, int(line)))
    return frozenset(found)


def _check_only(only: frozenset[tuple[str, int]], outcome: Outcome) -> None:
    """Each place names a call: else a slip of the pen would look like nothing to gain."""
    calls = {(d.site.routine.file, d.site.call.line) for d in outcome.decisions}
    for name, line in sorted(only):
        if (name, line) not in calls and name not in outcome.skipped:
            raise ImbrexError(f"--only {name}:{line}: no call of MPI begins there")


def _apply(outcome: Outcome, dirty: bool) -> None:
    if outcome.skipped:
        raise ImbrexError(f"nothing was changed: {next(iter(outcome.skipped.values()))}")
    changed = [name for name in outcome.before if outcome.before[name] != outcome.after[name]]
    if not dirty:
        for name in changed:
            if _is_dirty(Path(name)):
                raise ImbrexError(f"{name} has changes that are not committed: commit or --dirty")
    replace_files([(Path(name), outcome.before[name], outcome.after[name]) for name in changed])


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


def _diff(outcome: Outcome) -> str:
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


def _explain(outcome: Outcome, *, applied: bool) -> str:
    lines = []
    for decision in outcome.decisions:
        lines += _explain_site(decision)
    count = sum(decision.decision == "rewritten" for decision in outcome.decisions)
    verb = "rewritten" if applied else "can be rewritten"
    lines.append(f"{count} of {len(outcome.decisions)} call sites {verb}.")
    return "\n".join(lines) + "\n"


def _explain_site(decision: Decision) -> list[str]:
    site = decision.site
    head = f"{site.location}: {site.call.name} in {site.routine.name}: "
    words = {
        "rewritten": f"rewrite ({', '.join(decision.rewrites)}), "
        f"window lines {decision.first_line}-{decision.last_line}",
        "refused": "refused",
        "nothing-to-gain": "nothing to gain",
    }
    reason = decision.reason
    place = "" if reason.location == site.location else f" ({reason.location})"
    lines = [head + words[decision.decision], f"    {reason.text}{place}"]
    if decision.measured is not None:
        lines.append(f"    {_measured(decision.measured)}")
    return lines + [f"    {detail}" for detail in decision.details]


def _measured(values: dict[str, float]) -> str:
    return (
        f"measured: {values['count']:.0f} calls, {1e3 * values['call_s']:.3g} ms in them, "
        f"{1e3 * values['exposed_min_s']:.3g} to {1e3 * values['exposed_max_s']:.3g} ms of "
        f"{1e3 * values['transfer_max_s']:.3g} ms transfer exposed, at most "
        f"{100 * values['share']:.2g} % of the ranks' time to save"
    )
