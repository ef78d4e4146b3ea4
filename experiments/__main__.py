"""``python -m experiments NAME``: the paper's figures and tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.terminal import say, visible
from eigengraphs.errors import EigengraphsError


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Experiments, or 'all', or 'list'."),
    ],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's repetitions, or minutes at most.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Decides what is drawn at random.")] = 0,
    output: Annotated[
        Path, typer.Option(help="Folder for pictures, tables and RESULTS.md.")
    ] = Path("experiments"),
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not go on from an interrupted run.")
    ] = False,
) -> None:
    """Run the experiments of the paper; what it printed stands beside what came out.

    Example: python -m experiments figure4 --quick
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    from experiments import CATALOGUE
    from experiments import reproduce as run

    unknown = [name for name in names if name not in {*CATALOGUE, "all", "list"}]
    if unknown:
        known = ", ".join(CATALOGUE)
        raise typer.BadParameter(f"there is no experiment {unknown[0]!r}; there are: {known}, all")
    if "list" in names:
        for name, entry in CATALOGUE.items():
            say(f"{name:12}{entry.title}")
        return
    wanted = list(CATALOGUE) if "all" in names else list(dict.fromkeys(names))
    columns = (TextColumn("{task.description:12}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    failed = []
    with Progress(*columns, console=Console(stderr=True)) as bars:
        for name in wanted:
            task = bars.add_task(name, total=None)

            def tell(_: str, done: int, total: int, task: int = task) -> None:
                bars.update(task, completed=done, total=total)  # type: ignore[arg-type]

            try:
                path = run(name, full=full, seed=seed, output=output, jobs=jobs, fresh=fresh,
                           progress=tell)  # fmt: skip
            except EigengraphsError as error:
                # One that lacks its data must not keep the others from running.
                if len(wanted) == 1:
                    raise
                failed.append(name)
                bars.console.print(visible(f"{name}: {error}"), markup=False, highlight=False)
    if len(failed) < len(wanted):
        say(f"wrote {path}")
    if failed:
        say(f"eigengraphs: could not run {', '.join(failed)} (reasons above)", file=sys.stderr)
        raise typer.Exit(3)


if __name__ == "__main__":
    typer.run(reproduce)
