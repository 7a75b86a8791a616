"""Parameter files: programs, messages, collectives, networks (docs/reference/predict.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from imbrex.formats.toml import Table, TomlFile
from imbrex.model import keys
from imbrex.model.orders import apply_index, read_order
from imbrex.model.program import Collective, Printed, Program
from imbrex.network.interconnect import NETWORK, Interconnect, interconnects_from_tables
from imbrex.network.message import IndependentWork, Message


@dataclass(frozen=True)
class LatencyTable:
    """What `--table latency` prints: run times at these latencies and one bandwidth."""

    latencies_s: tuple[float, ...] = (1e-6, 2e-6, 4e-6, 8e-6)
    bandwidth_bytes_per_s: float = 5e9
    message_gap_s: float = 0.0
    digits: int = 2
    truncate: bool = False


@dataclass(frozen=True)
class Model:
    """A parameter file: programs, its own networks, its latency table."""

    name: str
    title: str
    programs: tuple[Program, ...]
    networks: tuple[Interconnect, ...]
    latency_table: LatencyTable
    element_figure: tuple[str, str] | None


class _PerProcess:
    """Numbers of one message that may be given once, or as a list with one entry per process.

    worst: counts are those of the process with the largest, times the mean over processes, as
    the paper takes them (section 3.1); mean: both are means.
    """

    def __init__(self, table: Table, process: str) -> None:
        self.table = table
        self.process = process
        self.length: int | None = None

    def _values(self, key: str) -> list[float] | None:
        value = self.table.raw(key)
        if value is None:
            return None
        items = value if isinstance(value, list) else [value]
        if isinstance(value, list):
            if not value:
                self.table.fail(key, f"'{key}' is an empty list")
            if self.length is not None and self.length != len(value):
                self.table.fail(
                    key, f"'{key}' has {len(value)} processes, another key has {self.length}"
                )
            self.length = len(value)
        return [self.table.check(key, item) for item in items]

    def count(self, key: str, default: int | None = None) -> int:
        values = self._values(key)
        if values is None:
            if default is None:
                self.table.fail(None, f"the message has no '{key}'")
            return default
        return int(max(values)) if self.process == "worst" else round(sum(values) / len(values))

    def time_s(self, stem: str) -> float:
        key = self.table.unit_key(stem)
        if key is None:
            return 0.0
        values = self._values(key) or [0.0]
        return sum(values) / len(values) * self.table.scale(key, stem)


def _loop_indexing_s(
    table: Table, per: _PerProcess, side: str, period_s: float, total: int, sent: int
) -> float:
    """Time stated, or with `SIDE_loop_indexing = true` period * N_inner (section 3.4)."""
    stem = f"{side}_loop_indexing"
    if not table.has(stem):
        return per.time_s(stem)
    timed = table.unit_key(stem)
    if timed is not None:
        table.fail(timed, f"'{stem}' and '{timed}' give the same value twice")
    if not table.flag(stem, False):
        return 0.0
    if period_s == 0:
        table.fail(stem, f"'{stem} = true' needs the period (t_{side}) to be given")
    return period_s * max(total - sent, 0)


def _inside(table: Table) -> tuple[float, float]:
    """Communication inside the window: (its local computation, what the times contain of it)."""
    computes = included = 0.0
    for call in table.tables("inside", keys.INSIDE):
        computes += call.quantity("computes", 0.0)
        included += call.quantity("included", 0.0)
        call.text("name", "communication")
        call.done()
    return computes, included


def _message(table: Table, process: str, pipelined: bool, delay: str, room: int) -> Message:
    name = table.text("name")
    pipelined = table.text("processing", "pipelined" if pipelined else "concurrent") == "pipelined"
    per = _PerProcess(table, process)
    sent = per.count("n_sent")
    if sent > room:
        table.fail(
            "n_sent",
            f"the messages of this file have more than {keys.MOST_ELEMENTS} elements together: "
            "take larger elements ('element_bytes')",
        )
    received = per.count("n_received", sent)
    if process != "worst" and received != sent:
        table.fail(
            "n_received", f"'n_received' is {received} but {sent} elements are sent ('n_sent')"
        )
    t_produce_s, t_consume_s = per.time_s("t_produce"), per.time_s("t_consume")
    n_produced, n_consumed = per.count("n_produced", sent), per.count("n_consumed", received)
    for key, total, needed in (
        ("n_produced", n_produced, sent),
        ("n_consumed", n_consumed, received),
    ):
        if total < needed and per.length is None and process != "worst":
            table.fail(key, f"'{key}' is {total}, less than the {needed} elements of the message")
    produce_indexing_s = _loop_indexing_s(table, per, "produce", t_produce_s, n_produced, sent)
    consume_indexing_s = _loop_indexing_s(table, per, "consume", t_consume_s, n_consumed, received)
    # With loop indexing the data that are sent are produced first (consumed last), and the time
    # of the others is independent work already: it must not count a second time as dependent.
    n_produced = min(n_produced, sent) if produce_indexing_s > 0 else n_produced
    n_consumed = min(n_consumed, received) if consume_indexing_s > 0 else n_consumed
    # Without a list nothing says where in the loop the sent elements lie: take the worst place.
    produced_at = read_order(table, "produce_order", sent, n_produced, max(n_produced - sent, 0))
    consumed_at = read_order(table, "consume_order", sent, n_consumed, 0)
    computes_s, included_s = _inside(table)
    independent = IndependentWork(
        after_produce_s=per.time_s("after_produce"),
        before_consume_s=per.time_s("before_consume"),
        loop_distribution_s=per.time_s("loop_distribution"),
        produce_loop_indexing_s=produce_indexing_s,
        consume_loop_indexing_s=consume_indexing_s,
        rearrangement_s=per.time_s("rearrangement"),
        inside_computes_s=computes_s,
        inside_included_s=included_s,
    )
    measured_s = independent.after_produce_s + independent.before_consume_s
    if included_s > measured_s:
        table.fail(
            "inside",
            f"the communication inside the window takes {included_s * 1e6:g} us of "
            f"'after_produce' and 'before_consume', which are {measured_s * 1e6:g} us together",
        )
    if pipelined and independent.total_s > 0:
        table.fail(
            None,
            f"the message '{name}' is pipelined but has independent work: "
            "a pipelined process waits for data that it uses at once "
            '(if this message is not, say processing = "concurrent")',
        )
    count = table.number("count", 1.0)
    overhead_s = table.quantity("overhead") if table.unit_key("overhead") else None
    message = Message(
        name=name,
        n_sent=sent,
        element_bytes=table.count("element_bytes", 8),
        count=count,
        t_produce_s=t_produce_s,
        t_consume_s=t_consume_s,
        n_produced=n_produced,
        n_consumed=n_consumed,
        produced_at=apply_index(table, "index_send", produced_at, sent),
        consumed_at=apply_index(table, "index_receive", consumed_at, sent),
        independent=independent,
        overlappable=table.flag("overlappable", True),
        pipelined=pipelined,
        delay=table.text("delay", delay),
        overhead_s=overhead_s,
    )
    table.done(name)
    return message


def _collective(table: Table) -> Collective:
    name = table.text("name", "collective")
    result = Collective(
        name=name,
        processes=table.count("processes"),
        count=table.number("count", 1.0),
    )
    table.done(name)
    return result


def _printed(table: Table) -> Printed:
    cell = Printed(
        latency_s=table.quantity("latency"),
        nonoverlap=table.number("nonoverlap") if table.has("nonoverlap") else None,
        overlap=table.number("overlap") if table.has("overlap") else None,
        reason=table.text("reason", "no reason is known"),
    )
    table.done()
    return cell


def _program(table: Table, process: str | None, room: int) -> Program:
    """One application; its messages may have `room` elements together."""
    name = table.text("name")
    computation_s = table.quantity("computation")
    stated = table.text("process", "worst")
    process = process or stated
    pipelined = table.text("processing", "concurrent") == "pipelined"
    mode = table.text("mode", "fine-grained" if pipelined else "independent")
    delay = table.text("delay", "element")
    messages: list[Message] = []
    for message_table in table.tables("message", keys.MESSAGE):
        message = _message(message_table, process, pipelined, delay, room)
        room -= message.n_sent
        if any(message.name == other.name for other in messages):
            message_table.fail("name", f"there are two messages of the name '{message.name}'")
        if message.independent.total_s > computation_s:
            message_table.fail(
                None,
                f"the independent work of '{message.name}' is "
                f"{message.independent.total_s * 1e6:g} us, more than the computation of "
                f"'{name}' ({computation_s * 1e6:g} us)",
            )
        messages.append(message)
    collectives = tuple(_collective(item) for item in table.tables("collective", keys.COLLECTIVE))
    if not messages and not collectives:
        table.fail(None, f"the application '{name}' has neither messages nor collectives")
    printed = tuple(_printed(item) for item in table.tables("printed", keys.PRINTED))
    table.text("note", "none")
    table.done(name)
    return Program(name, computation_s, tuple(messages), collectives, mode, process, printed)


def _latency_table(table: Table | None) -> LatencyTable:
    if table is None:
        return LatencyTable()
    if table.unit_key("bandwidth") is None:
        table.fail(None, "the latency table has no 'bandwidth_mb_per_s' or 'bandwidth_gb_per_s'")
    default = LatencyTable()
    latencies = table.numbers("latencies_us")
    result = LatencyTable(
        latencies_s=tuple(x * 1e-6 for x in latencies) if latencies else default.latencies_s,
        bandwidth_bytes_per_s=table.quantity("bandwidth"),
        message_gap_s=table.quantity("message_gap", 0.0),
        digits=table.count("digits", 2),
        truncate=table.text("rounding", "nearest") == "truncate",
    )
    table.done()
    return result


def model_from_toml(file: TomlFile, process: str | None = None) -> Model:
    """Check and read a parsed parameter file; `process` overrides what the file says."""
    root = file.table(keys.FILE)
    root.text("format", "imbrex-model")
    version = root.count("schema_version", 1)
    if version != 1:
        root.fail("schema_version", f"schema_version {version} is unknown; this reads 1")
    programs: list[Program] = []
    tables = root.tables("application", keys.APPLICATION)
    if not tables:
        root.fail(None, "there is no [[application]] in this file")
    for table in tables:
        taken = sum(m.n_sent for p in programs for m in p.messages)
        program = _program(table, process, keys.MOST_ELEMENTS - taken)
        if any(program.name == other.name for other in programs):
            table.fail("name", f"there are two applications of the name '{program.name}'")
        programs.append(program)
    networks = interconnects_from_tables(root.tables("network", NETWORK))
    latency_table = _latency_table(root.subtable("latency_table", keys.LATENCY_TABLE))
    element = root.subtable("element_figure", keys.ELEMENT_FIGURE)
    element_figure: tuple[str, str] | None = None
    if element is not None:
        element_figure = (element.text("application"), element.text("message"))
        named = [p for p in programs if p.name == element_figure[0]]
        if not named or all(m.name != element_figure[1] for m in named[0].messages):
            element.fail(
                None, f"there is no message '{element_figure[1]}' of '{element_figure[0]}'"
            )
        element.done()
    model = Model(
        name=file.name,
        title=root.text("title", Path(file.name).stem),
        programs=tuple(programs),
        networks=tuple(networks),
        latency_table=latency_table,
        element_figure=element_figure,
    )
    root.done()
    return model


def load_model(path: Path, process: str | None = None) -> Model:
    """Read a parameter file; ImbrexError names file, line and key of what is wrong."""
    return model_from_toml(TomlFile.read(path), process)
