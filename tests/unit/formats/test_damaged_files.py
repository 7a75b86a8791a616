"""Whatever a file holds, a command that reads it ends in a result or in one line.

Valid files are damaged in seeded ways, and commands read them within limits of time and memory.
`IMBREX_DAMAGED_FILES=20000 pytest tests/unit/formats/test_damaged_files.py` tries more.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from tests.modules import load

from imbrex import __version__
from imbrex.cli import cli
from imbrex.errors import ImbrexError
from imbrex.launch.installed import STAMP, installed_runtime
from imbrex.mpi_environment.mpi_library import MpiLibrary
from imbrex.profile.call_paths import CALL_PATHS_DTYPE
from imbrex.profile.causes import CAUSES_DTYPE, PARTNERS_DTYPE, WAITS_DTYPE
from imbrex.profile.evidence import EVIDENCE_DTYPE
from imbrex.profile.format import Ended
from imbrex.profile.recording_format import ARRIVED, CALL, ELEMENTS_DTYPE, POST, SEND, TRACE_DTYPE
from imbrex.profile.standing import STANDING_DTYPE
from imbrex.profile.timeline.format import TIMELINE_DTYPE
from imbrex.profile.timeline.overview import OVERVIEW_DTYPE
from imbrex.recorder.regions import write_regions
from imbrex.transform.readers.c_source import compile_database

pytestmark = pytest.mark.slow

mutate = load(Path(__file__).with_name("mutate.py"))

CASES = int(os.environ.get("IMBREX_DAMAGED_FILES", "100"))
"""Damaged files for each kind of file."""
LONGEST_S = 20.0
MOST_BYTES = 1 << 30
"""More memory than this no damaged file of a few kilobytes may take."""

SHOW = (["--json"], [], ["--by", "site"], ["--by", "rank", "--json"], ["--by", "size", "--json"])
MODEL = """\
title = "a model"
[[application]]
name = "a"
computation_us = 100
processing = "concurrent"
[[application.message]]
name = "m"
n_sent = 4
n_produced = [4, 6]
t_produce_ns = 1000
t_consume_us = 2
after_produce_us = 5
produce_order = "reverse"
consume_order = [0, 1, 3, 2]
index_send = [0, 1, 2, 3]
[[application.collective]]
processes = 8
[[network]]
name = "n"
latency_us = 2
bandwidth_gbit_per_s = 10
message_gap_ns = 100
overhead_ns = 10
price = 3
year = 2020
[latency_table]
latencies_us = [1, 2]
bandwidth_gb_per_s = 5
digits = 2
"""


READERS: dict[str, Callable[[Path], object]] = {
    "regions of a rank": write_regions,
    "compile database": compile_database,
    "installed runtime": lambda place: installed_runtime(place, NO_LIBRARY),
}
"""What has no command of its own that only reads; in place of one."""
NO_LIBRARY = MpiLibrary(Path("/no/libmpi.so.40"), "libmpi.so.40", "openmpi")


def _message(kind: str, peer: int, **changes: Any) -> dict[str, Any]:
    beside = "after_produce_s" if kind == "send" else "before_consume_s"
    step = "t_produce_s" if kind == "send" else "t_consume_s"
    return {
        "kind": kind, "operation": "MPI_Isend" if kind == "send" else "MPI_Recv",
        "site": "app.c:12", "peer": peer, "tag": 1, "thread": 0, "communicator": 0,
        "processes": 2, "elements": 20, "element_bytes": 8, "calls": 1, "seen": 20, step: 1e-9,
        beside: 1e-7, "spread_s": None, "times": "watched", "samples": 2, "through_copy": False,
        "written_unseen": 0, "touched_by": [], "curve": [{"share": 0.5, "time_s": 1e-8}],
    } | changes  # fmt: skip


def write_recording(folder: Path) -> None:
    """Two ranks: one sends 20 doubles to the other, and both call MPI_Allreduce."""
    folder.mkdir()
    both = [_message("send", -1, elements=1), _message("receive", -1, elements=1)]
    ranks = [
        {"rank": r, "compute_s": 1e-5, "accesses": 40, "dropped": 0, "threads": 1, "groups": [],
         "messages": [_message("send" if r == 0 else "receive", 1 - r)], "collectives": both}
        for r in (0, 1)
    ]  # fmt: skip
    document = {
        "format": "imbrex-recording", "schema_version": 1, "not_recorded": [], "sites": [],
        "watchpoints": True, "ranks": ranks,
        "functions": ["MPI_Isend", "MPI_Recv", "MPI_Allreduce", "MPI_Finalize"],
    }  # fmt: skip
    (folder / "messages.json").write_text(json.dumps(document))
    table = np.zeros(44, ELEMENTS_DTYPE)
    table["rank"] = np.repeat([0, 1], 22)
    table["message"] = [*[0] * 20, 1, 2] * 2
    table["element"] = table["position"] = [*range(20), 0, 0] * 2
    table["seen"], table["time_ns"] = 2, [*range(100, 120), 5, 5] * 2
    np.save(folder / "elements.npy", table)
    rows = [(0, CALL, 0, 1000.0), (0, SEND, 0, 0.0), (0, CALL, 2, 500.0), (0, CALL, 3, 10.0),
            (1, CALL, 1, 200.0), (1, POST, 0, 0.0), (1, ARRIVED, 0, 0.0), (1, CALL, 2, 800.0),
            (1, CALL, 3, 10.0)]  # fmt: skip
    np.save(folder / "trace.npy", np.array(rows, TRACE_DTYPE))


GUARD = {
    "schema_version": 1, "exact": True, "unseen": ["a.c:3"], "transfers": 20, "not_watched": 0,
    "more_findings": 0,
    "findings": [
        {"how": "access", "access": "write", "call": "", "buffer": "send", "offset": 24,
         "operation": "MPI_Isend", "peer": 1, "tag": 0, "bytes": 8, "count": 10, "ranks": [0, 1],
         "code": {"id": 2, "image": "./a", "offset": "0x29", "file": "/x/a.c", "line": 4,
                  "function": "main", "inlined_into": []},
         "site": {"id": 1, "image": "./a", "offset": "0x97", "file": "/x/a.c", "line": 4,
                  "function": "main", "inlined_into": []}}
    ],
}  # fmt: skip
RAW_GUARD = {
    "schema_version": 1, "rank": 0, "exact": True, "finished": True, "transfers": 20,
    "not_watched": 0, "more_findings": 0, "unseen": "a.c:3, b.c:4",
    "findings": [
        {"how": "access", "access": "write", "code": {"image": "./a", "offset": 41}, "call": "",
         "buffer": "send", "operation": "MPI_Isend", "site": {"image": "./a", "offset": 151},
         "peer": 1, "tag": 0, "offset": 24, "bytes": 8, "count": 10}
    ],
}  # fmt: skip
PATH = {
    "points": [
        {"size_bytes": size, "x_lo_s": size * 1e-9, "x_hi_s": 1e-6 + size * 2e-9, "tail_s": 1e-7,
         "head_s": None, "send_returns_before_match": True, "synchronization": None,
         "class": "two-sided"}
        for size in (1, 1024, 1 << 20)
    ],
    "gap_s_per_byte": 1e-9,
    "limits": {"send_returns_before_match_late_bytes": 65480},
    "handshakes": [{"size_bytes": 262144, "sender": True, "receiver": True, "before_s": 1e-6,
                    "latency_s": 1e-6}],
    "loggp": {"L_s": 1e-6, "o_s_s": 1e-7, "o_r_s": 1e-7, "g_s": 1e-7, "G_s_per_byte": 1e-9,
              "EEL_s": 1.2e-6, "residual": 0.01},
}  # fmt: skip
PROFILE = {
    "format": "imbrex-machine-profile", "schema_version": 1, "created": "2026-01-01T00:00:00Z",
    "imbrex_version": "0.1.0", "quick": False, "library": {"name": "Open MPI", "version": "4.1.4"},
    "hosts": ["a"], "ranks": 2, "settings": {"OMPI_MCA_btl": "tcp,self"},
    "paths": {"intra-node": PATH},
    "collectives": [{"operation": "MPI_Bcast", "ranks": 2, "path": "intra-node", "role": "any",
                     "points": [{"size_bytes": 8, "x_lo_s": 0, "x_hi_s": 1e-6}]}],
    "one_sided": [{"operation": "MPI_Put", "path": "intra-node", "gap_s_per_byte": 1e-9,
                   "points": [{"size_bytes": 8, "x_lo_s": 0, "x_hi_s": 1e-6, "tail_s": 0}]}],
    "progress_interval_s": None,
}  # fmt: skip


def _attempt(words: list[str]) -> str | None:
    """Run a command line in this process; what is wrong with how it ended, or None."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            if words[0] in READERS:
                READERS[words[0]](Path(words[1]))
            else:
                cli.main(words, prog_name="imbrex", standalone_mode=False)
    except (ImbrexError, click.ClickException) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        if "\n" in message or len(message) > 1000:
            return f"no one line: {message[:200]!r}"
        return None
    except SystemExit:
        pass
    except BaseException:
        return traceback.format_exc(limit=-6)
    if "--json" in words and out.getvalue():
        try:
            json.loads(out.getvalue(), parse_constant=_refuse)
        except ValueError as error:
            return f"no valid JSON: {error}"
    return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"more than {LONGEST_S:.0f} s")


