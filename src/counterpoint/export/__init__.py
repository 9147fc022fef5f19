"""A trained encoder as files that others load, each proved in a fresh process."""
