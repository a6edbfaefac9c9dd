"""BLOCKS: tensors in, tensors out; they know nothing of queries."""
