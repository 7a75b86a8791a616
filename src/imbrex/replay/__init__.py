"""Replay a recorded run on other networks, with and without overlap."""
