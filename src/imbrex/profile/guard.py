"""What the guard found: accesses to buffers in flight that MPI forbids (guard.json)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imbrex.profile.format import SCHEMA_VERSION
from imbrex.profile.guard_format import GUARD, OF_RANK
from imbrex.profile.resolve import resolve_sites
from imbrex.profile.sites import Site

FILE = "guard.json"
_RAW = re.compile(r"guard-(\d{1,9})\.json")
_OF_HEADERS = re.compile(r"^/usr/include/|/include/c\+\+/|/lib(64)?/(gcc|clang|llvm)")


@dataclass(frozen=True)
class Finding:
    """One kind of forbidden access, over all ranks and times that it was seen.

    `how`: an `access` of the program, the buffers of an MPI `call`, a `checksum` that differed when
    the send completed, or `never-completed`: a transfer that no call completed. `code` is where
    the access or call is, None where that is not known; `site` began the transfer. `offset` and
    `bytes` are of the first such access, in the message.
    """

    how: str
    access: str
    code: Site | None
    call: str
    buffer: str
    operation: str
    site: Site
    peer: int
    tag: int
    offset: int
    bytes: int
    count: int
    ranks: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The entry of guard.json."""
        return {
            "how": self.how,
            "access": self.access,
            "code": None if self.code is None else self.code.to_json(),
            "call": self.call,
            "buffer": self.buffer,
            "operation": self.operation,
            "site": self.site.to_json(),
            "peer": self.peer,
            "tag": self.tag,
            "offset": self.offset,
            "bytes": self.bytes,
            "count": self.count,
            "ranks": list(self.ranks),
        }

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> Finding:
        """The finding of a checked entry of guard.json."""
        code = entry["code"]
        return cls(**{**entry, "code": code and Site(**code), "site": Site(**entry["site"])})


@dataclass(frozen=True)
class Guard:
    """`exact`: every access of the program was seen on every rank; else writes to what is sent, by
    checksum, and what MPI calls show. `unseen`: where the compiler left accesses out (of a program
    that is instrumented otherwise). `transfers` were watched, `not_watched` found no memory."""

    exact: bool
    transfers: int
    not_watched: int
    more_findings: int
    findings: tuple[Finding, ...]
    unseen: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The content of guard.json."""
        return {
            "schema_version": SCHEMA_VERSION,
            "exact": self.exact,
            "unseen": list(self.unseen),
            "transfers": self.transfers,
            "not_watched": self.not_watched,
            "more_findings": self.more_findings,
            "findings": [finding.to_json() for finding in self.findings],
        }


def load_guard(directory: Path) -> Guard | None:
    """The findings of a run, from guard.json or from what the ranks left; None without a guard.

    ImbrexError where a file is damaged.
    """
    file = directory / FILE
    if file.exists():
        entry = GUARD.load(file)
        return Guard(
            entry["exact"],
            entry["transfers"],
            entry["not_watched"],
            entry["more_findings"],
            tuple(map(Finding.from_entry, entry["findings"])),
            entry["unseen"],
        )
    files = raw_files(directory)
    return _merge([OF_RANK.load(one) for one in files]) if files else None


def raw_files(directory: Path) -> list[Path]:
    """What the ranks left, by rank."""
    found = {file: _RAW.fullmatch(file.name) for file in directory.glob("guard-*.json")}
    return sorted((file for file, name in found.items() if name), key=_rank_of)


def _rank_of(file: Path) -> int:
    return int(file.stem.split("-")[1])


def _place(entry: dict[str, Any]) -> tuple[str, int] | None:
    return (entry["image"], entry["offset"]) if entry["image"] else None


def _in_users_code(site: Site) -> Site:
    """Of what a compiler's or library's header inlines (std::copy), the line that asked for it."""
    while site.file and _OF_HEADERS.search(site.file):
        outer = site.inliner
        if outer is None:
            break
        site = outer
    return site


def _merge(ranks: Sequence[dict[str, Any]]) -> Guard:
    """One finding for the same access of all ranks; the most frequent first."""
    raw = [(rank["rank"], entry) for rank in ranks for entry in rank["findings"]]
    places = {_place(entry[name]) for _, entry in raw for name in ("code", "site")} - {None}
    ordered = sorted(place for place in places if place)
    sites = resolve_sites([Site(i + 1, image, offset=o) for i, (image, o) in enumerate(ordered)])
    named = dict(zip(ordered, map(_in_users_code, sites), strict=True))
    groups: dict[tuple[Any, ...], list[tuple[int, dict[str, Any]]]] = {}
    for rank, entry in raw:
        key = tuple(entry[name] for name in ("how", "access", "buffer"))
        groups.setdefault((*key, _place(entry["code"]), _place(entry["site"])), []).append(
            (rank, entry)
        )
    findings = []
    for (*_, code, site), members in groups.items():
        first = members[0][1]
        findings.append(
            Finding(
                code=named.get(code) if code else None,
                site=named.get(site, Site(0)) if site else Site(0),
                count=sum(entry["count"] for _, entry in members),
                ranks=tuple(sorted({rank for rank, _ in members})),
                how=first["how"],
                access=first["access"],
                call=first["call"],
                buffer=first["buffer"],
                operation=first["operation"],
                peer=first["peer"],
                tag=first["tag"],
                offset=first["offset"],
                bytes=first["bytes"],
            )
        )
    return Guard(
        exact=all(rank["exact"] for rank in ranks),
        transfers=sum(rank["transfers"] for rank in ranks),
        not_watched=sum(rank["not_watched"] for rank in ranks),
        more_findings=sum(rank["more_findings"] for rank in ranks),
        findings=tuple(sorted(findings, key=lambda finding: -finding.count)),
        unseen=tuple(
            dict.fromkeys(place for rank in ranks for place in rank["unseen"].split(", ") if place)
        ),
    )
