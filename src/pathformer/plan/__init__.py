"""MANY QUERIES, FEW TENSORS: a static layout of path and fork steps, and the ids that change."""
