"""Readers: one language each, from source text to the program model."""
