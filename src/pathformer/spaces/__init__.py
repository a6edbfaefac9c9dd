"""WHERE POINTS LIVE: one file a space, with its tables, distance and intersection."""
