"""What the rules found about the number of components, in numbers, in words and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigengraphs.system.extras import need
from eigengraphs.system.labels import count_of, listed
from eigengraphs.system.tables import short_repr
from eigengraphs.system.whole_files import whole_file

RULES = ("elbow", "loadings", "pairs", "halves")
_TESTED = ("loadings", "pairs", "halves")  # on held-out data


class Evidence(NamedTuple):
    """What one rule found; see :class:`DimensionChoice` for curves and levels."""

    choice: int
    curve: NDArray[np.float64]
    level: NDArray[np.float64] | None = None
    doubt: str = ""


@dataclass(frozen=True, eq=False)
class DimensionChoice:
    """Number of components by each rule, and the recommendation.

    See :func:`~eigengraphs.select_dimension` for the rules.

    Attributes
    ----------
    n_components : int
        The recommendation, at least 1.
    choices : dict of str to int
        The number that each rule chose; 0 means that nothing stands out from noise.
    curves : dict of str to array
        Values behind each rule. "elbow": share of the squared norm that components 1, 2,
        ... explain when they are added, at least 8 if there are as many. "loadings":
        p-value of "component k adds nothing" for k = 1, 2, .... "pairs": squared error over
        hidden pairs with 0, 1, ... components, relative to that with none. "halves": similarity
        of the least similar pair among the first 1, 2, ... components.
    levels : dict of str to array
        Thresholds for the curves, of the same lengths. "loadings": alpha. "pairs": how much worse
        than the best counts as equally good. "halves": the required similarity. "elbow" has none.
    left_out : dict of str to str
        Rules that could not run, and why.
    alpha : float
        Rate of false alarms of the tests.
    max_components : int
        Largest number that was considered.
    doubt : str
        What the splits of "halves" say if they do not clearly support one number.

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
        """Rules whose median is recommended."""
        return recommend(self.choices, self.max_components)[1]

    def explain(self) -> str:
        """Say what each rule found, and give the reason for the recommendation.

        Examples
        --------
        >>> import eigengraphs as eg
        >>> graphs = eg.models.ErdosRenyi(12, 0.5).sample(8, random_state=0)
        >>> choice = eg.select_dimension(graphs, 3, method="elbow", random_state=0)
        >>> print(choice.explain().splitlines()[0])
        Recommended: 1 component. Elbow: the objective flattens out after 1 component.
        """
        parts = [f"Recommended: {count_of(self.n_components, 'component')}."]
        parts += [_finding(self, rule, d) for rule, d in self.choices.items()]
        parts += [f"The rule {rule!r} was left out: {why}." for rule, why in self.left_out.items()]
        return " ".join(parts + _verdict(self))

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
        figure = _figure(self)
        if path is not None:
            with whole_file(Path(path)) as temporary:
                figure.savefig(temporary, dpi=200)
        return figure


