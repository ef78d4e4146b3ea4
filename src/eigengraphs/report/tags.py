"""Pieces of HTML. Every text that comes from outside is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from eigengraphs.system.labels import shortened

__all__ = ["a_name", "definitions", "number", "options", "paragraphs", "percent", "select", "table"]


def paragraphs(texts: Iterable[str], kind: str = "") -> str:
    """Return a paragraph for each text that is not empty."""
    attribute = f' class="{kind}"' if kind else ""
    return "".join(f"<p{attribute}>{escape(text)}</p>\n" for text in texts if text)


def a_name(name: str, most: int = 200) -> str:
    """Return a name that is cut to the room it has, whole (nearly) when hovered."""
    title = f' title="{escape(shortened(name, 200), quote=True)}"' if len(name) > 18 else ""
    return f'<span class="name"{title}>{escape(shortened(name, most), quote=True)}</span>'


def table(
    header: Sequence[str | tuple[str]], rows: Iterable[str], label: str, *, tall: bool = False
) -> str:
    """Return a table in a box that scrolls and can be focused; rows are made by the caller.

    A heading in a tuple stands over numbers.
    """
    head = "".join(map(_heading, header))
    kind = "wide" if tall else "wide short"
    return (
        f'<div class="{kind}" role="region" tabindex="0" aria-label="{escape(label, quote=True)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>\n"
    )


def _heading(heading: str | tuple[str]) -> str:
    text = heading if isinstance(heading, str) else heading[0]
    kind = "" if isinstance(heading, str) else ' class="number"'
    long = f' title="{escape(text, quote=True)}"' if len(text) > 18 else ""
    return f'<th scope="col"{kind}{long}>{escape(text)}</th>'


def select(identity: str, label: str, choices: Sequence[tuple[str, str]], chosen: str) -> str:
    """Return a labelled choice of (value, text)."""
    return (
        f'<label for="{identity}">{escape(label)}'
        f'<select id="{identity}" autocomplete="off">{options(choices, chosen)}</select></label>'
    )


def options(choices: Sequence[tuple[str, str]], chosen: str) -> str:
    """Return the options of a choice."""
    return "".join(
        f'<option value="{escape(value, quote=True)}"{" selected" if value == chosen else ""}>'
        f"{escape(shortened(text, 60))}</option>"
        for value, text in choices
    )


def definitions(pairs: Iterable[tuple[str, str]], kind: str = "words") -> str:
    """Return terms with what they mean."""
    inner = "".join(
        f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in pairs
    )
    return f'<dl class="{kind}">{inner}</dl>\n'


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with few digits, or a dash."""
    if value is None:
        return "–"
    size = abs(value)
    if 9999.5 <= size < 1e9:
        plain = f"{value:,.0f}"
    elif 10.0**digits * (1 - 0.5 * 10.0**-digits) <= size < 1e9:
        plain = f"{value:.0f}"  # else, rounded to so many digits, there would be an exponent
    else:
        plain = f"{value:.{digits}g}"
    return plain.replace("-", "−")


def percent(value: float | None) -> str:
    """Return a share in per cent, or a dash."""
    if value is None:
        return "–"
    if abs(value) < 1e-6:
        return "0.0%"
    digits = ".2g" if abs(value) < 0.001 else ".1f"  # a little is not nothing
    return f"{100 * value:{digits}}%".replace("-", "−")
