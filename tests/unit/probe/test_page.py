"""The page of a probe: what its plots draw, from exchanges of a known truth."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.browser import chromium, opened

from imbrex.network.assemble import assemble
from imbrex.network.columns import read_columns
from imbrex.network.exchanges import read_exchanges, read_steps
from imbrex.probe.answer import answer
from imbrex.probe.curves import delay_curves, heat_cells, work_curves
from imbrex.probe.in_short import headline
from imbrex.probe.knobs import Tried, knobs_for
from imbrex.probe.page import render
from imbrex.probe.work_overlap import hidden_ns, transfer_range_ns, work_overlaps

pytestmark = pytest.mark.slow

__all__ = ["chromium", "opened"]

X = 100_000
"""A transfer's time, nanoseconds; above 64 KiB nothing moves during work."""


def rows() -> list[str]:
    """A probe whose messages of up to 64 KiB are eager and move at once."""
    found = ["# imbrex-probes 1", "# library Open MPI v4.1.4, x", "# ranks 2", "# host 0 0 <b>a"]
    where = "exchange intra-node 0 1"
    for size, eager in ((32768, True), (1 << 20, False)):
        found.append(f"pingpong intra-node 0 1 {size} warm 9 {X} {X} {X} {X}")
        for _ in range(5):
            done = 1_000_000 + (X if eager else 1_000_000 + X)
            found.append(
                f"{where} isend-recv {size} registers 0 0 2000000 -1 10 "
                f"0 10 2000000 {2_000_010 if eager else done} 1000000 {done} 1000000 {done} 0 0"
            )
            for work in (0, 1, 3):
                end = X if eager else X * (1 + work)
                found.append(
                    f"{where} grid-isend-recv {size} registers 0 0 {work * X} -1 10 0 0 {work * X} "
                    f"{max(work * X, end)} 0 {end} 0 {end} 0 0"
                )
    return [*found, "step intra-node 0 1 isend-recv 65480 65481", "# done delay", "# end"]


def test_delay_lies_on_the_line_of_its_truth() -> None:
    m = read_columns(rows())
    profile = assemble(m, {}, True)
    exchanges, steps = (read_exchanges(m.other["exchange"]), read_steps(m.other["step"]))
    (curve,) = delay_curves(exchanges, steps, profile, "intra-node")
    assert curve.sizes == (32768, 1 << 20)
    assert curve.step_bytes == 65480
    assert curve.times_ms[0][0] == pytest.approx(curve.overlap_ms[0])
    assert curve.times_ms[1][0] == pytest.approx(curve.none_ms[1])


def test_hidden_share_and_its_bounds() -> None:
    m = read_columns(rows())
    profile = assemble(m, {}, True)
    exchanges = read_exchanges(m.other["exchange"])
    overlaps = work_overlaps(exchanges, profile)
    curves = work_curves(overlaps, profile, "intra-node", [32768, 1 << 20])
    eager, late = curves
    assert eager.hidden == pytest.approx((0, 100, 100))
    assert late.hidden == pytest.approx((0, 0, 0))
    assert late.wait_us == pytest.approx((100, 100, 100))
    grid = [x for x in exchanges if x.label.startswith("grid-")]
    assert {hidden_ns(x, x.sender, X) for x in grid} == {0, X}
    for o in overlaps:
        assert o.outside == 0 and o.transfers == 5
        assert 0 <= o.overlap_min_s <= o.true_overlap_min_s + 1e-15
        assert o.true_overlap_max_s <= o.overlap_max_s + 1e-15
    cells = heat_cells(exchanges, "intra-node")["MPI_Isend/MPI_Recv"]
    shares = {(c.size_bytes, c.work_per_transfer): c.hidden for c in cells}
    assert shares[32768, 3.0] == pytest.approx(1)
    assert shares[1 << 20, 3.0] == pytest.approx(0)


