"""WHAT IS ASKED: text to formula to computation tree to paths and forks.

text ─parse→ Query ─bind→ ids ─to_tree→ Tree ─to_dnf→ union-free Trees ─to_paths→ Path, Fork
"""
