"""Candidates for an answer."""
