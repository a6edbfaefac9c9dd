"""The paper's tables, each printed paper | ours | difference."""
