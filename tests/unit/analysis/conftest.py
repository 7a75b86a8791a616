"""The analysis as a program that reads jobs, built with the address and undefined-behaviour
sanitizers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.analysis.jobs import AnalysisDriver

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "runtime"


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnalysisDriver]:
    binary = tmp_path_factory.mktemp("analysis") / "driver"
    command = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{RUNTIME}"]
    sources = [
        HERE / "analysis_driver.c",
        *sorted((RUNTIME / "analysis").glob("*.c")),
        *sorted((RUNTIME / "core").glob("*.c")),
        RUNTIME / "base" / "clock.c",
    ]
    built = subprocess.run(
        [*command, *map(str, sources), "-o", str(binary), "-pthread"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    running = AnalysisDriver(binary)
    yield running
    running.close()
