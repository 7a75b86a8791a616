"""The fields of a machine profile, as the reader checks and the page lists them."""

from __future__ import annotations

from typing import Any

from imbrex.formats.schema import Field, JsonFormat, optional
from imbrex.formats.value_types import (
    MPI_NAME,
    Choice,
    Flag,
    Kind,
    ListOf,
    MapOf,
    Number,
    Object,
    Text,
    Whole,
)
from imbrex.network.profile import CLASSES, FORMAT, PATHS, ROLES, SCHEMA_VERSION

REMEDY = "make one with `imbrex calibrate`"

_TEXT, _TIME = Text(), Number()


def _of_points(entry: dict[str, Any]) -> str | None:
    """Points come in ascending order of size, each with bounds that do not cross."""
    before = -1
    for i, point in enumerate(entry["points"]):
        if point["size_bytes"] <= before:
            return f".points[{i}] is not sorted by size_bytes"
        if point["x_lo_s"] > point["x_hi_s"]:
            return f".points[{i}] has x_lo_s above x_hi_s"
        before = point["size_bytes"]
    for name in ("rates", "handshakes"):
        before = -1
        for i, found in enumerate(entry.get(name, ())):
            if found["size_bytes"] <= before:
                return f".{name}[{i}] is not sorted by size_bytes"
            before = found["size_bytes"]
    return None


_X = (
    Field("size_bytes", Whole(), "size of the message", "bytes"),
    Field("x_lo_s", _TIME, "lower bound of the transfer time", "s"),
    Field("x_hi_s", _TIME, "upper bound: 95th percentile of half a ping-pong", "s"),
)
_TAIL = optional("tail_s", _TIME, "how long data may still leave after local completion", "s")
_POINT = Object(
    (
        *_X,
        _TAIL,
        optional("head_s", _TIME, "how long data may move before the receive is posted", "s"),
        optional(
            "send_returns_before_match",
            Flag(),
            "whether a blocking send returns before its receive is posted",
        ),
        optional(
            "synchronization", Flag(), "whether a transfer completes though one side computes"
        ),
        Field("class", Choice(CLASSES), "what the probe found", default="unknown"),
        optional("median_s", _TIME, "median of half a ping-pong", "s"),
        optional("least_s", _TIME, "shortest one-way time of this size or larger", "s"),
    )
)
_LOGGP = Object(
    (
        Field("L_s", _TIME, "latency", "s"),
        Field("o_s_s", _TIME, "overhead of the sender", "s"),
        Field("o_r_s", _TIME, "overhead of the receiver", "s"),
        Field("g_s", _TIME, "gap between two messages", "s"),
        Field("G_s_per_byte", _TIME, "gap per byte", "s"),
        Field("EEL_s", _TIME, "end-to-end latency", "s"),
        Field("residual", _TIME, "relative root mean square residual of the fit"),
    )
)


_RATE = Object(
    (
        Field("lowest", Number(0, 1), "share of the full rate"),
        Field("highest", Number(0, 1), "share of the full rate"),
    ),
    lambda entry: "has lowest above highest" if entry["lowest"] > entry["highest"] else None,
)
_RATES = Object(
    (
        Field("size_bytes", Whole(), "size of the message", "bytes"),
        Field("neither", _RATE, "how fast it moves while both sides compute"),
        Field("sender", _RATE, "while the sender alone is inside MPI"),
        Field("receiver", _RATE, "while the receiver alone is inside MPI"),
        Field("both", _RATE, "while both are inside MPI"),
    )
)
_HANDSHAKE = Object(
    (
        Field("size_bytes", Whole(), "size of the message", "bytes"),
        Field("sender", Flag(), "whether nothing moves until the sender was inside MPI"),
        Field("receiver", Flag(), "whether nothing moves until the receiver was"),
        Field("before_s", _TIME, "what may have moved all the same, at the full rate", "s"),
        Field("latency_s", _TIME, "the least that a word to the other side takes", "s"),
    )
)


def _points(item: Kind) -> Field:
    return Field("points", ListOf(item, least=1), "by size, ascending")


