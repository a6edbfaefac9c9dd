"""HOW A QUERY BECOMES A POINT: one file a method."""
