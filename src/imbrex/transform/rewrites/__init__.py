"""Rewrites: one class per file, each with `validate()` apart from `apply()`."""
