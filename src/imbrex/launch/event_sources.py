"""What `imbrex run --events` takes: one table for C and Python, runtime/transport/sources.def."""

from __future__ import annotations

import re

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.native import source_folder


def event_sources() -> tuple[str, ...]:
    """`auto`, `call`, and the sources inside the library in the order in which they are tried.

    ImbrexError where the table is missing.
    """
    file = source_folder("runtime") / "transport" / "sources.def"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ImbrexError(f"{file}: {error.strerror}: reinstall Imbrex") from None
    return ("auto", "call", *re.findall(r"^SOURCE\((\w+)\)$", text, re.MULTILINE))
