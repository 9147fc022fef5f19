"""Shards, measured: their order, and what it costs to read and to write them."""
