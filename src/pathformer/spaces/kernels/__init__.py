"""Compiled distances of the spaces."""
