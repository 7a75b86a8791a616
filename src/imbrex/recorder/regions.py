"""Produce and consume regions that the user marked (imbrex.h and its Fortran twin): a model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from imbrex.formats.schema import Field, JsonFormat
from imbrex.formats.value_types import ListOf, Object, Text, Whole
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site
from imbrex.recorder.documents import microseconds

DOCUMENT = "regions.json"
MODEL = "regions.toml"
_RAW = re.compile(r"regions-(\d{1,9})\.json")
_COUNT = Whole(0, 1 << 62)
_NS = Whole(-(1 << 62), 1 << 62)
_TOTAL = Object(
    (Field("count", _COUNT), Field("elements", _COUNT), Field("ns", _NS)),
    lambda total: (
        ".count is 0, and elements is not" if total["elements"] and not total["count"] else None
    ),
)
OF_RANK = JsonFormat(
    "what a rank left of its marked regions",
    "measure again with imbrex run",
    Object(
        (
            Field("rank", Whole(0, (1 << 31) - 1)),
            Field("compute_ns", _NS),
            Field("dropped", _COUNT),
            Field(
                "regions",
                ListOf(
                    Object(
                        (
                            Field("name", Text()),
                            Field("operation", Text()),
                            Field("image", Text(), null=True, default=""),
                            Field("offset", Whole()),
                            Field("sends", _COUNT),
                            Field("send_bytes", _COUNT),
                            Field("send_elements", _COUNT),
                            Field("first_send_ns", _NS),
                            Field("last_send_ns", _NS),
                            *(
                                Field(name, _TOTAL)
                                for name in (
                                    "produce",
                                    "after_produce",
                                    "before_consume",
                                    "consume",
                                )
                            ),
                        ),
                        lambda region: (
                            ".send_elements is 0, and sends is not"
                            if region["sends"] and not region["send_elements"]
                            else None
                        ),
                    )
                ),
            ),
        )
    ),
)


def write_regions(folder: Path) -> bool:
    """Turn what the ranks left in a run directory into regions.json and regions.toml.

    False where no region was marked; regions.toml is written where a region has both sides.
    ImbrexError where a file is damaged.
    """
    files = sorted(
        (file for file in folder.glob("regions-*.json") if _RAW.fullmatch(file.name)),
        key=lambda file: int(file.stem.split("-")[1]),
    )
    if not files:
        return False
    ranks = [OF_RANK.load(file) for file in files]
    document = regions_json(ranks)
    (folder / DOCUMENT).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    model = regions_toml(document)
    if model is not None:
        (folder / MODEL).write_text(model, encoding="utf-8")
    for file in files:
        file.unlink()
    return True


def regions_json(ranks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of regions.json: times in s, per rank and region.

    T_P and T_C are region time per element, N_P and N_C elements per region, T_AP from the
    region's end to the send of its buffer and T_AC from the arrival to the region's begin; null
    where it was never seen. All in computation: what passes inside MPI calls is left out.
    """
    places = sorted({(r["image"], r["offset"]) for rank in ranks for r in rank["regions"]})
    sites = resolve_sites([Site(i + 1, image, offset=o) for i, (image, o) in enumerate(places)])
    names = {place: site.label for place, site in zip(places, sites, strict=True)}
    return {
        "format": "imbrex-regions",
        "schema_version": 1,
        "ranks": [
            {
                "rank": int(rank["rank"]),
                "compute_s": rank["compute_ns"] * 1e-9,
                "dropped": int(rank["dropped"]),
                "regions": [_region(r, names[r["image"], r["offset"]]) for r in rank["regions"]],
            }
            for rank in ranks
        ],
    }


def _region(raw: dict[str, Any], site: str) -> dict[str, Any]:
    sends = int(raw["sends"])
    return {
        "name": raw["name"],
        "operation": raw["operation"] or None,
        "site": site if sends else None,
        "sends": sends,
        "n_sent": raw["send_elements"] / sends if sends else None,
        "element_bytes": raw["send_bytes"] / raw["send_elements"] if sends else None,
        "between_sends_s": (raw["last_send_ns"] - raw["first_send_ns"]) * 1e-9 / (sends - 1)
        if sends > 1
        else None,
        "t_produce_s": _per(raw["produce"], "elements"),
        "n_produced": _mean_elements(raw["produce"]),
        "after_produce_s": _per(raw["after_produce"], "count"),
        "before_consume_s": _per(raw["before_consume"], "count"),
        "t_consume_s": _per(raw["consume"], "elements"),
        "n_consumed": _mean_elements(raw["consume"]),
    }


def _per(total: dict[str, Any], of: str) -> float | None:
    return float(total["ns"]) * 1e-9 / total[of] if total[of] else None


def _mean_elements(total: dict[str, Any]) -> float | None:
    return float(total["elements"]) / total["count"] if total["count"] else None


def regions_toml(document: dict[str, Any]) -> str | None:
    """A parameter file for `imbrex predict` of the rank that sends most; None without a message.

    A message is a name that the rank marked on both sides. An iteration is what lies between two
    sends of the most frequent one.
    """

    def sent(rank: dict[str, Any]) -> float:
        return float(sum(r["sends"] * r["n_sent"] * r["element_bytes"] for r in _messages(rank)))

    worst = max(document["ranks"], key=sent)
    messages = _messages(worst)
    if not messages:
        return None
    leading = max(messages, key=lambda r: int(r["sends"]))
    computation_s = leading["between_sends_s"] or worst["compute_s"]
    lines = [
        'format = "imbrex-model"',
        "schema_version = 1",
        'title = "marked regions"',
        "",
        "[[application]]",
        f"name = {json.dumps('rank ' + str(worst['rank']))}",
        f"computation_us = {microseconds(max(computation_s * 1e9, 1e-3))}",
    ]
    for r in messages:
        lines += [
            "",
            "[[application.message]]",
            f"name = {json.dumps(r['name'])}",
            f"count = {r['sends'] / leading['sends']!r}",
            f"n_sent = {round(r['n_sent'])}",
            f"element_bytes = {round(r['element_bytes'])}",
            f"n_produced = {round(r['n_produced'])}",
            f"n_consumed = {round(r['n_consumed'])}",
            f"t_produce_us = {microseconds(r['t_produce_s'] * 1e9)}",
            f"t_consume_us = {microseconds(r['t_consume_s'] * 1e9)}",
            f"after_produce_us = {microseconds(r['after_produce_s'] * 1e9)}",
            f"before_consume_us = {microseconds((r['before_consume_s'] or 0.0) * 1e9)}",
        ]
    return "\n".join(lines) + "\n"


def _messages(rank: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        r
        for r in rank["regions"]
        if r["sends"] and r["t_produce_s"] is not None and r["t_consume_s"] is not None
    ]
