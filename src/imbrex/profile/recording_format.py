"""The fields of a recording's files, as the reader checks and the page lists them."""

from __future__ import annotations

from imbrex.formats.arrays import Column, TableFormat
from imbrex.formats.schema import Field, JsonFormat, optional
from imbrex.formats.value_types import Choice, Flag, Kind, ListOf, Number, Object, Text, Whole

REMEDY = "record again with imbrex run --record"
FORMAT = "imbrex-recording"
MOST_RANKS = 1 << 22

_TEXT, _COUNT = Text(), Whole()
_TIME = Number(-1e9, 1e9)
_INT = Whole(-(1 << 31), (1 << 31) - 1)
_SIDE = Choice(("send", "receive"))
_HASH = Whole(0, (1 << 64) - 1)
_LONGEST_NS = 10**18

CALL, SEND, POST, ARRIVED, GROUP = range(5)


def _spread(name: str, meaning: str) -> Field:
    inner = Object(tuple(Field(key, _TIME, "", "s") for key in ("least", "mean", "most")))
    return Field(name, inner, meaning, "s", default=None)


_PLAIN_CODE = Object(
    (
        Field("recorded", Number(0, 1e9), "accesses that plain phases still recorded, a share"),
        Field("untimed", Number(0, 1), "share of computation that plain code had not passed"),
    )
)
_SITE = Object(
    (
        Field("site", _TEXT, "call site"),
        Field("kind", _SIDE),
        Field("ranks", _COUNT, "over how many ranks"),
        Field("messages", _COUNT, "and messages"),
        _spread("t_produce_s", "T_P, of sends"),
        _spread("after_produce_s", "T_AP, of sends"),
        _spread("t_consume_s", "T_C, of receives"),
        _spread("before_consume_s", "T_AC, of receives"),
    )
)
_TOUCH = Object(
    (
        Field("library", _TEXT, "that was not recorded"),
        Field("function", _TEXT, "in it"),
        Field("call", _TEXT, "through which it was entered", null=True),
        optional("samples", _COUNT, "how often it was seen", default=0),
    )
)
_CURVE = Object(
    (
        Field("share", Number(0, 1), "of the elements"),
        Field("time_s", _TIME, "by when", "s"),
    )
)
_MESSAGE = Object(
    (
        Field("kind", _SIDE),
        optional("operation", _TEXT, "the MPI function", default=""),
        Field("site", _TEXT, "call site"),
        Field("peer", _INT, "partner in MPI_COMM_WORLD"),
        Field("tag", _INT),
        optional("thread", _COUNT, "that called MPI; 0 started it", default=0),
        optional("communicator", _INT, "equal for messages of one, on this rank", default=0),
        optional("processes", _COUNT, "how many it has", default=0),
        Field("elements", _COUNT, "of the message"),
        Field("element_bytes", Whole(0, 1 << 40), "of each", "bytes"),
        Field("calls", _COUNT, "how often it was sent or received"),
        optional("seen", _COUNT, "elements with a known time", default=0),
        Field("t_produce_s", _TIME, "T_P, of a send", "s", default=None),
        Field("after_produce_s", _TIME, "T_AP, of a send", "s", default=None),
        Field("t_consume_s", _TIME, "T_C, of a receive", "s", default=None),
        Field("before_consume_s", _TIME, "T_AC, of a receive", "s", default=None),
        optional(
            "spread_s",
            _TIME,
            "mean standard deviation of an element's time over the iterations",
            "s",
        ),
        optional("times", Choice(("watched", "counted")), "how they were taken", default="counted"),
        optional("samples", _COUNT, "that were watched", default=0),
        optional("through_copy", Flag(), "whether a copy was followed", default=False),
        optional("written_unseen", _COUNT, "elements that changed unseen", default=0),
        optional("touched_by", ListOf(_TOUCH), "what is not recorded and touched it", default=()),
        optional(
            "curve",
            ListOf(_CURVE),
            "by when which share was produced (negative: before the send) or consumed",
            default=(),
        ),
    )
)
_GROUP = Object(
    (
        Field("members", _HASH, "a number that is the same on all its ranks; 0 if not known"),
        Field("size", Whole(0, MOST_RANKS), "how many processes"),
    )
)


