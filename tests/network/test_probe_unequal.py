"""Hosts with unequal numbers of ranks: one line says so, or what is asked for instead."""

from __future__ import annotations

import json


def test_hosts_with_unequal_numbers_of_ranks(cluster) -> None:
    """Three ranks here and one there can be measured, and it is told that they are unequal."""
    file = cluster.network.folder / f"unequal-{cluster.mpi}.json"
    options = ("--quick", "--max-bytes", "1K", "--time-limit", "20", "-o", str(file))
    line = cluster.line(hosts="node1:3,node2:1", ranks=4)
    done = cluster.network.imbrex("probe", *options, "--", *line)
    assert done.returncode == 0, done.stderr
    answer = json.loads(file.read_text())
    (note,) = [n for n in answer["notes"] if n.startswith("unequal hosts")]
    assert note.startswith("unequal hosts: node1 has 3 ranks, node2 1;")
    assert f"note: {note}" in done.stdout
    assert {o["path"] for o in answer["operations"]} == {"intra-node", "inter-node"}


def test_an_odd_number_of_ranks_is_refused_in_one_line(cluster) -> None:
    line = cluster.line(hosts="node1:2,node2:1", ranks=3)
    done = cluster.network.imbrex("probe", "--quick", "--time-limit", "20", "--", *line)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert "even number of ranks, the launcher started 3" in done.stderr
