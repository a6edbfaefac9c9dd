"""WHAT FOLLOWS EXACTLY: answers by traversal."""
