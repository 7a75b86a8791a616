from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.formats.toml import TomlFile
from imbrex.model.model_file import Model, load_model, model_from_toml

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def sancho_path() -> Path:
    return ROOT / "examples" / "sancho2006.toml"


@pytest.fixture(scope="session")
def sancho(sancho_path: Path) -> Model:
    return load_model(sancho_path)


@pytest.fixture(scope="session")
def parse() -> Callable[..., Model]:
    def read(text: str, process: str | None = None) -> Model:
        return model_from_toml(TomlFile.parse(text, "model.toml"), process)

    return read
