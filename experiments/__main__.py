"""``python -m experiments NAME``: the paper's figures and tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from eigengraphs.cli.terminal import say, visible
from eigengraphs.errors import EigengraphsError
from experiments.frame import CATALOG, reproduce


def command(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Experiments, or 'all', or 'list'."),
    ],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's repetitions, or minutes at most.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is random.")] = 0,
    output: Annotated[
        Path, typer.Option(help="Folder for pictures, tables and RESULTS.md.")
    ] = Path("experiments"),
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not continue an interrupted run.")
    ] = False,
) -> None:
    """Run the experiments of the paper and compare what it printed with what came out.

    Example: python -m experiments figure4 --quick
    """
    unknown = [name for name in names if name not in {*CATALOG, "all", "list"}]
    if unknown:
        known = ", ".join(CATALOG)
        raise typer.BadParameter(f"there is no experiment {unknown[0]!r}; there are: {known}, all")
    if "list" in names:
        for name, words in CATALOG.items():
            say(f"{name:12}{words['about']}")
        return
    columns = TextColumn("{task.description:12}"), BarColumn(), MofNCompleteColumn()
    failed, path = [], None
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bars:
        for name in CATALOG if "all" in names else dict.fromkeys(names):
            task = bars.add_task(name, total=None)

            def tell(done: int, total: int, task=task) -> None:
                bars.update(task, completed=done, total=total)

            try:
                path = reproduce(name, full=full, seed=seed, output=output, jobs=jobs, fresh=fresh,
                                 progress=tell)  # fmt: skip
            except EigengraphsError as error:
                # One that lacks its data must not keep the others from running.
                failed.append(name)
                bars.console.print(visible(f"{name}: {error}"), markup=False, highlight=False)
            except KeyboardInterrupt:
                say("experiments: interrupted; the same command continues it", file=sys.stderr)
                raise typer.Exit(130) from None
    if path is not None:
        say(f"wrote {path}")
    if failed:
        say(f"experiments: could not run {', '.join(failed)} (reasons above)", file=sys.stderr)
        raise typer.Exit(3)


if __name__ == "__main__":
    typer.run(command)
