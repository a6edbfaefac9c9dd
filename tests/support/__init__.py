"""Helpers that several tests share: small graphs, tiny engines, strategies, toys, and golden files."""
