"""How much data a rank must move for a collective, whatever the algorithm."""

from __future__ import annotations

from imbrex import mpi_facts


def holds_blocks(operation: str, role: str) -> bool:
    """Whether a rank of this role holds, in full, one block for each rank."""
    in_blocks = any(buffer.per_process for buffer in mpi_facts.buffers(operation))
    everywhere = mpi_facts.dependence(operation) == "all-to-all"
    return in_blocks and (everywhere or role == "root")


def moved_bytes(operation: str, role: str, ranks: int, block_bytes: int) -> int:
    """The least data that a rank of this role must exchange with others, whatever the algorithm.

    Every other rank's result depends on each element that a rank contributes, so that at least
    these bytes leave or enter it. In a scan rank 0 sends and the last receives one block.
    """
    if ranks < 2:
        return 0
    return (ranks - 1) * block_bytes if holds_blocks(operation, role) else block_bytes


def moved_of_size(operation: str, role: str, ranks: int, size_bytes: int) -> float:
    """The same by the size that a call is known by: what the rank contributes or obtains."""
    if ranks < 2:
        return 0.0
    return size_bytes * (ranks - 1) / ranks if holds_blocks(operation, role) else size_bytes
