"""Files of a measured run that other tools open: one format a file, listed in registry.py."""
