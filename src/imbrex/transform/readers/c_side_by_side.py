"""Files of C read side by side, in processes of their own, where a program has many.

A file of C++ takes a second or more, and each is read for itself. What a process has read comes
back as it is kept for the next reading. Where one fails the files left are read as if there were
none.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imbrex.errors import ImbrexError
from imbrex.transform.call_stack import with_deep_stack
from imbrex.transform.model.sources import CXX_SUFFIXES
from imbrex.transform.readers.c import Asked
from imbrex.transform.readers.c_kept import KeptFiles, Reading, read_to_keep

_MOST_PROCESSES = 8  # each has libclang and its headers, some hundreds of megabytes for C++
# What a process takes to start is a few files of C, of which one of C++ takes as long as some.
_FILES_OF_C_TO_ONE_OF_CXX = 4
_WORTH_IT = 16  # files of C
# Modules are found as they are here, whatever is in the folder.
_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from imbrex.transform.readers import c_side_by_side; "
    "c_side_by_side.serve()"
)


@dataclass(frozen=True, slots=True)
class FileOfC:
    """A file to read, with the flags of its compiler."""

    path: Path
    flags: list[str]
    data: bytes


def read_ahead(
    kept: KeptFiles,
    files: Iterable[FileOfC],
    asked: Asked,
    contents: Mapping[Path, bytes],
) -> dict[Path, str]:
    """Have `kept` know what these files say, where they are many that it does not know.

    Returned are those that cannot be read, with why. `contents`: what to read in the place of
    headers on disk. There are as many processes as cores, up to eight.
    """
    unknown = [f for f in files if not kept.known(f.path, f.flags, f.data, asked, contents)]
    processes = min(_cores(), _MOST_PROCESSES, len(unknown))
    if processes < 2 or sum(map(_effort, unknown)) < _WORTH_IT:
        return {}
    left: queue.SimpleQueue[FileOfC] = queue.SimpleQueue()
    # The longest ones first, or the last process would be alone with one of them.
    for file in sorted(unknown, key=lambda f: _effort(f) * len(f.data), reverse=True):
        left.put(file)
    found: dict[Path, Reading | str] = {}
    given = (asked, dict(contents))
    threads = [
        threading.Thread(target=_ask, args=(left, given, found), daemon=True)
        for _ in range(processes)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for path, reading in found.items():
        if isinstance(reading, Reading):
            kept.keep(path, reading)
    return {path: why for path, why in found.items() if isinstance(why, str)}


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _effort(file: FileOfC) -> int:
    return _FILES_OF_C_TO_ONE_OF_CXX if file.path.suffix in CXX_SUFFIXES else 1


def _ask(left: queue.SimpleQueue[FileOfC], given: Any, found: dict[Path, Reading | str]) -> None:
    """Have one process read files until none is left, or until it fails."""
    words = [sys.executable, "-I", "-c", _PROGRAM.format(path=sys.path)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    try:
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=nothing) as process:
            try:
                _exchange(process, left, given, found)
            except Exception:  # whatever it answered: what it did not read is read here
                process.kill()
    except OSError:
        pass


def _exchange(
    process: subprocess.Popen[bytes],
    left: queue.SimpleQueue[FileOfC],
    given: Any,
    found: dict[Path, Reading | str],
) -> None:
    to_process, from_process = process.stdin, process.stdout
    assert to_process is not None and from_process is not None
    _send(to_process, given)
    while True:
        try:
            file = left.get_nowait()
        except queue.Empty:
            return
        _send(to_process, file)
        reading = pickle.load(from_process)
        if reading is not None:
            found[file.path] = reading


def _send(stream: Any, message: Any) -> None:
    pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def serve() -> None:
    """Read files that come on standard input until it ends: the work of one process.

    An answer is a text where a file cannot be read, and None where it cannot be kept.
    """
    questions = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed
    asked, contents = pickle.load(questions)

    def answer(file: FileOfC) -> Reading | str | None:
        try:
            return read_to_keep(file.path, file.flags, file.data, asked, contents)[1]
        except ImbrexError as error:
            return str(error)

    def answer_all() -> None:
        while True:
            try:
                file = pickle.load(questions)
            except EOFError:
                return
            _send(answers, answer(file))

    with_deep_stack(answer_all)
