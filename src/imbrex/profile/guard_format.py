"""The fields of guard.json, and of what each rank leaves for it."""

from __future__ import annotations

from dataclasses import replace

from imbrex.formats.schema import Field, Fields, JsonFormat, optional
from imbrex.formats.value_types import Flag, Kind, ListOf, Object, Text, Whole
from imbrex.profile.format import MOST_RANKS, REMEDY, SCHEMA_VERSION
from imbrex.profile.sites import SITE

_PLACE = replace(SITE, listed_in="[sites.json](../reference/run-directory.md#sitesjson)")

_NUMBER = Whole(-(1 << 31), (1 << 31) - 1)
_RANK = Whole(0, MOST_RANKS - 1)
_VERSION = Field("schema_version", Whole(1), "1", default=SCHEMA_VERSION)
_COUNTS = (
    Field("exact", Flag(), "whether every access of the program was seen"),
    Field("transfers", Whole(), "transfers that were watched"),
    Field("not_watched", Whole(), "transfers that found no memory to be watched with"),
    Field("more_findings", Whole(), "findings that did not fit"),
)


def _finding(code: Field, site: Kind, further: Fields = ()) -> Object:
    return Object(
        (
            Field("how", Text(), "`access`, `call`, `checksum` or `never-completed`"),
            Field("access", Text(), "`read` or `write`"),
            code,
            Field("call", Text(), "the MPI call that made the access, or empty"),
            Field("buffer", Text(), "`send` or `receive`"),
            Field("operation", Text(), "what began the transfer"),
            Field("site", site, "where that was"),
            Field("peer", _NUMBER, "its partner"),
            Field("tag", _NUMBER, "its tag"),
            Field("offset", Whole(), "of the first such access, in the message", "bytes"),
            Field("bytes", Whole(), "of the first such access", "bytes"),
            Field("count", Whole(), "how often it was seen"),
            *further,
        )
    )


GUARD = JsonFormat(
    "the guard.json of an Imbrex run",
    REMEDY,
    Object(
        (
            _VERSION,
            *_COUNTS,
            Field(
                "findings",
                ListOf(
                    _finding(
                        Field("code", _PLACE, "where the access is; null if not known", null=True),
                        _PLACE,
                        (Field("ranks", ListOf(_RANK), "where it was seen"),),
                    )
                ),
                "forbidden accesses, the most frequent first",
            ),
            optional("unseen", ListOf(Text()), "where the compiler left accesses out", default=()),
        )
    ),
)

_RAW_PLACE = Object(
    (
        Field("image", Text(), "path of the program or library, or empty"),
        Field("offset", Whole(), "return address less the image's load address"),
    )
)
OF_RANK = JsonFormat(
    "what a rank's guard found",
    REMEDY,
    Object(
        (
            _VERSION,
            Field("rank", _RANK, "in MPI_COMM_WORLD"),
            *_COUNTS,
            Field("unseen", Text(), "separated by commas"),
            Field(
                "findings",
                ListOf(_finding(Field("code", _RAW_PLACE), _RAW_PLACE)),
                "of this rank",
            ),
        )
    ),
)
