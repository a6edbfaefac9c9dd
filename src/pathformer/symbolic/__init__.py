"""WHAT FOLLOWS EXACTLY: answers by traversal, benchmark queries by sampling."""
