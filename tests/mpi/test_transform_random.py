"""Random programs compute the same after the rewrite, and use no buffer that is in flight."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from imbrex.transform.engine import Options, transform

HERE = Path(__file__).parent / "transform"
SEEDS = list(range(30))
COMMUNICATION = frozenset({"nonblocking", "collectives", "motion"})


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", HERE / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


def run(mpirun: str, program: Path, folder: Path) -> list[str]:
    """What each rank wrote to its own file: lines on one standard output may be torn."""
    folder.mkdir()
    answer = subprocess.run(
        [mpirun, "-n", "2", str(program)], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert answer.returncode == 0, answer.stderr[-2000:]
    return [(folder / f"rank{rank}.txt").read_text() for rank in (0, 1)]


@pytest.mark.parametrize("language", ["c", "f"])
def test_a_second_run_changes_nothing(language: str, generate: ModuleType, tmp_path: Path) -> None:
    """With all rewrites on, program by program: what one moves may make room for another."""
    make = generate.c_source if language == "c" else generate.fortran_source
    changed = 0
    for seed in SEEDS[:10]:
        source = tmp_path / f"program{seed}.{language}"
        source.write_text(make([seed]))
        once = transform([source], Options()).after[str(source)]
        changed += once != source.read_bytes()
        again = transform([source], Options(contents={source: once})).after[str(source)]
        assert again == once, seed
    assert changed >= 9


@dataclass
class Versions:
    """One program of many parts: as it is, rewritten, and with progress calls."""

    before: Path
    after: Path
    driven: Path
    kinds: Counter[str]


@pytest.fixture(scope="module")
def versions(
    generate: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Versions]:
    """The programs of a language, rewritten once for all libraries."""
    return functools.cache(lambda language: rewritten(language, generate, tmp_path_factory))


def rewritten(
    language: str, generate: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Versions:
    make = generate.c_source if language == "c" else generate.fortran_source
    folder = tmp_path_factory.mktemp("versions")
    before, after, driven = (folder / f"{n}.{language}" for n in ("before", "after", "driven"))
    before.write_text(make(SEEDS))
    outcome = transform([before], Options())
    after.write_bytes(outcome.after[str(before)])
    options = Options(rewrites=COMMUNICATION, progress_interval_s=2e-6)
    driven.write_bytes(transform([before], options).after[str(before)])
    rewritten = [d for d in outcome.decisions if d.decision == "rewritten"]
    kinds = Counter(name for decision in rewritten for name in decision.rewrites)
    return Versions(before, after, driven, kinds)


@pytest.mark.parametrize("language", ["c", "f"])
def test_same_results(
    language: str, mpi: object, versions: Callable[[str], Versions], tmp_path: Path
) -> None:
    name = mpi.name  # type: ignore[attr-defined]
    compiler = f"mpicc.{name}" if language == "c" else f"mpifort.{name}"
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    made = versions(language)
    for kind in COMMUNICATION:
        assert made.kinds[kind] > len(SEEDS)
    assert made.driven.read_bytes().upper().count(b"MPI_IPROBE(") > len(SEEDS)
    shim = tmp_path / "in_flight.o"
    define = ["-DFORTRAN"] if language == "f" else []
    subprocess.run(
        [f"mpicc.{name}", "-c", "-w", *define, str(HERE / "in_flight.c"), "-o", str(shim)],
        check=True,
    )
    before, after, driven = made.before, made.after, made.driven
    results = []
    for source, extra in ((before, []), (after, []), (after, [str(shim)]), (driven, [])):
        program = tmp_path / f"program{len(results)}"
        command = [compiler, "-O2", "-w", str(source), *extra, "-o", str(program)]
        subprocess.run(command, check=True)
        results.append(run(f"mpirun.{name}", program, tmp_path / f"run{len(results)}"))
    assert results[0][0].count("\n") == results[0][1].count("\n") == 6 * len(SEEDS)
    assert results[0] == results[1]
    assert results[0] == results[2]
    assert results[0] == results[3]
