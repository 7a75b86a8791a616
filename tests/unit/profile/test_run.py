"""Opening runs: whole ones, those of crashed ranks, and those that are no runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.launch import run_directory
from imbrex.profile.format import MEASURES_DTYPE, RANKS_DTYPE, Ended
from imbrex.profile.job import split_library
from imbrex.profile.part import HEADER_DTYPE
from imbrex.profile.run import load_run
from imbrex.profile.summary import show_json, totals


def test_row_layout_is_that_of_the_runtime():
    assert MEASURES_DTYPE.itemsize == 144
    assert RANKS_DTYPE.itemsize == 144
    assert HEADER_DTYPE.itemsize == 8 + 4 + 4 + 8 + 4 + 4 + 256 + 144 + 5 * 32


def test_show_json_totals_and_sites(make_run):
    content = show_json(load_run(make_run()), "site")
    assert content["schema_version"] == 1
    assert content["totals"]["overlap_min_s"] == pytest.approx(0.040)
    assert content["totals"]["exposed_max_s"] == pytest.approx(0.050016)
    assert content["totals"]["wait_min_s"] == pytest.approx(0.106)
    assert content["totals"]["bytes"] == 2 * (655360 + 32)
    assert content["totals"]["compute_s"] == pytest.approx(0.272)
    assert content["totals"]["wall_s"] == pytest.approx(0.210)
    assert content["totals"]["ranks"] == 2
    first = content["sites"][0]
    assert (first["file"], first["line"], first["function"]) == ("/x/app.c", 12, "exchange")
    assert (first["operation"], first["count"], first["bytes"]) == ("MPI_Isend", 20, 1310720)


@pytest.mark.parametrize("by", ["operation", "size", "section", "rank", "path"])
def test_every_partition_has_the_same_sums(make_run, by):
    run = load_run(make_run())
    content = show_json(run, by)
    rows = content["sizes" if by == "size" else by + "s"]
    for name in ("count", "bytes", "call_s", "overlap_min_s", "exposed_max_s", "wait_max_s"):
        assert sum(row[name] for row in rows) == pytest.approx(getattr(totals(run), name))


@pytest.mark.parametrize("keep", [0, 60, 127, 200])
def test_truncated_table_is_one_line(make_run, keep):
    folder = make_run()
    file = folder / "measures.npy"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ImbrexError, match="truncated"):
        load_run(folder)


def test_section_names_in_any_encoding(make_run):
    folder = make_run()
    file = folder / "run.json"
    file.write_bytes(file.read_bytes().replace(b'"solver"', b'"solv\xe9"'))
    rows = show_json(load_run(folder), "section")["sections"]
    assert {row["section"] for row in rows} == {"(none)", "solv\ufffd"}


def test_a_foreign_run_json_is_not_called_a_run(tmp_path):
    (tmp_path / "run.json").write_text('{"a": 1}')
    with pytest.raises(ImbrexError, match="not an Imbrex run directory"):
        load_run(tmp_path)


def test_truncated_json_is_one_line(make_run):
    folder = make_run()
    (folder / "run.json").write_text('{"schema_version": 1, "form')
    with pytest.raises(ImbrexError, match=r"run\.json: truncated") as error:
        load_run(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.json", "[" * 100_000),
        ("run.json", '{"format": "imbrex-run", "ranks": Infinity}'),
        ("sites.json", '{"sites": [{"id": 1e300}]}'),
        ("sites.json", '{"sites": [{"id": 1000000000}]}'),
        ("sites.json", '{"sites": [{"id": Infinity}]}'),
    ],
)
def test_damaged_json_is_one_line(make_run, name, content):
    folder = make_run()
    (folder / name).write_text(content)
    with pytest.raises(ImbrexError, match="damaged") as error:
        load_run(folder)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_ranks_table(make_run):
    folder = make_run()
    (folder / "ranks.npy").unlink()
    with pytest.raises(ImbrexError, match="not written completely"):
        load_run(folder)


def test_newer_version(make_run):
    with pytest.raises(ImbrexError, match="newer Imbrex"):
        load_run(make_run(schema_version=2))


@pytest.mark.parametrize("foreign", ["other json", "other table", "empty folder", "no folder"])
def test_foreign_profile(make_run, tmp_path, foreign):
    folder = make_run() if "other" in foreign else tmp_path / "x"
    if foreign == "other json":
        (folder / "run.json").write_text(json.dumps({"format": "something else"}))
    elif foreign == "other table":
        np.save(folder / "measures.npy", np.arange(7))
    elif foreign == "empty folder":
        folder.mkdir()
    with pytest.raises(ImbrexError, match=r"not|no such"):
        load_run(folder)


def test_a_damaged_header_of_a_table(make_run):
    table = make_run() / "ranks.npy"
    table.write_bytes(table.read_bytes().replace(b"}", b"{", 1))
    with pytest.raises(ImbrexError, match="damaged"):
        load_run(table.parent)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"operations": [1]}, r"operations\[0\] is not a text but 1"),
        ({"events": {"intra-node": 2.5}}, r"events\.intra-node is not a text"),
        ({"warnings": ["a", 3]}, r"warnings\[1\] is not a text"),
        ({"sections": [None]}, r"sections\[0\] is not a text but None"),
        ({"wall_s": float("nan")}, "NaN is no number of JSON"),
        ({"wall_s": 10**400}, "wall_s is not finite"),
        ({"machine": {"origin": 1}}, r"machine\.origin is not a text"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_it(make_run, changes, place):
    folder = make_run(**changes)
    with pytest.raises(
        ImbrexError, match=rf"run\.json: .*damaged: {place}.*; measure again"
    ) as error:
        load_run(folder)
    assert "\n" not in str(error.value)


def test_unknown_numbers_do_not_break_the_reader(make_run, make_row):
    rows = make_row(rank=9, site=77, operation=99, section=9, path=9, size_class=-1, count=1)
    content = show_json(load_run(make_run(measures=rows)), "section")
    assert content["sites"][0]["operation"] == "(operation 99)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", ("Open MPI", "4.1.4")),
        ("MPICH Version:\t4.0.2", ("MPICH", "4.0.2")),
        ("MPICH Version:      5.0.2", ("MPICH", "5.0.2")),
        ("Intel(R) MPI Library 2021.13 for Linux* OS", ("Intel MPI", "2021.13")),
        ("", ("", "")),
    ],
)
def test_library_version_line(line, expected):
    assert split_library(line) == expected


def _parts(folder: Path, contents: dict[int, bytes]) -> Path:
    (folder / "parts").mkdir(parents=True)
    for rank, content in contents.items():
        (folder / "parts" / f"rank-{rank}.part").write_bytes(content)
    return folder


ROW = {"count": 2, "transfers": 2, "bytes": 100, "call_ns": 1000, "exposed_max_ns": 10}


def test_parts_are_merged_with_global_numbers(make_part, tmp_path):
    a, b = ("/x/a", "aa"), ("/x/b", "")
    folder = _parts(
        tmp_path / "run",
        {
            0: make_part(0, 4, [{"site": 1, "operation": 1, **ROW}], [(16, 0)], [a]),
            2: make_part(
                2,
                4,
                [{"site": 1, "operation": 0, "section": 1, **ROW}, {"site": 2, **ROW}],
                [(32, 0), (16, 1)],
                [b, a],
                sections=["", "io"],
                operations=["MPI_Recv", "MPI_Isend"],
                ended=1,
                extra_entry_bytes=24,
            ),
        },
    )
    run = load_run(folder)
    assert not run.merged
    assert run.ranks["ended"].tolist() == [Ended.DIED, Ended.MISSING, Ended.ABORTED, Ended.MISSING]
    assert run.ranks["call_ns"].tolist() == [3000, 0, 3000, 0]
    assert run.job.library == ("Open MPI", "4.1.4")
    assert run.job.hosts == ("node7",)
    places = {(s.image, s.offset): s.id for s in run.sites}
    found = [
        (int(r["rank"]), int(r["site"]), run.operation(r["operation"]), run.section(r["section"]))
        for r in run.measures
    ]
    assert found == [
        (0, places["/x/a", 16], "MPI_Recv", ""),
        (2, places["/x/b", 32], "MPI_Recv", "io"),
        (2, places["/x/a", 16], "MPI_Recv", ""),
    ]
    assert totals(run).count == 6


def test_part_cut_anywhere_is_read_or_refused(make_part, tmp_path):
    whole = make_part(0, 1, [{"site": 1, **ROW}], [(16, 0)], [("/x/a", "")])
    for number, keep in enumerate([*range(0, 640, 37), len(whole) - 80, len(whole) - 1]):
        folder = _parts(tmp_path / str(number), {0: whole[:keep]})
        try:
            load_run(folder)
        except ImbrexError as error:
            assert "\n" not in str(error)


def test_garbage_tables_do_not_crash(make_part, tmp_path):
    rng = np.random.default_rng(1)
    whole = make_part(0, 1, [{"site": 1, **ROW}], [(16, 0)], [("/x/a", "")])
    for number in range(200):
        damaged = bytearray(whole)
        for _ in range(20):
            damaged[int(rng.integers(24, 600))] = int(rng.integers(256))
        folder = _parts(tmp_path / str(number), {0: bytes(damaged)})
        try:
            load_run(folder)
        except ImbrexError as error:
            assert "\n" not in str(error)


def test_newer_and_foreign_parts(make_part, tmp_path):
    with pytest.raises(ImbrexError, match="newer"):
        load_run(_parts(tmp_path / "a", {0: make_part(0, 1, [], [], [], version=2)}))
    with pytest.raises(ImbrexError, match="not a part"):
        load_run(_parts(tmp_path / "b", {0: b"ELF and so on" * 100}))


def test_one_bad_part_is_a_warning(make_part, tmp_path):
    good = make_part(0, 2, [{"site": 1, **ROW}], [(16, 0)], [("/x/a", "")])
    run = load_run(_parts(tmp_path / "run", {0: good, 1: b"IMBREXP1"}))
    assert run.ranks["ended"].tolist() == [Ended.DIED, Ended.MISSING]
    assert any("truncated" in warning for warning in run.job.warnings)


def test_a_damaged_number_of_ranks_is_refused(make_part, tmp_path):
    part = make_part(0, 1 << 25, [{"site": 1, **ROW}], [(16, 0)], [("/x/a", "")])
    with pytest.raises(ImbrexError, match=r"rank-0\.part: damaged .*of 33554432"):
        load_run(_parts(tmp_path, {0: part}))


def test_a_part_of_a_job_of_another_size_is_left_out(make_part, tmp_path):
    contents = {n: make_part(n, 3, [{"site": 1, **ROW}], [(16, 0)], [("/x/a", "")]) for n in (0, 1)}
    contents[2] = make_part(2, 1 << 21, [{"site": 1, **ROW}], [(16, 0)], [("/x/a", "")])
    run = load_run(_parts(tmp_path, contents))
    assert run.ranks["ended"].tolist() == [Ended.DIED, Ended.DIED, Ended.MISSING]
    assert [warning for warning in run.job.warnings if "rank-2.part: left out" in warning]
    assert totals(run).count == 4


def test_a_link_to_a_run_is_replaced_where_it_leads(make_run, tmp_path):
    (tmp_path / "link").symlink_to(make_run())
    run_directory.create(tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["parts"]