def _campaign(
    valid: Path, file: str, lines: list[list[str]], seed: int, work: Path, answer: Any
) -> None:
    """Damage `file` CASES times, and send what went wrong."""
    with Path("/proc/self/statm").open() as statm:
        now = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES,) * 2)
    signal.signal(signal.SIGALRM, _too_long)
    wrong = []
    for case in range(CASES):
        rng = random.Random(f"{seed} {file} {case}")
        folder = work / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(valid, folder)
        mutation = rng.choice(mutate.ways(folder / file))(folder / file, rng)
        words = [argument.replace("@", str(folder)) for argument in rng.choice(lines)]
        signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
        problem = _attempt(words)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if problem is not None:
            wrong.append(f"case {case}, {file} {mutation}, {' '.join(words)}: {problem}")
    answer.send(wrong)


def check(valid: Path, file: str, lines: list[list[str]], work: Path) -> None:
    """Damage one file of a valid folder many times; `@` in a command line is the folder."""
    for words in lines:
        shutil.copytree(valid, work / "undamaged", dirs_exist_ok=True)  # a reader may write
        undamaged = [argument.replace("@", str(work / "undamaged")) for argument in words]
        assert _attempt(undamaged) is None
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_campaign, args=(valid, file, lines, 20261123, work, there))
    child.start()
    there.close()
    try:
        wrong = here.recv()
    except EOFError:
        wrong = ["the process that read the files died"]
    child.join()
    assert not wrong, f"{len(wrong)} of {CASES}:\n" + "\n".join(wrong[:5])


