"""What a command complained of, among what it says on stderr."""

from __future__ import annotations


def complaints(errors: str) -> list[str]:
    """The lines of stderr that are not steps, which a busy machine may take long for."""
    return [line for line in errors.splitlines() if not line.endswith(" ...")]
