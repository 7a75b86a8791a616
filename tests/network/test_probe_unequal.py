"""Hosts with unequal numbers of ranks: one line says so, or what is asked for instead."""

from __future__ import annotations

import pytest
from tests.complaints import complaints

from imbrex.mpi_environment.launcher_line import parse_launcher_line
from imbrex.mpi_environment.mpi_library import library_of_launcher
from imbrex.mpi_environment.native import build
from imbrex.network.assemble import assemble
from imbrex.network.columns import read_columns
from imbrex.probe.answer import answer

pytestmark = pytest.mark.untimed


def test_hosts_with_unequal_numbers_of_ranks_are_told_of(cluster) -> None:
    """Two ranks here and one there."""
    if cluster.mpi == "mpich":
        pytest.skip("three ranks of MPICH, which spin, take minutes on two cores")
    line = cluster.line(hosts="node1:2,node2:1", ranks=3)
    parsed = parse_launcher_line([*line, "imbrex-probes"])
    probes = str(build("probes", library_of_launcher(parsed)) / "bin" / "imbrex-probes")
    words = (probes, "--quick", "--experiments", "self", "--max-bytes", "1024")
    done = cluster.network.run(*parsed.with_program([*words, "--time-limit", "60"]))
    assert done.returncode == 0, done.stderr
    m = read_columns(done.stdout.splitlines())
    notes = answer(m, assemble(m, {}, True, partial=True), []).notes
    (note,) = [n for n in notes if n.startswith("unequal hosts")]
    assert note.startswith("unequal hosts: node1 has 2 ranks, node2 1;")


def test_an_odd_number_of_ranks_is_refused_in_one_line(cluster) -> None:
    line = cluster.line(hosts="node1:2,node2:1", ranks=3)
    done = cluster.network.imbrex("probe", "--quick", "--time-limit", "30", "--", *line)
    assert done.returncode == 2
    assert len(complaints(done.stderr)) == 1, done.stderr
    assert "even number of ranks, the launcher started 3" in done.stderr
