"""Blocks that know nothing of queries."""
