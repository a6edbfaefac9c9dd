"""From a formula to a computation tree, and from a tree to paths and forks."""
