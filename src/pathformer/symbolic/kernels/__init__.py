"""Compiled loops over plain arrays: sets, traversal, walks. Nothing here knows of names, files or threads."""
