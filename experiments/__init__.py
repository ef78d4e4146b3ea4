"""Experiments on what the paper claims, by the public interface alone."""
