"""What a probe says of a machine that does not give it all it asked for, from known rows."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import pytest

from imbrex.network.assemble import assemble
from imbrex.network.columns import read_columns
from imbrex.probe.answer import Answer, answer
from imbrex.probe.terminal import print_answer

HEAD = ("# imbrex-probes 1", "# library Open MPI v4.1.4, x", "# ranks 4", "# host 0 0 a")
MESSAGE = "pingpong intra-node 0 1 1024 warm 9 1000 1000 1000 1000"


def probed(*lines: str, asked_bytes: int = 0) -> Answer:
    m = read_columns([*HEAD, MESSAGE, *lines, "# end"])
    return answer(m, assemble(m, {}, True), ["delay", "moved", "grid"], asked_bytes)


def speeds(*unit_ns: float) -> list[str]:
    return [f"speed {rank} {rank // 2} {one}" for rank, one in enumerate(unit_ns)]


def test_unequal_hosts_are_told_of() -> None:
    """Ranks 2 and 3, on the second host, take twice as long."""
    (note,) = probed(*speeds(40, 41, 80, 84)).notes
    assert note.startswith("unequal ranks: the same work takes 2.1 times as long on rank 3 as on")
    assert "rank 0" in note


def test_ranks_bear_the_names_of_their_hosts() -> None:
    hosts = [f"# host {rank} {rank // 2} {'ab'[rank // 2]}" for rank in range(4)]
    (note,) = probed(*hosts, *speeds(40, 41, 80, 84)).notes
    assert "on rank 3 (b) as on rank 0 (a);" in note


def test_hosts_with_unequal_numbers_of_ranks_are_told_of() -> None:
    """Nodes may bear the same name: their number counts."""
    (note,) = probed("# host 1 0 a", "# host 2 0 a", "# host 3 1 a").notes
    assert note.startswith("unequal hosts: a has 3 ranks, a 1;")


@pytest.mark.parametrize("unit_ns", [(40, 40, 40, 40), (40, 41, 47, 47.9), (40,), ()])
def test_equal_hosts_are_not(unit_ns: tuple[float, ...]) -> None:
    assert probed(*speeds(*unit_ns)).notes == ()


def test_smaller_messages_than_asked_for_are_told_of() -> None:
    (note,) = probed("# max_bytes 1048576", asked_bytes=8 << 20).notes
    assert note.startswith("messages up to 1,048,576 bytes instead of 8,388,608")
    assert probed("# max_bytes 8388608", asked_bytes=8 << 20).notes == ()


def test_what_was_cut_short_is_told_with_how_far_it_came() -> None:
    lines = ("# done delay", "# progress moved 0.750", "# progress grid 0.000")
    found = probed("# progress delay 1.000", *lines)
    assert found.missing == ("moved", "grid")
    assert found.to_json()["missing_measured"] == {"moved": 0.75, "grid": 0.0}
    assert found.missing_text == "grid; the end of moved (from 75 % on)"
    output = io.StringIO()
    with redirect_stdout(output):
        print_answer(found, None)
    text = output.getvalue()
    assert "missing, because the time was over: grid; the end of moved (from 75 % on)" in text


def test_nothing_is_said_to_be_missing_of_a_whole_probe() -> None:
    found = probed("# done delay", "# done moved", "# done grid")
    assert found.missing == () and found.missing_text == ""


def test_the_time_of_each_experiment_is_told() -> None:
    found = probed("# spent grid 0.500", "# spent delay 1.250", "# done delay")
    assert found.to_json()["spent_s"] == {"delay": 1.25, "grid": 0.5}
