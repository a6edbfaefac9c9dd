"""Tables of the paper, each printed paper | ours | difference."""
