"""A runtime that a site has installed: found by prefix or file, refused where it does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imbrex import __version__
from imbrex.errors import ImbrexError
from imbrex.launch import installed
from imbrex.mpi_environment.mpi_library import MpiLibrary
from imbrex.mpi_environment.native import source_folder

LIBRARY = MpiLibrary(Path("/usr/lib/libmpi.so.40"), "libmpi.so.40", "openmpi")
LINE = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Make a prefix; the program's library says that it is Open MPI 4.1.4."""
    monkeypatch.setattr(installed, "library_version", lambda _: ("Open MPI", "4.1.4"))

    def make(**changes: Any) -> Path:
        prefix = tmp_path / "opt"
        stamp = {
            "format": "imbrex-runtime",
            "schema_version": 1,
            "imbrex_version": __version__,
            "library": "lib/x86_64/libimbrex.so",
            "mpi": {"soname": "libmpi.so.40", "version": LINE},
        }
        (prefix / "lib" / "x86_64").mkdir(parents=True)
        (prefix / "lib" / "x86_64" / "libimbrex.so").touch()
        (prefix / installed.STAMP).parent.mkdir(parents=True)
        (prefix / installed.STAMP).write_text(json.dumps(stamp | changes))
        return prefix

    return make


def test_by_prefix_and_by_file(install: Callable[..., Path]) -> None:
    file = install() / "lib" / "x86_64" / "libimbrex.so"
    assert installed.installed_runtime(file.parents[2], LIBRARY) == file
    assert installed.installed_runtime(file, LIBRARY) == file


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"imbrex_version": "0.0.1"}, "is of Imbrex 0.0.1, this is"),
        ({"mpi": {"soname": "libmpi.so.12", "version": "MPICH Version: 4.0.2"}}, "for MPICH 4.0.2"),
        ({"mpi": {"soname": "libmpi.so.12", "version": ""}}, "built for libmpi.so.12"),
        ({"library": "lib/other.so"}, "missing"),
        ({"mpi": None}, "damaged: mpi is not an object"),
        ({"format": "other"}, "not the runtime.json"),
    ],
)
def test_what_does_not_fit_is_one_line(
    install: Callable[..., Path], changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ImbrexError, match=words) as error:
        installed.installed_runtime(install(**changes), LIBRARY)
    assert "\n" not in str(error.value)


def test_a_place_without_one(tmp_path: Path) -> None:
    (tmp_path / "libimbrex.so").touch()
    for place in (tmp_path, tmp_path / "libimbrex.so", tmp_path / "nowhere"):
        with pytest.raises(ImbrexError, match="no runtime of Imbrex is installed there"):
            installed.installed_runtime(place, LIBRARY)


def test_the_runtime_has_the_version_of_the_package() -> None:
    text = (source_folder("runtime") / "CMakeLists.txt").read_text()
    found = re.search(r"project\(imbrex_runtime VERSION (\S+)", text)
    assert found is not None
    assert found[1] == __version__
