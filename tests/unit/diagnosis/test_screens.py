"""Whole screens of a run whose causes are known; `imbrex` prints these and no other lines."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from imbrex.cli import cli
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.diagnosis import diagnose
from imbrex.report.bounds import print_bounds
from imbrex.report.html import render
from imbrex.report.site_text import print_site
from imbrex.report.tables import print_table
from imbrex.report.verdict import print_verdict


@pytest.fixture
def wave(make_caused, call):
    """A late rank, an exchange that waits too soon, and an alltoall; four ranks of 1 s."""
    ranks = (0, 1, 2, 3)
    causes = (
        call(
            *("MPI_Waitall", 3, 250, ranks),
            **{"late_sender": 180, "transfer": (40, 60), "stalled": (0, 20)},
            **{"gainable": (40, 70), "lost_overlap": (10, 30), "library": 2},
        )
        + call("MPI_Alltoall", 4, 80, ranks, late_collective=(20, 25), transfer=(55, 60))
        + call("MPI_Irecv", 2, 5, ranks, library=5)
        + call("MPI_Isend", 1, 5, ranks, library=5)
    )
    waits = [
        {"rank": rank, "site": 3, "operation": 2, "start_site": 2, "start_operation": 1}
        | {"count": 9, "late_min_ns": 180_000_000, "late_max_ns": 180_000_000}
        | {"moving_min_ns": 40_000_000, "moving_max_ns": 70_000_000}
        for rank in ranks
    ]
    partners = [
        {"rank": rank, "peer": 3, "late_min_ns": 190_000_000, "late_max_ns": 200_000_000}
        for rank in ranks[:3]
    ]
    evidence = [
        {
            **{"rank": rank, "site": site, "operation": operation, "transfers": 10, "matched": 10},
            **{"transfer_min_ns": 40_000_000, "transfer_max_ns": 60_000_000},
            **{"call_overlap_max_ns": 60_000_000, "call_exposed_max_ns": 60_000_000},
            **{"matched_overlap_max_ns": 6_000_000, "matched_exposed_min_ns": 34_000_000},
            **{"matched_exposed_max_ns": 60_000_000},
            **{"expected_overlap_max_ns": 6_000_000, "expected_exposed_min_ns": 34_000_000},
            **{"expected_exposed_max_ns": 60_000_000},
        }
        for rank in ranks
        for site, operation in ((1, 0), (2, 1))
    ]
    return make_caused(
        causes, waits=waits, partners=partners, evidence=evidence, compute_ms=(660,) * 4
    )


def screen(run, width):
    stream = io.StringIO()
    print_verdict(diagnose(run), Console(width=width, highlight=False, file=stream))
    return stream.getvalue().replace(str(run.directory), "RUN")


KNOWN = """\
MPI 34 %: 18 % late sender (rank 3) at wave.f90:46, 9.5 to 12 % transfer, most at wave.f90:60.
Overlap could gain at most 7 %.
Imbrex: 4 ranks, 1 s, Open MPI 4.1.4; efficiency 0.66 = balance 1.00 x communication 0.66
==================================================================ssssssssssssssssssccTTTTTTTTTTm---
= compute 66 %   s late sender 18 %   c late in collective 2 %   T transfer 9.5 %
m MPI itself 1.2 %   - late in collective, transfer or stalled 3.3 %

where        call      of the run  why (of the run)
wave.f90:46  Waitall         25 %  late sender 18 %, transfer 4 to 6 % (for Irecv at wave.f90:38)
wave.f90:60  Alltoall         8 %  transfer 5.5 to 6 %, late in collective 2 to 2.5 %

1. 18 % of the run (180 ms a rank): late senders at wave.f90:46 (MPI_Waitall) for MPI_Irecv at
   wave.f90:38; 100 % of all waiting is for rank 3. Balance the work, or send earlier
2. 2 to 2.5 % of the run (22.5 ms a rank): late ranks at wave.f90:60 (MPI_Alltoall). Balance the
   work before it
   $ imbrex show RUN --by rank
