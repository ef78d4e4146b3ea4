"""``load``: a fit from its file."""

from __future__ import annotations

import os

from eigengraphs.embedding import JointEmbedding
from eigengraphs.errors import InputError
from eigengraphs.limits import MaxBytes
from eigengraphs.saving import read_model

__all__ = ["load"]

# Parameters that the first models did not have; they get the default.
_ADDED = {"deterministic"}


def load(path: str | os.PathLike[str], *, max_bytes: MaxBytes = None) -> JointEmbedding:
    """Read a fit that :meth:`JointEmbedding.save` wrote.

    Parameters
    ----------
    path : str or path
        The model file. Files of every older version are read; those that were changed, cut off or
        made by something else are refused.
    max_bytes : int or str, optional
        What a compressed file may say that it holds, such as "4G"; see ``SECURITY.md``.

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
    state = read_model(path, max_bytes)
    fresh = JointEmbedding()
    missing = set(fresh.get_params()) - set(state) - _ADDED
    if missing or "_fit" not in state:
        raise InputError(f"{str(path)!r} holds no fit of JointEmbedding")
    fresh.__dict__.update(state)
    fresh._training = None
    return fresh
