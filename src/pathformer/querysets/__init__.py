"""QUERIES BY THE THOUSAND: drawn, kept, read and verified."""
