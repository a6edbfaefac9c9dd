"""POINTS WITHOUT A TRAINING LIBRARY: the methods that `fit` produces, in numpy."""
