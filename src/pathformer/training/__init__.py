"""HOW A MODEL LEARNS: the loop, its schedule and its checkpoints."""
