"""Which of two profiles is kept, and when a machine is too noisy for one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from imbrex.network import cache, obtain
from imbrex.network.idle import is_idle
from imbrex.network.profile import Collective, CollectivePoint, MachineProfile, NetworkPath, Point
from imbrex.network.quality import CALIBRATED, cut_short, is_better, spread, too_noisy
from imbrex.network.table import format_table

POINTS = (CollectivePoint(8, 1e-6, 2e-6),)
COLLECTIVES = tuple(Collective(name, 2, "intra-node", "any", POINTS) for name in sorted(CALIBRATED))


def profile(ratio: float, *, quick: bool = True, last_tried: int = 65536) -> MachineProfile:
    """X_hi is `ratio` times X_lo at each of two sizes; what is small or to oneself is far apart.

    `last_tried`: the largest message of which it is known whether its send returns early.
    """
    points = tuple(
        Point(size, x_lo_s, x_hi_s, send_returns_before_match=True if size <= last_tried else None)
        for size, x_lo_s, x_hi_s in (
            (1, 1e-9, 1.0),
            (4096, 1e-6, ratio * 1e-6),
            (65536, 1e-5, ratio * 1e-5),
        )
    )
    alone = NetworkPath((Point(4096, 1e-9, 1.0),), 0.0)
    paths = {"self": alone, "intra-node": NetworkPath(points, 0.0)}
    return MachineProfile("lib", "1", ("a",), 2, {}, paths, COLLECTIVES, "then", "", quick)


def test_a_calibration_that_left_collectives_out_was_cut_short() -> None:
    few = replace(profile(2.0), collectives=COLLECTIVES[:3])
    told = cut_short(few)
    assert told is not None and f"only to 3 of {len(COLLECTIVES)} collectives" in told
    assert cut_short(replace(few, ranks=1)) is None


@pytest.mark.parametrize("share", [None, 0.0, 0.02])
def test_ranks_that_had_their_cores_say_nothing(share: float | None) -> None:
    assert too_noisy(replace(profile(2.0), core_wait_share=share)) is None


def test_a_machine_that_was_busy_is_told_and_takes_no_good_profile_s_place() -> None:
    """Held up in each transfer, its shortest and longest times may lie close together."""
    busy, quiet = replace(profile(1.1), core_wait_share=0.45), profile(4.0)
    told = too_noisy(busy)
    assert told is not None and "had no core for 45 %" in told
    assert is_better(quiet, busy) and not is_better(busy, quiet)


def test_spread_is_of_messages_that_bandwidth_decides() -> None:
    assert spread(profile(4.0)) == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("kept", "new", "stays"),
    [
        (profile(2.0), profile(2.5), False),
        (profile(2.0), profile(4.0), True),
        (profile(4.0), profile(2.0), False),
        (profile(2.0, quick=False), profile(2.0), True),
        (profile(6.0, quick=False), profile(2.0), False),
        (profile(2.0), profile(2.5, quick=False), False),
        (profile(2.0), profile(4.0, quick=False), True),
        (profile(4.0), profile(2.0, last_tried=1), True),
        (profile(4.0), profile(2.0, quick=False, last_tried=1), True),
        (profile(2.0, last_tried=1), profile(4.0), False),
        (profile(2.0, last_tried=1), profile(4.0, last_tried=1), True),
    ],
)
def test_a_worse_profile_never_takes_the_place_of_a_better_one(
    kept: MachineProfile, new: MachineProfile, stays: bool, tmp_path: Path
) -> None:
    assert is_better(kept, new) is stays
    environment = {"IMBREX_CACHE": str(tmp_path)}
    cache.keep("name", kept, environment)
    assert (cache.better("name", new, environment) is not None) is stays
    assert cache.keep("name", new, environment) is not None
    assert cache.find("name", environment) == (kept if stays else new)


def test_a_noisy_machine_is_told_with_what_to_do() -> None:
    assert too_noisy(profile(3.0)) is None
    told = too_noisy(profile(40.0))
    assert told is not None and "40 times" in told and "imbrex calibrate" in told


def measured(
    monkeypatch: pytest.MonkeyPatch, found: MachineProfile, folder: Path
) -> tuple[MachineProfile, str]:
    """What a run gets on a machine where a calibration now gives `found`."""
    monkeypatch.setattr(sys.modules[obtain.__module__], "calibrate", lambda *_, **__: found)
    line = ("mpirun", "-n", "2")
    return obtain(list, Path("probes"), "lib", line, environment={"IMBREX_CACHE": str(folder)})


def test_a_calibration_that_was_cut_short_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    short, other, whole = profile(2.0, last_tried=1), profile(3.0, last_tried=1), profile(4.0)
    told = cut_short(short)
    assert told is not None and "messages below 4096 B" in told and "imbrex calibrate" in told
    assert cut_short(whole) is None
    assert measured(monkeypatch, short, tmp_path) == (short, "quick")
    assert measured(monkeypatch, other, tmp_path) == (other, "quick")
    assert measured(monkeypatch, whole, tmp_path) == (whole, "quick")
    assert measured(monkeypatch, short, tmp_path) == (whole, "cached")


@pytest.mark.parametrize("idle", [True, False])
def test_a_quick_profile_of_a_busy_machine_is_measured_anew_when_that_is_idle(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, idle: bool
) -> None:
    monkeypatch.setattr(sys.modules[obtain.__module__], "is_idle", lambda: idle)
    busy, again = (replace(profile(r), core_wait_share=0.5) for r in (2.0, 2.5))
    quiet = replace(profile(4.0), core_wait_share=0.0)
    assert measured(monkeypatch, busy, tmp_path) == (busy, "quick")
    if not idle:
        assert measured(monkeypatch, quiet, tmp_path) == (busy, "cached")
        return
    much_worse = replace(profile(9.0), core_wait_share=0.5)
    assert measured(monkeypatch, much_worse, tmp_path) == (busy, "cached")
    assert measured(monkeypatch, again, tmp_path) == (again, "quick")
    assert measured(monkeypatch, quiet, tmp_path) == (quiet, "quick")
    assert measured(monkeypatch, busy, tmp_path) == (quiet, "cached")


@pytest.mark.parametrize(
    ("running", "idle"), [((1, 1, 1), True), ((1, 4, 1), True), ((2, 1, 3), False)]
)
def test_a_machine_is_idle_where_no_other_thread_can_run(
    running: tuple[int, ...], idle: bool, tmp_path: Path
) -> None:
    file = tmp_path / "stat"
    looks = iter(running)
    file.write_text(f"cpu 1 2\nprocs_running {next(looks)}\nprocs_blocked 9\n")

    def pause(_: float) -> None:
        if (count := next(looks, None)) is not None:
            file.write_text(f"procs_running {count}\n")

    assert is_idle(file, pause, len(running)) is idle
    file.write_text("cpu 1 2\n")
    assert not is_idle(file, pause) and not is_idle(tmp_path / "none", pause)


@pytest.mark.parametrize("last_tried", [1, 65536], ids=["a quick one from before", "a whole one"])
def test_only_a_quick_profile_that_was_cut_short_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, last_tried: int
) -> None:
    kept, new = profile(2.0, last_tried=last_tried), profile(4.0)
    environment = {"IMBREX_CACHE": str(tmp_path)}
    name = cache.key("lib", ("mpirun", "-n", "2"), environment)
    cache.keep(name, kept, environment)
    expected = (new, "quick") if last_tried == 1 else (kept, "cached")
    assert measured(monkeypatch, new, tmp_path) == expected
    # A full one that came no further is what the user asked for.
    full = profile(2.0, quick=False, last_tried=1)
    (cache.folder(environment) / f"{name}.json").unlink()
    cache.keep(name, full, environment)
    assert measured(monkeypatch, new, tmp_path) == (full, "cached")


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("--oversubscribe",), {}),
        (("--mca", "rmaps_base_oversubscribe", "1"), {}),
        ((), {"OMPI_MCA_rmaps_base_oversubscribe": "1"}),
        ((), {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}),
        ((), {"OMPI_MCA_btl_base_verbose": "10", "UCX_LOG_LEVEL": "info", "I_MPI_DEBUG": "5"}),
    ],
)
def test_what_does_not_matter_finds_the_same_profile(
    words: tuple[str, ...], environment: dict[str, str]
) -> None:
    plain = cache.key("lib", ("mpirun", "-n", "2"), {})
    assert cache.key("lib", ("mpirun", *words, "-n", "2"), environment) == plain


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("--mca", "btl", "tcp,self"), {}),
        (("--map-by", "node"), {}),
        ((), {"PRTE_MCA_rmaps_default_mapping_policy": "ppr:1:node"}),
        ((), {"UCX_RNDV_THRESH": "8192"}),
        ((), {"MPIR_CVAR_ASYNC_PROGRESS": "1"}),
    ],
)
def test_what_matters_does_not(words: tuple[str, ...], environment: dict[str, str]) -> None:
    plain = cache.key("lib", ("mpirun", "-n", "2"), {})
    assert cache.key("lib", ("mpirun", *words, "-n", "2"), environment) != plain


def test_a_huge_collective_takes_the_time_of_its_bytes() -> None:
    """1 GiB at the 0.1 ns a byte that 1 MiB has shown takes 0.1 s at least, not what 1 MiB took."""
    points = (CollectivePoint(8, 0.0, 1e-6), CollectivePoint(1 << 20, 1.048576e-4, 1e-3))
    found = MachineProfile(
        "lib",
        "1",
        ("a",),
        2,
        {},
        {"intra-node": NetworkPath((Point(1, 0.0, 1e-6),), 0.0)},
        (Collective("MPI_Alltoall", 2, "intra-node", "any", points),),
        "",
        "",
        True,
    )
    far = format_table(found).splitlines()[-2].split()
    assert far[0] == "point"
    size, x_lo_ns = int(far[1]), int(far[2])
    assert x_lo_ns == pytest.approx(0.1 * size, rel=0.01)
