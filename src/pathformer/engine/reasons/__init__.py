"""Why an answer is one, and why there is none."""
