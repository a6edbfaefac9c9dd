"""From scores to probabilities, and how far they hold."""
