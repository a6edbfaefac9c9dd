"""Folders of queries, one file a layout.

Each has `SIGN` (what to look for, in words), `detect(path)`, `read(path, splits)` and, where it can be written,
`MARKER` (the file that tells a folder of ours from another program's) and `write(sets, path, kg, force)`.
"""