_PATH = Object(
    (
        _points(_POINT),
        Field("gap_s_per_byte", _TIME, "the smallest gap of all, which a burst may have", "s"),
        optional("loggp", _LOGGP, "parameters of LogGP, where they were fitted"),
        optional("limits", MapOf(Whole()), "the largest sends of some kinds", "bytes", {}),
        optional("rates", ListOf(_RATES), "at which rate messages move, by size", "", ()),
        Field(
            "handshakes",
            ListOf(_HANDSHAKE),
            "who has to be inside MPI before messages move, by size",
            default=(),
        ),
        Field(
            "sustained_gap_s_per_byte",
            _TIME,
            "the smallest gap behind a burst; 0: not known",
            "s",
            default=0.0,
        ),
        Field("burst_bytes", Whole(), "what may move faster than that, once", "bytes", default=0),
    ),
    _of_points,
)
_COLLECTIVE = Object(
    (
        Field("operation", MPI_NAME, "its blocking name"),
        Field("ranks", Whole(), "of the communicator"),
        Field("path", Choice(PATHS), "the slowest between two of them"),
        Field("role", Choice(ROLES), "of the rank"),
        _points(
            Object(
                (
                    *_X,
                    optional(
                        "early_s", _TIME, "what may move of a rank's data before it enters", "s"
                    ),
                )
            )
        ),
    ),
    _of_points,
)
_ONE_SIDED = Object(
    (
        Field("operation", MPI_NAME, "its name"),
        Field("path", Choice(PATHS), "where to"),
        Field("gap_s_per_byte", _TIME, "the smallest gap", "s"),
        _points(Object((*_X, _TAIL))),
    ),
    _of_points,
)

_NONBLOCKING = Object(
    (
        Field("operation", MPI_NAME, "its name"),
        Field("path", Choice(PATHS), "the slowest between two ranks"),
        Field("from_bytes", Whole(), "the smallest size", "bytes"),
        optional("to_bytes", Whole(), "the largest size; null: and above", "bytes"),
        optional("moves", Flag(), "whether its data moves without calls"),
    )
)

_CALL_PRICE = Object(
    (
        Field("lowest_s", _TIME, "to a poll or a nonblocking exchange, the lower", "s"),
        Field("highest_s", _TIME, "the higher of the two", "s"),
        optional("sendrecv_s", _TIME, "to MPI_Sendrecv, which blocks", "s"),
    ),
    lambda entry: (
        "has lowest_s above highest_s" if entry["lowest_s"] > entry["highest_s"] else None
    ),
)

PROFILE = JsonFormat(
    "a machine profile",
    REMEDY,
    Object(
        (
            Field("format", _TEXT, f'"{FORMAT}"'),
            Field("schema_version", Whole(1), "1"),
            Field("created", _TEXT, "when, in ISO 8601"),
            Field("imbrex_version", _TEXT, "which Imbrex measured"),
            Field("quick", Flag(), "whether it was the quick calibration"),
            Field(
                "library",
                Object((Field("name", _TEXT), Field("version", _TEXT))),
                "the MPI library",
            ),
            Field("hosts", ListOf(_TEXT), "where the ranks ran"),
            Field("ranks", Whole(), "how many"),
            Field("settings", MapOf(_TEXT), "what of the environment changes how messages move"),
            Field("paths", MapOf(_PATH, PATHS), "by `self`, `intra-node`, `inter-node`"),
            Field("collectives", ListOf(_COLLECTIVE), "under their blocking names"),
            Field("one_sided", ListOf(_ONE_SIDED), "one-sided operations", default=()),
            Field(
                "nonblocking",
                ListOf(_NONBLOCKING),
                "nonblocking collectives while all ranks compute, by the probe",
                default=(),
            ),
            optional("progress_interval_s", _TIME, "how often progress has to be driven", "s"),
            optional(
                "thread_multiple", _CALL_PRICE, "what MPI_THREAD_MULTIPLE adds to a call, at least"
            ),
            optional(
                "core_wait_share",
                Number(0, 1),
                "for which share of the ping-pongs a rank was ready to run and had no core",
            ),
        )
    ),
    identity=FORMAT,
    version=SCHEMA_VERSION,
    needs_version=True,
)
