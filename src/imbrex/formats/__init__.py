"""What the files of Imbrex may hold: one list of fields per format.

Each list is used twice: a file is checked against it where it is read, and the reference page of
the format shows it (`docs/generate.py`).
"""
