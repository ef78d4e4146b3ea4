"""A choice of the number of components, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigengraphs.dimension.result import DimensionChoice

__all__ = ["explain"]


def explain(choice: DimensionChoice) -> str:
    """Say what each rule found, and why the recommendation is what it is."""
    say = {"elbow": _elbow, "loadings": _loadings, "pairs": _pairs, "halves": _halves}
    parts = [f"Recommended: {_components(choice.n_components)}."]
    parts += [say[rule](choice) for rule in choice.choices]
    parts += [f"The rule {rule!r} was left out: {why}." for rule, why in choice.left_out.items()]
    parts.append(_verdict(choice))
    return " ".join(part for part in parts if part)


def _elbow(choice: DimensionChoice) -> str:
    d = choice.choices["elbow"]
    if d == 0:
        return "Elbow: the objective falls evenly, without one."
    if d == len(choice.curves["elbow"]) and d > 1:
        return f"Elbow: none; {_components(d)} explain nearly all there is."
    return f"Elbow: the objective flattens out after {_components(d)}."


def _loadings(choice: DimensionChoice) -> str:
    d, p = choice.choices["loadings"], choice.curves["loadings"]
    if d == 0:
        return f"Loadings: those of held-out graphs look like noise from the first ({_p(p[0])})."
    text = f"Loadings: those of held-out graphs stand out from noise for {_components(d)}"
    text += f" ({_p(p[:d].max())}"
    return text + (f"; {_p(p[d])} for the next)." if d < len(p) else ").")


def _pairs(choice: DimensionChoice) -> str:
    d, curve = choice.choices["pairs"], choice.curves["pairs"]
    if d == 0:
        return "Pairs: no component helps to predict hidden vertex pairs."
    return (
        f"Pairs: hidden vertex pairs are predicted best with {_components(d)} "
        f"(error {curve[d]:.3g} of that without any)."
    )


def _halves(choice: DimensionChoice) -> str:
    d, alike = choice.choices["halves"], choice.curves["halves"]
    level = choice.levels["halves"]
    if d == 0:
        return "Halves: halves of the graphs find no component in common."
    text = f"Halves: halves of the graphs find the same {_components(d)}, similarity"
    return f"{text} {alike[d - 1]:.2f} or more (needed: {level[d - 1]:.2f})."


def _verdict(choice: DimensionChoice) -> str:
    said = choice.choices
    endless = [rule for rule in said if rule != "elbow" and said[rule] >= choice.max_components]
    parts = []
    if set(said.values()) == {0}:
        parts.append("Nothing stands out from noise; 1 is the least that an embedding can have.")
    elif len(said) > 1 and len(set(said.values())) == 1:
        parts.append("All rules agree.")
    elif len(said) > 1:
        parts.append(_disagreement(choice, endless))
    if choice.doubt and "halves" in choice.decided_by:
        parts.append(f"This is not clear: {choice.doubt}.")
    if choice.n_components >= choice.max_components:
        parts.append(f"There may be more than max_components = {choice.max_components}.")
    return " ".join(parts)


def _disagreement(choice: DimensionChoice, endless: list[str]) -> str:
    deciding = choice.decided_by
    listed = _listed([f"{rule} ({choice.choices[rule]})" for rule in deciding])
    parts = []
    if endless and not set(endless) <= set(deciding):
        see = "sees" if len(endless) == 1 else "see"
        parts.append(
            f"{_listed(endless).capitalize()} {see} no end, as in most real graphs: further "
            "components are still more than noise."
        )
    if len(deciding) == 1:
        parts.append(f"The number was chosen by {listed}.")
    elif len({choice.choices[rule] for rule in deciding}) == 1:
        parts.append(f"The number is what {listed} agree on.")
    else:
        which = "the middle" if len(deciding) > 2 else "the smaller"
        least = ", but at least 1" if min(choice.choices[rule] for rule in deciding) < 1 else ""
        parts.append(f"The number is {which} of {listed}{least}.")
    if "elbow" in choice.choices and "elbow" not in deciding:
        parts.append("The elbow, which tests nothing, does not count beside them.")
    return " ".join(parts)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _components(d: int) -> str:
    return "1 component" if d == 1 else f"{d} components"


def _p(value: float) -> str:
    return "p < 1e-16" if value < 1e-16 else f"p = {value:.2g}"
