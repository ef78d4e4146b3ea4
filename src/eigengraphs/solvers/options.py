"""Every tuned value of the solvers, in one record."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULTS", "SolverOptions"]


@dataclass(frozen=True)
class SolverOptions:
    """What the search of components is tuned by; docs/develop/decisions has the ablation.

    None of these changes what is a solution: they decide how soon, and how surely, the best of
    many local maxima is found.
    """

    # ------------------------------------------------------------ rounds
    block: int = 12
    """Components that are searched together, whatever number is wanted."""
    sketch: int = 8
    """Columns of the first basis that come from the sum of squared graphs; half as many from the
    mean graph."""
    sketched_graphs: int = 64
    """Graphs that the first basis is taken from, or a quarter of them if that is more."""
    width: int = 80
    """Columns of a basis before it is shortened, where products with it are kept."""
    narrow: int = 48
    """The same where every pass multiplies by all columns, or where cores of many graphs cost."""
    core_numbers: int = 5 * 2**18
    """Numbers of all packed cores up to which a basis may be wide; half of it, for all vertices."""
    search_rounds: int = 3
    """Rounds in which all components are searched from many starts."""
    search_on: int = 8
    """Rounds in which those are that come after the first that moved."""
    history: int = 2
    """Solutions of earlier rounds that a shortened basis keeps."""
    rough: float = 1e-2
    """Relative gradient to which the core is solved far from the end."""
    patience: int = 3
    """Rounds without progress near the rounding of products after which a component is done."""
    stalled: int = 60
    """The same far from it."""
    whole: int = 5000
    """Numbers of a packed graph up to which the basis may be everything, so that graphs are read
    once: 99 vertices, directed 70; three times as many under a rule or with degrees. See
    :func:`basis.whole_pays`."""

    # ------------------------------------------------------------ one core
    random: int = 4
    """Random starts beyond ``n_init``."""
    random_coordinates: int = 256
    """So many coordinates of random starts at least: many starts on few vertices."""
    climb: int = 3
    """Steps of every start before the best are compared."""
    turns: int = 8
    """Products with the linear model in one step of a climb."""
    finalists: int = 3
    """Starts that go on to their maximum, the best,"""
    same: float = 0.99
    """if no |cosine| with a better one is above this."""
    overlap: float = 0.3
    """Of a component is counted as new at least: less makes loadings that cancel."""
    combined: int = 32
    """Combinations of many graphs on which starts are tried."""
    newton: int = 60
    """Steps of Newton's method."""
    curved: float = 1e-5
    """Curvature, relative to the objective, of a way up from a saddle point."""

    # ------------------------------------------------------------ full space and refinement
    memory: int = 10
    """Steps that L-BFGS learns curvature from, and steps of Lanczos, one pass each: a saddle point
    that matters shows in fewer."""
    fades: float = 1e-2
    """Of the share that a graph observes: seeing less of a component, it has less to say."""
    max_condition: float = 1e4
    """Bound on the condition number of components that are refined together.

    Two components are then 0.8 degrees apart (1.6 where the objective begins to bend upwards), and
    loadings of opposite signs up to 70 times as large as what they explain together: in float32
    three digits are left of them. A fit beyond is better by about the inverse of the bound.
    """


DEFAULTS = SolverOptions()
