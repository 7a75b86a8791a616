"""Every function of the installed mpi.h is wrapped, or deliberately not."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

pytestmark = pytest.mark.untimed


def _declared(mpicc: str) -> set[str]:
    """Names of functions in mpi.h, found in a simpler way than the generator's."""
    text = subprocess.run(
        [mpicc, "-E", "-P", "-x", "c", "-"],
        input="#include <mpi.h>\n",
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    text = re.sub(r"typedef[^;]*;", "", text)
    return set(re.findall(r"\b(MPIX?_\w+)\s*\(", text))


def test_every_function_is_wrapped_or_left_with_a_reason(mpi: Any, runtime: Any) -> None:
    coverage = {entry["name"]: entry for entry in runtime.coverage}
    declared = _declared(mpi.mpicc)
    assert len(declared) > 350
    missing = {n for n in declared - set(coverage) if not n.endswith("_FN")}
    assert not missing
    without_reason = [n for n, e in coverage.items() if not e["wrapped"] and not e.get("reason")]
    assert not without_reason
    assert [n for n, e in coverage.items() if not e["known"]] == []


def test_what_the_library_exports_and_what_it_does_not_have(mpi: Any, runtime: Any) -> None:
    """Wrapped names are exported by the runtime; no other MPI name appears to be available."""
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", str(runtime.library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exported = {line.split()[-1] for line in symbols.splitlines()}
    wrapped = {entry["name"] for entry in runtime.coverage if entry["wrapped"]}
    assert wrapped <= exported
    # MPI_X... in capitals are Fortran names.
    in_c = {n for n in exported if re.match(r"MPI_[A-Z][a-z]", n)}
    assert in_c == {n for n in wrapped if n.startswith("MPI_")}


def test_no_symbol_of_the_library_is_needed_to_load(runtime: Any) -> None:
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", str(runtime.library)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert not re.findall(r"\b\w*mpi\w*\b", symbols, flags=re.IGNORECASE)


def test_families_have_their_facts(runtime: Any) -> None:
    """The point-to-point, completion, collective and one-sided calls are not merely timed."""
    kind_of = {entry["name"]: entry["kind"] for entry in runtime.coverage}
    for name in [
        "Send",
        "Isend",
        "Ssend_init",
        "Recv",
        "Irecv",
        "Mrecv",
        "Sendrecv",
        "Waitsome",
        "Testall",
        "Start",
    ]:
        assert kind_of[f"MPI_{name}"] != "call", name
    for name in [
        "Bcast",
        "Iallreduce",
        "Alltoallw",
        "Neighbor_alltoallv",
        "Put",
        "Rget",
        "Win_flush",
    ]:
        assert kind_of[f"MPI_{name}"] != "call", name
    if "MPI_Send_c" in kind_of:
        assert kind_of["MPI_Send_c"] == "send"
        assert kind_of["MPI_Psend_init"] == "partitioned_init"
        assert kind_of["MPI_Allreduce_init"] == "collective"
