"""WHAT IS ASKED: text to formula to computation tree to paths and forks."""
