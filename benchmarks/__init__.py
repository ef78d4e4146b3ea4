"""Ours against other ways to do the same, in one run and as ratios.

``python -m benchmarks [names]`` runs the benchmarks and writes ``benchmarks/RESULTS.md``.
"""
