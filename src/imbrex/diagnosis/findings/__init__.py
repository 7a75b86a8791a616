"""The rules over a run, one file each; to add one, write its file and a line in `registry`."""
