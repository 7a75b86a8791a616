"""The verdict, tables, report and comparison of runs whose sums are known."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import fields, replace
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.unit.report.synthetic import overview_rows, write_run

from imbrex.cli import cli
from imbrex.diagnosis import wording
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.diagnosis.difference import Difference, differences
from imbrex.diagnosis.knowledge import know
from imbrex.diagnosis.pairs import pair_sites
from imbrex.diagnosis.reasons import why_undetermined
from imbrex.diagnosis.wording import interval, seconds
from imbrex.errors import ImbrexError
from imbrex.profile.run import load_run
from imbrex.profile.summary import Row, Sums
from imbrex.report.bounds import print_bounds, transfer_parts
from imbrex.report.compare import compare_json
from imbrex.report.html import render, write_report
from imbrex.report.verdict import print_verdict


def text_of(run, width=100, show=print_verdict):
    stream = io.StringIO()
    show(diagnose(run), Console(width=width, highlight=False, file=stream))
    return stream.getvalue()


def compared(before, after):
    return Difference(take_account(before), take_account(after))


def plain_text(run, **options):
    return " ".join(text_of(run, **options).split())


def test_bounds_have_the_three_parts(make_run):
    diagnosis = diagnose(load_run(make_run()))
    parts = dict(transfer_parts(diagnosis.account))
    assert parts["hidden for certain"] == pytest.approx(0.040)
    assert parts["exposed for certain"] == pytest.approx(0.010)
    assert sum(parts.values()) == pytest.approx(diagnosis.account.sums.transfer_max_s)
    reasons = sum(reason.seconds for reason in diagnosis.reasons)
    assert reasons == pytest.approx(parts["undetermined"])


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("show", [print_verdict, print_bounds])
def test_screens_fit_the_width_without_escapes(make_run, width, show):
    text = text_of(load_run(make_run()), width, show)
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())
    told = [line for line in text.splitlines() if "imbrex " not in line]  # a command stays whole
    assert max(len(line) for line in told) <= width
    if show is print_verdict:
        assert "app.c:20" in text
        assert "Open MPI 4.1.4" in " ".join(text.split())
    else:
        assert "hidden for certain" in text
        assert "quick calibration" in " ".join(text.split())


def test_verdict_names_where_most_waits(make_run):
    text = plain_text(load_run(make_run()))
    assert text.startswith(
        "MPI 32 %: at least 26 % of the run waiting with nothing in flight, most at app.c:20 "
        "(MPI_Recv), at most 5.5 % can be transfer. Overlap could gain"
    )


def test_verdict_tells_what_weakens_it(make_run):
    operations = ["MPI_Isend", "MPI_Recv", "MPI_Allreduce", "MPI_Comm_spawn"]
    folder = make_run(
        machine={"origin": "none"}, warnings=["the disk was full"], operations=operations
    )
    ranks = np.load(folder / "ranks.npy")
    ranks["ended"] = [0, 3]
    ranks["overflow"] = [5, 0]
    ranks["section_errors"] = [0, 2]
    ranks["threads"] = [200, 200]
    np.save(folder / "ranks.npy", ranks)
    measures = np.load(folder / "measures.npy")
    for name in ("contradicted", "uncalibrated", "unknown_end"):
        measures[name][0] = 1
    np.save(folder / "measures.npy", measures)
    run = load_run(folder)
    text = plain_text(run, width=200, show=print_bounds)
    for words in (
        "rank 1 died",
        "5 rows, sites or sections did not fit",
        "2 sections ended twice",
        "more than 128 threads in MPI (1 of 2 ranks)",
        "have no calibrated time",
        "faster than the machine profile allows",
        "unknown end",
        "the disk was full",
        "started with MPI_Comm_spawn are not measured",
        "transfer times are unknown",
    ):
        assert words in text
    short = plain_text(run)
    assert "rank 1 died" in short
    assert "7 more: imbrex show" in short
    assert "calibrate this MPI" in short


def test_calibrating_is_not_advised_where_a_profile_was_used(make_run, make_row):
    rows = make_row(
        operation=2, site=1, count=9, transfers=9, bytes=36, uncalibrated=9, call_ns=60_000_000
    )
    text = text_of(load_run(make_run(measures=rows)), 200)
    assert "calibrate" not in text.replace("calibrated", "")
    assert "(100.0 %) transfers have no calibrated time" in text


def test_a_run_with_little_that_can_be_transfer_says_so(make_run, make_row):
    rows = make_row(
        **{"operation": 0, "site": 1, "size_class": 3, "count": 9, "transfers": 9, "bytes": 72},
        **{"call_ns": 40_000_000, "wait_min_ns": 39_991_000, "wait_max_ns": 40_000_000},
        **{"transfer_max_ns": 9_000, "exposed_max_ns": 9_000, "overlap_max_ns": 9_000},
    )
    diagnosis = diagnose(load_run(make_run(measures=rows)))
    assert diagnosis.sentence.endswith("Overlap cannot help here.")
    assert {finding.kind for finding in diagnosis.findings} == {"log_missing", "waiting"}


@pytest.mark.parametrize("by", ["site", "rank", "path"])
def test_tables_carry_no_blanks_at_line_ends(make_run, by):
    done = CliRunner().invoke(cli, ["show", str(make_run()), "--by", by])
    assert not any(line.endswith(" ") for line in done.output.splitlines())


def test_a_run_without_any_rows(make_run):
    run = load_run(make_run(measures=np.empty(0, np.load(make_run("a") / "measures.npy").dtype)))
    assert "made no MPI calls" in text_of(run)
    assert "No user data was transferred" in text_of(run, show=print_bounds)
    assert "Nothing was measured" in render(run)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (1.5e-9, "1.5 ns"), (2e-5, "20 us"), (0.25, "250 ms"), (12.34, "12.3 s")],
)
def test_seconds(value, text):
    assert seconds(value) == text


def test_interval():
    assert interval(0.1, 0.1) == "100 ms"
    assert interval(0.0012, 0.5) == "1 to 500 ms"
    assert interval(1e-9, 1) == "0.001 to 1 s"
    assert interval(0, 1) == "0 to 1 s"


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if tag in ("link", "script", "img", "iframe") and name in ("src", "href"):
                self.loaded.append(value)


def test_report_is_self_contained_and_escaped(make_run, tmp_path):
    file = tmp_path / "report.html"
    write_report(load_run(make_run()), file)
    text = file.read_text()
    links = _Links()
    links.feed(text)
    assert links.loaded == []
    assert "@import" not in text
    assert "url(http" not in text
    assert "<solve>" not in text
    assert "&lt;solve&gt; &amp; co" in text
    assert text.count("<svg") == 3
    assert [f.name for f in tmp_path.iterdir() if f.name.startswith(".")] == []


def test_report_that_cannot_be_written(make_run, tmp_path):
    with pytest.raises(ImbrexError, match="cannot be written"):
        write_report(load_run(make_run()), tmp_path / "no" / "folder.html")


def test_a_command_that_is_no_text(make_run, tmp_path):
    run = load_run(make_run(command=["./app", "\udcff"]))
    write_report(run, tmp_path / "r.html")
    assert "\\udcff" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_compare_matches_sites_that_moved(make_run):
    before = make_run("before")
    moved = json.loads((before / "sites.json").read_text())["sites"]
    moved[1]["line"], moved[1]["file"] = 15, "/elsewhere/app.c"
    measures = np.load(before / "measures.npy")
    measures["exposed_max_ns"][measures["site"] == 1] //= 2
    after = make_run("after", sites=moved, measures=measures)
    pairs = pair_sites(load_run(before), load_run(after))
    moved = next(pair for pair in pairs if pair.name == "app.c:15")
    assert moved.lines == (12, 15)
    assert moved.change("exposed_max_s") == pytest.approx(-0.025)
    assert all(pair.before and pair.after for pair in pairs)
    content = compare_json(compared(load_run(before), load_run(after)))
    assert content["change"]["exposed_max_s"] == pytest.approx(-0.025)
    assert content["schema_version"] == 1


def test_compare_keeps_sites_of_one_run_only(make_run, make_row):
    before = make_run("before")
    rows = np.concatenate(
        [np.load(before / "measures.npy"), make_row(site=3, operation=2, count=7)]
    )
    pairs = pair_sites(load_run(before), load_run(make_run("after", measures=rows)))
    new = [pair for pair in pairs if pair.before is None]
    assert [(pair.operation, pair.after.count) for pair in new] == [("MPI_Allreduce", 7)]


def test_compare_with_a_run_without_transfers(make_run, make_row):
    barrier = make_row(site=3, operation=3, size_class=-1, count=2, call_ns=1_000)
    folders = str(make_run("before")), str(make_run("after", measures=barrier))
    done = CliRunner().invoke(cli, ["compare", *folders, "--json"], catch_exceptions=False)
    change = json.loads(done.stdout)["change"]
    assert (change["hidden_share_min"], change["transfers"]) == (None, -28)


def test_compare_shows_as_many_sites_as_asked_for(make_run):
    measures = np.load(make_run("before") / "measures.npy")
    measures["call_ns"][measures["site"] > 0] += 1
    folders = str(make_run("before2")), str(make_run("after", measures=measures))
    told = {
        limit: CliRunner().invoke(cli, ["compare", *folders, "--limit", limit]).stdout
        for limit in "012"
    }
    assert "1 more call sites: --limit 0 shows all" in told["2"]
    assert "2 more call sites" in told["1"]
    assert "more call sites" not in told["0"]
    assert all(name in told["0"] for name in ("app.c:12", "app.c:20", "main+0x30"))
    assert "-0.0" not in told["0"] and "+0.0" not in told["0"]


def test_compare_says_what_else_differs(make_run):
    before, after = load_run(make_run("before")), load_run(make_run("after"))
    assert differences(before, after) == []
    machine = replace(after.job.machine, created="another day")
    other = replace(after, job=replace(after.job, machine=machine))
    (line,) = differences(before, other)
    assert "different machine profiles" in line and "--machine" in line
    other = replace(other, job=replace(other.job, library=("Another MPI", "1.0")))
    library, profiles = differences(before, other)
    assert "Another MPI 1.0" in library
    assert "--machine" not in profiles  # the profile of one library is refused for the other
    assert compare_json(compared(before, other))["differences"] == [library, profiles]


def test_the_size_of_messages_is_theirs_not_that_of_their_class():
    one = Row("", Sums(transfers=4, bytes=4000), sizes=(9, 9))
    assert wording.sizes(one) == "1000 B"
    assert wording.sizes(replace(one, sizes=(9, 12))) == "512 B - 4 KiB"
    assert wording.sizes(replace(one, sums=Sums(transfers=4))) == "512 B"  # none ended
    assert wording.sizes(Row("", Sums())) == "-"


def test_names_that_would_steer_a_terminal(make_run):
    sections = ["", "\x1b[31mred\nline\ttab"]
    folder = make_run()
    for file in ("run.json", "job.json"):
        if (folder / file).exists():
            content = json.loads((folder / file).read_text())
            (folder / file).write_text(json.dumps(content | {"sections": sections}))
    sites = json.loads((folder / "sites.json").read_text())
    sites["sites"][1]["file"] = "/x/\x1b[2Japp\n.c"
    (folder / "sites.json").write_text(json.dumps(sites))
    runner = CliRunner()
    table = runner.invoke(cli, ["show", str(folder), "--by", "section"]).stdout
    assert "\\x1b[31mred\\nline\\ttab " in table
    for words in (["show", str(folder)], ["compare", str(folder), str(folder)]):
        assert "\x1b" not in runner.invoke(cli, words).stdout
    exact = json.loads(
        runner.invoke(cli, ["show", str(folder), "--by", "section", "--json"]).stdout
    )
    assert sections[1] in [entry["section"] for entry in exact["sections"]]


def test_a_run_that_was_paused_all_along(make_run, make_row):
    barrier = make_row(site=3, operation=3, size_class=-1, count=2, call_ns=1_000)
    run = load_run(make_run(measures=barrier))
    assert "transferred by MPI calls.\n" in text_of(run, show=print_bounds)
    ranks = np.array(run.ranks)
    ranks["dropped"][0] = 40
    run = replace(run, ranks=ranks)
    assert "transferred by MPI calls while measuring was on." in text_of(run, show=print_bounds)
    assert "pauses measuring" in plain_text(run)
    assert "while measuring was on" in render(run)


def test_nothing_is_said_of_the_share_of_times_that_are_not_known(make_run, make_row):
    sent = make_row(site=1, size_class=3, path=3, count=2, transfers=2, bytes=16, uncalibrated=2)
    run = load_run(make_run(measures=sent))
    assert "2 of 2 (100.0 %) transfers have no calibrated time" in plain_text(run)
    assert "however long" not in text_of(run, show=print_bounds)
    assert "however long" not in render(run)


def test_names_with_letters_that_the_font_of_plots_lacks(make_run):
    folder = make_run()
    sites = json.loads((folder / "sites.json").read_text())
    sites["sites"][1]["file"] = "/x/\u6f22\u5b57.c"
    (folder / "sites.json").write_text(json.dumps(sites))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert render(load_run(folder)).count("\u6f22\u5b57.c:12") > 1  # in the plot and the table


def test_commands(make_run, tmp_path):
    folder = str(make_run())
    runner = CliRunner()
    for by in ("site", "operation", "size", "section", "rank", "path"):
        done = runner.invoke(cli, ["show", folder, "--by", by])
        assert done.exit_code == 0, done.output
        assert "total" in done.output
    done = runner.invoke(cli, ["show", folder, "--json"])
    assert json.loads(done.stdout)["totals"]["count"] == 32
    done = runner.invoke(cli, ["show", folder, "-o", str(tmp_path / "verdict.txt")])
    assert (tmp_path / "verdict.txt").read_text().startswith("MPI 32 %")
    done = runner.invoke(cli, ["show", folder, "--bounds"])
    assert "hidden for certain" in done.output
    done = runner.invoke(cli, ["show", folder, "--by", "size", "--bounds"])
    assert "exposed" in done.output
    done = runner.invoke(cli, ["compare", folder, folder])
    assert done.output.startswith("One run of each cannot tell whether it helped")
    done = runner.invoke(cli, ["report", folder, "-o", str(tmp_path / "r.html")])
    assert done.exit_code == 0


def _sums(lo, hi, compute, call, slack):
    """The bounds of one transfer by the formulae of docs/theory/measuring.md."""
    slack = min(slack, hi)
    sure = 0 if lo > compute + call + slack else lo  # contradicted: the minima are 0
    return Sums(
        **{"transfers": 1, "transfer_min_s": lo, "transfer_max_s": hi},
        **{"overlap_min_s": max(0, sure - call - slack), "overlap_max_s": min(hi, compute + slack)},
        **{"exposed_min_s": max(0, sure - compute - slack), "exposed_max_s": min(hi, call + slack)},
    )


TIMES = st.integers(0, 20)


@given(st.lists(st.tuples(TIMES, TIMES, TIMES, TIMES, TIMES), min_size=1, max_size=3), st.data())
def test_the_hidden_share_contains_every_share_that_is_possible(transfers, data):
    """Of sums over transfers, each split into hidden and exposed in any way the bounds allow."""
    sums, hidden, exposed = Sums(), 0, 0
    for lo, more, compute, call, slack in transfers:
        most = min(lo + more, compute + call + slack)
        if most == 0:
            continue  # nothing moves
        one = _sums(lo, lo + more, compute, call, slack)
        # of a transfer that contradicts the table nothing is known but the time there was
        time = data.draw(st.integers(max(lo if lo <= most else 0, 1), most))
        ways = [h for h in range(time + 1) if h <= compute + slack and time - h <= call + slack]
        h = data.draw(st.sampled_from(ways))
        hidden, exposed = hidden + h, exposed + time - h
        sums = Sums(**{f.name: getattr(sums, f.name) + getattr(one, f.name) for f in fields(Sums)})
    if hidden + exposed:
        low, high = sums.hidden_share
        assert low - 1e-9 <= hidden / (hidden + exposed) <= high + 1e-9


def test_the_hidden_share_of_known_cases():
    assert _sums(10, 40, 0, 100, 0).hidden_share == (0, 0)  # within one call
    assert _sums(10, 40, 100, 0, 0).hidden_share == (1, 1)  # between two calls
    assert _sums(10, 40, 100, 100, 40).hidden_share == (0, 1)
    # max(0, 1 - (N + s) / X_lo) to min(1, (C + s) / X_lo), whatever X_hi is
    assert _sums(10, 40, 3, 9, 1).hidden_share == pytest.approx((0, 0.4))
    assert _sums(10, 40, 9, 3, 1).hidden_share == pytest.approx((0.6, 1))
    assert _sums(30, 40, 0, 10, 0).hidden_share == (0, 0)  # contradicted: faster than X_lo
    assert Sums().hidden_share is None


def test_what_is_undetermined_comes_with_what_to_do(make_run):
    operations = ["MPI_Irecv", "MPI_Isend", "MPI_Allreduce", "MPI_Barrier"]
    run = load_run(make_run(operations=operations))
    for operation, why in (
        ("MPI_Irecv", "come before they are posted"),
        ("MPI_Isend_c", "leave after they complete"),
        ("MPI_Sendrecv", "do not show"),
    ):
        row = Row("", replace(_sums(10, 10, 5, 5, 10), undetermined=1), operation=operation)
        (reason,) = why_undetermined(know(run), [row])
        assert why in reason.why
        assert "--events ucx" in reason.remedy
    row = Row("", _sums(10, 30, 0, 99, 0), operation="MPI_Send")
    (spread,) = why_undetermined(know(run), [row])
    assert (spread.seconds, "imbrex calibrate" in spread.remedy) == (20, True)


def test_a_damaged_overview_is_told_beside_the_time_line(tmp_path):
    folder = write_run(tmp_path / "run")
    file = tmp_path / "report.html"
    told = "What each rank did in the whole run is not known"
    np.save(folder / "overview.npy", overview_rows(2, 12, 40).reshape(-1))
    write_report(load_run(folder), file)
    assert told not in file.read_text()
    whole = (folder / "overview.npy").read_bytes()
    (folder / "overview.npy").write_bytes(whole[: len(whole) // 2])
    write_report(load_run(folder), file)
    assert f"{told}: {folder / 'overview.npy'}: truncated or damaged" in file.read_text()
