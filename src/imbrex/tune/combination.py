"""What helped alone, together: whether it helps more."""

from __future__ import annotations

from collections.abc import Sequence

from imbrex.tune.candidate import Candidate, Tried


def combined(tried: Sequence[Tried]) -> Candidate | None:
    """All that is proven and goes together, beside the best of it alone; None of fewer than two."""
    proven = sorted((t for t in tried if t.recommended), key=lambda t: -t.estimate)
    parts: list[Candidate] = []
    environment: dict[str, str] = {}
    for found in proven:
        candidate = found.candidate
        if not set(candidate.environment) & set(environment):
            parts.append(candidate)
            environment |= candidate.environment
    if len(parts) < 2:
        return None
    return Candidate(
        kind="combination",
        what=" and ".join(part.what for part in parts),
        environment=environment,
        effect="; ".join(part.effect for part in parts),
        cost="; ".join(part.cost for part in parts),
        most=max(part.most for part in parts),
        beside=parts[0].environment,
    )