0 to 15 % of the transfer time hidden (matched). Measuring took 0 % of the run. More:
   $ imbrex show RUN --bounds
"""


def test_the_verdict_on_a_hundred_columns(wave):
    assert screen(wave, 100) == KNOWN
    assert KNOWN.count("\n") <= 20


def test_what_takes_most_of_the_run_has_a_line_though_nothing_saves_it(make_caused, call):
    """Nine tenths of the time in MPI are MPI's own; each other site has more at stake."""
    ranks = (0, 1, 2, 3)
    causes = (
        call("MPI_Alltoall", 4, 400, ranks, library=396, transfer=(3, 4))
        + call("MPI_Waitall", 3, 50, ranks, late_sender=20, stalled=(10, 30))
        + call("MPI_Irecv", 2, 45, ranks, late_receiver=25, stalled=20)
        + call("MPI_Isend", 1, 40, ranks, late_sender=40)
        + call("MPI_Isend", 2, 35, ranks, late_sender=35)
    )
    told = screen(make_caused(causes, compute_ms=(430,) * 4), 100)
    assert told.startswith("MPI 57 %: 40 % MPI itself at wave.f90:60")
    table = [line for line in told.splitlines() if line.startswith("wave.f90:")]
    assert len(table) < 5 and re.match(r"wave.f90:60 +Alltoall +40 %", table[-1])
    assert told.count("\n") <= 20


def test_a_line_that_costs_time_is_left_out_only_where_there_is_no_room(make_caused, call):
    """Four sites of 10 % and more beside long findings: the third finding goes before any."""
    ranks = (0, 1, 2, 3)
    causes = (
        call("MPI_Waitall", 3, 160, ranks, late_sender=100, stalled=(40, 60))
        + call("MPI_Alltoall", 4, 120, ranks, late_collective=(60, 70), transfer=(50, 60))
        + call("MPI_Irecv", 2, 110, ranks, late_receiver=80, stalled=30)
        + call("MPI_Isend", 1, 100, ranks, late_sender=100)
    )
    told = screen(make_caused(causes, compute_ms=(500,) * 4), 100)
    assert len([line for line in told.splitlines() if line.startswith("wave.f90:")]) == 4
    assert told.count("\n") <= 20 and "\n2. " in told and "\n3. " not in told


def test_what_has_no_letter_in_the_bar_has_no_word_beside_it(make_caused, call):
    causes = call("MPI_Waitall", 3, 200, (0, 1), late_sender=196, library=(1, 4))
    told = screen(make_caused(causes), 100)
    assert "s late sender 20 %" in told and "m MPI itself" not in told
    causes = call("MPI_Waitall", 3, 4, (0, 1), late_sender=3, library=1)
    told = screen(make_caused(causes, name="quiet"), 100)
    assert "s late sender 0.3 %" in told and "m MPI itself 0.1 %" in told


def test_copies_of_one_call_have_their_callers_beside_them(make_caused, call):
    run = make_caused(
        call("MPI_Allreduce", 1, 200, (0, 1), late_collective=190)
        + call("MPI_Allreduce", 2, 100, (0, 1), late_collective=90)
    )
    copies = tuple(
        replace(site, file="/x/dot.c", line=3, inlined_into=(f"solve (/x/cg.c:{site.id})",))
        for site in run.sites
    )
    text = screen(replace(run, sites=copies), 100)
    assert re.search(r"dot\.c:3 from cg\.c:1 +Allreduce", text)
    assert re.search(r"dot\.c:3 from cg\.c:2 +Allreduce", text)
    assert "dot.c:3 from cg.c:1 (MPI_Allreduce) and 1 more place" in " ".join(text.split())


def test_a_program_without_debug_information_says_how_to_get_lines(wave):
    """Once for several sites of one program, and not where each has its line."""
    bare = [replace(site, file=None, line=None, function=None) for site in wave.sites]
    told = screen(replace(wave, sites=tuple(bare)), 100)
    at, told_once = told.index("wave+0x30  "), "No source lines: wave without debug information"
    assert told.count(told_once) == 1 and told.index(told_once) > at
    mixed = [*wave.sites[:4], replace(bare[4], image="/x/libfft.so.3")]
    assert "libfft.so.3 without debug" in screen(replace(wave, sites=tuple(mixed)), 100)
    assert "debug information" not in screen(wave, 100)


