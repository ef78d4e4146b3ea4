"""``eigengraphs demo``: the mice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigengraphs.cli.wording import say
from eigengraphs.system.labels import count_of

__all__ = ["demo"]


def demo(
    output: Annotated[
        Path, typer.Option(help="Folder for the tables, the picture and the page.")
    ] = Path("demo-output"),
    components: Annotated[int, typer.Option(min=2, help="Number of components.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random starts.")] = 0,
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Embed nothing; write the brains as files into a new folder, to try commands on.",
        ),
    ] = None,
) -> None:
    """Embed 32 mouse brains, classify each by its nearest neighbour, write a report.

    Example: eigengraphs demo --output demo-output
    """
    if files is not None:
        from eigengraphs.demo import write_files

        say(f"wrote {write_files(files)}: 32 matrices and participants.tsv")
        return
    from rich.console import Console
    from rich.progress import Progress

    from eigengraphs.demo import run_demo
    from eigengraphs.fitting.messages import explained_of

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("32 mice, one held out at a time", total=32)
        result = run_demo(output, components, seed, lambda _: progress.advance(task))
    embedding = result.embedding
    say(f"32 mouse brains, 332 regions, {count_of(components, 'component')}")
    share = embedding.explained_ratio_.sum()
    say(f"explained: {share:.1%} of {explained_of(embedding.center)}")
    say(f"converged: {'yes' if embedding.converged_ else 'no'}, {embedding.n_passes_} passes")
    say(f"genotype of the held-out mouse by its nearest neighbour: {result.accuracy:.1%} right")
    for path in result.files:
        say(f"wrote {path}")
