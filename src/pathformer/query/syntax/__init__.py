"""How a query is written: one file a syntax, each with `parse` and `write`."""
