"""Networks that keep a program's run time within a slow-down."""

from __future__ import annotations

import pytest

from imbrex.model.model_file import Model
from imbrex.model.tolerate import tolerated_networks
from imbrex.network.interconnect import collection


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
