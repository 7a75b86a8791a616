"""Single calls of a run on one clock, each with its other side: what time lines are drawn from."""
