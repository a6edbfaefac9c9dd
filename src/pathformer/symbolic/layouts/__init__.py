"""Folders of queries, one file a layout.

Each has `SIGN` (what to look for, in words), `detect(path)`, `read(path, splits)` and, where it can,
`write(benchmark, path, kg, force)`.
"""
