"""The keys of a parameter file, as the reader checks and the page lists them."""

from __future__ import annotations

from imbrex.formats.toml import (
    BANDWIDTH_UNITS,
    LEAST_TIME_S,
    AnyOf,
    Key,
    Keys,
    Quantity,
)
from imbrex.formats.value_types import Choice, Flag, Number, Text, Whole
from imbrex.network.message import MODES

MOST_ELEMENTS = 10_000_000
"""Of a message; every element takes some hundred bytes of memory while it is assessed."""

_TIME = Quantity()
_COUNT = Number(1e-9, 1e12)
_TABLES = AnyOf("array of tables")
_ORDER = AnyOf("text or list of integer")
_PROCESSING = Choice(("concurrent", "pipelined"))
_DELAY = Choice(("message", "element"))

FILE = Keys(
    "the parameter file",
    (
        Key("format", Choice(("imbrex-model",)), "", "imbrex-model"),
        Key("schema_version", Whole(1, 1 << 31), "1", "1"),
        Key("title", Text(), "of tables and figures", "the file's name"),
        Key("application", _TABLES, "programs (below)"),
        Key("network", _TABLES, "the file's own networks (below)", "none"),
        Key("latency_table", AnyOf("table"), "what `--table latency` prints (below)"),
        Key("element_figure", AnyOf("table"), "what figure 7 shows (below)"),
    ),
)
APPLICATION = Keys(
    "the application",
    (
        Key("name", Text()),
        Key("note", Text(), "for whoever reads the file", "none"),
        Key("computation", Quantity(LEAST_TIME_S), "T_comp, of one iteration"),
        Key("processing", _PROCESSING, "of its messages", "`concurrent`"),
        Key(
            "mode",
            Choice(MODES[1:]),
            'what "overlap" means in tables and figures',
            "`independent`, of pipelined programs `fine-grained`",
        ),
        Key("delay", _DELAY, "what an element is held against, see above", "`element`"),
        Key(
            "process",
            Choice(("worst", "mean")),
            "where numbers are given per process: largest counts and mean times, as paper §3.1, or "
            "means; `--process` overrides it",
            "`worst`",
        ),
        Key("message", _TABLES, "messages of an iteration (below)"),
        Key("collective", _TABLES, "collectives of an iteration (below)"),
        Key("printed", _TABLES, "cells to compare the latency table with (below)"),
    ),
)
MESSAGE = Keys(
    "the message",
    (
        Key("name", Text()),
        Key("count", _COUNT, "how often it is sent per iteration", "1"),
        Key("n_sent", Whole(1, MOST_ELEMENTS), "N_S, in elements"),
        Key("n_received", Whole(1, MOST_ELEMENTS), "N_R", "N_S"),
        Key("element_bytes", Whole(1, 1 << 40), "size of an element", "8"),
        Key("n_produced", Whole(0, 1 << 50), "N_P", "N_S"),
        Key("n_consumed", Whole(0, 1 << 50), "N_C", "N_R"),
        Key("t_produce", _TIME, "T_P", "0"),
        Key("t_consume", _TIME, "T_C", "0"),
        Key(
            "produce_order",
            _ORDER,
            "P: `forward`, `reverse`, or a list with the position of every element; by name, the "
            "sent elements are taken to be produced last",
            "`forward`",
        ),
        Key(
            "consume_order",
            _ORDER,
            "C, likewise; by name, the sent elements are taken to be consumed first",
            "`forward`",
        ),
        Key("index_send", AnyOf("list of integer"), "packing: the data element at each place"),
        Key("index_receive", AnyOf("list of integer"), "unpacking, likewise"),
        Key("after_produce", _TIME, "T_AP", "0"),
        Key("before_consume", _TIME, "T_AC", "0"),
        Key("loop_distribution", _TIME, "what this technique would add", "0"),
        Key("rearrangement", _TIME, "what this technique would add", "0"),
        Key("produce_loop_indexing", _TIME, "what this technique would add", "0"),
        Key("consume_loop_indexing", _TIME, "what this technique would add", "0"),
        Key("produce_loop_indexing", Flag(), "`true`: it would add T_P · N_inner", "`false`"),
        Key("consume_loop_indexing", Flag(), "`true`: it would add T_C · N_inner", "`false`"),
        Key("inside", _TABLES, "communication inside the window (below)", "none"),
        Key("overhead", _TIME, "o of each fine-grained send", "the network's"),
        Key("overlappable", Flag(), "`false`: no computation may hide this message", "`true`"),
        Key("processing", _PROCESSING, "", "the application's"),
        Key("delay", _DELAY, "", "the application's"),
    ),
)
INSIDE = Keys(
    "the communication inside the window",
    (
        Key("name", Text(), "", "communication"),
        Key("computes", _TIME, "its local computation, which counts", "0"),
        Key("included", _TIME, "what T_AP and T_AC contain of it, which does not", "0"),
    ),
)
COLLECTIVE = Keys(
    "the collective",
    (
        Key("name", Text(), "", "collective"),
        Key("processes", Whole(2, 1 << 40), "that take part"),
        Key("count", _COUNT, "how often per iteration", "1"),
    ),
)
PRINTED = Keys(
    "the printed cell",
    (
        Key("latency", _TIME, "of the cell"),
        Key("nonoverlap", Number(1, 1e12), "as printed"),
        Key("overlap", Number(1, 1e12), "as printed"),
        Key("reason", Text(), "why it differs, if it does", "none is known"),
    ),
)
LATENCY_TABLE = Keys(
    "the latency table",
    (
        Key("latencies_us", Number(1e-6, 1e12), "a list, in us", "1, 2, 4, 8"),
        Key(
            "bandwidth",
            Quantity(
                1.0,
                1e18,
                {name: BANDWIDTH_UNITS[name] for name in ("mb_per_s", "gb_per_s")},
                "bytes/s",
            ),
            "of all of its cells",
        ),
        Key("message_gap", _TIME, "g", "0"),
        Key("digits", Whole(0, 15), "after the point", "2"),
        Key("rounding", Choice(("nearest", "truncate")), "of the digits", "`nearest`"),
    ),
)
ELEMENT_FIGURE = Keys(
    "the element figure",
    (Key("application", Text(), "of figure 7"), Key("message", Text(), "of figure 7")),
)
