"""``eigengraphs compare``: whether groups of graphs differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.options import Json
from eigengraphs.cli.wording import say, say_notes, table_width

__all__ = ["compare"]


def compare(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="A folder of results.")],
    group: Annotated[
        str, typer.Option(help="Column of the graphs: groups, or a quantity such as age.")
    ],
    covariates: Annotated[
        str, typer.Option(help="Columns that are held constant, with commas: age,sex,site.")
    ] = "",
    subject: Annotated[
        str | None,
        typer.Option(
            help="Column that says whose a graph is; by default the participants. none: every "
            "graph is of somebody else."
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option(min=99, help="Random ones, where there are more than this.")
    ] = 9999,
    seed: Annotated[int, typer.Option(min=0, help="Of the random permutations.")] = 0,
    as_json: Json = False,
) -> None:
    """Compare the loadings of groups: permutation tests, sizes of effects, false discovery rate.

    Example: eigengraphs compare results --group group --covariates age
    """
    from eigengraphs.job.comparing import compare_groups
    from eigengraphs.job.finished import FinishedFit

    names = [name.strip() for name in covariates.split(",") if name.strip()]
    found, files = compare_groups(
        FinishedFit(folder), group, covariates=names, subject=subject,
        n_permutations=permutations, seed=seed,
    )  # fmt: skip
    if as_json:
        from eigengraphs.report.records import json_ready

        say(json.dumps(json_ready({
            "event": "done", "group": group, "kind": found.kind, "design": found.design,
            "graphs": found.n_graphs, "units": found.n_units, "levels": found.levels,
            "joint": {"F": found.joint_F, "p": found.joint_p},
            "components": [
                {"component": name, "F": F, "p": p, "p_fdr": fdr, "p_family": family,
                 "effect": size, "low": low, "high": high}
                for name, F, p, fdr, family, size, low, high in zip(
                    found.components, *(column.tolist() for column in (
                        found.F, found.p_values, found.p_fdr, found.p_family, found.effect,
                        found.effect_low, found.effect_high)), strict=True)
            ],
            "effect": found.effect_name, "permutations": found.n_permutations,
            "exact": found.exact, "notes": found.notes, "methods": found.methods,
            "files": [str(file) for file in files],
        })))  # fmt: skip
        return
    from rich.console import Console
    from rich.table import Table

    say_notes(found.notes)
    say("\n".join(found.words))
    table = Table(
        "component", found.effect_name, "95 % interval", "F", "p", "p (FDR)", "p (family)"
    )
    for k, (name, size, _, _, F, *p) in enumerate(row[:8] for row in found.rows[:-1]):
        table.add_row(
            str(name), f"{size:.3g}", found.interval(k, ".3g"), f"{F:.3g}",
            *(f"{value:.2g}" for value in p),
        )  # fmt: skip
    table.add_row("all", "", "", f"{found.joint_F:.3g}", f"{found.joint_p:.2g}", "", "")
    Console(markup=False, emoji=False, highlight=False, width=table_width()).print(table)
    say(f"Methods: {found.methods}")
    say(f"wrote {', '.join(str(file) for file in files)}")
