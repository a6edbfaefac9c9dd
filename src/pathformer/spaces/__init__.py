"""WHERE POINTS LIVE: one file a space."""
