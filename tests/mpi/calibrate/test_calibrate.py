"""Calibration on two real ranks: what must hold on any machine, and known protocol limits."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.complaints import complaints

from imbrex.network import MachineProfile, transfer_time

Calibrate = Callable[..., MachineProfile]
Imbrex = Callable[..., subprocess.CompletedProcess[str]]

SHARED_MEMORY = ("mpirun.openmpi", "-n", "2")
TCP = ("mpirun.openmpi", "--mca", "btl", "tcp,self", "-n", "2")
MPICH = ("mpirun.mpich", "-n", "2")


@pytest.mark.parametrize("line", [SHARED_MEMORY, TCP, MPICH], ids=["vader", "tcp", "mpich"])
def test_every_point_is_an_interval_with_its_slack(
    calibrated: Calibrate, line: tuple[str, ...]
) -> None:
    profile = calibrated(*line)
    assert profile.ranks == 2
    assert set(profile.paths) == {"self", "intra-node"}
    for path in profile.paths.values():
        assert path.points[0].size_bytes == 1
        assert path.points[-1].size_bytes == 8 << 20
        assert path.gap_s_per_byte > 0
        for p in path.points:
            assert 0 < p.x_lo_s <= p.x_hi_s
            assert p.tail_s is not None and 0 <= p.tail_s <= p.x_hi_s
            assert p.head_s is not None and 0 <= p.head_s <= p.x_hi_s
            assert p.x_lo_s >= p.size_bytes * path.gap_s_per_byte * (1 - 1e-9)
        assert path.loggp is not None
        assert path.loggp.G_s_per_byte > 0
    assert profile.core_wait_share is not None and 0 <= profile.core_wait_share <= 1
    price = profile.thread_multiple
    assert price is not None and 0 <= price.lowest_s <= price.highest_s < 2e-6
    assert price.sendrecv_s is not None and 0 <= price.sendrecv_s < 2e-6
    operations = {c.operation for c in profile.collectives}
    assert len(operations) == 10
    for curve in profile.collectives:
        assert all(0 <= p.x_lo_s <= p.x_hi_s for p in curve.points)


def test_what_arrives_before_its_receive_is_all_head(calibrated: Calibrate) -> None:
    """Eager sizes: MPICH and both transports of Open MPI send 64 bytes without asking."""
    for line in (SHARED_MEMORY, TCP, MPICH):
        small = next(p for p in calibrated(*line).paths["intra-node"].points if p.size_bytes == 64)
        assert small.send_returns_before_match is True
        assert small.head_s == small.x_hi_s


def test_limits_that_open_mpi_advertises(calibrated: Calibrate) -> None:
    """btl_tcp_eager_limit is 64 KiB, btl_vader_eager_limit 4 KiB, a header of 56 bytes in each."""
    tcp = calibrated(*TCP).paths["intra-node"]
    assert 65536 - 128 <= tcp.limits["send_returns_before_match_late_bytes"] <= 65536
    vader = calibrated(*SHARED_MEMORY).paths["intra-node"]
    assert 4096 - 128 <= vader.limits["send_returns_before_match_polling_bytes"] <= 4096
    sizes = [p.size_bytes for p in tcp.points]
    last = tcp.limits["send_returns_before_match_late_bytes"]
    assert last in sizes and last + 1 in sizes


def test_large_send_waits_for_its_match(calibrated: Calibrate) -> None:
    for line in (SHARED_MEMORY, TCP, MPICH):
        large = calibrated(*line).paths["intra-node"].points[-1]
        assert large.send_returns_before_match is False


def test_tcp_send_returns_before_its_data_has_left(calibrated: Calibrate) -> None:
    """The kernel's buffers take what the receiver has not read: far more than over vader."""
    tail = transfer_time(calibrated(*TCP).paths["intra-node"].points, 1 << 20).tail_s
    other = transfer_time(calibrated(*SHARED_MEMORY).paths["intra-node"].points, 1 << 20).tail_s
    assert tail is not None and other is not None
    assert tail > 20e-6
    assert tail > 3 * other


def test_settings_are_recorded(calibrated: Calibrate) -> None:
    assert calibrated(*TCP).settings["OMPI_MCA_btl"] == "tcp,self"


def test_json_on_stdout_is_the_profile(
    calibrated: Calibrate, printed: dict[tuple[str, ...], str], tmp_path: Path
) -> None:
    profile = calibrated(*MPICH)
    profile.save(tmp_path / "profile.json")
    shown = json.loads(printed[MPICH])
    assert shown["format"] == "imbrex-machine-profile"
    assert shown == json.loads((tmp_path / "profile.json").read_text())


@pytest.mark.untimed
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--", "mpirun.openmpi", "-n", "1"], "started 1 rank"),
        (["-o", "/no/such/folder/p.json", "--", *SHARED_MEMORY], "cannot write"),
        (["--", "mpirun.nowhere", "-n", "2"], "mpirun.nowhere"),
        (["--", "nolauncher", "-n", "2"], "nolauncher: no launcher"),
        (["--mpicc", "mpicc.mpich", "--", "mpirun.openmpi", "-n", "2"], "belongs to"),
        (["--mpicc", "/bin/false", "--", "mpirun.openmpi", "-n", "2"], "cannot compile"),
        (["--mpicc", "/no/mpicc", "--", "mpirun.openmpi", "-n", "2"], "not found"),
    ],
)
def test_bad_usage_is_one_line(imbrex: Imbrex, words: list[str], complaint: str) -> None:
    done = imbrex("calibrate", "--quick", *words)
    assert done.returncode == 2
    assert len(complaints(done.stderr)) == 1
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
