"""Compiled loops of search."""
