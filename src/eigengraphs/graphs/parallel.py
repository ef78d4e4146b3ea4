"""Threads over blocks of a stack: :mod:`eigengraphs.parallel`, which solvers use as well."""

from eigengraphs.parallel import alone, in_order, on_blocks, spans, thread_count

__all__ = ["alone", "in_order", "on_blocks", "spans", "thread_count"]
