"""Headers of an MPI library that the flags or the environment name are no part of the program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from imbrex.transform.engine import transform
from imbrex.transform.options import Options
from imbrex.transform.readers.c_source import HEADERS

CASE = Path(__file__).with_name("cases") / "summa.cpp"
BINDINGS = """#include <mpi.h>
namespace MPI {
extern const int ANY_SOURCE = MPI_ANY_SOURCE;
class Comm {
public:
    virtual void Send(const void *buffer, int count, int dest, int tag) const
    {
        MPI_Send(buffer, count, MPI_DOUBLE, dest, tag, mine);
    }
    virtual ~Comm() {}
private:
    MPI_Comm mine;
};
}
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder like `include` of an installed MPI, whose mpi.h brings C++ bindings in."""
    folder = tmp_path / "mpi" / "include"
    shutil.copytree(HEADERS, folder)
    (folder / "bindings").mkdir()
    (folder / "bindings" / "mpicxx.h").write_text(BINDINGS)
    header = folder / "mpi.h"
    header.write_text(
        "#ifndef OMPI_MAJOR_VERSION\n#define OMPI_MAJOR_VERSION 4\n"
        f'{header.read_text()}\n#include "bindings/mpicxx.h"\n#endif\n'
    )
    return folder


def rewritten(flags: list[str]) -> tuple[dict[str, bytes], list[str]]:
    """The text of each file that is rewritten, and the file of each call."""
    outcome = transform([CASE], Options(flags=flags))
    return outcome.after, [decision.site.location.file for decision in outcome.decisions]


def test_named_by_flags(library: Path) -> None:
    alone = rewritten([])
    assert b"MPI_Ibcast" in alone[0][str(CASE)]
    for flags in ([f"-I{library}"], ["-I", f"{library}/"], ["-isystem", str(library)]):
        assert rewritten(flags) == alone


def test_named_by_the_environment(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As environment modules do on clusters."""
    alone = rewritten([])
    monkeypatch.setenv("CPATH", f"/nowhere:{library}")
    assert rewritten([]) == alone


def test_another_header_of_that_name_is_the_program_s(library: Path) -> None:
    """A program's own mpi.h may hold code of its own, as the bindings here."""
    header = library / "mpi.h"
    header.write_text(header.read_text().replace("OMPI_MAJOR_VERSION", "MINE"))
    assert any(name.endswith("mpicxx.h") for name in rewritten([f"-I{library}"])[1])
