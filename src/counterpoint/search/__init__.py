"""The images nearest to a query, among the vectors of a folder."""

from counterpoint.search.nearest_vectors import Nearest, nearest_rows
from counterpoint.search.vector_search import search_vectors

__all__ = ["Nearest", "nearest_rows", "search_vectors"]
