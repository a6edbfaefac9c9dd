"""Lists of missing links over many heads: which are likely, why, and as what file."""
