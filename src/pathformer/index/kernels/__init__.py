"""Compiled loops of the indexes."""
