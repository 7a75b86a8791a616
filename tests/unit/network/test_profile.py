"""Machine profiles: what is saved is read back; what is broken is refused with one line."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.errors import ImbrexError
from imbrex.network import load
from imbrex.network.profile import (
    CLASSES,
    Collective,
    CollectivePoint,
    LogGP,
    MachineProfile,
    NetworkPath,
    Point,
)
from imbrex.network.reading import parse

times = st.floats(0, 1e3, allow_nan=False)


@st.composite
def points(draw: st.DrawFn) -> tuple[Point, ...]:
    sizes = sorted(draw(st.sets(st.integers(1, 1 << 40), min_size=1, max_size=6)))
    made = []
    for size in sizes:
        low, high = sorted((draw(times), draw(times)))
        made.append(
            Point(
                size,
                low,
                high,
                draw(st.none() | times),
                draw(st.none() | times),
                draw(st.none() | st.booleans()),
                draw(st.none() | st.booleans()),
                draw(st.sampled_from(CLASSES)),
            )
        )
    return tuple(made)


@st.composite
def profiles(draw: st.DrawFn) -> MachineProfile:
    path = st.builds(
        NetworkPath,
        points(),
        times,
        st.none() | st.builds(LogGP, *[times] * 7),
        st.dictionaries(st.text(max_size=5), st.integers(0, 1 << 40), max_size=2),
    )
    names = st.sampled_from(["self", "intra-node", "inter-node"])
    collective = Collective(
        "MPI_Bcast", 4, "inter-node", "root", (CollectivePoint(8, 0.0, draw(times)),)
    )
    return MachineProfile(
        library_name=draw(st.text(max_size=8)),
        library_version="1",
        hosts=("a", "b"),
        ranks=4,
        settings=draw(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3)),
        paths=draw(st.dictionaries(names, path, min_size=1)),
        collectives=(collective,),
        created="2026-01-01T00:00:00Z",
        imbrex_version="0",
        quick=draw(st.booleans()),
        progress_interval_s=draw(st.none() | times),
    )


@given(profiles())
def test_json_round_trip(profile: MachineProfile) -> None:
    assert parse(json.loads(json.dumps(profile.to_json()))) == profile


def example() -> dict[str, Any]:
    point = {"size_bytes": 8, "x_lo_s": 1e-9, "x_hi_s": 1e-6, "tail_s": None, "head_s": 0.0}
    return {
        "format": "imbrex-machine-profile",
        "schema_version": 1,
        "created": "2026-01-01T00:00:00Z",
        "imbrex_version": "0",
        "quick": True,
        "library": {"name": "MPI", "version": "1"},
        "hosts": ["a"],
        "ranks": 2,
        "settings": {},
        "paths": {"self": {"points": [point], "gap_s_per_byte": 1e-10, "loggp": None}},
        "collectives": [
            {
                "operation": "MPI_Bcast",
                "ranks": 2,
                "path": "self",
                "role": "any",
                "points": [{"size_bytes": 8, "x_lo_s": 0, "x_hi_s": 1}],
            }
        ],
        "progress_interval_s": None,
    }


def test_example_is_read(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(example()))
    profile = load(file)
    profile.save(tmp_path / "again.json")
    assert load(tmp_path / "again.json") == profile
    assert sorted(f.name for f in tmp_path.iterdir()) == ["again.json", "machine.json"]


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        (["format"], "other", "not a machine profile"),
        (["schema_version"], 2, "update Imbrex"),
        (["schema_version"], True, "schema_version is missing"),
        (["library"], None, "library is not an object but None"),
        (["library", "name"], KeyError, "library.name is missing"),
        (["paths"], {}, "holds no path"),
        (["paths"], {"moon": {"points": [], "gap_s_per_byte": 0}}, "paths.moon is none of self"),
        (["paths", "self", "points", 0, "x_lo_s"], -1e-9, "negative"),
        (["paths", "self", "points", 0, "x_lo_s"], float("inf"), "Infinity is no number"),
        (["paths", "self", "points", 0, "x_lo_s"], "3", "not a number"),
        (["paths", "self", "points", 0, "x_hi_s"], KeyError, "x_hi_s is missing"),
        (["paths", "self", "points", 0, "x_hi_s"], 1e-12, "x_lo_s above x_hi_s"),
        (["paths", "self", "points", 0, "tail_s"], -1, "tail_s is negative"),
        (["paths", "self", "gap_s_per_byte"], KeyError, "gap_s_per_byte is missing"),
        (["paths", "self", "points"], [], "points is empty"),
        (["collectives", 0, "role"], "chief", "none of any"),
        (["collectives", 0, "points", 0, "x_hi_s"], -1, "negative"),
        (["paths", "self", "points", 0, "x_lo_s"], 10**400, "not finite"),
        (
            ["paths", "self", "points", 0, "size_bytes"],
            1 << 63,
            "size_bytes is 9223372036854775808; it must be from 0",
        ),
        (["collectives", 0, "operation"], "MPI_Bcast\n9", "not the name of an MPI operation"),
        (["collectives", 0, "operation"], "\ud800", "not the name of an MPI operation"),
        (["ranks"], -1, "ranks is -1; it must be from 0"),
        (["quick"], "no", "quick is not true or false"),
    ],
)
def test_broken_profile(where: list[Any], value: Any, words: str, tmp_path: Path) -> None:
    data = copy.deepcopy(example())
    at: Any = data
    for step in where[:-1]:
        at = at[step]
    if value is KeyError:
        del at[where[-1]]
    else:
        at[where[-1]] = value
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(data))
    with pytest.raises(ImbrexError) as refused:
        load(file)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(file) in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'{"format": "imbrex-mach', "truncated or damaged: it is not JSON"),
        (b"\xff\xfe\x00", "truncated or damaged: it is not JSON"),
        (b"[]", "not a machine profile"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, r"too many digits|not a machine profile"),
    ],
)
def test_file_that_is_no_profile(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_bytes(content)
    with pytest.raises(ImbrexError, match=words):
        load(file)


def test_two_that_save_at_once_leave_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "machine.json"
    profile, write, other = parse(example()), Path.write_text, []

    def write_slowly(self: Path, *args: Any, **options: Any) -> int:
        if not other:
            other.append(True)
            profile.save(file)
        return write(self, *args, **options)

    def replace_late(self: Path, target: Path) -> Path:
        if len(other) == 1:
            other.append(True)
            profile.save(file)
        self.rename(target)
        return target

    monkeypatch.setattr(Path, "write_text", write_slowly)
    monkeypatch.setattr(Path, "replace", replace_late)
    profile.save(file)
    assert load(file) == profile
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_saved_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, *_: Any, **__: Any) -> int:
        self.write_bytes(b"{")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ImbrexError, match="No space left"):
        parse(example()).save(tmp_path / "machine.json")
    assert list(tmp_path.iterdir()) == []


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="No such file"):
        load(tmp_path / "none.json")


def test_profile_of_another_library() -> None:
    profile = parse(example())
    assert profile.mismatch("MPI", "1") is None
    assert "MPI 1" in (profile.mismatch("MPI", "2") or "")


def test_profile_of_other_settings(tmp_path: Path) -> None:
    data = {**example(), "settings": {"UCX_TLS": "tcp", "A": "1"}, "hosts": ["node1"]}
    profile = parse(data)
    same = {"UCX_TLS": "tcp", "A": "1"}
    assert profile.differences(same, "node1") is None
    assert profile.differences(same, None) is None
    assert "hosts node1, now node2" in (profile.differences(same, "node2") or "")
    line = profile.differences({"UCX_TLS": "rc"}, "node1") or ""
    assert "A=1, now (unset); UCX_TLS=tcp, now rc" in line
    many = profile.differences({f"V{i}": "1" for i in range(9)}, None) or ""
    assert "7 more" in many and "\n" not in many
