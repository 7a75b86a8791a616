"""What a statement may touch, which memory may be the same, and how far a call may move."""
