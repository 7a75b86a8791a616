"""The engine as a program that runs scripts, built with the address and undefined-behaviour
sanitizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.modules import load
from tests.unit.driver import ADDRESS, Driver

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def build_core(
    link_engine: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """Compile one C file of this folder together with the engine, once for all who ask for it."""
    folder = tmp_path_factory.mktemp("core")
    built: dict[tuple[str, ...], Path] = {}

    def build(source: str, *flags: str, compiler: str = "gcc") -> Path:
        key = (compiler, source, *flags)
        if key not in built:
            binary = folder / f"{Path(source).stem}-{len(built)}"
            link_engine(binary, [HERE / source], flags, compiler)
            built[key] = binary
        return built[key]

    return build


@pytest.fixture(scope="session")
def driver(build_core: Callable[..., Path]) -> Iterator[Driver]:
    running = Driver(build_core("core_driver.c", *ADDRESS))
    yield running
    running.close()


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """The package reference."""
    return load(HERE / "reference" / "__init__.py", "core_reference")
