"""From rows of the probes to a profile: gaps, X_hi, collectives, LogGP, each by hand."""

from __future__ import annotations

import pytest

from imbrex.errors import ImbrexError
from imbrex.network.assemble import (
    assemble,
    gap_near,
    library_name_and_version,
    moved_bytes,
    shortest_times,
    smallest_gaps,
)
from imbrex.network.columns import RoundTrip, Stream, read_columns
from imbrex.network.interpolation import transfer_time
from imbrex.network.loggp import fit

ROWS = """\
some launcher's chatter
# imbrex-probes 1
# library Open MPI v4.1.4, package: Debian
# ranks 2
# host 0 0 node1
# host 1 0 node1
pingpong intra-node 0 1 1 warm 100 100 110 120 200
pingpong intra-node 0 1 1 warm 100 100 110 120 180
pingpong intra-node 0 1 1 cold 100 110 120 130 240
pingpong intra-node 0 1 100000 warm 100 100000 110000 120000 150000
a line of someone else
stream intra-node 0 1 100000 4 50 200200 250000
trial intra-node 0 1 100000 ready 0 100010 -5 100000 0 0 0
trial intra-node 0 1 100000 late 0 400010 300000 400000 0 0 0
limit intra-node 0 1 late 500 501
collective MPI_Gather 2 intra-node 800 1600 50 1000 1100 1300
collective MPI_Allreduce 2 intra-node 8 8 50 600 700 900
# end
"""


def test_profile_of_known_rows() -> None:
    profile = assemble(read_columns(ROWS.splitlines()), {"UCX_TLS": "tcp"}, quick=True)
    assert (profile.library_name, profile.library_version) == ("Open MPI", "4.1.4")
    assert profile.hosts == ("node1",)
    path = profile.paths["intra-node"]
    # 200200 ns less the empty round trip of 200, over 400000 bytes.
    assert path.gap_s_per_byte == pytest.approx(0.5e-9)
    small, large = path.points
    assert small.x_hi_s == pytest.approx(240e-9)  # cold is slower than the quieter warm round
    assert small.tail_s is None and small.head_s is None
    # The shortest ping-pong less three latencies of 100 ns bounds it better than 50 us of stream.
    assert large.x_lo_s == pytest.approx(99700e-9)
    assert large.x_hi_s == pytest.approx(150000e-9)
    assert (large.tail_s, large.send_returns_before_match) == (0, False)
    assert path.limits == {"send_returns_before_match_late_bytes": 500}
    curves = {(c.operation, c.role): c.points[0] for c in profile.collectives}
    assert curves["MPI_Gather", "root"].size_bytes == 1600
    assert curves["MPI_Gather", "other"].size_bytes == 800
    assert curves["MPI_Gather", "root"].x_lo_s == pytest.approx(400e-9)
    assert curves["MPI_Allreduce", "any"].x_hi_s == pytest.approx(900e-9)


def test_small_messages_say_nothing_of_the_time_per_byte_of_larger_ones() -> None:
    """A measurement that its time limit cut short: a message of 1 MB does not take
    15,625 times as long as one of 64 bytes."""
    cut = [line.replace(" 100000 ", " 64 ", 1) for line in ROWS.splitlines()]
    (path,) = assemble(read_columns(cut), {}, quick=True).paths.values()
    assert path.gap_s_per_byte == 0
    last = path.points[-1]
    assert transfer_time(path.points, 10**6, path.gap_s_per_byte).x_lo_s == last.x_lo_s


def test_torn_row() -> None:
    with pytest.raises(ImbrexError, match="torn row"):
        read_columns(["# imbrex-probes 1", "pingpong intra-node 0 1"])


def test_nothing_measured() -> None:
    with pytest.raises(ImbrexError, match="two or more ranks"):
        assemble(read_columns(["# imbrex-probes 1", "# end"]), {}, quick=True)


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI", "4.1.4"),
        ("MPICH Version:      4.0.2", "MPICH", "4.0.2"),
        ("Intel(R) MPI Library 2021.15 for Linux* OS", "Intel MPI", "2021.15"),
        ("Something Else 7, built", "Something Else 7", "unknown"),
    ],
)
def test_library_names(text: str, name: str, version: str) -> None:
    assert library_name_and_version(text) == (name, version)


