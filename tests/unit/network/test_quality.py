"""Which of two profiles is kept, and when a machine is too noisy for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.network import cache
from imbrex.network.profile import Collective, CollectivePoint, MachineProfile, NetworkPath, Point
from imbrex.network.quality import is_better, spread, too_noisy
from imbrex.network.table import format_table


def profile(ratio: float, *, quick: bool = True) -> MachineProfile:
    """X_hi is `ratio` times X_lo at each of two sizes; what is small or to oneself is far apart."""
    points = (
        Point(1, 1e-9, 1.0),
        Point(4096, 1e-6, ratio * 1e-6),
        Point(65536, 1e-5, ratio * 1e-5),
    )
    alone = NetworkPath((Point(4096, 1e-9, 1.0),), 0.0)
    paths = {"self": alone, "intra-node": NetworkPath(points, 0.0)}
    return MachineProfile("lib", "1", ("a",), 2, {}, paths, (), "then", "", quick)


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
