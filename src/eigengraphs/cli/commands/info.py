"""``eigengraphs info``: a model in a few lines."""

from __future__ import annotations

from eigengraphs.cli.command_options import Info
from eigengraphs.cli.results_folder import load_model
from eigengraphs.cli.terminal import Listener, Outcome
from eigengraphs.fitting.messages import explained_of
from eigengraphs.system.labels import component_name, count_of


def info(asked: Info, _: Listener) -> Outcome:
    """Describe a model: its size, its settings, and each component."""
    je = load_model(asked.model)
    defaults = type(je)().get_params()
    settings = {name: value for name, value in je.get_params().items()
                if value != defaults[name] and name != "n_components"}  # fmt: skip
    text = [
        f"{count_of(je.n_components_, 'component')} of {count_of(len(je.loadings_), 'graph')} on "
        f"{count_of(je.n_vertices_, 'vertex')}",
        f"explained: {je.explained_ratio_.sum():.1%} of {explained_of(je.center)}; diagonal "
        f"{je.diagonal_}; {'' if je.converged_ else 'NOT '}converged in "
        f"{count_of(je.n_passes_, 'pass')}",
        f"settings: {', '.join(f'{k}={v!r}' for k, v in settings.items()) or 'defaults'}",
    ]
    for k, h in enumerate(je.latent_positions_.T):
        names = ", ".join(je.vertex_names_[s] for s in (-abs(h)).argsort(kind="stable")[:5])
        text.append(
            f"{component_name(k)}: {je.explained_ratio_[k]:.2%} explained, {je.stop_reason_[k]}; "
            f"{names}"
        )
    facts = {
        "graphs": len(je.loadings_), "vertices": je.n_vertices_, "components": je.n_components_,
        "explained": je.explained_ratio_, "converged": bool(je.converged_),
        "settings": {name: repr(value) for name, value in settings.items()},
    }  # fmt: skip
    return Outcome(text, facts)
