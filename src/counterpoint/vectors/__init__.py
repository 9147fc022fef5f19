"""Vectors of a data set in a folder: made once, and then searched, curated and shared."""

from counterpoint.vectors.embed_parts import embed_data
from counterpoint.vectors.vectors_folder import Vectors

__all__ = ["Vectors", "embed_data"]
