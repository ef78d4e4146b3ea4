"""Population theory of the one-dimensional joint embedding: section 4 and Appendix A.

A given lambda has independent Bernoulli entries for s <= t with means P = lambda h_1 h_1^T; of the
random lambda only two moments matter. Letters: u = h_1, mu = E(lambda), nu = E(lambda^2), P_0 =
h_1 h_1^T, and V the mean variances E(P * (J - P)) of the entries, doubled off the diagonal since
A_st and A_ts are one variable. Graphs without loops: both have a zero diagonal. Then

    E<A, hh^T>^2 = nu (h^T P_0 h)^2 + (h*h)^T V (h*h),
    M(h) = E(<A, hh^T> A) = nu (h^T P_0 h) P_0 + hh^T * V.

:class:`PopulationObjective` computes them exactly; the others are what its methods return.

>>> from eigengraphs.models.theory import PopulationObjective
>>> theory = PopulationObjective.erdos_renyi(100, 0.5)
>>> round(theory.bound(theory.h1), 3)  # of Theorem 4.2
0.04
"""

from eigengraphs.models.theory.lemmas import DistanceLemma, EigenvectorLemma
from eigengraphs.models.theory.minimizer import PopulationMinimizer
from eigengraphs.models.theory.objective import PopulationObjective

__all__ = ["DistanceLemma", "EigenvectorLemma", "PopulationMinimizer", "PopulationObjective"]
