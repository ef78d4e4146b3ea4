"""Algorithms as pure functions on the small protocol that the data must offer."""
