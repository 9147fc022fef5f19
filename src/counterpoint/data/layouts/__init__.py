"""How images lie in a folder: one file per layout."""
