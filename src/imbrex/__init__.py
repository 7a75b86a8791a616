"""Imbrex: communication-computation overlap in MPI programs."""

__version__ = "0.1.0"
