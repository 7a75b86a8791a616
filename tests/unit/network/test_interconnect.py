"""Networks: the collection, TOML files, machine profiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.network.interconnect import collection, load_interconnects


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


LOGGP = dict.fromkeys(("L_s", "o_s_s", "o_r_s", "g_s", "G_s_per_byte", "EEL_s", "residual"), 0.0)


def profile(**loggp: float) -> dict[str, object]:
    path = {"points": [{"size_bytes": 1, "x_lo_s": 0, "x_hi_s": 1e-6}], "gap_s_per_byte": 1e-9}
    fitted = {**path, "loggp": LOGGP | loggp if loggp else None}
    return {
        "format": "imbrex-machine-profile",
        "schema_version": 1,
        "created": "2026-01-01T00:00:00Z",
        "imbrex_version": "0.1.0",
        "quick": True,
        "hosts": ["a"],
        "ranks": 2,
        "settings": {},
        "collectives": [],
        "library": {"name": "Open MPI", "version": "4.1.4"},
        "paths": {"intra-node": {**path, "loggp": None}, "inter-node": fitted},
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
        ("{", "it is not JSON"),
        ("[]", "is not a machine profile"),
        (json.dumps(profile()), "no path between two ranks has LogGP"),
        (json.dumps(profile(EEL_s=-1e-6)), "EEL_s is negative"),
        (json.dumps(profile(EEL_s=1e-6, G_s_per_byte=1e-300)), "no usable bandwidth"),
        (json.dumps(profile(EEL_s=1e-6, G_s_per_byte=0)), "no usable bandwidth"),
    ],
)
def test_profiles_that_are_none(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "here.json"
    path.write_text(content)
    with pytest.raises(ImbrexError, match=words):
        load_interconnects(str(path))
