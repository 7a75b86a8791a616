"""Whether a message needs a progress thread, asked before it begins."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.unit.driver import ADDRESS

HERE = Path(__file__).parent
TABLES = (
    "",
    # between nodes small messages move by themselves and large ones do not; within one none does
    "imbrex-table 1\npath inter-node\n"
    "point 1 1000 9000 100 100\npoint 1048576 900000 1200000 100 100\n"
    "class 1 1 0 1000 900 1000 900 1000 900 1000\nclass 65536 0 0 10 0 900 0 900 900 1000\n"
    "path intra-node\npoint 1 100 25000 100 100\nclass 1 0 0 10 0 500 0 500 900 1000\nend\n",
    # the other way round, and nothing is known of intra-node
    "imbrex-table 1\npath inter-node\npoint 1 1000 30000 100 100\n"
    "class 1 0 0 10 0 900 0 900 900 1000\nclass 4096 1 900 1000 900 1000 900 1000 900 1000\nend\n",
)


def test_it_is_the_answer_that_the_call_would_get(
    link_engine: Callable[..., None], tmp_path: Path
) -> None:
    binary = tmp_path / "message_need"
    link_engine(binary, [HERE / "message_need.c"], ADDRESS)
    done = subprocess.run([str(binary), *TABLES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    needing, not_needing = map(int, done.stdout.split())
    assert needing > 100 and not_needing > 100
