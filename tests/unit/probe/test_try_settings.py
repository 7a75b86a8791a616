"""Settings tried one by one, against probes of known rows: none refused or interrupted is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.network.assemble import assemble
from imbrex.network.columns import Measurement, read_columns
from imbrex.probe import try_settings
from imbrex.probe.answer import Answer, answer
from imbrex.probe.knobs import Tried, knobs_for

THREAD, EAGER = "OMPI_MCA_btl_tcp_progress_thread", "OMPI_MCA_btl_tcp_eager_limit"
TCP = ("--mca", "btl", "tcp,self")


@dataclass(frozen=True)
class Line:
    """What of a launcher line is needed here."""

    launcher_words: tuple[str, ...]

    def with_program(self, argv: Sequence[str]) -> list[str]:
        return [*self.launcher_words, *argv]


def rows(transfer_ns: int) -> Measurement:
    """A message of 1 KiB that never waits for its receiver."""
    x = f"exchange intra-node 0 1 isend-recv 1024 registers 0 0 2000000 -1 10 0 10 2000000 2000010 \
1000000 {1000000 + transfer_ns} 1000000 {1000000 + transfer_ns} 0 0"
    ping = f"pingpong intra-node 0 1 1024 warm 9 {transfer_ns} 1 1 {transfer_ns}"
    head = ["# imbrex-probes 1", "# library Open MPI v4.1.4, x", "# ranks 2", "# host 0 0 a"]
    return read_columns([*head, ping, *[x] * 5, "# done delay", "# end"])


@pytest.fixture
def found() -> Answer:
    m = rows(1000)
    return answer(m, assemble(m, {"OMPI_MCA_btl": "tcp,self"}, True), ["delay"])


def tried(
    monkeypatch: pytest.MonkeyPatch,
    found: Answer,
    bad: Mapping[str, BaseException],
    words: tuple[str, ...] = TCP,
) -> tuple[list[str], list[str]]:
    """Variables of the settings that gave a result, and the notes; `bad` variables raise."""

    def fake(command: Sequence[str], environment: Mapping[str, str], *_: object) -> Measurement:
        assert "--quick" in command
        assert command[command.index("--max-bytes") + 1] == "16384"
        for name, error in bad.items():
            if name in environment:
                raise error
        return rows(2000 if THREAD in environment else 1000)

    monkeypatch.setattr(try_settings, "run_probes", fake)
    line = Line(("mpirun.openmpi", *words))
    results, notes = try_settings.try_settings_of(line, Path("p"), found, 5, 16384)  # type: ignore[arg-type]
    return list(dict.fromkeys(next(iter(t.knob.variables)) for t in results)), notes


def test_every_setting_is_tried(monkeypatch: pytest.MonkeyPatch, found: Answer) -> None:
    names, notes = tried(monkeypatch, found, {})
    assert names == [THREAD, EAGER] and notes == []


def test_a_refused_setting_does_not_lose_the_others(
    monkeypatch: pytest.MonkeyPatch, found: Answer
) -> None:
    names, notes = tried(monkeypatch, found, {THREAD: ImbrexError("ended with code 1")})
    assert names == [EAGER]
    assert notes == [f"{THREAD}: ended with code 1"]


def test_an_interrupt_keeps_what_was_tried(monkeypatch: pytest.MonkeyPatch, found: Answer) -> None:
    names, notes = tried(monkeypatch, found, {EAGER: KeyboardInterrupt()})
    assert names == [THREAD]
    assert len(notes) == 1 and "interrupted" in notes[0] and EAGER in notes[0]


def test_what_the_launcher_line_sets_is_not_tried(
    monkeypatch: pytest.MonkeyPatch, found: Answer
) -> None:
    """The line would win over the environment: before and after would be the same."""
    words = (*TCP, "--mca", "btl_tcp_progress_thread", "0")
    names, _ = tried(monkeypatch, found, {}, words)
    assert names == [EAGER]


def test_no_setting_is_said(monkeypatch: pytest.MonkeyPatch, found: Answer) -> None:
    words = (*TCP, "--mca", "btl_tcp_progress_thread", "0", "--mca", "btl_tcp_eager_limit", "1")
    names, notes = tried(monkeypatch, found, {}, words)
    assert names == []
    assert notes[0] == "no setting is known to change overlap of Open MPI as it is set"
    assert all(note.endswith("is set by you") for note in notes[1:])


def test_what_the_user_exports_is_not_tried(monkeypatch: pytest.MonkeyPatch, found: Answer) -> None:
    monkeypatch.setenv("OMPI_MCA_btl_tcp_progress_thread", "0")
    names, notes = tried(monkeypatch, found, {})
    assert names == [EAGER]
    own = "OMPI_MCA_btl_tcp_progress_thread=0 is set by you"
    assert notes == [f"OMPI_MCA_btl_tcp_progress_thread=1: not tried: {own}"]


@pytest.mark.parametrize(
    ("transports", "known"), [("tcp,self", False), ("rc,tcp", True), ("", True), ("^rc", True)]
)
def test_reading_the_other_side_needs_a_transport_that_can(transports: str, known: bool) -> None:
    found = knobs_for("MPICH", {"UCX_TLS": transports}, ("inter-node",))
    assert ("UCX_RNDV_SCHEME=get_zcopy" in [knob.label for knob in found]) is known


def test_the_progress_thread_is_tried_like_any_setting(
    monkeypatch: pytest.MonkeyPatch, found: Answer
) -> None:
    seen = []

    def fake(command: Sequence[str], environment: Mapping[str, str], *_: object) -> Measurement:
        if "IMBREX_PROGRESS" in environment:
            seen.append((list(command[:5]), environment["IMBREX_PROGRESS"]))
            assert "IMBREX_DIR" not in environment
            return rows(3000)
        return rows(1000)

    monkeypatch.setattr(try_settings, "run_probes", fake)
    monkeypatch.delenv("IMBREX_PROGRESS", raising=False)
    monkeypatch.setenv("IMBREX_DIR", "here")
    line = Line(("mpirun.openmpi", *TCP))
    script = Path("/opt/imbrex/bin/imbrex-exec")

    def tried_with(script: Callable[[], Path]) -> tuple[list[Tried], list[str]]:
        return try_settings.try_settings_of(line, Path("p"), found, 5, 16384, script)  # type: ignore[arg-type]

    results, notes = tried_with(lambda: script)
    assert notes == []
    start = ["mpirun.openmpi", *TCP, str(script)]
    assert seen == [([*start, "--progress"][:5], "on")]
    last = results[-1]
    assert last.knob.export == "mpirun ... imbrex-exec --progress ./app"
    assert last.to_json()["export"] == last.knob.export
    assert last.latency_before_s != last.latency_after_s

    def missing() -> Path:
        raise ImbrexError("cmake is needed")

    results, notes = tried_with(missing)
    assert [t.knob.prefix for t in results] == [()] * len(results) != []
    assert notes == ["IMBREX_PROGRESS: cmake is needed"]
    monkeypatch.setenv("IMBREX_PROGRESS", "off")
    assert all(not t.knob.prefix for t in tried_with(lambda: script)[0])
