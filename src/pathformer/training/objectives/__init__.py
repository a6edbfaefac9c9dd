"""WHAT IS MINIMISED: one file an objective, from a drawn batch to one loss a query."""
