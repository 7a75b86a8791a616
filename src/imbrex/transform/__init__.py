"""Rewrite MPI sources so that communication overlaps computation."""