RUN_FILES = ("run.json", "sites.json", "measures.npy", "ranks.npy", "evidence.npy", "causes.npy",
             "waits.npy", "partners.npy", "call_paths.npy", "timeline.npy", "overview.npy",
             "standing.npy", "guard.json", "machine.json")  # fmt: skip


@pytest.mark.parametrize("file", RUN_FILES)
def test_a_run_directory(make_run: Callable[..., Path], tmp_path: Path, file: str) -> None:
    folder = make_run("valid")
    (folder / "guard.json").write_text(json.dumps(GUARD))
    (folder / "machine.json").write_text(json.dumps(PROFILE))
    for name, kind in (("evidence", EVIDENCE_DTYPE), ("causes", CAUSES_DTYPE),
                       ("waits", WAITS_DTYPE), ("partners", PARTNERS_DTYPE),
                       ("call_paths", CALL_PATHS_DTYPE),
                       ("standing", STANDING_DTYPE),
                       ("timeline", TIMELINE_DTYPE), ("overview", OVERVIEW_DTYPE)):  # fmt: skip
        table = np.zeros(2, kind)
        table["rank"] = [0, 1]
        np.save(folder / f"{name}.npy", table)
    ranks = np.load(folder / "ranks.npy")
    ranks["ended"] = Ended.DIED if file == "standing.npy" else Ended.FINALIZED
    np.save(folder / "ranks.npy", ranks)
    lines = [["show", "@", *words] for words in SHOW]
    lines += [["compare", "@", "@", "--json"], ["compare", "@", "@"]]
    if file in ("timeline.npy", "overview.npy", "sites.json"):
        lines.append(["report", "@", "-o", str(tmp_path / "report.html")])
    if file in ("machine.json", "run.json"):
        lines += [["predict", "@", "--json"], ["predict", "@"]]
    check(folder, file, lines, tmp_path)


