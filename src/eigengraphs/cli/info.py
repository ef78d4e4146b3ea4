"""``eigengraphs info``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.wording import say
from eigengraphs.system.labels import count_of

__all__ = ["info"]


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, or its folder.")],
) -> None:
    """Describe a model in a few lines.

    Example: eigengraphs info results/model.eg
    """
    from eigengraphs.embedding import load
    from eigengraphs.fitting.messages import explained_of

    je = load(model / "model.eg" if model.is_dir() else model)
    settings = {name: value for name, value in je.get_params().items()
                if value != type(je)().get_params()[name] and name != "n_components"}  # fmt: skip
    say(
        f"{count_of(je.n_components_, 'component')} of {count_of(len(je.loadings_), 'graph')} on "
        f"{count_of(je.n_vertices_, 'vertex', 'vertices')}"
    )
    say(f"explained: {je.explained_ratio_.sum():.1%} of {explained_of(je.center)}; "
          f"diagonal {je.diagonal_}; "
          f"{'' if je.converged_ else 'NOT '}converged in "
          f"{count_of(je.n_passes_, 'pass', 'passes')}")  # fmt: skip
    say("settings: " + (", ".join(f"{k}={v!r}" for k, v in settings.items()) or "defaults"))
    for k in range(je.n_components_):
        h = je.latent_positions_[:, k]
        lead = sorted(range(len(h)), key=lambda s: -abs(float(h[s])))[:5]
        names = ", ".join(str(je.vertex_names_[s]) for s in lead)
        say(f"je{k + 1}: {je.explained_ratio_[k]:.2%} explained, {je.stop_reason_[k]}; {names}")
