"""Two runs whose causes are known, side by side; two ranks of 1 s each."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from imbrex.cli import cli
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.difference import Difference
from imbrex.diagnosis.pairs import pair_sites
from imbrex.errors import ImbrexError
from imbrex.profile.run import load_run
from imbrex.profile.site_map import SiteMap, load_site_map
from imbrex.report.compare import compare_json, print_comparison


def compared(before, after, rewrites=None):
    return Difference(take_account(before), take_account(after), rewrites)


def shorter(run, wall_ms):
    """The same run with another wall time."""
    ranks = np.load(run.directory / "ranks.npy")
    ranks["wall_ns"] = int(wall_ms * 1e6)
    np.save(run.directory / "ranks.npy", ranks)
    return load_run(run.directory)


def test_the_cause_that_shrank_is_named(make_caused, call):
    before = make_caused(
        call("MPI_Recv", 4, 400, late_sender=300, transfer=100), compute_ms=(600, 600)
    )
    after = make_caused(
        call("MPI_Recv", 4, 150, late_sender=50, transfer=100),
        compute_ms=(600, 600),
        name="after",
    )
    difference = compared(before, shorter(after, 750))
    assert difference.sentence == (
        "25 % faster: 1 s before, 750 ms after. Late sender shrank from 300 ms to 50 ms a rank."
    )
    told = {change.name: change.told for change in difference.causes}
    assert told == {"late sender": True, "transfer": False}


def test_one_run_of_each_that_differ_by_noise(make_caused, call):
    rows = call("MPI_Recv", 4, 400, late_sender=400)
    before = make_caused(rows, compute_ms=(600, 600))
    slower = call("MPI_Recv", 4, 420, late_sender=420)
    after = shorter(make_caused(slower, compute_ms=(600, 600), name="after"), 1020)
    difference = compared(before, after)
    assert difference.sentence == (
        "One run of each cannot tell whether it helped: 1 s and 1.02 s differ by 2 %, and two runs "
        "of one program may by 5 %: the second is between 3 % faster and 7 % slower. No cause of "
        "the time in MPI changed by more than runs differ by."
    )


def test_runs_whose_computation_differs_tell_less(make_caused, call):
    """12 % more computation for the same work: 12 % of the run time may be the machine's doing."""
    before = make_caused(call("MPI_Recv", 4, 400, late_sender=400), compute_ms=(500, 500))
    after = make_caused(
        call("MPI_Recv", 4, 300, late_sender=300), compute_ms=(560, 560), name="after"
    )
    difference = compared(before, after)
    assert difference.noise == pytest.approx(0.12)
    (late,) = difference.causes
    assert not late.told


LOAD = "other processes kept 1.7 of 2 cores busy and next to none was idle"


def test_a_run_that_others_slowed_down_is_no_slower_program(make_caused, call):
    """Twice as long, as a program may be that has half a core."""
    rows = call("MPI_Recv", 4, 400, late_sender=400)
    longer = call("MPI_Recv", 4, 1400, late_sender=1400)
    quiet = make_caused(rows, compute_ms=(600, 600))
    loaded = make_caused(longer, compute_ms=(600, 600), name="loaded", crowded=LOAD)
    loaded = shorter(loaded, 2000)
    difference = compared(quiet, loaded)
    assert difference.answer == "open" and difference.advice is not None
    assert difference.sentence == (
        "One run of each cannot tell whether it helped: 1 s and 2 s differ by 100 %, and while the "
        f"second ran, {LOAD}. No cause of the time in MPI changed by more than runs differ by."
    )
    assert difference.told_apart_words.endswith("or what other load on the machine may have done")
    # And the other way round it may have been the load alone that is gone.
    back = compared(loaded, quiet)
    assert back.answer == "open" and f"while the first ran, {LOAD}" in back.sentence


def test_load_makes_nothing_faster(make_caused, call):
    """Faster although others took the cores is faster; slower where they did is not known."""
    before = make_caused(call("MPI_Recv", 4, 400, late_sender=400), compute_ms=(600, 600))
    after = make_caused(
        call("MPI_Recv", 4, 150, late_sender=150),
        compute_ms=(600, 600),
        name="after",
        crowded=LOAD,
    )
    after = shorter(after, 750)
    assert compared(before, after).sentence.startswith("25 % faster: 1 s before, 750 ms after.")
    assert compared(after, before).sentence.startswith("33 % slower: 750 ms before, 1 s after.")


