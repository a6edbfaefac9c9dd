"""Queries and trees as pictures and as text trees."""
