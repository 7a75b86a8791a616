"""Which algorithm a collective takes: by operation, size and number of ranks.

The default follows MPICH (Thakur, Rabenseifner and Gropp, 2005), as Open MPI's do in the main; a
TOML file of --collectives says otherwise:

    [[collective]]
    operation = "MPI_Allreduce"
    small = "tree up down"
    up_to_bytes = 2048
    large = "ring allreduce"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from imbrex import mpi_facts
from imbrex.formats.toml import AnyOf, Key, Keys, TomlFile
from imbrex.formats.value_types import Choice as OneOf
from imbrex.formats.value_types import Number, Text
from imbrex.replay.arrays import Algorithm

_NAMES = {a.name.lower().replace("_", " "): a for a in Algorithm if a != Algorithm.NO_MESSAGES}


@dataclass(frozen=True)
class Choice:
    """Up to `up_to_bytes` of the whole buffer `small`, beyond it `large`."""

    small: Algorithm
    large: Algorithm
    up_to_bytes: float = float("inf")

    def of(self, size_bytes: float) -> Algorithm:
        return self.small if size_bytes <= self.up_to_bytes else self.large


_A = Algorithm
_DEFAULT = {
    "MPI_Barrier": Choice(_A.DISSEMINATION, _A.DISSEMINATION),
    "MPI_Bcast": Choice(_A.BINOMIAL_FROM_ROOT, _A.SCATTER_ALLGATHER, 12288),
    "MPI_Reduce": Choice(_A.BINOMIAL_TO_ROOT, _A.BINOMIAL_TO_ROOT),
    "MPI_Allreduce": Choice(_A.RECURSIVE_DOUBLING, _A.RABENSEIFNER, 2048),
    "MPI_Reduce_scatter": Choice(_A.PAIRWISE, _A.PAIRWISE),
    "MPI_Allgather": Choice(_A.DOUBLING_ALLGATHER, _A.RING_ALLGATHER, 81920),
    "MPI_Alltoall": Choice(_A.BRUCK, _A.PAIRWISE, 256),
    "MPI_Alltoallv": Choice(_A.PAIRWISE, _A.PAIRWISE),
    "MPI_Alltoallw": Choice(_A.PAIRWISE, _A.PAIRWISE),
}
_BY_DEPENDENCE = {
    "root-to-all": Choice(_A.BINOMIAL_SCATTER, _A.BINOMIAL_SCATTER),
    "all-to-root": Choice(_A.BINOMIAL_GATHER, _A.BINOMIAL_GATHER),
    "prefix": Choice(_A.RECURSIVE_DOUBLING, _A.RECURSIVE_DOUBLING),
    "neighbours": Choice(_A.DIRECT, _A.DIRECT),
    "all-to-all": Choice(_A.PAIRWISE, _A.PAIRWISE),
}
COLLECTIVE = Keys(
    "the collective",
    (
        Key("operation", Text(), "blocking name, such as MPI_Allreduce"),
        Key("small", OneOf(tuple(_NAMES)), "algorithm up to `up_to_bytes` of the whole buffer"),
        Key("large", OneOf(tuple(_NAMES)), "beyond", "`small`"),
        Key("up_to_bytes", Number(0, 1e18), "where `small` ends", "all sizes"),
    ),
)
_FILE = Keys(
    "the file of collectives", (Key("collective", AnyOf("array of tables"), "collectives"),)
)


@dataclass(frozen=True)
class Collectives:
    """Choices by blocking name; what has none follows its dependence."""

    chosen: Mapping[str, Choice] = field(default_factory=dict)

    def of(self, operation: str, size_bytes: float) -> Algorithm:
        """Of an operation in any form; what is no collective of data meets as a barrier."""
        name = mpi_facts.blocking_form(operation)
        found = self.chosen.get(name) or _DEFAULT.get(name)
        if found is None:
            base = mpi_facts.facts(name).fields.get("calibration", "")
            found = self.chosen.get(base) or _DEFAULT.get(base)
        if found is None:
            found = _BY_DEPENDENCE.get(mpi_facts.dependence(name)) or _DEFAULT["MPI_Barrier"]
        return found.of(size_bytes)


def read_collectives(file: Path) -> Collectives:
    """The choices of a TOML file; ImbrexError with line and key where it is none."""
    root = TomlFile.read(file).table(_FILE)
    chosen = {}
    for table in root.tables("collective", COLLECTIVE):
        name = table.text("operation")
        if name not in mpi_facts.of_kind("collective", form="blocking"):
            table.fail("operation", f"'{name}' is no blocking collective, such as MPI_Allreduce")
        small = table.text("small")
        limit = table.number("up_to_bytes", float("inf"))
        chosen[name] = Choice(_NAMES[small], _NAMES[table.text("large", small)], limit)
        table.done(name)
    root.done()
    if not chosen:
        root.fail(None, "there is no [[collective]] in this file")
    return Collectives(chosen)
