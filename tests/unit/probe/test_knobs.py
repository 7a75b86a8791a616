"""Which settings are tried, and how before and after are told."""

from __future__ import annotations

import pytest

from imbrex.network.transfer_class import Moved
from imbrex.probe.knobs import Tried, ends_unclear, knobs_for, overlaps_up_to
from imbrex.probe.ranges import Range
from imbrex.probe.terminal import memory_of


def test_progress_thread_is_tried_over_tcp_only_and_not_twice() -> None:
    def names(settings: dict[str, str]) -> set[str]:
        return {name for knob in knobs_for("Open MPI", settings) for name in knob.variables}

    thread = "OMPI_MCA_btl_tcp_progress_thread"
    assert thread in names({"OMPI_MCA_btl": "tcp,self"})
    assert thread not in names({"OMPI_MCA_btl": "vader,self"})
    assert thread not in names({"OMPI_MCA_btl": "tcp,self", thread: "1"})
    vader = "OMPI_MCA_btl_vader_eager_limit"
    assert vader in names({}) and vader not in names({"OMPI_MCA_btl": "tcp,self"})
    assert not any(n.startswith("OMPI") for k in knobs_for("MPICH", {}) for n in k.variables)


def test_line_to_export() -> None:
    knob = knobs_for("MPICH", {})[0]
    assert knob.export == "export MPIR_CVAR_ASYNC_PROGRESS=1"


def made(*verdicts: tuple[int | None, bool | None]) -> list[Range]:
    ranges = []
    begin = 1
    for end, synchronization in verdicts:
        ranges.append(
            Range(begin, end, begin, synchronization, "unknown", Moved(None, None, None), 1)
        )
        begin = (end or 0) + 1
    return ranges


def test_size_up_to_which_everything_overlaps() -> None:
    assert overlaps_up_to(made((None, True))) is None
    assert overlaps_up_to(made((None, False))) == 0
    assert overlaps_up_to(made((100, True), (None, False))) == 100
    assert overlaps_up_to(made((100, True), (200, True), (None, None))) == 200


def test_ucx_is_tried_where_it_moves_the_messages() -> None:
    def names(library: str, settings: dict[str, str], path: str) -> set[str]:
        found = knobs_for(library, settings, (path,))
        return {name for knob in found for name in knob.variables if name.startswith("UCX_")}

    both = {"UCX_RNDV_THRESH", "UCX_RNDV_SCHEME"}
    assert names("Open MPI", {"OMPI_MCA_pml": "ucx"}, "intra-node") == both
    assert names("Open MPI", {}, "inter-node") == set()
    # Debian's MPICH uses it between nodes only.
    assert names("MPICH", {}, "inter-node") == both
    assert names("MPICH", {}, "intra-node") == set()
    assert names("MPICH", {"MPIR_CVAR_NOLOCAL": "1"}, "intra-node") == both


@pytest.mark.parametrize("library", ["Open MPI", "MPICH", "Intel MPI"])
def test_every_knob_says_what_it_does_and_costs(library: str) -> None:
    for settings in ({}, {"OMPI_MCA_btl": "tcp,self"}, {"OMPI_MCA_pml": "ucx"}):
        for knob in knobs_for(library, settings, ("intra-node", "inter-node")):
            assert knob.effect and knob.cost and knob.export.startswith("export ")


def test_memory_is_told_as_measured_and_as_it_grows() -> None:
    knob = next(
        k for k in knobs_for("Open MPI", {"OMPI_MCA_btl": "tcp"}) if k.memory_per_peer_bytes
    )
    where = ("MPI_Isend/MPI_Recv", "intra-node", 65480, None, "two-sided", "one-sided")
    tried = Tried(knob, *where, 1e-6, 1e-6, 1e-4, 2e-4, 50_000_000, 80_000_000)
    assert memory_of(tried).startswith("memory of a rank, measured: 50 MB -> 80 MB; grows by up to")
    assert tried.to_json()["memory_after_bytes"] == 80_000_000


def test_version_decides_which_name_a_setting_has() -> None:
    def names(version: str) -> set[str]:
        found = knobs_for("Open MPI", {}, ("intra-node",), version)
        return {name for knob in found for name in knob.variables}

    old, new = "OMPI_MCA_btl_vader_single_copy_mechanism", "OMPI_MCA_smsc"
    assert old in names("4.1.4") and new not in names("4.1.4")
    assert new in names("5.0.11") and old not in names("5.0.11")
    assert {old, new} <= names("")


def test_an_end_that_is_not_known_is_told_as_such() -> None:
    assert ends_unclear(made((100, True), (None, None)))
    assert not ends_unclear(made((100, True), (None, False)))
    assert not ends_unclear(made((100, True), (200, False), (None, None)))
    assert not ends_unclear(made((None, True)))


def test_ucx_in_place_of_the_own_transports_only_where_none_was_chosen() -> None:
    def tried(settings: dict[str, str]) -> bool:
        return any("OMPI_MCA_pml" in k.variables for k in knobs_for("Open MPI", settings))

    assert tried({}) and not tried({"OMPI_MCA_pml": "ucx"})
    assert not tried({"OMPI_MCA_btl": "tcp,self"})
