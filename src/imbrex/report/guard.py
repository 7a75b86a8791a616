"""The guard's findings as lines for a reader."""

from __future__ import annotations

from imbrex.profile.guard import Finding, Guard


def guard_title(guard: Guard) -> str:
    """What was looked at, and how closely."""
    number = sum(finding.count for finding in guard.findings)
    found = f"{number:,} forbidden uses" if number != 1 else "1 forbidden use"
    if guard.exact:
        reach = "every access of the program was seen"
    elif guard.unseen:
        reach = (
            f"accesses were seen, but not those that the compiler does not instrument: "
            f"{_some(guard.unseen)}; docs/guide/guard.md says which, and what helps"
        )
    else:
        reach = (
            "accesses were not seen: only changes of what is sent, by checksum, and MPI's own "
            "calls; build with imbrex cc, cxx or fc for every access"
        )
    return (
        f"Guard: {found if guard.findings else 'no forbidden use'} of the buffers of "
        f"{guard.transfers:,} transfers in flight ({reach})"
    )


def _some(places: tuple[str, ...]) -> str:
    return ", ".join(places[:4]) + (", ..." if len(places) > 4 else "")


def guard_lines(guard: Guard) -> tuple[str, ...]:
    """One line per finding, and what was not looked at."""
    lines = [_line(finding) for finding in guard.findings]
    if guard.more_findings:
        lines.append(f"{guard.more_findings:,} more, at other places")
    if guard.not_watched:
        lines.append(f"{guard.not_watched:,} transfers were not watched: no memory")
    return tuple(lines)


def _line(finding: Finding) -> str:
    transfer = f"{finding.operation} at {finding.site.label}"
    times = f"{finding.count:,} times" if finding.count > 1 else "once"
    ranks = ", ".join(map(str, finding.ranks[:8])) + (", ..." if len(finding.ranks) > 8 else "")
    where = f"{times}, rank{'s' if len(finding.ranks) > 1 else ''} {ranks}"
    last = finding.offset + finding.bytes - 1
    part = f"bytes {finding.offset} to {last}" if finding.bytes > 1 else f"byte {finding.offset}"
    code = "an unknown place" if finding.code is None else finding.code.label
    if finding.how == "access":
        return (
            f"{code} {finding.access}s the {finding.buffer} buffer of {transfer} while it is in "
            f"flight ({part}; {where})"
        )
    if finding.how == "call":
        verb = "receives into" if finding.access == "write" else "sends from"
        return (
            f"{finding.call} at {code} {verb} the {finding.buffer} buffer of {transfer} while it "
            f"is in flight ({part}; {where})"
        )
    if finding.how == "checksum":
        return f"the send buffer of {transfer} was changed while it was in flight ({where})"
    return f"{transfer}: no call completed it, so its buffer stays in flight ({where})"
