"""The subspace solver for directed graphs: components h g^T.

It is the method of the undirected solver with a basis on either side of the graphs. A component is
one column here, h above g, so that what only counts, chooses and remembers components is shared.
"""

from __future__ import annotations

from eigengraphs.solvers.directed.solver import directed

__all__ = ["directed"]
