"""HOW LIKELY IS A LINK: evidence for single links."""
