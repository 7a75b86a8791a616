"""The definitions of an OTF2 archive: hosts, ranks, regions, communicators."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from imbrex import mpi_facts
from imbrex.errors import ImbrexError
from imbrex.profile.call_log import CallLog, Communicator, Kind
from imbrex.profile.run import Run
from imbrex.profile.sites import plain

_ROLES = {
    Kind.ALL: "COLL_ALL2ALL",
    Kind.FROM_ROOT: "COLL_ONE2ALL",
    Kind.TO_ROOT: "COLL_ALL2ONE",
    Kind.SCAN: "COLL_OTHER",
    Kind.NEIGHBOURS: "COLL_OTHER",
    Kind.PUT: "RMA",
    Kind.GET: "RMA",
    Kind.EPOCH: "RMA",
}
_MAKES_COMMUNICATORS = ("MPI_Comm_", "MPI_Cart_", "MPI_Graph_", "MPI_Dist_graph_", "MPI_Intercomm_")


class Definitions:
    """What events refer to, made as it is met; `otf2` is the package."""

    def __init__(self, otf2: Any, registry: Any, run: Run) -> None:
        self._otf2, self._registry, self._run = otf2, registry, run
        self._regions: dict[tuple[int, int], Any] = {}
        self._communicators: dict[int, Any] = {}
        self._groups: dict[tuple[int, ...], Any] = {}
        self._collectives = [self._collective_of(name) for name in run.job.operations]
        root = registry.system_tree_node("Imbrex run", class_name="machine")
        nodes: dict[str, Any] = {}
        self._processes, self._masters = {}, []
        for row in run.ranks:
            host = plain(bytes(row["host"]).decode("utf-8", "replace")) or "unknown host"
            if host not in nodes:
                nodes[host] = registry.system_tree_node(host, class_name="node", parent=root)
            rank = int(row["rank"])
            process = registry.location_group(f"MPI Rank {rank}", system_tree_parent=nodes[host])
            self._processes[rank] = process
            self._masters.append(registry.location("Master thread", group=process))
        self._threads = {(rank, 0): self._masters[at] for at, rank in enumerate(self._processes)}
        registry.group(
            "MPI",
            group_type=otf2.GroupType.COMM_LOCATIONS,
            paradigm=otf2.Paradigm.MPI,
            members=self._masters,
        )
        name = _program(run)
        self.program = registry.region(
            name, paradigm=otf2.Paradigm.USER, region_role=otf2.RegionRole.FUNCTION
        )
        """The region around all others: the program itself."""

    def location(self, rank: int, thread: int) -> Any:
        """The location of a thread of a rank."""
        key = (rank, thread)
        if key not in self._threads:
            name = f"Thread {thread}"
            group = self._processes.get(rank)
            if group is None:
                raise ImbrexError(
                    f"{self._run.directory}: has a log of rank {rank}, which is not among its ranks"
                )
            self._threads[key] = self._registry.location(name, group=group)
        return self._threads[key]

    def region(self, site: int, operation: int, kind: int) -> Any:
        """The region of an operation that is called at a site."""
        key = (site, operation)
        if key not in self._regions:
            place, name = self._run.site(site), self._run.operation(operation)
            role = _ROLES.get(Kind(kind), "POINT2POINT") if kind in set(Kind) else "UNKNOWN"
            if mpi_facts.blocking_form(name) == "MPI_Barrier":
                role = "BARRIER"
            self._regions[key] = self._registry.region(
                name,
                canonical_name=f"{name} at {place.label}",
                description=f"called in {plain(place.function)}" if place.function else "",
                region_role=getattr(self._otf2.RegionRole, role),
                paradigm=self._otf2.Paradigm.MPI,
                source_file=plain(place.file or place.image or "unknown"),
                begin_line_number=place.line or 0,
                end_line_number=place.line or 0,
            )
        return self._regions[key]

    def add_communicators(self, log: CallLog) -> None:
        """Define those that this rank knows and none before it did."""
        for number, entry in log.communicators.items():
            if number not in self._communicators and not entry.window:
                self._communicators[number] = self._communicator(entry)

    def communicator(self, number: int) -> Any:
        """A communicator by its number in the log; None where its members are not known."""
        return self._communicators.get(number)

    def collective(self, operation: int) -> Any:
        """OTF2's name of a collective operation; None where it has none."""
        return self._collectives[operation] if operation < len(self._collectives) else None

    def _communicator(self, entry: Communicator) -> Any:
        members = all_members(entry)
        group = self._group(members)
        if group is None:
            return None
        name = f"{'Intercommunicator' if entry.inter else 'Communicator'} {entry.number:#x}"
        if members == list(range(len(self._masters))) and not any(
            found is not None and found.name == "MPI_COMM_WORLD"
            for found in self._communicators.values()
        ):
            name = "MPI_COMM_WORLD"  # it has its number before any other of all ranks
        return self._registry.comm(name, group)

    def _group(self, members: list[int] | None) -> Any:
        """The group of these ranks of MPI_COMM_WORLD; None where not all of them are known."""
        if not members or not all(0 <= rank < len(self._masters) for rank in members):
            return None
        key = tuple(members)
        if key not in self._groups:
            self._groups[key] = self._registry.group(
                f"{len(members)} ranks from {members[0]} on",
                group_type=self._otf2.GroupType.COMM_GROUP,
                paradigm=self._otf2.Paradigm.MPI,
                members=[self._masters[rank] for rank in members],
            )
        return self._groups[key]

    def _collective_of(self, operation: str) -> Any:
        names = self._otf2.CollectiveOp
        name = mpi_facts.blocking_form(operation).removeprefix("MPI_").upper()
        if operation.startswith(_MAKES_COMMUNICATORS):
            name = "DESTROY_HANDLE" if name.endswith(("FREE", "DISCONNECT")) else "CREATE_HANDLE"
        return getattr(names, name, None)


def all_members(entry: Communicator) -> list[int] | None:
    """Ranks of MPI_COMM_WORLD in a communicator as it is written; None where not known.

    Both groups of an intercommunicator, that with the lowest rank first: the package cannot write
    OTF2's own definition of one.
    """
    if not entry.inter or entry.own is None or entry.peers is None:
        return None if entry.inter else entry.own
    first, second = sorted((entry.own, entry.peers))
    return [*first, *second]


def _program(run: Run) -> str:
    """The name of the program that was measured: of the first image that is no library."""
    names = [PurePath(site.image).name for site in run.sites if site.image]
    return plain(next((name for name in names if ".so" not in name), "program"))
