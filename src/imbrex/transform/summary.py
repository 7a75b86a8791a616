"""What a user reads first: how many calls can be rewritten, how it is done, and why others stay."""

from __future__ import annotations

from imbrex.diagnosis import wording
from imbrex.diagnosis.lines import WIDTH
from imbrex.diagnosis.lines import lines as lines_of
from imbrex.transform.model.advice import advice
from imbrex.transform.model.reasons import ReasonKind
from imbrex.transform.rewrites.base import Decision

_MOST_SITES = 12  # of those that can be rewritten
_MOST_REASONS = 6
_MOST_OF_A_REASON = 3
_CHEAP = (ReasonKind.NOT_WORTH, ReasonKind.NOT_MEASURED)


def summary(
    decisions: list[Decision], *, applied: bool, further: str, explain: str, in_part: bool = False
) -> str:
    """The answer in a sentence, what is rewritten where, and what keeps calls from it.

    `further`: what to do with the rewrites; `explain`: the command that gives each call's reason;
    `in_part`: not all files of the program are given.
    """
    if not decisions:
        return "No call of MPI in these files could be rewritten.\n"
    done = [d for d in decisions if d.decision == "rewritten"]
    lines = _wrapped("", _answer(decisions, done, applied=applied))
    lines += _listed(done[:_MOST_SITES])
    if len(done) > _MOST_SITES:
        lines.append(f"  and {len(done) - _MOST_SITES} more")
    more = [decision for decision in done if decision.kept_from_more]
    if more:
        lines.append(f"{_one(more, 'One', str(len(more)))} of these could hide behind more work:")
        lines += _reasons(more)
    if done:
        lines.append(further)
    left = [d for d in decisions if d.decision != "rewritten" and not d.wait_moves]
    lines += _staying(left)
    if in_part and left:
        lines += _wrapped(
            "",
            "The main program is not among the files: give all of them, and what callers compute "
            "counts, and what others do is known.",
        )
    if not (done and applied):  # what a run says of lines holds of the text before
        lines.append(f"Each call with its reason: {explain}")
    return "\n".join(lines) + "\n"


def _answer(decisions: list[Decision], done: list[Decision], *, applied: bool) -> str:
    begun = sum(decision.wait_moves for decision in decisions)
    if not done and not begun:
        several = f"None of the {len(decisions)} calls can be rewritten."
        return _one(decisions, "The one call cannot be rewritten.", several)
    of_all = f"{len(done)} of {_calls(len(decisions))}"
    verb = _one(done, "was", "were") if applied else "can be"
    saved = sum(d.measured["share"] for d in done if d.measured is not None)
    worth = f"; together they cost at most {wording.percent(saved)} of the ranks' time" * (
        saved > 0
    )
    more = f" ({begun} more: what they start is waited for later)" if begun else ""
    return f"{of_all} {verb} rewritten: messages are under way while ranks compute{worth}{more}."


def _calls(count: int) -> str:
    return f"{count} call{'s' * (count != 1)}"


def _listed(done: list[Decision]) -> list[str]:
    """Where each is under way, and by which rewrites where there is room for that."""
    width = max((len(str(d.site.location)) for d in done), default=0)
    lines = []
    for decision in done:
        site = decision.site
        where = f"lines {decision.first_line}-{decision.last_line}"
        if decision.reason.cause.kind is ReasonKind.CALLERS_COMPUTE:
            where = "its callers' work"
        text = (
            f"  {site.location!s:{width}}  {site.call.name} in {site.routine.name}: during {where}"
        )
        by = f" ({', '.join(decision.rewrites)})"
        lines.append(text + by * (len(text + by) <= WIDTH))
    return lines


def _staying(left: list[Decision]) -> list[str]:
    """Those that stay: beside work, with what helps; then how many have none, or cost little."""
    cheap = [d for d in left if _is_cheap(d)]
    idle = [d for d in left if _is_idle(d) and not _is_cheap(d)]
    hindered = [d for d in left if not (_is_idle(d) or _is_cheap(d))]
    lines = []
    if hindered:
        lines.append(f"{_calls(len(hindered))} that {_one(hindered, 'stays', 'stay')}:")
        lines += _reasons(hindered)
    if idle:
        verb, those = _one(idle, "has", "have"), _one(idle, "it", "them")
        lines.append(
            f"{_calls(len(idle))} {verb} nothing to gain: nothing is computed beside {those}."
        )
    if cheap:
        lines.append(
            f"{_calls(len(cheap))} {_one(cheap, 'is', 'are')} not worth it, by the measured run."
        )
    return lines


def _one(decisions: list[Decision], singular: str, plural: str) -> str:
    return singular if len(decisions) == 1 else plural


def _is_cheap(decision: Decision) -> bool:
    return decision.reason.cause.kind in _CHEAP


def _is_idle(decision: Decision) -> bool:
    return decision.decision == "nothing-to-gain" and not decision.hindered


def _reasons(hindered: list[Decision]) -> list[str]:
    """What keeps calls from their work, by what a user can do about it."""
    groups: dict[str, list[Decision]] = {}
    for decision in hindered:
        groups.setdefault(advice(decision.obstacle.cause), []).append(decision)
    frequent = sorted(groups.items(), key=lambda item: -len(item[1]))
    lines = []
    for help_with, decisions in frequent[:_MOST_REASONS]:
        for decision in decisions[:_MOST_OF_A_REASON]:
            site = decision.site
            lines += _wrapped("  ", f"{site.location}: {site.call.name}: {decision.obstacle_text}")
        if len(decisions) > _MOST_OF_A_REASON:
            lines.append(f"  and {len(decisions) - _MOST_OF_A_REASON} more like these")
        if help_with:
            lines += _wrapped("      ", f"what to do: {help_with}")
    rest = sum(len(decisions) for _, decisions in frequent[_MOST_REASONS:])
    if rest:
        lines.append(f"  and {rest} more for other reasons")
    return lines


def _wrapped(indent: str, text: str) -> list[str]:
    return lines_of(f"{indent}{text}", indent=f"{indent}  ", cut=False)
