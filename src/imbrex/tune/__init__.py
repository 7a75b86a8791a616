"""Whether a change makes a program faster: trials of it and its baseline in turns."""