def tables(run, width):
    stream = io.StringIO()
    for by in ("site", "rank", "operation", "size"):
        print_table(take_account(run), by, Console(width=width, highlight=False, file=stream))
    return stream.getvalue()


def bounds(run, width):
    stream = io.StringIO()
    print_bounds(diagnose(run), Console(width=width, highlight=False, file=stream))
    return stream.getvalue()


def test_in_a_pipe_no_line_is_longer_than_a_hundred_columns(wave, monkeypatch):
    """But for a command, which is copied whole."""
    monkeypatch.delenv("COLUMNS", raising=False)
    for words in (["show"], ["compare", str(wave.directory)]):
        done = CliRunner().invoke(cli, [*words, str(wave.directory)], catch_exceptions=False)
        told = [line for line in done.stdout.splitlines() if "imbrex " not in line]
        assert 90 < max(map(len, told)) <= 100


@pytest.mark.parametrize("width", [40, 80, 100, 120])
def test_no_screen_breaks_a_word(wave, width):
    """Every word stands as it does where there is room for all."""
    for show in (screen, tables):
        whole = set(show(wave, 400).split())
        told = [line for line in show(wave, width).splitlines() if "$ imbrex" not in line]
        bar = {token for line in told for token in line.split() if token.startswith("==")}
        # a list, on a narrow screen, has commas behind its entries
        words = {token for line in told for token in line.split()} - bar
        assert {token.rstrip(",:") for token in words} <= {token.rstrip(",:") for token in whole}
        assert max(map(len, told)) <= width


@pytest.mark.parametrize("width", [60, 73, 80, 100])
def test_no_screen_parts_a_number_from_its_unit(wave, width):
    """Neither in a paragraph nor in a cell of a table."""
    units = ("%", "s", "ms", "us", "ns", "B", "KiB", "MiB", "GiB")
    for text in (screen(wave, width), tables(wave, width), bounds(wave, width)):
        for line in text.splitlines():
            words = line.replace("(", " ").split()
            assert not words or words[0].rstrip(",.;:)") not in units, line
            assert "\ue000" not in line


def test_who_is_waited_for_is_in_the_table_of_ranks(wave):
    """The three others waited 190 to 200 ms each for rank 3."""
    (line,) = [line for line in tables(wave, 100).splitlines() if line.startswith("3 ")]
    assert "570 to 600 ms" in line


def test_the_page_begins_with_the_same(wave):
    page = render(wave)
    assert f"<h1>{KNOWN.split(chr(10))[0]} Overlap could gain at most 7 %.</h1>" in page
    assert page.index("</h1>") < page.index('class="bar"') < page.index("What to do next")
    assert "late_sender" in page and "width: 18.000%" in page


def test_a_crashed_run_says_so_below_what_is_known(wave):
    ranks = np.array(wave.ranks)
    ranks["ended"][2] = 3
    text = screen(replace(wave, ranks=ranks), 100)
    assert "- rank 2 died (a signal, _exit, or killed)" in text
    assert text.startswith("MPI 34 %: 18 % late sender (rank 3)")


@pytest.mark.parametrize("ended", [1, 2, 3])
def test_however_it_ended_the_verdict_has_its_length(wave, ended):
    """Also with much that weakens its numbers: the rest is for show."""
    ranks = np.array(wave.ranks)
    ranks["ended"][1:3] = ended
    ranks["dropped"] = ranks["section_errors"] = 5
    text = screen(replace(wave, ranks=ranks), 100)
    assert text.count("\n") <= 20
    assert "What weakens these numbers:" in text and "\n1. " in text
    assert " more: imbrex show RUN --bounds" in text
    assert "- ranks 1, 2 " in text.partition("What weakens")[2]


