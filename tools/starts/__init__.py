"""Follows the five-minute starts of the documentation to the letter."""