def _messages(item: Kind) -> ListOf:
    return ListOf(item, most=1 << 24)


_LIKE_MESSAGES = Object(_MESSAGE.fields, listed_in="`ranks[].messages`")
_RANK = Object(
    (
        Field("rank", Whole(0, MOST_RANKS - 1), "in MPI_COMM_WORLD"),
        Field("compute_s", Number(), "computation of the plain program", "s"),
        optional("accesses", _COUNT, "that were recorded", default=0),
        optional("dropped", _COUNT, "messages for which there was no room", default=0),
        optional("threads", _COUNT, "that called MPI", default=1),
        optional("groups", ListOf(_GROUP), "processes that made collective calls", default=()),
        Field("messages", _messages(_MESSAGE), "of this rank"),
        optional(
            "collectives",
            _messages(_LIKE_MESSAGES),
            "what collective calls contribute (send) and obtain (receive)",
            default=(),
        ),
    )
)

MESSAGES = JsonFormat(
    "the messages.json of a recording",
    REMEDY,
    Object(
        (
            Field("format", _TEXT, f'"{FORMAT}"'),
            Field("schema_version", Whole(1), "1", default=1),
            optional("not_recorded", ListOf(_TEXT), "libraries built without", default=()),
            optional("watchpoints", Flag(), "whether there were any", default=False),
            optional("sites", ListOf(_SITE), "how messages of a call site differ", default=()),
            Field("ranks", ListOf(_RANK, least=1), "every rank"),
            optional("functions", ListOf(_TEXT), "MPI names that trace.npy numbers", default=()),
            optional("sampled", Number(0, 1), "share of each rank's calls, where not all"),
            optional("plain_code", _PLAIN_CODE, "of `--times switched`: where it was not plain"),
        )
    ),
    identity=FORMAT,
)


def _time(name: str, meaning: str) -> Column:
    return Column(name, "f8", meaning, "ns", -_LONGEST_NS, _LONGEST_NS, may_be_nan=True)


_RANK_COLUMN = Column("rank", "i4", "in MPI_COMM_WORLD", "", 0, MOST_RANKS - 1)
ELEMENTS = TableFormat(
    "the table of a recording",
    REMEDY,
    (
        _RANK_COLUMN,
        Column("message", "i4", "of the rank; collectives come behind the messages", "", 0),
        Column("element", "i8", "of the message", "", 0),
        Column("position", "i8", "P or C: its place in the order", "", -1),
        Column("seen", "u4", "in how many iterations"),
        Column("accesses", "f8", "by which it was written or read", "", 0, may_be_nan=True),
        _time("counted_ns", "its time by counted accesses"),
        _time("time_ns", "its time: before the send, or after the arrival"),
        _time("spread_ns", "standard deviation over the iterations"),
    ),
)
ELEMENTS_DTYPE = ELEMENTS.dtype

TRACE = TableFormat(
    "the trace of a recording",
    REMEDY,
    (
        _RANK_COLUMN,
        Column("kind", "u1", "0 call, 1 send, 2 post, 3 arrival, 4 group", "", CALL, GROUP),
        Column(
            "id",
            "i4",
            "of a call the index into `functions`, of a send, post or arrival into the rank's "
            "`messages`, of a group into its `groups`: those of the call before",
            "",
            0,
        ),
        Column("ns", "f4", "of a call the computation before it", "ns", 0, _LONGEST_NS),
    ),
)
TRACE_DTYPE = TRACE.dtype
"""A row of trace.npy. CALL (0): `id` is a function of messages.json, `ns` the computation before
it; SEND (1), POST (2), ARRIVED (3): `id` is a message of messages.json, within the call before;
GROUP (4): the call before is a collective of the rank's group `id` in messages.json, not of all."""
