"""THE NEAREST ENTITIES: one file an index; build, nearest, add, remove, save, load."""
