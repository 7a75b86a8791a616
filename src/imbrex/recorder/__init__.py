"""Record when a program produces and consumes what it communicates."""
