"""Products of many graphs with a few columns: all that a solver asks of its data.

:mod:`protocol` says what may be asked. ``dense`` and ``csr`` multiply graphs as they are stored,
``treated`` adds what the treatment does to them, ``observed`` knows hidden entries, ``degrees``
divides by degrees, and ``block_by_block`` asks all of this of graphs on a disk or on a cluster.
"""
