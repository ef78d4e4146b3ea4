"""The paper's experiments: RESULTS.md, and `python -m experiments` to run them again."""