def recommend(choices: dict[str, int], max_components: int) -> tuple[int, tuple[str, ...]]:
    """Return the recommended number of components, and the rules whose median it is.

    The median of the choices of those rules that judge by held-out data, and of two the smaller;
    the elbow, which tests nothing, counts where it is alone. A rule that
    goes as far as it may has found no end, and is left out where another has: of real
    graphs, ever more components are real and predict a little, and may not be found again.
    """
    rules = [rule for rule in _TESTED if rule in choices] or list(choices)
    rules = [rule for rule in rules if choices[rule] < max_components] or rules
    ranked = sorted(choices[rule] for rule in rules)
    return max(1, ranked[(len(ranked) - 1) // 2]), tuple(rules)


# ------------------------------------------------------------------ in words

_NOTHING = {  # where a rule says 0
    "elbow": "Elbow: none; the objective decreases evenly.",
    "loadings": "Loadings: those of held-out graphs look like noise from the first ({p}).",
    "pairs": "Pairs: no component helps to predict hidden vertex pairs.",
    "halves": "Halves: halves of the graphs find no component in common.",
}


def _finding(choice: DimensionChoice, rule: str, d: int) -> str:
    """Say what one rule found."""
    curve, many = choice.curves[rule], count_of(d, "component")
    if d == 0:
        return _NOTHING[rule].format(p=_p(curve[0]))
    if rule == "elbow":
        if d == len(curve) > 1:
            return f"Elbow: none; {many} explain nearly all there is."
        return f"Elbow: the objective flattens out after {many}."
    if rule == "loadings":
        following = f"; {_p(curve[d])} for the next" if d < len(curve) else ""
        strength = f"({_p(curve[:d].max())}{following})"
        return f"Loadings: those of held-out graphs stand out from noise for {many} {strength}."
    if rule == "pairs":
        error = f"(error {curve[d]:.3g} times that without any)"
        return f"Pairs: hidden vertex pairs are predicted best with {many} {error}."
    alike = f"similarity {curve[d - 1]:.2f} or more (needed: {choice.levels[rule][d - 1]:.2f})"
    return f"Halves: halves of the graphs find the same {many}, {alike}."


def _verdict(choice: DimensionChoice) -> list[str]:
    """Say why the recommendation is what it is, sentence by sentence."""
    said, deciding = choice.choices, choice.decided_by
    parts = []
    if set(said.values()) == {0}:
        parts.append("Nothing stands out from noise; 1 is the least that an embedding can have.")
    elif len(said) > 1 and len(set(said.values())) == 1:
        parts.append("All rules agree.")
    elif len(said) > 1:
        endless = [r for r in _TESTED if r in said and said[r] >= choice.max_components]
        if not set(endless) <= set(deciding):
            see = "sees" if len(endless) == 1 else "see"
            parts.append(
                f"{listed(endless).capitalize()} {see} no end, as in most real graphs: further "
                "components are still more than noise."
            )
        by = listed([f"{rule} ({said[rule]})" for rule in deciding])
        numbers = {said[rule] for rule in deciding}
        if len(deciding) == 1:
            parts.append(f"The number was chosen by {by}.")
        elif len(numbers) == 1:
            parts.append(f"The number is what {by} agree on.")
        else:
            which = "the median" if len(deciding) > 2 else "the smaller"
            least = ", but at least 1" if min(numbers) < 1 else ""
            parts.append(f"The number is {which} of {by}{least}.")
        if "elbow" in said and "elbow" not in deciding:
            parts.append("The elbow is not a test and does not count here.")
    if choice.doubt and "halves" in deciding:
        parts.append(f"This is not clear: {choice.doubt}.")
    if choice.n_components >= choice.max_components:
        parts.append(f"There may be more than max_components = {choice.max_components}.")
    return parts


def _p(value: float) -> str:
    return "p < 1e-16" if value < 1e-16 else f"p = {value:.2g}"


# ------------------------------------------------------------------ as a picture

# Distinguishable for color-blind readers as well (Okabe and Ito).
_CURVE, _CHOSEN, _LEVEL = "#0072B2", "#D55E00", "0.45"
_PANELS = {  # title, y axis, and the smallest value that is drawn
    "elbow": ("Elbow", "share it explains", 1e-12),
    "loadings": ("Loadings of held-out graphs", "p-value of noise", 1e-16),
    "pairs": ("Hidden vertex pairs", "error beyond the best", 1e-7),
    "halves": ("Halves of the graphs", "smallest similarity", 0.0),
}


def _figure(choice: DimensionChoice) -> Any:
    """Draw a panel for each rule that ran or was left out."""
    drawing = need("matplotlib.figure", "report", "drawing a picture")
    rules = [rule for rule in RULES if rule in choice.choices or rule in choice.left_out]
    columns = min(len(rules), 2)
    rows = -(-len(rules) // columns)
    figure = drawing.Figure(figsize=(3.7 * columns, 2.7 * rows), layout="constrained")
    for axes, rule in zip(figure.subplots(rows, columns, squeeze=False).flat, rules, strict=False):
        title, label, smallest = _PANELS[rule]
        if rule not in choice.choices:
            axes.set_axis_off()
            axes.set_title(f"{title}: left out", loc="left", fontsize=9.5)
            axes.text(0, 0.9, choice.left_out[rule], color=_LEVEL, va="top", wrap=True)
            continue
        curve, level, chosen = choice.curves[rule], choice.levels.get(rule), choice.choices[rule]
        if rule == "pairs":  # the first component would hide all differences of others
            curve = curve - curve.min()
        x = np.arange(len(curve)) + (rule != "pairs")
        if level is not None:
            axes.plot(x, np.maximum(level, smallest), "--", color=_LEVEL, lw=1, label="needed")
            axes.legend(frameon=False, fontsize=8)
        axes.plot(x, np.maximum(curve, smallest), "o-", color=_CURVE, ms=4, lw=1.2)
        axes.axvline(chosen, color=_CHOSEN, lw=6, alpha=0.25, zorder=0)
        axes.set_title(f"{title}: {chosen}", loc="left", fontsize=9.5)
        axes.set(xlabel="number of components", ylabel=label,
                 yscale="linear" if rule == "halves" else "log")  # fmt: skip
    figure.suptitle(f"Recommended: {count_of(choice.n_components, 'component')}", fontsize=11)
    return figure
