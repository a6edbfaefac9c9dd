"""One file a source of evidence for single links."""
