"""Golden cases: the diff, the reasons, and what must hold of every rewrite."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.mpi.transform.passes import Made, passes_made_once

from imbrex.transform.command import diff, explain
from imbrex.transform.engine import Outcome, transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

CASES = Path(__file__).parent / "cases"
MODULES = Path(__file__).parent / "modules"
SOURCES = sorted(path for path in CASES.iterdir() if path.suffix in (".c", ".cpp", ".f", ".f90"))
PASSES: Made = {}


@pytest.fixture(scope="module", params=SOURCES, ids=lambda path: path.name)
def source(request: pytest.FixtureRequest) -> Path:
    """A case. What is asked of it follows each other, so that it is rewritten once for all."""
    return Path(request.param)


@pytest.fixture
def case(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The case, copied to a directory that is the current one."""
    shutil.copy(source, tmp_path)
    monkeypatch.chdir(tmp_path)
    return Path(source.name)


@functools.cache
def rewritten(case: Path) -> Outcome:
    """What becomes of a case in the current directory, under its own name."""
    with passes_made_once(PASSES):
        return transform([case], Options())


def expected(case: Path, ending: str) -> str:
    return (CASES / f"{case.name}.expected.{ending}").read_text()


def test_diff_and_reasons(case: Path) -> None:
    outcome = rewritten(case)
    assert diff(outcome) == expected(case, "diff")
    assert explain(outcome) == expected(case, "txt")


def test_second_run_is_empty(case: Path) -> None:
    once = rewritten(case).after[str(case)]
    with passes_made_once(PASSES):
        again = transform([case], Options(contents={case: once}))
    PASSES.clear()  # models of programs are large
    assert again.after[str(case)] == once


def test_untouched_bytes_stay(case: Path) -> None:
    """Blanks at the ends of lines, lost by a re-print: only lines of the diff lose them."""
    lines = case.read_bytes().splitlines(keepends=True)
    odd = [b"" if line.endswith(b"\\\n") else b" " * (1 + n % 3) for n, line in enumerate(lines)]
    marked = b"".join(a[:-1] + b + a[-1:] for a, b in zip(lines, odd, strict=True))
    case.write_bytes(marked)
    after = transform([case], Options()).after[str(case)]
    removed = re.findall(r"(?m)^-(?!-- )", expected(case, "diff"))
    # A diff takes any brace and any empty line for another.
    texts = [[x for x in t.splitlines() if re.search(rb"\w", x)] for t in (marked, after)]
    lost = Counter(texts[0]) - Counter(texts[1])
    # A declaration that both halves need; the lines of conditionals that both ask; the end of a
    # statement that moves, where the diff shows what it passes instead; what is written for two
    # iterations.
    copies = {
        "applied.cpp": 1,
        "automatic.f90": 8,
        "axes.f90": 4,
        "borders.c": 1,
        "chosen.c": 1,
        "chosen.f90": 2,
        "chunk.f90": 2,
        "chunks.c": 3,
        "chunks.f90": 2,
        "cleanup.c": 2,
        "each_field.c": 1,
        "kept.c": 4,
        "grid.cpp": 8,
        "lambda.cpp": 1,
        "lengths.c": 1,
        "listed.cpp": 5,
        "lone.c": 1,
        "lone_scalars.c": 1,
        "nested_vectors.cpp": 2,
        "planes.f": 4,
        "pointed.c": 4,
        "private.f": 2,
        "returning.c": 4,
        "row_globals.c": 2,
        "rotated.cpp": 2,
        "sequence.c": 2,
        "sequence.cpp": 2,
        "stepped.c": 1,
        "slabs.c": 3,
        "slabs.cpp": 1,
        "slabs_in_turn.f90": 3,
        "stages.f": 4,
        "summa.f": 4,
        "summa.f90": 4,
        "traits.cpp": 1,
        "under_conditions.c": 1,
        "real_type.c": 1,
        "wrapper.c": 1,
        "counted.c": 2,
        "exchanged.cpp": 1,
        "renewed.cpp": 2,
        "outside.cpp": 1,
        "relayed.c": 2,
        "restarted.c": 1,
        "relayed.cpp": 2,
        "relayed.f90": 2,
        "counted_members.f90": 4,
        "coupled.f90": 1,
        "masked.f90": 1,
        "nested.f": 1,
        "parity.c": 8,
        "parity.f90": 8,
        "waitany.c": 1,
    }
    copied = copies.get(case.name, 0)
    assert sum(lost.values()) <= len(removed) + copied


def test_fixed_form_within_72_columns(case: Path) -> None:
    if case.suffix != ".f":
        return
    before, after = case.read_bytes(), rewritten(case).after[str(case)]
    assert all(len(line) <= 72 for line in after.splitlines() if line not in before)


def test_no_new_warnings(case: Path) -> None:
    after = case.with_name("rewritten" + case.suffix)
    after.write_bytes(rewritten(case).after[str(case)])
    for compiler in compilers(case):
        found = Counter(warnings(compiler, after))
        assert not found or not found - Counter(warnings(compiler, case)), compiler


def compilers(case: Path) -> list[str]:
    plain = {".c": ("gcc", "clang"), ".cpp": ("g++", "clang++")}.get(case.suffix)
    if plain is not None:
        return [name for name in plain if shutil.which(name)]
    versions = [f"flang-{kind}{n}" for n in range(16, 30) for kind in ("", "new-")]
    names = ["flang", "flang-new", *versions]
    return [n for n in ("gfortran", next(filter(shutil.which, names), "")) if shutil.which(n)]


def warnings(compiler: str, source: Path) -> list[str]:
    """Kinds of warnings; fails on errors."""
    flags = ["-fsyntax-only"]
    if compiler.startswith("flang"):
        flags += ["-I", str(HEADERS)]
    elif compiler == "gfortran":
        flags += ["-Wall", "-Wextra", "-I", str(HEADERS), "-J", "."]
    else:
        flags += ["-Wall", "-Wextra", "-idirafter", str(HEADERS)]
        flags += ["-std=c++17" if "++" in compiler else "-std=c11", "-fopenmp"]
    for module in MODULES.glob("*.f90"):
        if f"use {module.stem}" in source.read_text():
            subprocess.run([compiler, *flags, str(module)], check=True, capture_output=True)
    answer = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    if compiler.startswith("flang"):
        return re.findall(r"(?:warning|portability): [^`']*", answer.stderr)
    found = re.findall(r"\[-W[\w-]+", answer.stderr)
    # Each routine that includes mpif.h leaves most of its constants unused.
    return [kind for kind in found if kind != "[-Wunused-parameter"]


def test_sixty_programs_must_be_refused() -> None:
    """Each has its own test and, word for word, its reason in `reasons`."""
    found = {
        file.name: re.findall(r"(?m)^== (.+)$", file.read_text())
        for file in sorted((CASES.parent / "reasons").glob("*.txt"))
    }
    assert all(len(set(names)) == len(names) for names in found.values())
    of_language = Counter({name: len(names) for name, names in found.items()})
    assert sum(of_language.values()) >= 60
    assert sum(n for name, n in of_language.items() if ".f" in name) >= 20
