"""Folders of queries, one file a layout: `SIGN`, `detect(path)`, `read(path)` and, where it can, `write(benchmark, path)`."""
