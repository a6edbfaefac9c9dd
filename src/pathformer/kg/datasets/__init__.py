"""Graphs by name; one row each."""
