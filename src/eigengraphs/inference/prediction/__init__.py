"""Prediction of what was held out: labels, edges and people, and how well each method does it."""
