"""FILES THAT SURVIVE: written whole or not at all, locked, read out of archives and pipes."""
