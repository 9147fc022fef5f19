"""The page of a search: what was found, how, at what cost, and what it is worth."""
