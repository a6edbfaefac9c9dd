"""The file formats of graphs, one file each; the folder is the registry."""
