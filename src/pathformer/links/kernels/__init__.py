"""Compiled loops over links."""
