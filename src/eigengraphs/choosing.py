"""``select_dimension``: how many components graphs have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from eigengraphs.dimension import DimensionChoice, choose_n_components
from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.randomness import RandomState
from eigengraphs.stack import GraphStack
from eigengraphs.stack.preprocess import Preprocessing

__all__ = ["select_dimension"]


def select_dimension(
    graphs: Any,
    max_components: int = 12,
    *,
    method: Literal["all", "elbow", "loadings", "pairs", "halves"] = "all",
    alpha: float = 0.05,
    sample_weight: Any = None,
    random_state: RandomState = None,
    verbose: int = 0,
    callback: Callable[[str], None] | None = None,
    **settings: Any,
) -> DimensionChoice:
    """Choose the number of components of a joint embedding by up to four rules.

    - "elbow": where the objective flattens out. The gains of one fit are split in two groups by
      profile likelihood (Zhu and Ghodsi, 2006), again after each split.
    - "loadings": the paper's second rule, that later loadings look like noise around zero,
      as a test. Components are found on one half of the graphs, and loadings of the other half are
      compared with those on random directions: their mean, and their squares. Up to
      15 splits in both directions are combined, fewer once the rest cannot change the number;
      ``alpha`` is the rate of false alarms.
    - "pairs": all pairs within a fifth of the vertices are hidden and predicted from the others,
      fifth by fifth, twice. The smallest number is taken that predicts as well as the best.
    - "halves": both halves of the graphs are fitted. The largest number is taken of which all
      components are found again, more alike than chance makes them.

    The recommendation is the middle of the last three, which judge by data that had no
    say in what is judged; at least 1. Give training graphs alone: test graphs must not have a say.

    Parameters
    ----------
    graphs
        A :class:`GraphStack`, or anything it can be made of.
    max_components : int
        Largest number to consider; what the graphs cannot have is left away.
    method : {"all", "elbow", "loadings", "pairs", "halves"}
        All rules that can run, or one. With "all", ``left_out`` tells which could not and why.
    alpha : float
        Rate of false alarms of "loadings" and "halves", and level of the differences in "pairs".
    sample_weight : (m,), optional
        Weight of each graph in the fits and in the prediction of pairs; the tests count those of
        weight zero out, and all others alike.
    random_state : int, Generator, RandomState or None
        Source of the splits, and of the starts of all fits.
    verbose : int
        1 prints a line for each step to standard error.
    callback : function, optional
        Called with the text of that line.
    **settings
        Settings of :class:`~eigengraphs.JointEmbedding` (``center``, ``diagonal``, ...). Fits are
        rough, whatever ``tol`` and ``max_iter`` are: components of noise need not be exact.

    Returns
    -------
    DimensionChoice
        The recommendation, what each rule says, and what it looked at.

    Examples
    --------
    >>> import eigengraphs as eg
    >>> model = eg.models.StochasticBlockModel([[0.5, 0.2], [0.2, 0.5]], [0, 1] * 20)
    >>> choice = eg.select_dimension(model.sample(20, random_state=0), random_state=0)
    >>> choice.n_components, choice.choices
    (2, {'elbow': 2, 'loadings': 2, 'pairs': 2, 'halves': 2})
    """
    unknown = set(settings) - set(JointEmbedding().get_params())
    if unknown or "n_components" in settings:
        name = min(unknown or {"n_components"})
        raise InputError(
            f"{name!r} is no setting for select_dimension; it takes those of JointEmbedding but "
            "n_components"
        )

    steps = Preprocessing.of(settings.pop("preprocess", None))
    stack = graphs
    if not isinstance(graphs, GraphStack):
        stack = GraphStack(graphs, copy=False, missing=settings.get("missing", "error"))
    if settings.get("directed") or stack.has_missing:
        what = "directed graphs" if settings.get("directed") else "graphs with missing entries"
        raise InputError(
            f"the number of components is not chosen for {what}; symmetrize() or fill them to "
            "choose it, or compare fits by score"
        )

    def make_estimator(d: int) -> JointEmbedding:
        return JointEmbedding(d, **settings)

    return choose_n_components(
        steps.apply(stack),
        make_estimator,
        max_components=max_components,
        method=method,
        alpha=alpha,
        sample_weight=sample_weight,
        random_state=random_state,
        verbose=verbose,
        callback=callback,
    )
