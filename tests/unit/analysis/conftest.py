"""The analysis as a program that reads jobs, built with the address and undefined-behaviour
sanitizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.analysis.jobs import AnalysisDriver
from tests.unit.driver import ADDRESS, RUNTIME

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def driver(
    link_engine: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AnalysisDriver]:
    binary = tmp_path_factory.mktemp("analysis") / "driver"
    sources = [HERE / "analysis_driver.c", *sorted((RUNTIME / "analysis").glob("*.c"))]
    link_engine(binary, sources, ADDRESS)
    running = AnalysisDriver(binary)
    yield running
    running.close()