def test_receivers_kept_away_do_not_make_transfers_short() -> None:
    """All come 0.8 X late, to data that has moved meanwhile: X is no 0.2 X for that."""
    late = []
    for line in rows():
        w = line.split()
        if w[0] == "exchange" and w[4] == "grid-isend-recv" and w[9] == "0":
            w[16:20] = [str(8 * X // 10), w[17], str(8 * X // 10), w[19]]
        late.append(" ".join(w))
    m = read_columns(late)
    exchanges = read_exchanges(m.other["exchange"])
    grid = [x for x in exchanges if x.label == "grid-isend-recv" and x.sender_work_ns == 0]
    assert {x.receiver.enter_ns for x in grid} == {8 * X // 10}
    assert transfer_range_ns(grid) == (X // 5, X)
    # All of a send's data have left when it is complete: the tightest bounds.
    profile = assemble(m, {}, True)
    path = profile.paths["intra-node"]
    points = tuple(replace(p, x_lo_s=p.x_hi_s, tail_s=0.0) for p in path.points)
    tight = replace(profile, paths={"intra-node": replace(path, points=points)})
    found = work_overlaps(exchanges, tight)
    assert max(o.overlap_min_s for o in found) > 0.9e-9 * X
    assert all(o.outside == 0 for o in found)


class Balance(HTMLParser):
    """Every element that is opened is closed, and nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(k in ("src", "href") and (v or "").startswith("http") for k, v in attrs)
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_browser_opens_it(tmp_path: Path, opened: Callable[..., Any]) -> None:
    m = read_columns(rows())
    (tmp_path / "page.html").write_text(render(answer(m, assemble(m, {}, True), []), m, []))
    browser = opened(tmp_path / "page.html")
    drawn = browser.find_elements("tag name", "svg")
    assert len(drawn) == 3 and all(svg.size["width"] > 300 for svg in drawn)


def test_page_is_whole_and_needs_nothing_else() -> None:
    m = read_columns(rows())
    found = answer(m, assemble(m, {}, True), ["delay", "moved"])
    text = render(found, m, [])
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert text.count("<svg") == 3
    assert "&lt;b&gt;a" in text and "<b>a" not in text
    assert "Missing</b>, because the time was over: moved." in text
    assert "<li>An MPI_Isend reaches its receiver while the sender computes up to" in text
    assert "65,480" in re.sub(r"<[^>]+>", "", text)


def test_page_begins_with_its_answer_and_leaves_out_what_does_not_change() -> None:
    m = read_columns(rows())
    found = answer(m, assemble(m, {}, True), ["delay", "moved"])
    text = render(found, m, [])
    assert headline(found) and f"<h1>{headline(found)}</h1>" in text
    # of 1 MiB nothing is hidden, whatever the work: no curve, but a sentence
    assert "0 % hidden, however much work there is" in text
    same = [line for line in rows() if " 32768 " not in line and not line.startswith("step")]
    m = read_columns(same)
    found = answer(m, assemble(m, {}, True), ["delay", "moved"])
    text = render(found, m, [])
    assert text.count("<svg") == 0
    assert "Synchronization overlap ends at none of the sizes" in text
    assert "0 % are hidden" in text


def test_bounds_that_miss_the_truth_are_counted() -> None:
    """Of a transfer of X with work of 3 X none is hidden; 3 X would leave 2 X for the work."""
    m = read_columns(rows())
    right = assemble(m, {}, True)
    path = right.paths["intra-node"]
    points = [replace(p, x_lo_s=3e-9 * X, x_hi_s=4e-9 * X, tail_s=0.0) for p in path.points]
    wrong = replace(right, paths={"intra-node": replace(path, points=tuple(points))})
    found = work_overlaps(read_exchanges(m.other["exchange"]), wrong)
    late = [o for o in found if o.size_bytes == 1 << 20]
    assert [o.outside for o in late] == [0, 0, 5]


def tried_settings() -> list[Tried]:
    """Two settings with two rows each."""
    times = (5e-6, 2e-5, 4e-4, None)
    return [
        Tried(knob, operation, "intra-node", 65480, None, "two-sided", "third-party", *times)
        for knob in knobs_for("Open MPI", {"OMPI_MCA_btl": "tcp"})[:2]
        for operation in ("MPI_Isend/MPI_Recv", "MPI_Send/MPI_Irecv")
    ]


def test_settings_are_told_once_with_their_rows() -> None:
    m = read_columns(rows())
    tried = tried_settings()
    text = render(answer(m, assemble(m, {}, True), ["delay"]), m, tried)
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    for export in {t.knob.export for t in tried}:
        assert text.count(f"<code>{export}</code>") == 1
    assert text.count("65,480 \u2192 all sizes") == 4
    assert text.count("two-sided \u2192 third-party") == 4
    assert "5.00 \u2192 20.00" in text and "400.00 \u2192 ?" in text


MEASURE = """<script>
var wrong = [], labels = 0;
document.querySelectorAll("svg").forEach(function (plot, number) {
  var frame = plot.getBoundingClientRect();
  if (frame.width < 300 || frame.height < 60) wrong.push("plot " + number + " is small");
  if (frame.right > window.innerWidth) wrong.push("plot " + number + " is too wide");
  plot.querySelectorAll("text").forEach(function (text) {
    var box = text.getBoundingClientRect(); labels += 1;
    if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
        box.top < frame.top - 1 || box.bottom > frame.bottom + 1) wrong.push(text.textContent);
  });
});
document.title = [document.querySelectorAll("svg").length, labels, wrong.join("; ")].join("|");
</script></body>"""


def test_plots_are_seen_whole_in_a_browser(tmp_path: Path) -> None:
    """No label of a plot is cut off, and none is wider than the window."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium to open the page with")
    m = read_columns(rows())
    page = tmp_path / "page.html"
    text = render(answer(m, assemble(m, {}, True), ["delay"]), m, tried_settings())
    page.write_text(text.replace("</body>", MEASURE))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    title = re.search(r"<title>(\d+)\|(\d+)\|(.*?)</title>", done.stdout)
    assert title is not None, done.stdout[:2000]
    assert title[1] == "4"
    assert int(title[2]) > 20
    assert title[3] == ""
