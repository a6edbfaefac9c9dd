"""THE PRODUCT IS MADE: from triples to an engine."""