def test_where_much_is_to_be_said_findings_give_way(wave):
    """A first sentence of three lines, and weaknesses of two each: what the run met with stays."""
    much = replace(diagnose(wave), sentence="why it " * 40, weaknesses=("what else " * 18,) * 3)
    stream = io.StringIO()
    print_verdict(much, Console(width=100, highlight=False, file=stream))
    text = stream.getvalue().replace(str(wave.directory), "RUN")
    assert text.count("\n") <= 20
    assert text.count("\n- what else") == 2
    assert "\n- 1 more: imbrex show RUN --bounds\n" in text
    assert "\n1. " not in text


@pytest.mark.parametrize("crowded", [None, "other processes kept 1.5 of 2 cores busy"])
@pytest.mark.parametrize("died", [False, True])
@pytest.mark.parametrize("script", [(), ("./job.sh started 2 ranks by a launcher line",)])
def test_what_to_do_goes_before_what_the_machine_profile_did(wave, crowded, died, script):
    """All that the run met with stays, the first two of it; what a calibration mends gives way."""
    ranks = np.array(wave.ranks)
    ranks["ended"][2] = 3 * died
    ranks["dropped"] = ranks["section_errors"] = 1
    busy = f"the machine was busy{' and busy' * 20}; `imbrex calibrate` again"
    job = replace(wave.job, crowded=crowded, warnings=(busy, *script))
    found = diagnose(replace(wave, ranks=ranks, job=job))
    met = found.weaknesses[: died + (crowded is not None) + len(script)]
    assert found.weaknesses[len(met)] == busy
    seen = set()
    for words in range(1, 40):
        much = replace(found, sentence="why it " * words)
        stream = io.StringIO()
        print_verdict(much, Console(width=100, highlight=False, file=stream))
        shown = stream.getvalue().partition("What weakens these numbers:")
        assert all(line[:20] in shown[2] for line in met[:2])
        seen.add(("\n1. " in shown[0], shown[2].count("\n- ") - 1))
    assert ((True, 1) in seen) == (len(met) < 2) and (False, 1) not in seen


def test_other_load_is_not_told_again_below_a_sentence_that_says_it(wave):
    crowded = "other processes kept 1.5 of 2 cores busy"
    found = diagnose(replace(wave, job=replace(wave.job, crowded=crowded)))
    line = next(line for line in found.weaknesses if crowded in line)
    assert line in found.further_weaknesses
    said = replace(found, sentence="MPI 34 %. Other processes kept 1.5 of 2 cores busy: so.")
    assert said.further_weaknesses == [each for each in found.weaknesses if each != line]
    assert line in said.weaknesses  # `show --bounds` and JSON have it in any case


def test_sites_have_the_room_that_findings_leave(make_caused, call):
    """Where not one finding fits, the table of sites is not cut to one line for that."""
    run = make_caused(
        call("MPI_Recv", 4, 300, late_sender=300) + call("MPI_Waitall", 3, 200, stalled=200)
    )
    found = diagnose(run)
    much = replace(found, sentence="why it " * 14, weaknesses=("what else " * 18,) * 2)
    long = replace(found.findings[0], text="what to do " * 60)
    stream = io.StringIO()
    print_verdict(replace(much, findings=(long,)), Console(width=100, file=stream))
    assert "\n1. " not in stream.getvalue() and stream.getvalue().count("\n") <= 20
    assert "Recv " in stream.getvalue() and "Waitall " in stream.getvalue()


def test_an_opened_site_does_not_print_the_line_that_opened_it(make_caused, call):
    """A wait for one-sided data has no other remedy; an opened site shows the advice alone."""
    run = make_caused(
        call("MPI_Win_flush", 3, 200, transfer=(0, 200), stalled=(0, 200), gainable=200)
    )
    (found,) = [f for f in diagnose(run).findings if " --site " in f.command]
    out = io.StringIO()
    print_site(diagnose(run), "wave.f90:46", Console(file=out, width=100))
    assert found.text[:40] in out.getvalue()
    assert "$ imbrex" not in out.getvalue()
