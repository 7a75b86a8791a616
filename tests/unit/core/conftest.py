"""The engine as a program that runs scripts, built with the address and undefined-behaviour
sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.modules import load
from tests.unit.driver import Driver

HERE = Path(__file__).parent
RUNTIME = HERE.parents[2] / "runtime"
ENGINE = [*sorted((RUNTIME / "core").glob("*.c")), RUNTIME / "base" / "clock.c"]
WARNINGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]


@pytest.fixture(scope="session")
def build_core(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile one C file of this folder together with the engine, once for all who ask for it."""
    folder = tmp_path_factory.mktemp("core")
    built: dict[tuple[str, ...], Path] = {}

    def build(source: str, *flags: str, compiler: str = "gcc") -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"no {compiler}")
        key = (compiler, source, *flags)
        if key in built:
            return built[key]
        binary = folder / f"{Path(source).stem}-{len(built)}"
        sources = [str(HERE / source), *map(str, ENGINE)]
        command = [
            compiler,
            *WARNINGS,
            *flags,
            f"-I{RUNTIME}",
            *sources,
            "-o",
            str(binary),
            "-pthread",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        built[key] = binary
        return binary

    return build


@pytest.fixture(scope="session")
def driver(build_core: Callable[..., Path]) -> Iterator[Driver]:
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    running = Driver(build_core("core_driver.c", *flags))
    yield running
    running.close()


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """The package reference."""
    return load(HERE / "reference" / "__init__.py", "core_reference")
