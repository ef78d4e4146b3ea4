"""Draws which part of the library imports which."""
