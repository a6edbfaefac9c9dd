"""Compiled inner loops, each with a readable twin; imported where they are used."""
