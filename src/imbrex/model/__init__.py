"""Potential overlap and what it is worth on a network (Sancho et al., SC 2006)."""