def test_a_map_of_call_sites(make_run: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_run("valid")
    places = [{"file": f"{name}.c", "line": 12, "operation": "MPI_Isend"} for name in "ab"]
    sites = [{"before": places[0], "after": places}]
    content = {"format": "imbrex-sites", "schema_version": 1, "sites": sites}
    (folder / "imbrex-sites.json").write_text(json.dumps(content))
    check(folder, "imbrex-sites.json", [["compare", "@", "@", "--json"]], tmp_path)


def test_what_a_rank_left_of_its_regions(tmp_path: Path) -> None:
    total = {"count": 2, "elements": 8, "ns": 1000}
    region = {
        "name": "edge", "operation": "MPI_Isend", "image": "/x/a", "offset": 16, "sends": 2,
        "send_bytes": 64, "send_elements": 8, "first_send_ns": 10, "last_send_ns": 900,
        "produce": total, "after_produce": total, "before_consume": total, "consume": total,
    }  # fmt: skip
    content = {"schema_version": 1, "rank": 0, "compute_ns": 5000, "dropped": 0}
    (tmp_path / "valid").mkdir()
    file = tmp_path / "valid" / "regions-0.json"
    file.write_text(json.dumps({**content, "regions": [region]}))
    check(tmp_path / "valid", "regions-0.json", [["regions of a rank", "@"]], tmp_path)


def test_a_compile_database(tmp_path: Path) -> None:
    (tmp_path / "valid").mkdir()
    entries = [
        {"directory": "/x", "file": "a.c", "command": "cc -I b a.c"},
        {"directory": "/x", "file": "b.c", "arguments": ["cc", "-DX", "b.c"]},
    ]
    file = tmp_path / "valid" / "compile_commands.json"
    file.write_text(json.dumps(entries))
    check(tmp_path / "valid", file.name, [["compile database", "@"]], tmp_path)


def test_the_stamp_of_an_installed_runtime(tmp_path: Path) -> None:
    valid = tmp_path / "valid"
    (valid / STAMP).parent.mkdir(parents=True)
    (valid / "lib").mkdir()
    (valid / "lib" / "libimbrex.so").touch()
    mpi = {"soname": "libmpi.so.40", "version": ""}
    content = {"format": "imbrex-runtime", "schema_version": 1, "imbrex_version": __version__}
    (valid / STAMP).write_text(json.dumps({**content, "library": "lib/libimbrex.so", "mpi": mpi}))
    check(valid, str(STAMP), [["installed runtime", "@"]], tmp_path)


def test_what_a_rank_left_of_the_guard(make_run: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_run("valid")
    (folder / "guard-0.json").write_text(json.dumps(RAW_GUARD))
    check(folder, "guard-0.json", [["show", "@", "--json"], ["show", "@"]], tmp_path)


def test_a_part(make_part: Callable[..., bytes], tmp_path: Path) -> None:
    parts = tmp_path / "valid" / "parts"
    parts.mkdir(parents=True)
    row = {"site": 1, "operation": 1, "count": 2, "transfers": 2, "bytes": 100, "call_ns": 1000,
           "transfer_max_ns": 20, "exposed_max_ns": 10}  # fmt: skip
    for rank in (0, 1):
        content = make_part(
            rank, 2, [row, row], [(16, 0)], [("/x/a", "aa")], stands=[(9_000, (1 << 20) + 16, 1, 1)]
        )
        (parts / f"rank-{rank}.part").write_bytes(content)
    lines = [["show", "@", *words] for words in SHOW]
    check(tmp_path / "valid", "parts/rank-1.part", lines, tmp_path)


def test_a_machine_profile(tmp_path: Path) -> None:
    valid = tmp_path / "valid"
    valid.mkdir()
    (valid / "machine.json").write_text(json.dumps(PROFILE))
    (valid / "model.toml").write_text(MODEL)
    lines = [["predict", "@/model.toml", "--network", "@/machine.json", "--json"]]
    check(valid, "machine.json", lines, tmp_path)


def test_a_parameter_file(tmp_path: Path) -> None:
    valid = tmp_path / "valid"
    valid.mkdir()
    (valid / "model.toml").write_text(MODEL)
    options = (["--json"], [], ["--table", "latency", "--json"], ["--tolerate", "5%", "--json"],
               ["--process", "mean", "--json"],
               ["--sweep", "latency=1:10:3,bandwidth=10:1000:3", "--json"])  # fmt: skip
    lines = [["predict", "@/model.toml", *words] for words in options]
    check(valid, "model.toml", lines, tmp_path)


def test_a_file_of_networks(tmp_path: Path) -> None:
    valid = tmp_path / "valid"
    valid.mkdir()
    (valid / "model.toml").write_text(MODEL)
    start = MODEL.index("[[network]]")
    (valid / "networks.toml").write_text(MODEL[start : MODEL.index("[latency_table]")])
    given = ["predict", "@/model.toml", "--network", "@/networks.toml", "--json"]
    check(valid, "networks.toml", [given, [*given, "--tolerate", "5%"]], tmp_path)


@pytest.mark.parametrize("file", ["messages.json", "elements.npy", "trace.npy"])
def test_a_recording(tmp_path: Path, file: str) -> None:
    write_recording(tmp_path / "valid")
    lines = [["predict", "@", "--json"], ["predict", "@"], ["predict", "@", "-n", "GigE"]]
    check(tmp_path / "valid", file, lines, tmp_path)
