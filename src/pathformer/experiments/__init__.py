"""THE PAPER AS DATA: run files, records of runs, and the paper's tables beside our figures."""