def test_gap_of_small_messages_does_not_bound_large_ones() -> None:
    pair = (0, 1)
    trips = [
        RoundTrip("intra-node", pair, size, "warm", 9, ns, ns, ns, ns)
        for size, ns in ((1, 10.0), (1000, 100.0), (64000, 64000.0))
    ]
    gaps = smallest_gaps(trips, [Stream("intra-node", pair, 1000, 4, 9, 70.0, 80.0)])
    assert gaps[1000] == pytest.approx(0.1)  # the batch is too short against an empty answer
    assert gap_near(gaps, 4000) == pytest.approx(0.1)
    assert gap_near(gaps, 4001) == pytest.approx(1.0)
    assert gap_near(gaps, 1) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("operation", "role", "expected"),
    [
        ("MPI_Bcast", "root", 10),
        ("MPI_Gather", "root", 30),
        ("MPI_Gather", "other", 10),
        ("MPI_Alltoall", "any", 30),
        ("MPI_Allreduce", "any", 10),
        ("MPI_Reduce_scatter", "any", 30),
    ],
)
def test_least_data_moved_on_four_ranks(operation: str, role: str, expected: int) -> None:
    assert moved_bytes(operation, role, 4, 10) == expected
    assert moved_bytes(operation, role, 1, 10) == 0


def test_loggp_recovers_its_parameters() -> None:
    trips = [
        RoundTrip("intra-node", (0, 1), 2**i, "warm", 9, 0, 0, 500 + 0.25 * 2**i, 0)
        for i in range(20)
    ]
    found = fit(trips, [Stream("intra-node", (0, 1), 1, 4, 9, 400.0, 500.0)], [])
    assert found is not None
    assert found.EEL_s == pytest.approx(500e-9)
    assert found.G_s_per_byte == pytest.approx(0.25e-9)
    assert found.g_s == pytest.approx(100e-9)
    assert found.residual == pytest.approx(0, abs=1e-9)


def test_x_lo_is_the_better_of_stream_and_ping_pong() -> None:
    trips = [
        RoundTrip("intra-node", (0, 1), size, "warm", 9, ns, ns, ns, ns)
        for size, ns in ((1, 10.0), (1000, 110.0), (2000, 105.0), (4000, 1000.0))
    ]
    found = shortest_times(trips, {1: 10.0, 1000: 0.05, 2000: 0.05, 4000: 0.3}, 1000)
    assert found[1] == pytest.approx(0.05)
    assert found[1000] == pytest.approx(95)  # as fast as 2000 bytes were, less one latency
    assert found[2000] == pytest.approx(100)  # by the stream; by ping-pong 75
    assert found[4000] == pytest.approx(970)


def test_no_bound_stands_against_a_message_that_was_faster() -> None:
    """All round trips were disturbed; one single message, in another experiment, was not."""
    lines = [
        "# imbrex-probes 1",
        "pingpong inter-node 0 1 1024 warm 9 9000 9000 9000 9000",
        "pingpong inter-node 0 1 1048576 warm 9 900000 900000 900000 900000",
        "exchange inter-node 0 1 none-compute 1048576 registers 0 0 0 0 50"
        " 100 200 200 300 0 10 10 400100 0 0",
    ]
    points = assemble(read_columns(lines), {}, True).paths["inter-node"].points
    assert points[1].x_lo_s == pytest.approx(400.05e-6)
    lines.append("trial inter-node 0 1 1048576 ready 20 0 0 380000 0 0 0")
    points = assemble(read_columns(lines), {}, True).paths["inter-node"].points
    assert points[1].x_lo_s == pytest.approx(380.02e-6)
    assert points[1].x_hi_s == pytest.approx(900e-6)


def test_a_collective_takes_what_its_bytes_take_behind_a_burst() -> None:
    """A bucket of 128 KiB, 10 ns for each further byte; every latency is 1 us."""
    lines = [
        "# imbrex-probes 1",
        "pingpong inter-node 0 1 1 warm 9 1000 1000 1000 1000",
        "pingpong inter-node 0 1 262144 warm 9 1313720 1313720 1313720 1400000",
        "pingpong inter-node 0 1 1048576 warm 9 9178040 9178040 9178040 9300000",
        "stream inter-node 0 1 262144 16 9 40637320 40637320",
        "collective MPI_Alltoall 2 inter-node 4194304 8388608 9 45000000 45000000 46000000",
    ]
    profile = assemble(read_columns(lines), {}, True)
    path = profile.paths["inter-node"]
    # 3 latencies of a message, 5 of a batch: 4 MiB in 40,632,320 ns, 256 KiB in 1,310,720 ns.
    assert path.sustained_gap_s_per_byte == pytest.approx(9.6875e-9)
    assert path.burst_bytes == 126_844
    (point,) = profile.collectives[0].points
    assert point.x_lo_s == pytest.approx(9.6875e-9 * (4_194_304 - 126_844))
    lines[-1] = lines[-1].replace("45000000 45000000", "20000000 20000000")
    faster = assemble(read_columns(lines), {}, True)
    assert faster.paths["inter-node"].sustained_gap_s_per_byte == pytest.approx(2e-2 / 4_194_304)
    assert faster.collectives[0].points[0].x_lo_s <= 20e-3
