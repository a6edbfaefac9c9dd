"""BLOCKS: networks, tables and their kernels: tensors in, tensors out; nothing here knows of queries."""
