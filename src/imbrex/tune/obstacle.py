"""What stands in the way of a candidate."""

from __future__ import annotations


class NotPossibleError(Exception):
    """Why a change is not tried, in words for a user."""
