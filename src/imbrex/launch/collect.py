"""After the run: bring the parts together, name the call sites, write run.json."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from imbrex.errors import ImbrexError
from imbrex.profile import guard
from imbrex.profile.awaited import AWAITED_FILE
from imbrex.profile.call_paths import CALL_PATHS_FILE
from imbrex.profile.format import SCHEMA_VERSION
from imbrex.profile.matched_parts import MATCHED
from imbrex.profile.run import PARTS, Run, hosts_of, load_run
from imbrex.profile.sites import Site
from imbrex.profile.source_lines import with_source
from imbrex.profile.standing import STANDING_FILE


def take_parts(folder: Path, parts: Path) -> None:
    """Move the parts that were left in a node-local directory of this host to the run directory."""
    target = folder / PARTS
    if parts == target or not parts.is_dir():
        return
    target.mkdir(exist_ok=True)
    for part in parts.glob("rank-*.part"):
        shutil.copyfile(part, target / part.name)
    shutil.rmtree(parts, ignore_errors=True)


def complete(folder: Path, facts: Mapping[str, Any], warnings: Sequence[str] = ()) -> Run:
    """Finish a run directory: merged tables, resolved sites, run.json. Returns the run.

    `facts` are what only the launch knows (command, exit code, ...). ImbrexError where the ranks
    left nothing that can be read: then run.json is written all the same.
    """
    try:
        run = load_run(folder)
    except ImbrexError:
        entry = {"schema_version": SCHEMA_VERSION, "format": "imbrex-run", **facts}
        write_json(folder / "run.json", {**entry, "warnings": list(warnings)})
        raise
    known = {**run.job.to_json(), **{k: v for k, v in facts.items() if v is not None}}
    known["ranks"] = len(run.ranks)
    known["hosts"] = list(run.job.hosts or hosts_of(run.ranks))
    known["warnings"] = list(dict.fromkeys([*run.job.warnings, *warnings]))
    if not run.merged:
        write_table(folder / "ranks.npy", np.asarray(run.ranks))
    if not run.merged and run.callers is not None:
        write_table(folder / CALL_PATHS_FILE, np.asarray(run.callers))
    if not run.merged and run.standing is not None:
        write_table(folder / STANDING_FILE, np.asarray(run.standing))
    if not run.merged and run.awaited is not None and len(run.awaited):
        write_table(folder / AWAITED_FILE, np.asarray(run.awaited))
    for name, table in run.matched.items():
        write_table(folder / name, np.asarray(table))
    write_sites(folder / "sites.json", with_source(run.sites), run.frames)
    if run.guard is not None:
        write_json(folder / guard.FILE, run.guard.to_json())
        for file in guard.raw_files(folder):
            file.unlink()
    write_json(folder / "run.json", known)
    if not run.merged:
        # Last: with measures.npy there, a reader takes the tables and not the parts.
        write_table(folder / "measures.npy", np.asarray(run.measures))
        shutil.rmtree(folder / MATCHED, ignore_errors=True)
    else:
        shutil.rmtree(folder / PARTS, ignore_errors=True)
    return replace(run, job=type(run.job).from_json(known))


def add_warning(folder: Path, line: str) -> None:
    """Put a line in front of the warnings of a complete run directory.

    In front: a screen has room for the first ones, and what is added tells what to do.
    """
    file = folder / "run.json"
    entry = json.loads(file.read_text())
    entry["warnings"] = [line, *entry.get("warnings", ())]
    write_json(file, entry)


def write_sites(file: Path, sites: Sequence[Site], frames: Sequence[Site] = ()) -> None:
    """Write sites.json."""
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "sites": [site.to_json() for site in sites],
    }
    if frames:
        content["frames"] = [frame.to_json() for frame in frames]
    write_json(file, content)


def write_json(file: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        scratch.write_text(json.dumps(content, indent=1) + "\n")
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)


def write_table(file: Path, table: np.ndarray[Any, Any]) -> None:
    """Write a NumPy file whole or not at all."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with scratch.open("wb") as stream:
            np.save(stream, table)
        scratch.replace(file)
    finally:
        scratch.unlink(missing_ok=True)
