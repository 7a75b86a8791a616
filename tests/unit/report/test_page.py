"""The page of a run in a browser: every part of it, as a user of mouse or keyboard meets it."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import image
from tests.unit.report.synthetic import FATES, PERIOD, overview_rows, write_run

from imbrex.diagnosis.message_fates import FATE_WORDS, Reason, explain, fates
from imbrex.profile.call_paths import CALL_PATHS_DTYPE
from imbrex.profile.run import load_run
from imbrex.profile.timeline.timeline import load_timeline
from imbrex.report.html import write_report

pytest.importorskip("selenium", reason="no selenium to open pages with")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow

SOURCE = "\n".join(
    [*("// line" for _ in range(3)), "MPI_Irecv(<&b>)", "MPI_Isend()", "MPI_Waitall()", "}"]
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory):
    """Write the page of a synthetic run; the run and the file. The same one is written once."""
    made = {}

    def make(**options):
        key = json.dumps(options)
        if key not in made:
            folder = tmp_path_factory.mktemp("page")
            source = folder / "ring.c"
            source.write_text(SOURCE)
            run = load_run(write_run(folder / "run", source=source, **options))
            write_report(run, folder / "report.html")
            made[key] = run, folder / "report.html"
        return made[key]

    return make


def picture(browser, element) -> np.ndarray:
    """What an element looks like, shape (rows, columns, 3), 0 to 255."""
    data = base64.b64decode(element.screenshot_as_base64)
    return np.round(255 * image.imread(io.BytesIO(data))[:, :, :3]).astype(int)


def colour(browser, name: str) -> list[int]:
    """A colour of the page by its name there."""
    text = browser.execute_script(
        "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])",
        f"--{name}",
    ).strip()
    return [int(text[at : at + 2], 16) for at in (1, 3, 5)]


def has_colour(pixels: np.ndarray, wanted: list[int], least: int = 20) -> bool:
    return int((abs(pixels - wanted).max(axis=2) <= 3).sum()) >= least


def test_the_first_screen_answers(page, opened):
    run, file = page()
    browser = opened(file)
    assert browser.find_element(By.TAG_NAME, "h1").text.startswith("MPI ")
    bar = picture(browser, browser.find_element(By.CSS_SELECTOR, "header .bar"))
    for name in ("compute", "late_sender", "stalled"):
        assert has_colour(bar, colour(browser, name)), name
    told = browser.find_elements(By.CSS_SELECTOR, "ol.findings li")
    assert 2 <= len(told) <= 3
    commands = [li.find_element(By.TAG_NAME, "code").text for li in told]
    assert all(command.startswith("imbrex ") for command in commands)
    assert told[-1].location["y"] < 900
    assert "balance" in browser.find_element(By.CSS_SELECTOR, ".pop").text
    assert len(run.ranks) == 2


def test_a_command_is_copied(page, opened):
    _, file = page()
    browser = opened(file)
    button = browser.find_element(By.CSS_SELECTOR, ".copy button")
    button.click()
    WebDriverWait(browser, 10, 0.05).until(lambda _: button.text == "copied")


def test_tables_sort_and_keep_what_is_open_below_a_row(page, opened):
    _, file = page()
    browser = opened(file)
    browser.find_elements(By.CSS_SELECTOR, "#sites .disclose")[1].click()
    wrong = browser.execute_script("""
        const wrong = [];
        document.querySelectorAll("table.sortable").forEach((table, number) => {
          const rows = () => Array.from(table.tBodies[0].rows)
            .filter(row => !row.classList.contains("card"));
          const compare = (a, b) => isNaN(+a) || isNaN(+b) ? a.localeCompare(b) : a - b;
          const ordered = (values, sign) => values.every(
            (value, at) => at === 0 || sign * compare(values[at - 1], value) <= 0);
          table.querySelectorAll("th button").forEach((button, at) => {
            for (const sign of [-1, 1]) {
              button.click();
              const values = rows().map(row => row.cells[at].dataset.order);
              if (!ordered(values, sign)) wrong.push(number + button.textContent + values);
              const said = button.parentNode.getAttribute("aria-sort");
              if (said !== (sign > 0 ? "ascending" : "descending")) wrong.push(said);
            }
          });
          rows().forEach(row => {
            const button = row.querySelector(".disclose"), next = row.nextElementSibling;
            if (button && next.id !== button.getAttribute("aria-controls")) wrong.push(next.id);
          });
        });
        return wrong;""")
    assert wrong == []
    cards = browser.find_elements(By.CSS_SELECTOR, "tr.card")
    assert sum(card.is_displayed() for card in cards) == 1


def test_a_site_opens_by_keyboard_to_its_source(page, opened):
    _, file = page()
    browser = opened(file)
    button = browser.find_element(By.CSS_SELECTOR, "#sites .disclose")
    assert "ring.c:6" in button.text
    browser.execute_script("arguments[0].focus()", button)
    button.send_keys(Keys.ENTER)
    card = browser.find_element(By.ID, button.get_attribute("aria-controls"))
    assert card.is_displayed() and button.get_attribute("aria-expanded") == "true"
    assert card.find_element(By.CSS_SELECTOR, ".source .here").text == "6MPI_Waitall()"
    assert "MPI_Irecv(<&b>)" in card.text
    for words in ("late sender", "stalled", "window", "the network needs 100 to 200 us"):
        assert words in card.text
    jump = card.find_element(By.CSS_SELECTOR, "[data-jump]")
    jump.click()
    assert browser.execute_script("return document.activeElement.tagName") == "CANVAS"


def test_an_opened_site_shows_through_which_callers_it_was_reached(tmp_path, opened):
    source = tmp_path / "ring.c"
    source.write_text(SOURCE + " // a long line" * 12)
    folder = write_run(tmp_path / "run", source=source)
    sites = json.loads((folder / "sites.json").read_text())
    sites["frames"] = [
        {"id": n, "image": "/x/ring", "file": f"/x/{name}.c", "line": 10 + n, "function": name}
        for n, name in enumerate(("pressure", "<i>velocity", "main"), 1)
    ]
    (folder / "sites.json").write_text(json.dumps(sites))
    paths = [(0, 9, (1, 3)), (1, 3, (2, 3)), (2, 2, (1, 3))]
    rows = [
        (rank, 3, 0, level, frame, samples)
        for rank, samples, frames in paths
        for level, frame in enumerate(frames)
    ]
    np.save(folder / "call_paths.npy", np.array(rows, CALL_PATHS_DTYPE))
    write_report(load_run(folder), tmp_path / "report.html")
    browser = opened(tmp_path / "report.html", width=420)
    button = browser.find_element(By.CSS_SELECTOR, "#sites .disclose")
    browser.execute_script("arguments[0].click()", button)
    card = browser.find_element(By.ID, button.get_attribute("aria-controls"))
    assert card.find_element(By.CSS_SELECTOR, ".callers").text.splitlines() == [
        "Called from (shares of 14 samples of the stack, not of the time):",
        "79 % main (main.c:13) > pressure (pressure.c:11) > exchange (ring.c:6)",
        "21 % main (main.c:13) > <i>velocity (<i>velocity.c:12) > exchange (ring.c:6)",
    ]
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= 420
    # nor has the table to be moved sideways: long lines of source move alone
    wide, room = browser.execute_script(
        "const e = document.querySelector('#sites .scroll'); return [e.scrollWidth, e.clientWidth]"
    )
    assert wide <= room


def test_the_time_line_shows_messages_of_every_fate(page, opened):
    _, file = page(ranks=4)
    browser = opened(file)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    canvas.send_keys(Keys.END)
    pixels = picture(browser, canvas)
    for name in ("late_sender", "transfer", "stalled", "hidden", "exposed", "late"):
        assert has_colour(pixels, colour(browser, name)), name
    late = browser.find_element(By.CSS_SELECTOR, "[data-fate='0']")
    assert late.text == "hidden"
    late.click()
    assert late.get_attribute("aria-pressed") == "false"
    assert not has_colour(picture(browser, canvas), colour(browser, "hidden"), 60)


def test_zoom_pan_and_back(page, opened):
    _, file = page()
    browser = opened(file)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    view = lambda: browser.execute_script("return imbrexTimeline.view()")  # noqa: E731
    first, last = view()
    canvas.send_keys("+")
    near = view()
    assert near[1] - near[0] == pytest.approx(0.6 * (last - first))
    assert sum(near) == pytest.approx(first + last)
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert view()[0] == pytest.approx(near[0] + 0.2 * (near[1] - near[0]))
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    before = view()
    ActionChains(browser).move_to_element(canvas).click_and_hold().move_by_offset(
        100, 0
    ).release().perform()
    assert view()[0] < before[0]
    ActionChains(browser).double_click(canvas).perform()
    assert view()[1] - view()[0] < before[1] - before[0]
    canvas.send_keys(Keys.HOME)
    assert view() == [first, last]
    canvas.send_keys(Keys.END)
    assert view()[0] == 0


def test_a_clicked_message_says_in_words_why_it_was_not_hidden(page, opened):
    run, file = page()
    timeline = load_timeline(run)
    assert timeline is not None
    found = fates(timeline)
    names = {
        row: f"{run.operation(call['operation'])} at {run.site(call['site']).label}"
        for row, call in enumerate(timeline.calls)
    }
    browser = opened(file)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    canvas.send_keys(Keys.END)
    texts = set()
    for number in range(4):
        ends = browser.execute_script(f"return imbrexTimeline.ends({number})")
        width, height = canvas.size["width"], canvas.size["height"]
        x, y = (ends[0] + 3 * ends[2]) / 4, (ends[1] + 3 * ends[3]) / 4
        ActionChains(browser).move_to_element_with_offset(
            canvas, round(x - width / 2), round(y - height / 2)
        ).click().perform()
        assert browser.execute_script("return imbrexTimeline.chosen()") == number
        said = browser.find_element(By.ID, "why").text
        assert explain(timeline, found, number, names) in said
        assert FATE_WORDS[found.fate[number]] in said.splitlines()[0]
        texts.add(said)
    assert len(texts) == 4
    assert [Reason(r) for r in found.reason[:4]] == [
        Reason.HIDDEN,
        Reason.LATE_SENDER,
        Reason.LOST_OVERLAP,
        Reason.NO_WINDOW,
    ]
    canvas.send_keys(Keys.ESCAPE)
    canvas.send_keys("n")
    assert browser.execute_script("return imbrexTimeline.chosen()") == 0
    assert browser.find_element(By.ID, "why").get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("kept", ["by the runtime", "in logs"])
def test_zoomed_out_it_shows_the_whole_run_and_zoomed_in_single_calls(tmp_path, opened, kept):
    """The last quarter of the run differs: there all ranks wait for a late sender all the time."""
    ranks, iterations = 4, 6000
    changes = {"timeline": {"begin_s": 2.95, "end_s": 3.05}} if kept == "by the runtime" else {}
    run = load_run(write_run(tmp_path / "run", ranks=ranks, iterations=iterations, **changes))
    if kept == "by the runtime":
        calls = np.load(run.directory / "timeline.npy")
        middle = abs(calls["enter_ns"] - iterations * PERIOD * 500) < 50 * PERIOD * 1000
        np.save(run.directory / "timeline.npy", calls[middle])
        rows = overview_rows(ranks, iterations, 400).reshape(ranks, 400)
        for name in rows.dtype.names[5:]:
            rows[name][:, 300:] = 0
        for name in ("call_ns", "late_sender_ns"):
            rows[name][:, 300:] = rows["length_ns"][:, 300:]
        np.save(run.directory / "overview.npy", rows.reshape(-1))
    file = tmp_path / "report.html"
    write_report(run, file)
    assert file.stat().st_size <= 2 << 20
    browser = opened(file)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    tool = lambda name: browser.execute_script(f"return imbrexTimeline.{name}")  # noqa: E731
    assert tool("single()")
    canvas.send_keys(Keys.END)
    first, last = tool("view()")
    length = (
        (last - first)
        * 1e-9
        * json.loads(browser.find_element(By.ID, "timeline-data").get_attribute("textContent"))[
            "unit_ns"
        ]
    )
    assert length == pytest.approx(iterations * PERIOD * 1e-6, rel=0.01)
    # in logs there are 16,000 calls of the 72,000: wide enough to be seen
    assert tool("single()") == (kept == "in logs")
    late, pixels = colour(browser, "late_sender"), picture(browser, canvas)
    quarter = pixels[30:, -round(0.2 * pixels.shape[1]) : -5]
    if kept == "by the runtime":
        assert (abs(quarter - late).max(axis=2) <= 3).sum() > 0.3 * quarter[:, :, 0].size
    assert "the whole run" in browser.find_element(By.ID, "timeline").text
    ActionChains(browser).move_to_element_with_offset(
        canvas, canvas.size["width"] // 2 - 40, -canvas.size["height"] // 2 + 40
    ).perform()
    tip = browser.find_element(By.ID, "tip").get_attribute("textContent")
    assert tip.startswith("rank 0, ") and "late sender" in tip
    canvas.send_keys(Keys.HOME)
    assert tool("single()")
    assert has_colour(picture(browser, canvas), colour(browser, "stalled"))


def test_pointing_at_a_call_tells_of_it(page, opened):
    _, file = page()
    browser = opened(file)
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    # the last quarter of the typical wait, below the line of its message
    ActionChains(browser).move_to_element_with_offset(canvas, 0, -30).perform()
    tip = browser.find_element(By.ID, "tip")
    texts = set()
    for x in range(-300, 300, 40):
        ActionChains(browser).move_to_element_with_offset(canvas, x, -24).perform()
        texts.add(tip.get_attribute("textContent"))
    assert any("MPI_Waitall at ring.c:6" in text and "rank" in text for text in texts), texts


@pytest.mark.parametrize("ranks", [1, 2, 64, 1000])
def test_any_number_of_ranks(page, opened, ranks):
    _, file = page(ranks=ranks, iterations=8)
    assert file.stat().st_size <= 2 << 20
    browser = opened(file)
    assert bool(browser.find_elements(By.CSS_SELECTOR, "#ranks svg")) == (ranks > 1)
    if ranks == 1000:
        assert "256 of 1,000 ranks are drawn" in browser.find_element(By.ID, "timeline").text
        assert "mean of 2 neighbours" in browser.find_element(By.ID, "ranks").text
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    canvas.send_keys(Keys.END, "-", "+", Keys.ARROW_DOWN, "n")
    assert browser.execute_script("return imbrexTimeline.chosen()") >= 0 or ranks == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(page, opened, scheme):
    _, file = page()
    browser = opened(file, scheme=scheme)
    pixels = picture(browser, browser.find_element(By.TAG_NAME, "canvas"))
    assert (pixels[-3, -3].mean() > 200) == (scheme == "light")
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    assert (int(ink.split("(")[1].split(",")[0]) < 100) == (scheme == "light")


def test_a_narrow_screen_is_not_wider_than_it_is(page, opened):
    long = "a_very_long_name_" * 15
    _, file = page(command=["mpirun", "-n", "2", f"./{long}", long], hosts=[long])
    browser = opened(file, width=420)
    browser.find_element(By.CSS_SELECTOR, ".disclose").click()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 420
    browser = opened(file, width=1280)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 1280


def test_it_prints(page, opened):
    _, file = page()
    browser = opened(file, media="print")
    assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
    opened(file)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")


def test_names_cannot_inject_markup(page, opened):
    evil = "</script><script>window.injected=1</script>"
    evil += "<img src=x onerror='window.injected=1'>\x1b\u2028"
    sites = [
        {"id": 0},
        *(
            {"id": n, "image": evil, "offset": "0x10", "file": f"/x/{evil}{n}.c", "line": 3}
            | {"function": evil, "source_line": 3, "source": [evil], "inlined_into": [evil]}
            for n in range(1, 4)
        ),
    ]
    _, file = page(sites=sites, command=[evil], hosts=[evil], operations=[evil] * 3,
                   warnings=[evil], sections=["", evil])  # fmt: skip
    browser = opened(file)
    for button in browser.find_elements(By.CSS_SELECTOR, ".disclose"):
        button.click()
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    canvas.send_keys("n")
    assert "<img" in browser.find_element(By.ID, "why").text
    assert browser.execute_script("return window.injected") is None
    assert not browser.find_elements(By.CSS_SELECTOR, "img[src=x]")


def test_a_screen_reader_finds_names(page, opened):
    _, file = page()
    browser = opened(file)
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {}
    for node in nodes:
        if not node.get("ignored"):
            name = node.get("name", {}).get("value", "")
            roles.setdefault(node["role"]["value"], []).append(name)
    assert all(roles["button"]) and all(roles["link"])
    assert any("Time line: ranks as rows" in name for name in roles["image"])
    assert any(name.startswith("The whole run: compute") for name in roles["image"])
    assert len(roles["heading"]) >= 5
    links = browser.find_elements(By.CSS_SELECTOR, "nav a")
    assert all(
        browser.find_elements(By.ID, link.get_attribute("href").partition("#")[2]) for link in links
    )


def test_what_a_run_lacks_is_said(make_run, tmp_path, opened):
    """Without a log, of an older Imbrex, and of ranks that died."""
    run = load_run(make_run())
    file = tmp_path / "report.html"
    write_report(run, file)
    assert "no call log" in opened(file).find_element(By.ID, "timeline").text
    log = {"log": {"budget_bytes": 1 << 20, "logged_share": 1.0}}
    write_report(load_run(make_run("older", **log)), file)
    assert "older Imbrex" in opened(file).find_element(By.ID, "timeline").text
    ranks = np.array(run.ranks)
    ranks["ended"] = [0, 3]
    write_report(replace(run, ranks=ranks), file)
    assert "rank 1 died" in opened(file).find_element(By.ID, "weak").text


def test_ten_thousand_ranks_open(tmp_path, opened):
    run = load_run(write_run(tmp_path / "run", ranks=10_000, iterations=4))
    file = tmp_path / "report.html"
    write_report(run, file)
    assert file.stat().st_size <= 4 << 20
    browser = opened(file)
    assert "256 of 10,000 ranks" in browser.find_element(By.ID, "timeline").text


def test_a_damaged_time_line_costs_the_time_line_only(tmp_path, opened):
    folder = write_run(tmp_path / "run")
    (folder / "timeline.npy").write_bytes(b"\x93NUMPY no")
    file = tmp_path / "report.html"
    write_report(load_run(folder), file)
    assert "damaged" in opened(file).find_element(By.ID, "timeline").text


def test_what_cannot_have_moved_in_the_call_alone_is_not_told_as_not_hidden(tmp_path):
    """The wait lasts 500 us; a transfer that needs 600 at least moved before it, too."""
    run = load_run(write_run(tmp_path / "run"))
    rows = np.load(run.directory / "timeline.npy")
    rows["x_lo_ns"], rows["x_hi_ns"] = np.where(rows["x_lo_ns"] > 0, [[600_000], [800_000]], 0)
    np.save(run.directory / "timeline.npy", rows)
    timeline = load_timeline(run)
    assert timeline is not None
    assert Reason.LOST_OVERLAP not in fates(timeline).reason.tolist()


def test_what_was_certainly_not_hidden_is_decided(tmp_path):
    """Though neither side was late, it did not stall, and there was time between begin and wait."""
    run = load_run(write_run(tmp_path / "run"))
    rows = np.load(run.directory / "timeline.npy")
    for name in ("stalled", "lost_overlap", "late_sender", "late_receiver"):
        rows[f"{name}_min_ns"] = 0
    is_transfer = rows["x_lo_ns"] > 0
    rows["exposed_min_ns"][is_transfer] = 10_000
    for most, reason in ((0, Reason.INSIDE_MPI), (190_000, Reason.OPEN)):
        rows["hidden_min_ns"], rows["hidden_max_ns"] = 0, np.where(is_transfer, most, 0)
        np.save(run.directory / "timeline.npy", rows)
        timeline = load_timeline(run)
        assert timeline is not None
        found = fates(timeline)
        assert reason in found.reason.tolist()
        assert ({Reason.INSIDE_MPI, Reason.OPEN} - {reason}).isdisjoint(found.reason.tolist())
        told = explain(timeline, found, found.reason.tolist().index(reason), Names())
        assert ("at most 0 s passed" in told) is (most == 0)


class Names(dict[int, str]):
    """Some name for each call."""

    def __missing__(self, row: int) -> str:
        return f"call {row}"


def test_the_synthetic_run_is_what_it_says(tmp_path):
    """Every fourth message has each fate, and the causes add up."""
    run = load_run(write_run(tmp_path / "run", ranks=3, iterations=8))
    timeline = load_timeline(run)
    assert timeline is not None
    found = [FATE_WORDS[f] for f in fates(timeline).fate]
    assert found == [FATES[k % 4] for k in range(8)] * 3
    assert json.loads((run.directory / "run.json").read_text())["ranks"] == 3
