"""Planted uses of buffers in flight are found at their lines, and nothing else is."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import forked

pytestmark = pytest.mark.untimed

HERE = Path(__file__).resolve().parent
APPS = HERE.parents[2] / "apps"


def imbrex(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return forked.imbrex(arguments, env={**os.environ, **environment}, timeout=120)


@pytest.fixture
def guarded(mpi: Any, tmp_path: Path) -> Callable[..., tuple[dict[str, Any], str]]:
    """Run a program under the guard: guard.json, and the verdict."""

    def run(program: Path, *arguments: str) -> tuple[dict[str, Any], str]:
        folder = tmp_path / "run"
        done = imbrex(
            *("run", "--guard", "-o", str(folder), "--", mpi.mpirun, "-n", "2", str(program)),
            *arguments,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((folder / "guard.json").read_text()), done.stderr

    return run


def build(mpi: Any, language: str, source: Path, program: Path, exact: bool) -> Path:
    compiler = mpi.mpicc if language == "cc" else f"mpifort.{mpi.name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    words = ["-w", "-g", "-O1", str(source), "-o", str(program)]
    if exact:
        done = imbrex(language, f"--compiler={compiler}", *words)
        assert done.returncode == 0, done.stderr
    else:
        subprocess.run([compiler, *words], check=True)
    return program


def planted(source: Path, mark: str) -> dict[int, list[str]]:
    """What stands at each line: how it is found exactly, and how without instrumentation."""
    found = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        match = re.search(rf"{mark} ((?:access|call|lost)\b[^*]*)", line)
        if match:
            found[number] = [part.strip() for part in match[1].split(";")]
    return found


def described(finding: dict[str, Any]) -> str:
    if finding["how"] == "never-completed":
        return "lost"
    return f"{finding['how']} {finding['access']} {finding['buffer']}"


@pytest.mark.parametrize(
    ("language", "name", "lines"),
    [
        ("cc", "planted.c", "planted.c"),
        ("fc", "planted_usempi.f90", "planted_body.inc"),
        ("fc", "planted_f08.f90", "planted_body.inc"),
    ],
)
def test_every_planted_use_is_found_and_no_other(
    language: str, name: str, lines: str, mpi: Any, guarded: Any, tmp_path: Path
) -> None:
    program = build(mpi, language, HERE / name, tmp_path / "program", exact=True)
    found, verdict = guarded(program)
    assert found["exact"] is True
    assert found["not_watched"] == 0
    expected = {number: how[0] for number, how in planted(HERE / lines, r"(?:/\*|!)").items()}
    seen = {}
    for finding in found["findings"]:
        place = finding["code"] or finding["site"]
        assert place["file"].endswith(lines)
        assert finding["ranks"] == [0, 1]
        seen[place["line"]] = described(finding)
    # A call over several lines has its mark on the last, and stands at its first or last.
    near = {n if n in expected else n + 1: how for n, how in seen.items()}
    assert near == expected
    assert f"{lines}:{min(seen)}" in verdict


def test_without_instrumentation_changes_of_what_is_sent_are_found(
    mpi: Any, guarded: Any, tmp_path: Path
) -> None:
    source = HERE / "planted.c"
    program = build(mpi, "cc", source, tmp_path / "program", exact=False)
    found, verdict = guarded(program)
    assert found["exact"] is False
    marks = planted(source, r"/\*").values()
    by_checksum = sum(how[-1] == "checksum" for how in marks)
    hows = [described(finding) for finding in found["findings"]]
    # Those of one call site are one finding, counted.
    counted = sum(f["count"] for f in found["findings"] if f["how"] == "checksum")
    assert counted == 2 * by_checksum
    assert hows.count("lost") == 1
    assert hows.count("call read receive") == hows.count("call write send") == 1
    assert set(hows) == {"checksum write send", "lost", "call read receive", "call write send"}
    assert "only changes of what is sent" in " ".join(verdict.split())


@pytest.mark.parametrize("variant", ["late-wait", "overlapped"])
def test_an_app_is_clean(variant: str, mpi: Any, guarded: Any, tmp_path: Path) -> None:
    program = tmp_path / "halo2d"
    sources = sorted(str(file) for file in (APPS / "halo").glob("halo2d*.c"))
    done = imbrex(
        *("cc", f"--compiler={mpi.mpicc}", "-w", "-O2", f"-I{APPS / 'common'}"),
        *(*sources, "-o", str(program), "-lm"),
    )
    assert done.returncode == 0, done.stderr
    found, verdict = guarded(program, "--variant", variant, "--n", "64", "--steps", "20")
    assert found["exact"] is True
    # One neighbour: a send and a receive of each rank and step.
    assert found["transfers"] == 80
    assert found["findings"] == []
    assert "no forbidden use" in verdict


def test_guard_and_record_are_two_runs(tmp_path: Path) -> None:
    done = imbrex("run", "--guard", "--record", "--", "mpirun", "-n", "2", "./app")
    assert done.returncode == 2
    assert "--guard" in done.stderr


def built(
    mpi: Any, language: str, compiler: str, source: str, program: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """With a compiler behind the MPI library's own: what it does is the same for every MPI."""
    if mpi.name != "openmpi":
        pytest.skip("what compilers do is the same for every MPI")
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    kind = {"cc": ("CC", "mpicc"), "cxx": ("CXX", "mpicxx")}[language]
    chosen = {"OMPI_" + kind[0]: compiler, "MPICH_" + kind[0]: compiler}
    done = imbrex(
        *(language, f"--compiler={kind[1]}.{mpi.name}", "-w", "-g", "-O2", *options),
        *(str(HERE / source), "-o", str(program)),
        **chosen,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX")
@pytest.mark.parametrize(
    ("compiler", "case", "seen"),
    [
        ("gcc", "masked", False),
        ("gcc", "wide", True),
        ("gcc", "returned", False),
        ("clang", "masked", False),
        ("clang", "wide", False),
        ("clang", "returned", True),
    ],
)
def test_nobody_claims_to_have_seen_what_has_no_hook(
    compiler: str, case: str, seen: bool, mpi: Any, guarded: Any, tmp_path: Path
) -> None:
    program = tmp_path / "wide"
    done = built(mpi, "cc", compiler, "wide.c", program, "-mavx", f"-D{case.upper()}")
    found, verdict = guarded(program)
    lines = (HERE / "wide.c").read_text().splitlines()
    (line,) = (n for n, text in enumerate(lines, 1) if text.endswith(f"/* {case} */"))
    assert found["exact"] is seen
    assert found["unseen"] == ([] if seen else [f"wide.c:{line}"])
    assert (f"wide.c:{line}" in done.stderr) is not seen
    assert (f"does not instrument: wide.c:{line}" in " ".join(verdict.split())) is not seen


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("options", [[], ["-D_FORTIFY_SOURCE=2"]])
def test_copies_of_the_c_library_are_seen(
    compiler: str, options: list[str], mpi: Any, guarded: Any, tmp_path: Path
) -> None:
    program = tmp_path / "copies"
    built(mpi, "cc", compiler, "copies.c", program, *options)
    found, _ = guarded(program)
    expected = {n: how[0] for n, how in planted(HERE / "copies.c", r"/\*").items()}
    assert {f["code"]["line"]: described(f) for f in found["findings"]} == expected


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_algorithms_are_found_where_they_are_called(
    compiler: str, mpi: Any, guarded: Any, tmp_path: Path
) -> None:
    program = tmp_path / "algorithms"
    built(mpi, "cxx", compiler, "algorithms.cpp", program)
    found, _ = guarded(program)
    assert found["exact"] is True
    expected = {n: how[0] for n, how in planted(HERE / "algorithms.cpp", r"/\*").items()}
    seen = {(f["code"]["file"].rpartition("/")[2], f["code"]["line"]) for f in found["findings"]}
    # gcc's calls stand behind the function, where its headers' lines are not known as inlined.
    if compiler == "clang++":
        assert seen == {("algorithms.cpp", line) for line in expected}
    assert len(seen) >= len(expected) - 1
    assert {described(f) for f in found["findings"]} == set(expected.values())
