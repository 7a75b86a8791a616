"""What `imbrex calibrate` and `imbrex run` say over a network whose speed is known.

The rate limit is 800 Mbit/s in each direction: 10 ns for each byte, of which a bucket of 128 KiB
may go faster. Assertions on times use only what no other load of the machine can change: a limit
of the network, or the order of exact bounds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.network import load
from imbrex.profile.format import PATH_NAMES, Ended
from imbrex.profile.run import load_run
from imbrex.profile.summary import rows, totals

NS_PER_BYTE = 10.0
BUCKET_BYTES = 128 * 1024
MIB = 1 << 20
WORK_S = 0.05
ITERATIONS = 5


def _measured(cluster, machine, *program, options=()):
    """Run a program on both hosts under `imbrex run`; the run, sums by operation, the output."""
    folder = cluster.network.folder / f"run-{cluster.mpi}"
    words = ("-q", "--force", "-o", str(folder), "--machine", str(machine))
    done = cluster.network.imbrex("run", *words, "--", *cluster.line(*options), *program)
    assert done.returncode == 0, done.stderr
    assert "imbrex:" not in done.stderr
    run = load_run(folder)
    return run, {row.operation: row.sums for row in rows(run, "operation")}, done.stdout


def test_calibration_finds_the_rate_of_the_network(cluster, machine):
    profile = load(machine)
    assert "inter-node" in profile.paths
    point = next(p for p in profile.paths["inter-node"].points if p.size_bytes == MIB)
    fastest_s = (MIB - 2 * BUCKET_BYTES) * NS_PER_BYTE * 1e-9
    exact_s = MIB * NS_PER_BYTE * 1e-9
    # The lower bound is one, and not far below: nothing can be faster than the rate allows.
    assert 0.5 * exact_s < point.x_lo_s <= exact_s * 1.1
    assert point.x_hi_s >= max(fastest_s, point.x_lo_s)
    if cluster.mpi == "openmpi":
        # Its send of 1 MiB is complete when the kernel has the data, which then still has to leave.
        assert point.tail_s > 0.2 * exact_s
    # Its rendezvous waits for the receive: most of the data cannot have come before.
    assert point.head_s < point.x_hi_s
    assert not point.send_returns_before_match
    small = profile.paths["inter-node"].points[0]
    assert small.send_returns_before_match
    assert small.head_s == small.x_hi_s


def test_paths_within_and_between_hosts_are_apart(cluster):
    file = cluster.network.folder / f"three-{cluster.mpi}.json"
    line = cluster.line(hosts="node1:2,node2:1", ranks=3)
    if cluster.mpi == "openmpi":
        line.insert(1, "--oversubscribe")
    # Messages between two of them take 10 s. Collectives of three spinning ranks on two cores would
    # take minutes: they end with the limit.
    limit = ("--quick", "--time-limit", "18")
    done = cluster.network.imbrex("calibrate", *limit, "-o", str(file), "--", *line)
    assert done.returncode == 0, done.stderr
    paths = {name: path.points for name, path in load(file).paths.items() if name != "self"}
    assert set(paths) == {"intra-node", "inter-node"}
    sizes = [{point.size_bytes for point in points} for points in paths.values()]
    largest = max(sizes[0] & sizes[1])
    if largest <= BUCKET_BYTES:
        pytest.skip(f"this machine calibrates three ranks only up to {largest} B: other load?")
    within, between = (
        next(p for p in paths[name] if p.size_bytes == largest)
        for name in ("intra-node", "inter-node")
    )
    assert within.x_lo_s < between.x_lo_s


@pytest.mark.parametrize("size", [1_000_000, 4_000_000])
def test_bounds_contain_what_is_known_of_an_exchange(cluster, machine, exchange, size):
    seen = {}
    for style in ("blocking", "late", "tested"):
        words = (exchange, style, str(size), str(1000 * WORK_S), str(ITERATIONS))
        run, by_operation, output = _measured(cluster, machine, *words)
        whole_s, work_s, alone_s = map(float, output.split()[1:])
        moved = run.measures[run.measures["bytes"] > 0]
        assert {PATH_NAMES[path] for path in moved["path"]} == {"inter-node"}
        receives = by_operation["MPI_Sendrecv" if style == "blocking" else "MPI_Irecv"]
        transfers = 2 * ITERATIONS
        assert receives.bytes == size * transfers * (2 if style == "blocking" else 1)
        # The network cannot do it faster; what a bucket lets through at once is less than half.
        assert receives.transfer_max_s >= 0.5 * transfers * size * NS_PER_BYTE * 1e-9
        # Time gained against doing one after the other is time hidden. Work and exchange alone
        # are the shortest seen, so other load makes the gain smaller, never larger. Latency and
        # the time of the calls are gained too, but no more than all of the transfer is hidden.
        gained_s = transfers * (work_s + alone_s - whole_s)
        assert receives.overlap_max_s >= min(gained_s, receives.transfer_max_s)
        # One receive after the other: no more is exposed than there is call time.
        assert receives.exposed_min_s <= 2 * totals(run).call_s
        seen[style] = receives
    # While a blocking exchange goes on nobody computes: nothing is hidden but what may come
    # before or leave after, and some is exposed for certain.
    assert seen["blocking"].overlap_min_s == 0
    assert seen["blocking"].exposed_min_s > 0
    if size > MIB:
        # 40 ms of transfer and no progress in 50 ms of work, against progress every 0.5 ms.
        assert seen["tested"].overlap_min_s > seen["late"].overlap_min_s
        share = {style: s.exposed_min_s / s.transfer_max_s for style, s in seen.items()}
        assert share["blocking"] > share["tested"]


def test_variants_of_the_halo_exchange_rank_as_they_should(cluster, machine, halo3d):
    possible, certain = {}, {}
    for variant in ("blocking", "late-wait", "overlapped"):
        words = (halo3d, "--variant", variant, "--n", "192", "--steps", "10")
        run, by_operation, output = _measured(cluster, machine, *words)
        assert "PASSED" in output
        assert [host.decode() for host in run.ranks["host"]] == ["node1", "node2"]
        faces = [sums for name, sums in by_operation.items() if name != "MPI_Allreduce"]
        whole_s = sum(sums.transfer_max_s for sums in faces)
        possible[variant] = sum(sums.overlap_max_s for sums in faces) / whole_s
        certain[variant] = sum(sums.exposed_min_s for sums in faces) / whole_s
    assert possible["overlapped"] > possible["late-wait"] > possible["blocking"]
    assert certain["blocking"] >= certain["overlapped"]


def test_variants_rank_for_certain_where_the_library_progresses(cluster, halo3d):
    """With Open MPI's progress thread data moves while the ranks compute: then the overlapped
    exchange hides for certain what the other two expose for certain.

    The order of what is exposed is exact: X_lo less the computing between begin and end, which is
    none, the packing, and the whole interior. That all of the interior's computing is enough, and
    the wait behind it short, is a matter of milliseconds.
    """
    if cluster.mpi != "openmpi":
        pytest.skip("MPICH's ch4:ucx has no progress thread that moves data of a rendezvous")
    progress = ("--mca", "btl_tcp_progress_thread", "1")
    file = cluster.network.folder / "machine-progress.json"
    options = ("--quick", "--time-limit", "45", "--max-bytes", "1M")
    calibrate = ("calibrate", *options, "-o", str(file), "--")
    done = cluster.network.imbrex(*calibrate, *cluster.line(*progress))
    assert done.returncode == 0, done.stderr
    face_bytes = 320 * 320 * 8
    points = [p for p in load(file).paths["inter-node"].points if p.size_bytes <= face_bytes]
    if not points or not points[-1].x_lo_s > 1.5 * points[-1].head_s > 0:
        pytest.skip("other load: the quick calibration took the head of a face for its half")
    receives = {}
    for variant in ("blocking", "late-wait", "overlapped"):
        words = (halo3d, "--variant", variant, "--n", "320", "--steps", "6")
        _, by_operation, output = _measured(cluster, file, *words, options=progress)
        assert "PASSED" in output
        receives[variant] = by_operation["MPI_Sendrecv" if variant == "blocking" else "MPI_Irecv"]
        assert receives[variant].bytes == 2 * 6 * face_bytes * (2 if variant == "blocking" else 1)
    exposed = {variant: sums.exposed_min_s for variant, sums in receives.items()}
    assert exposed["blocking"] >= exposed["late-wait"] > exposed["overlapped"] == 0
    hidden = {variant: sums.overlap_min_s for variant, sums in receives.items()}
    assert hidden["overlapped"] > hidden["late-wait"] == hidden["blocking"] == 0
    share = {variant: sums.hidden_share for variant, sums in receives.items()}
    assert share["overlapped"][1] == 1 > share["late-wait"][1]


def test_parts_on_the_nodes_are_collected_after_a_crash(cluster, machine, exchange):
    folder = cluster.network.folder / f"crash-{cluster.mpi}"
    words = ("-o", str(folder), "--machine", str(machine), "--", *cluster.line())
    done = cluster.network.imbrex("run", *words, exchange, "crash", "100000", "1", "3")
    assert done.returncode != 0
    run = load_run(folder)
    assert run.ranks["rank"].tolist() == [0, 1]
    assert [host.decode() for host in run.ranks["host"]] == ["node1", "node2"]
    assert run.ranks["ended"][1] == Ended.DIED
    counts = run.measures["count"][run.measures["operation"] == _number(run, "MPI_Sendrecv")]
    assert counts.sum() > 0
    # The parts were on the hosts, each in a /tmp of its own, and nothing is left there.
    for host in ("node1", "node2", "tmp"):
        assert not list(Path(cluster.network.folder / host).glob("imbrex-*"))


def _number(run, operation):
    return run.job.operations.index(operation)
