"""WHAT IS KNOWN: names, triples, splits, files."""
