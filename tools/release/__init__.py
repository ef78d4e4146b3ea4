"""Checks of what would be released: the wheel, its metadata, and what it is like to install it."""