@pytest.mark.parametrize("mapped", [True, False])
def test_a_rewritten_call_is_one_with_what_it_became(make_caused, call, mapped):
    """With the map of the rewrite, and without one by what came in the same function."""
    before = make_caused(call("MPI_Recv", 4, 400, transfer=400))
    after = make_caused(
        call("MPI_Irecv", 2, 10, library=10) + call("MPI_Waitall", 3, 90, transfer=90),
        name="after",
    )
    old = ("wave.f90", 60, "MPI_Recv")
    rewrites = SiteMap({("wave.f90", 38, "MPI_Irecv"): old, ("wave.f90", 46, "MPI_Waitall"): old})
    (pair,) = pair_sites(before, after, rewrites if mapped else None)
    assert pair.rewritten
    assert sorted(pair.operation.split(" -> ")[1].split(", ")) == ["MPI_Irecv", "MPI_Waitall"]
    old_division, new_division = pair.divisions
    assert (old_division.call_s, new_division.call_s) == pytest.approx((0.8, 0.2))
    assert new_division.cause("library").high == pytest.approx(0.02)


def test_a_call_of_several_lines_is_found_by_any_of_them(make_caused, call):
    """GNU Fortran names the last line of a call, the map its first, in both texts."""
    before = make_caused(call("MPI_Recv", 4, 400, transfer=400))
    after = make_caused(
        call("MPI_Irecv", 2, 10, library=10) + call("MPI_Waitall", 3, 90, transfer=90),
        name="after",
    )
    old, start = ("wave.f90", 58, "MPI_Recv"), ("wave.f90", 36, "MPI_Irecv")
    wait = ("wave.f90", 46, "MPI_Waitall")
    rewrites = SiteMap({start: old, wait: old}, {old: 60}, {start: 38})
    (pair,) = pair_sites(before, after, rewrites)
    assert pair.rewritten
    one_line = SiteMap({start: old, wait: old}, {}, {start: 38})
    assert one_line.original(("wave.f90", 60, "MPI_Recv")) is None
    assert rewrites.stands_for(("wave.f90", 39, "MPI_Irecv")) is None
    assert rewrites.begins_at([("wave.f90", 60)])
    assert not rewrites.begins_at([("wave.f90", 37)])


def test_of_calls_one_behind_the_other_the_later_one_has_the_line() -> None:
    first, second = ("wave.f90", 10, "MPI_Isend"), ("wave.f90", 12, "MPI_Isend")
    found = SiteMap({first: first, second: second}, {}, {first: 12, second: 14})
    assert [found.stands_for(("wave.f90", n, "MPI_Isend")) for n in (11, 12, 14)] == [
        first,
        second,
        second,
    ]


def test_a_map_beside_the_run_is_found(make_caused, call):
    before = make_caused(call("MPI_Recv", 4, 400, transfer=400))
    after = make_caused(call("MPI_Recv", 2, 300, transfer=300), name="after")
    old, new = ("wave.f90", 60, "MPI_Recv"), ("wave.f90", 38, "MPI_Recv")
    file = after.directory / "imbrex-sites.json"
    file.write_text(json.dumps(SiteMap({new: old}).to_json()))
    assert load_site_map(file).before_of == {new: old}
    words = ["compare", str(before.directory), str(after.directory), "--json"]
    (site,) = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)["sites"]
    assert (site["line_before"], site["line_after"]) == (60, 38)
    assert not site["rewritten"]  # the same call in another place
    assert site["causes"]["transfer"] == {
        **{"before_s": [0.4, 0.4], "after_s": [0.3, 0.3], "told_apart": True}
    }


def test_a_map_begins_at_the_original_program() -> None:
    old, new = ("wave.f90", 60, "MPI_Recv"), ("wave.f90", 38, "MPI_Irecv")
    found = SiteMap({new: old})
    assert found.begins_at([("wave.f90", 60)])
    assert not found.begins_at([("wave.f90", 38)])  # a run of the rewritten program


@pytest.mark.parametrize("text", ["", "[]", '{"format": "imbrex-sites", "schema_version": 9}'])
def test_a_file_that_is_no_map(tmp_path, text):
    file = tmp_path / "map.json"
    file.write_text(text)
    with pytest.raises(ImbrexError) as error:
        load_site_map(file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_screen_fits_its_width(make_caused, call, width):
    before = make_caused(call("MPI_Recv", 4, 400, late_sender=300, transfer=(50, 100)))
    after = make_caused(call("MPI_Recv", 4, 100, transfer=100), name="after")
    stream = io.StringIO()
    difference = compared(before, after)
    print_comparison(difference, Console(width=width, file=stream, highlight=False))
    lines = stream.getvalue().splitlines()
    assert max(len(line) for line in lines if "$ imbrex" not in line) <= width
    assert "late sender" in " ".join(stream.getvalue().split())
    content = compare_json(difference)
    assert content["told_apart_above"] == difference.noise
