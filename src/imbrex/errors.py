"""The one exception that a user sees as one line and exit code 2."""

from __future__ import annotations


class ImbrexError(Exception):
    """Bad usage or input: the message says what is wrong, where, and what to do."""
