"""``load``: a fit from its file."""

from __future__ import annotations

import os

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.saving import read_model

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> JointEmbedding:
    """Read a fit that :meth:`JointEmbedding.save` wrote.

    Parameters
    ----------
    path
        The model file.

    Returns
    -------
    JointEmbedding
        With all that the fit had but the training graphs: ``transform`` gives the same, ``extend``
        wants the graphs again.

    Examples
    --------
    >>> import tempfile, eigengraphs as eg
    >>> graphs = eg.datasets.load_mice().graphs.log1p()
    >>> path = tempfile.mkdtemp() + "/mice.eg"
    >>> je = eg.JointEmbedding(3, random_state=0).fit(graphs)
    >>> again = eg.load(je.save(path))
    >>> bool((again.transform(graphs) == je.transform(graphs)).all())
    True
    """
    state = read_model(path)
    fresh = JointEmbedding()
    missing = set(fresh.get_params()) - set(state)
    if missing or "_fit" not in state:
        raise InputError(f"{str(path)!r} holds no fit of JointEmbedding")
    fresh.__dict__.update(state)
    fresh._training = None
    return fresh
