"""Fixtures for tests on real ranks: the runtime, built once per MPI, and measured runs."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import forked

from imbrex.mpi_environment import native
from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher

ROOT = Path(__file__).resolve().parents[2]
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass(frozen=True)
class Runtime:
    """The installed runtime of one MPI."""

    prefix: Path

    @property
    def library(self) -> Path:
        return self.prefix / "lib" / "libimbrex.so"

    @property
    def coverage(self) -> list[dict[str, Any]]:
        return list(json.loads((self.prefix / "share" / "imbrex" / "coverage.json").read_text()))


@dataclass
class Measured:
    """What a program printed and what the runtime left."""

    folder: Path
    process: subprocess.CompletedProcess[str]
    operations: list[str] = field(default_factory=list)
    measures: Any = None
    ranks: Any = None

    def rows(self, operation: str, rank: int | None = None) -> Any:
        """Rows of one operation, of one rank or of all."""
        chosen = self.measures["operation"] == self.operations.index(operation)
        if rank is not None:
            chosen &= self.measures["rank"] == rank
        return self.measures[chosen]

    def total(self, operation: str, quantity: str, rank: int | None = None) -> int:
        """Sum of one quantity over the rows of one operation."""
        return int(self.rows(operation, rank)[quantity].sum())


def _checked(command: list[str], **options: Any) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"


@pytest.fixture(scope="session")
def runtime(mpi: Any) -> Runtime:
    """The runtime for this MPI, as `imbrex run` builds and keeps it."""
    line = parse_launcher_line([mpi.mpirun, "-n", "2", "true"])
    return Runtime(native.build("runtime", library_of_launcher(line)))


def _build_for_debugging(mpi: Any, name: str, target: str, *options: str) -> Path:
    """The tree of a build of the runtime that is quick to make, not quick to run."""
    base = ROOT / "build" / "tests" / mpi.name
    base.mkdir(parents=True, exist_ok=True)
    tree = base / name
    mpicc = subprocess.run(["which", mpi.mpicc], capture_output=True, text=True, check=True).stdout
    words = ["cmake", "-S", str(ROOT / "runtime"), "-B", str(tree), "-DCMAKE_BUILD_TYPE=Debug"]
    words += [f"-DMPI_C_COMPILER={mpicc.strip()}", f"-DIMBREX_PYTHON={sys.executable}"]
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _checked([*words, *options])
        _checked(["cmake", "--build", str(tree), "--target", target, "-j2"])
    return tree


@pytest.fixture(scope="session")
def static_runtime(mpi: Any) -> Path:
    """libimbrex.a, to be linked into programs."""
    return _build_for_debugging(mpi, "static", "imbrex_static") / "libimbrex.a"


@pytest.fixture(scope="session")
def production(mpi: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix with what a site installs for production: libimbrex-progress.so and its module."""
    tree = _build_for_debugging(mpi, "production", "imbrex_progress", "-DIMBREX_STATIC=OFF")
    prefix = tmp_path_factory.mktemp("production")
    _checked(
        ["cmake", "--install", str(tree), "--component", "production", "--prefix", str(prefix)]
    )
    return prefix


@pytest.fixture(scope="session")
def compiled(mpi: Any) -> Callable[..., Path]:
    """Build programs/NAME.c with this MPI; the program is kept while its source is the same."""

    def build(name: str, *flags: str) -> Path:
        source = PROGRAMS / f"{name}.c"
        program = ROOT / "build" / "tests" / mpi.name / "programs" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        newest = max(f.stat().st_mtime for f in PROGRAMS.iterdir())
        if not program.exists() or program.stat().st_mtime < newest:
            # -w: Debian's MPICH warns of MPI_STATUSES_IGNORE wherever it stands.
            scratch = program.with_suffix(f".{os.getpid()}")
            sources = [str(source)]
            if mpi.name == "mpich":  # 4 ranks on 2 cores take a third of the time
                sources.append(str(PROGRAMS / "yields.c"))
            command = [mpi.mpicc, "-g", "-O1", "-w", "-o", str(scratch), *sources, "-pthread"]
            _checked([*command, *flags])
            scratch.replace(program)
        return program

    return build


