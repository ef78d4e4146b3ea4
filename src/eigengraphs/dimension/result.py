"""What was found about the number of components."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigengraphs.dimension.words import explain
from eigengraphs.system.tables import short_repr
from eigengraphs.system.whole_files import whole_file

__all__ = ["RULES", "TESTED", "DimensionChoice", "recommend"]

RULES = ("elbow", "loadings", "pairs", "halves")
TESTED = ("loadings", "pairs", "halves")  # on data that had no say in what is tested


@dataclass(frozen=True, eq=False)
class DimensionChoice:
    """Number of components by each rule, and the recommendation.

    See :func:`~eigengraphs.select_dimension` for the rules.

    Attributes
    ----------
    n_components : int
        The recommendation, at least 1.
    choices : dict of str to int
        What each rule that ran says, from 0: that nothing stands out from noise.
    curves : dict of str to array
        What each rule looked at. "elbow": share of the squared norm that components 1, 2,
        ... explain when they are added, at least 8 if there are as many. "loadings":
        p-value of "component k adds nothing" for k = 1, 2, .... "pairs": squared error over
        hidden pairs with 0, 1, ... components, beside that with none. "halves": similarity
        of the pair that is least alike among the first 1, 2, ... components.
    levels : dict of str to array
        What the curves are compared with, of the same lengths. "loadings": alpha. "pairs":
        how much worse than the best is as good. "halves": the similarity that is needed.
        "elbow" has none.
    left_out : dict of str to str
        Rules that could not run, and why.
    alpha : float
        Rate of false alarms of the tests.
    max_components : int
        Largest number that was looked at.
    doubt : str
        Where the splits of "halves" do not clearly speak for one number: what they say.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(8, random_state=0)
    >>> choice = eg.select_dimension(graphs, 3, method="elbow", random_state=0)
    >>> choice.n_components, choice.decided_by, choice.agreement
    (1, ('elbow',), 1.0)
    """

    n_components: int
    choices: dict[str, int]
    curves: dict[str, NDArray[np.float64]]
    levels: dict[str, NDArray[np.float64]]
    left_out: dict[str, str]
    alpha: float
    max_components: int
    doubt: str = ""

    __repr__ = short_repr

    @property
    def agreement(self) -> float:
        """Share of the rules that ran whose choice is the recommendation."""
        same = [max(choice, 1) == self.n_components for choice in self.choices.values()]
        return sum(same) / len(same)

    @property
    def decided_by(self) -> tuple[str, ...]:
        """Rules whose middle is recommended."""
        return recommend(self.choices, self.max_components)[1]

    def explain(self) -> str:
        """Say in words what each rule found, and why the recommendation is what it is.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(8, random_state=0)
        >>> choice = eg.select_dimension(graphs, 3, method="elbow", random_state=0)
        >>> print(choice.explain().splitlines()[0])
        Recommended: 1 component. Elbow: the objective flattens out after 1 component.
        """
        return explain(self)

    def plot(self, path: Any = None) -> Any:
        """Draw the curves; needs matplotlib (``pip install 'eigengraphs[report]'``).

        Parameters
        ----------
        path : str or Path, optional
            File to write; its ending says the format (.png, .pdf, .svg).

        Returns
        -------
        matplotlib.figure.Figure

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(8, random_state=0)
        >>> choice = eg.select_dimension(graphs, 3, method="elbow", random_state=0)
        >>> len(choice.plot().axes)
        1
        """
        from eigengraphs.dimension.picture import choice_figure

        figure = choice_figure(self)
        if path is not None:
            with whole_file(Path(path)) as temporary:
                figure.savefig(temporary, dpi=200)
        return figure


def recommend(choices: dict[str, int], max_components: int) -> tuple[int, tuple[str, ...]]:
    """Return the recommended number of components, and the rules whose middle it is.

    The middle of the choices of those rules that judge by data without a say in what is judged,
    and of two the smaller; the elbow, which tests nothing, counts where it is alone. A rule that
    goes as far as it may has found no end, and is left out where another has: of real
    graphs, ever more components are real and predict a little, and may not be found again.
    """
    rules = [rule for rule in TESTED if rule in choices] or list(choices)
    rules = [rule for rule in rules if choices[rule] < max_components] or rules
    ranked = sorted(choices[rule] for rule in rules)
    return max(1, ranked[(len(ranked) - 1) // 2]), tuple(rules)
