"""Checks of the built site: links that lead somewhere, pages that fit a screen."""
