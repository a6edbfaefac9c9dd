"""From a question to its answers."""
