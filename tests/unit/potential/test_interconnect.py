"""Networks: the collection, TOML files, machine profiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import collection, load_interconnects
from imbrex.potential.model_file import Model
from imbrex.potential.tolerate import tolerated_networks


def test_the_collection_states_its_sources_and_only_the_two_known_prices() -> None:
    networks = collection()
    assert {network.name for network in networks} >= {
        "GigE",
        "InfiniBand SDR 4X",
        "InfiniBand NDR",
        "Omni-Path 100",
        "Slingshot 11",
    }
    assert all(len(network.source) > 20 for network in networks)
    prices = {network.price for network in networks if network.price is not None}
    assert prices == {27000, 207000}
    assert load_interconnects("all") == networks


def test_names_do_not_mind_case() -> None:
    (gige,) = load_interconnects("gige")
    assert (gige.latency_s, gige.bandwidth_bytes_per_s) == (29e-6, 125e6)
    with pytest.raises(ImbrexError, match=r"no network 'token ring'.*GigE"):
        load_interconnects("token ring")


def test_units_of_bandwidth(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[network]]\nname = "a"\nlatency_ns = 500\nbandwidth_gbit_per_s = 8\n'
        'message_gap_ns = 100\noverhead_ns = 20\nprice = 10\ncurrency = "EUR"\n'
        '[[network]]\nname = "b"\nlatency_us = 1\nbandwidth_gb_per_s = 2\n'
    )
    a, b = load_interconnects(str(path))
    assert (a.bandwidth_bytes_per_s, b.bandwidth_bytes_per_s) == (1e9, 2e9)
    assert (a.message_gap_s, a.overhead_s) == pytest.approx((1e-7, 2e-8))
    assert (a.price, a.currency, b.price, b.currency) == (10, "EUR", None, "")
    path.write_text("x = 1\n")
    with pytest.raises(ImbrexError, match="no \\[\\[network\\]\\]"):
        load_interconnects(str(path))


def profile(**loggp: float | None) -> dict[str, object]:
    return {
        "format": "imbrex-machine-profile",
        "schema_version": 1,
        "library": {"name": "Open MPI", "version": "4.1.4"},
        "paths": {"intra-node": {"points": [], "loggp": None}, "inter-node": {"loggp": loggp}},
    }


def test_a_machine_profile_is_a_network(tmp_path: Path) -> None:
    path = tmp_path / "here.json"
    path.write_text(
        json.dumps(profile(EEL_s=3e-5, G_s_per_byte=1e-8, g_s=2e-6, o_s_s=1e-6, o_r_s=5e-7))
    )
    (network,) = load_interconnects(str(path))
    assert network.name == "here: inter-node"
    assert network.bandwidth_bytes_per_s == pytest.approx(1e8)
    assert (network.latency_s, network.message_gap_s, network.overhead_s) == (3e-5, 2e-6, 1e-6)
    assert network.receive_overhead_s == 5e-7
    assert "Open MPI 4.1.4" in network.source


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is no JSON"),
        ("[]", "is no machine profile"),
        (json.dumps(profile()), "no path between two ranks has LogGP"),
        (json.dumps(profile(EEL_s=1e-6)), "lacks EEL_s or G_s_per_byte"),
        (json.dumps(profile(EEL_s=1e-6, G_s_per_byte=0)), "no usable bandwidth"),
    ],
)
def test_profiles_that_are_none(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "here.json"
    path.write_text(content)
    with pytest.raises(ImbrexError, match=words):
        load_interconnects(str(path))


def test_cheapest_first_and_within_the_limit(sancho: Model) -> None:
    hycom = sancho.programs[0]
    rows = tolerated_networks(hycom, collection(), 0.05)
    priced = [row.network.name for row in rows if row.network.price is not None]
    assert [row.network.name for row in rows][:2] == priced == ["GigE", "InfiniPath HTX"]
    by_name = {row.network.name: row for row in rows}
    # 1 + 3 * (29 + 89856 / 125) / 2588 and, on SDR, 1 + 3 * (4 + 89856 / 950) / 2588.
    assert by_name["GigE"].nonoverlap == pytest.approx(1 + 3 * (29 + 718.848) / 2588)
    sdr = by_name["InfiniBand SDR 4X"]
    assert (sdr.within_nonoverlap, sdr.within_overlap) == (False, True)
    assert not by_name["GigE"].within_overlap
    # A limit that is met exactly is met.
    exact = tolerated_networks(hycom, collection(), by_name["GigE"].overlap - 1)
    assert next(row for row in exact if row.network.name == "GigE").within_overlap
