"""Golden cases: the diff, the reasons, and what must hold of every rewrite."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from imbrex.transform.command import _diff, _explain
from imbrex.transform.engine import Options, transform
from imbrex.transform.readers.c_source import HEADERS

CASES = Path(__file__).parent / "cases"
SOURCES = sorted(path for path in CASES.iterdir() if path.suffix in (".c", ".f", ".f90"))


@pytest.fixture(params=SOURCES, ids=lambda path: path.name)
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The case, copied to a directory that is the current one."""
    shutil.copy(request.param, tmp_path)
    monkeypatch.chdir(tmp_path)
    return Path(request.param.name)


def expected(case: Path, ending: str) -> str:
    return (CASES / f"{case.name}.expected.{ending}").read_text()


def test_diff_and_reasons(case: Path) -> None:
    outcome = transform([case], Options())
    assert _diff(outcome) == expected(case, "diff")
    assert _explain(outcome, applied=False) == expected(case, "txt")


def test_second_run_is_empty(case: Path) -> None:
    once = transform([case], Options()).after[str(case)]
    again = transform([case], Options(contents={case: once}))
    assert again.after[str(case)] == once


def test_no_new_warnings(case: Path) -> None:
    after = transform([case], Options()).after[str(case)]
    for compiler in compilers(case):
        before = warnings(compiler, case)
        rewritten = case.with_name("rewritten" + case.suffix)
        rewritten.write_bytes(after)
        assert not Counter(warnings(compiler, rewritten)) - Counter(before), compiler


def compilers(case: Path) -> list[str]:
    names = ["gcc", "clang"] if case.suffix == ".c" else ["gfortran"]
    return [name for name in names if shutil.which(name)]


def warnings(compiler: str, source: Path) -> list[str]:
    """Kinds of warnings; fails on errors."""
    flags = ["-Wall", "-Wextra", "-fsyntax-only"]
    if compiler == "gfortran":
        flags += ["-I", str(HEADERS), "-J", "."]
    else:
        flags += ["-idirafter", str(HEADERS), "-std=c11"]
    answer = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    found = re.findall(r"\[-W[\w-]+", answer.stderr)
    # Each routine that includes mpif.h leaves most of its constants unused.
    return [kind for kind in found if kind != "[-Wunused-parameter"]
