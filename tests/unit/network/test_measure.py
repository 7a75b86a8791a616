"""The probes under launchers that fail, hang, or start every rank alone: one line, no orphans."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex.errors import ImbrexError
from imbrex.network import calibrate, measure
from imbrex.network.measure import run_probes

pytestmark = pytest.mark.slow

ALONE = """\
# imbrex-probes 1
# library MPICH Version: 4.0.2
# ranks 1
pingpong self 0 0 1 warm 9 100 100 100 100
# end
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Callable[[str], str]:
    def write(body: str) -> str:
        file = tmp_path / "launch"
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
        return str(file)

    return write


def test_launcher_that_fails_is_quoted(launcher: Callable[[str], str]) -> None:
    command = [launcher("echo 'no such host: moon' >&2; exit 3")]
    with pytest.raises(ImbrexError, match=r"code 3 .*no such host: moon"):
        run_probes(command, os.environ, 10)


def test_launcher_that_is_not_there() -> None:
    with pytest.raises(ImbrexError, match="cannot start /no/launcher"):
        run_probes(["/no/launcher"], os.environ, 10)


def test_launcher_that_gives_nothing_is_to_be_tried_without_the_probes(
    launcher: Callable[[str], str],
) -> None:
    script = launcher("exec sleep 300")
    command = [script, "-n", "2", "/cache/imbrex-probes", "--quick"]
    with pytest.raises(ImbrexError, match=f"does `{script} -n 2 hostname` work"):
        run_probes(command, os.environ, 1)


def test_ranks_that_linger_after_the_last_row_are_not_waited_for(
    launcher: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "_GRACE_S", 0.2)
    begin = time.monotonic()
    measured = run_probes([launcher(f"cat <<X\n{ALONE}X\nexec sleep 300")], os.environ, 250)
    assert measured.complete and len(measured.round_trips) == 1
    assert time.monotonic() - begin < 60


def test_launcher_that_hangs_leaves_no_orphan(
    launcher: Callable[[str], str], tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    command = [launcher(f"sleep 300 & echo $! > {pid_file}; wait")]
    with pytest.raises(ImbrexError, match="no result within 1 s"):
        run_probes(command, os.environ, 1)
    child = int(pid_file.read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or _is_zombie(child):
            return
        time.sleep(0.05)
    pytest.fail("the launcher's child outlived it")


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_what_was_measured_before_the_limit_is_kept(launcher: Callable[[str], str]) -> None:
    rows = ALONE.replace("# end\n", "pingpong self 0 0 2 warm 9 100 10")
    command = [launcher(f"printf '{rows}'; sleep 300")]
    measured = run_probes(command, os.environ, 1)
    assert not measured.complete
    assert [r.size_bytes for r in measured.round_trips] == [1]


def test_progress_is_reported_in_order(launcher: Callable[[str], str]) -> None:
    lines = "".join(f"# progress {n} 0.5\\n" for n in ("self", "pingpong", "collectives"))
    seen: list[float] = []
    parts: list[str] = []

    def hear(share: float, part: str = "", /) -> None:
        seen.append(share)
        parts.append(part)

    run_probes([launcher(f"printf '{ALONE}{lines}'")], os.environ, 10, hear)
    assert parts == [
        f"{name} ({number} of 9)"
        for name, number in (("self", 1), ("pingpong", 2), ("collectives", 7))
    ]
    assert len(seen) == 3
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert seen[-1] < 1


@pytest.mark.parametrize(
    "label",
    ["[1,0]<stdout>:", "[1,0]<stdout>: ", "Sun Nov  2 17:34:56 2026<stdout>:", "[0] ", "0: "],
)
def test_lines_with_the_launcher_s_labels(launcher: Callable[[str], str], label: str) -> None:
    lines = [label + line for line in ALONE.splitlines()]
    if not label.startswith("0"):
        lines[3] = lines[3].replace("100 100", f"10{label}0{label} 100")
    text = "\n".join(lines)
    measured = run_probes([launcher(f"cat <<'X'\n{text}\nX")], os.environ, 10)
    (row,) = measured.round_trips
    assert measured.complete and "100.0, " in repr(row)
    assert measured.library == "MPICH Version: 4.0.2"


def test_one_rank(launcher: Callable[[str], str]) -> None:
    script = launcher(f"printf '{ALONE}'")
    with pytest.raises(ImbrexError, match="started 1 rank"):
        calibrate(lambda argv: [script], Path("p"), [script], quick=True)
    profile = calibrate(lambda argv: [script], Path("p"), [script], quick=True, least_ranks=1)
    assert list(profile.paths) == ["self"]


def test_ranks_that_run_alone_belong_to_another_launcher(launcher: Callable[[str], str]) -> None:
    script = launcher(f"printf '{ALONE}'; printf '{ALONE}'")
    with pytest.raises(ImbrexError, match="every rank runs alone"):
        calibrate(lambda argv: [script], Path("p"), [script], quick=True)


def test_interrupt_keeps_what_was_measured(launcher: Callable[[str], str], tmp_path: Path) -> None:
    """As a terminal's Ctrl-C does: SIGINT to the command alone, once the rows have been read."""
    pid_file = tmp_path / "pid"
    rows = ALONE.replace("# end\n", "")
    seen = "# progress self 0.5\\n"
    command = [launcher(f"echo $$ > {pid_file}; printf '{rows}{seen}'; exec sleep 300")]
    interrupted: list[float] = []

    def interrupt(fraction: float, part: str = "", /) -> None:
        interrupted.append(fraction)
        os.kill(os.getpid(), signal.SIGINT)

    begin = time.monotonic()
    measured = run_probes(command, os.environ, 60, interrupt)
    assert interrupted and time.monotonic() - begin < 20
    assert measured.interrupted and not measured.complete
    assert [r.size_bytes for r in measured.round_trips] == [1]
    child = int(pid_file.read_text())
    assert not Path(f"/proc/{child}").exists() or _is_zombie(child)


def test_interrupt_before_anything_goes_on(launcher: Callable[[str], str]) -> None:
    command = [launcher("printf '# imbrex-probes 1\\n# progress self 0.1\\n'; exec sleep 300")]
    with pytest.raises(KeyboardInterrupt):
        run_probes(command, os.environ, 60, lambda *_: os.kill(os.getpid(), signal.SIGINT))


def test_half_a_calibration_is_no_profile(launcher: Callable[[str], str]) -> None:
    rows = ALONE.replace("# end\n", "# progress self 0.5\n").replace("\n", "\\n")
    script = launcher(f"printf '{rows}'; exec sleep 300")
    with pytest.raises(KeyboardInterrupt):
        calibrate(
            lambda argv: [script],
            Path("p"),
            [script],
            quick=True,
            progress=lambda *_: os.kill(os.getpid(), signal.SIGINT),
        )


@pytest.mark.parametrize("starting_s", [0, 0.5])
def test_termination_leaves_no_orphan(
    launcher: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    starting_s: float,
) -> None:
    """Also where it comes before we know what has started."""
    start = subprocess.Popen

    def start_slowly(*words: Any, **options: Any) -> Any:
        process = start(*words, **options)
        time.sleep(starting_s)
        return process

    monkeypatch.setattr(subprocess, "Popen", start_slowly)
    note = tmp_path / "pid"
    script = launcher(f"echo $$ > {note}; kill -TERM {os.getpid()}; exec sleep 300")
    with pytest.raises(SystemExit) as ended:
        run_probes([script], os.environ, 60)
    assert ended.value.code == 128 + signal.SIGTERM
    pid = int(note.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
