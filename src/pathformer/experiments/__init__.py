"""The paper as data: run files, and tables as views of what was measured."""