@pytest.fixture
def compiled_fortran(mpi: Any, tmp_path: Path) -> Callable[..., Path]:
    """Build programs/NAME.f90 with this MPI, for a module with -DF08 where that is mpi_f08."""

    def build(name: str, module: str, *flags: str) -> Path:
        compiler = shutil.which(f"mpif90.{mpi.name}")
        if compiler is None:
            pytest.skip(f"mpif90.{mpi.name} is not installed")
        program = tmp_path / name
        own = ["-DF08"] if module == "mpi_f08" else []
        command = [compiler, "-cpp", "-w", *own, *flags, "-o", str(program)]
        command.append(str(PROGRAMS / f"{name}.f90"))
        built = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        if built.returncode and module == "mpi_f08":
            pytest.skip(f"{compiler} has no module mpi_f08")
        assert built.returncode == 0, built.stderr
        return program

    return build


@pytest.fixture
def measured(mpi: Any, runtime: Runtime, tmp_path: Path) -> Callable[..., Measured]:
    """Run a program on a few ranks with the runtime preloaded, and read what it left.

    `before`: words in front of the launcher.
    """

    def run(
        program: Path | list[str],
        *arguments: str,
        ranks: int = 2,
        table: str | None = None,
        environment: dict[str, str] | None = None,
        launcher: tuple[str, ...] = (),
        before: tuple[str, ...] = (),
        check: bool = True,
        timeout: int = 60,
    ) -> Measured:
        folder = tmp_path / f"run{len(list(tmp_path.glob('run*')))}"
        folder.mkdir()
        variables = {**os.environ, "IMBREX_DIR": str(folder), **(environment or {})}
        if table is not None:
            file = folder / "table.txt"
            file.write_text("imbrex-table 1\n" + table + "\nend\n")
            variables["IMBREX_TABLE"] = str(file)
        preloaded = (str(runtime.library), variables.get("LD_PRELOAD"))
        variables["LD_PRELOAD"] = " ".join(filter(None, preloaded))
        command = [str(program)] if isinstance(program, Path) else program
        many = ["--oversubscribe"] if mpi.name == "openmpi" else []
        process = subprocess.run(
            [*before, mpi.mpirun, *many, *launcher, "-n", str(ranks), *command, *arguments],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
        if check:
            assert process.returncode == 0, process.stdout + process.stderr
        result = Measured(folder, process)
        if (folder / "measures.npy").exists():
            result.operations = json.loads((folder / "job.json").read_text())["operations"]
            result.measures = np.load(folder / "measures.npy")
            result.ranks = np.load(folder / "ranks.npy")
        return result

    return run


@pytest.fixture(scope="session")
def sanitized(mpi: Any) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program on two ranks with the runtime built with the sanitizers of gcc."""
    if mpi.name != "openmpi":
        pytest.skip("the code is the same for every MPI")
    options = (f"-DCMAKE_C_FLAGS={SANITIZERS}", "-DCMAKE_C_COMPILER=gcc")
    tree = _build_for_debugging(mpi, "sanitized", "imbrex", *options)
    asan = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    preload = f"LD_PRELOAD={asan}:{tree / 'libimbrex.so'}"

    def run(
        program: list[str], folder: Path, events: str, *launcher: str
    ) -> subprocess.CompletedProcess[str]:
        """The program's run directory is `folder`."""
        environment = {**os.environ, "IMBREX_DIR": str(folder), "IMBREX_EVENTS": events}
        # the library's own leaks are not ours
        environment |= {"ASAN_OPTIONS": "detect_leaks=0", "OMPI_MCA_osc": "^rdma"}
        words = [mpi.mpirun, "--oversubscribe", *launcher, "-n", "2", "env", preload, *program]
        return subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture
def program(compiled: Callable[..., Path]) -> Path:
    """programs/endings.c: 50 messages of 100 kB, then the ending that its argument names."""
    return compiled("endings")


@pytest.fixture
def imbrex(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the imbrex command in a folder of its own."""

    def run(*words: str, **keywords: Any) -> subprocess.CompletedProcess[str]:
        # The first one builds the runtime.
        return forked.imbrex(words, cwd=tmp_path, timeout=300, **keywords)

    return run
