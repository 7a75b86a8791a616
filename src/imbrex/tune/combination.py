"""What helped alone, together: whether it helps more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from imbrex.tune.candidate import Candidate, Setup, Tried, proven


def go_together(a: Candidate, b: Candidate) -> bool:
    """Whether a program can have both: not two builds, prefixes, or values of one variable."""
    one, other = a.setup, b.setup
    twice = one.words is not None and other.words is not None
    twice = twice or (bool(one.prefix) and bool(other.prefix))
    return not twice and not set(one.environment) & set(other.environment)


def combined(tried: Sequence[Tried]) -> Candidate | None:
    """All that is proven and goes together, beside the best of it alone; None of fewer than two."""
    parts: list[Candidate] = []
    environment: dict[str, str] = {}
    for candidate in (found.candidate for found in proven(tried)):
        if all(go_together(part, candidate) for part in parts):
            parts.append(candidate)
            environment |= candidate.setup.environment
    if len(parts) < 2:
        return None
    return _combination_of(parts, environment)


def leaving_at_once(tried: Sequence[Tried]) -> Candidate | None:
    """The best proven rewrite with the setting by which the largest messages leave without asking,
    where that is not proven alone: calls that block gain nothing by it, those that the rewrite
    starts early do, as no answer has to be waited for. None where either is missing."""
    best = next((t.candidate for t in proven(tried) if t.candidate.kind != "combination"), None)
    eager = [t for t in tried if is_eager(t) and t.failed is None]
    if best is None or best.kind != "source" or not eager:
        return None
    largest = max(eager, key=lambda t: t.candidate.eager_bytes)
    if largest.recommended:
        return None
    other = largest.candidate
    return _combination_of([best, other], dict(other.setup.environment))


def is_eager(found: Tried) -> bool:
    """Whether it is a setting by which larger messages leave without asking."""
    return found.candidate.kind == "setting" and found.candidate.eager_bytes > 0


def _combination_of(parts: Sequence[Candidate], environment: dict[str, str]) -> Candidate:
    """Candidates that go together as one, beside the first of them alone."""
    best = parts[0].setup
    built = next((part for part in parts if part.setup.words is not None), None)
    helped = next((part for part in parts if part.setup.prefix), Candidate("", ""))
    return Candidate(
        kind="combination",
        label=" and ".join(part.label for part in parts),
        setup=Setup(environment, built.setup.words if built else None, helped.setup.prefix),
        effect="; ".join(part.effect for part in parts),
        cost="; ".join(part.cost for part in parts),
        most=max(part.most for part in parts),
        # Where a source is among them both sides are built alike.
        beside=replace(best, words=best.words or built.beside.words) if built else best,
        commands=tuple(command for part in parts for command in part.commands),
        start=helped.start,
    )
