"""What the numbers of a run mean: one model, which every screen renders."""
