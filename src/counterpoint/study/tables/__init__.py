"""Outcomes as tables and figures."""
