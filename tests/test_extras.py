"""The core works alone; what an extra brings says which extra is missing."""

import subprocess
import sys
import textwrap

# A finder that hides the extras, as if they had never been installed.
HIDE = """
import importlib.abc, sys
EXTRAS = {"matplotlib", "typer", "rich", "pandas", "networkx", "igraph", "h5py", "pyarrow"}
EXTRAS |= {"platformdirs", "rdata", "requests", "zarr", "fsspec", "distributed", "dask"}
EXTRAS |= {"jinja2"}
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
"""


def run(code):
    return subprocess.run(
        [sys.executable, "-c", HIDE + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_core_imports_fits_and_transforms_without_any_extra():
    done = run(
        """
        import eigengraphs as eg
        mice = eg.datasets.load_mice()
        je = eg.JointEmbedding(2, center=True, random_state=0).fit(mice.graphs[:4].log1p())
        print(je.transform(mice.graphs[4:6].log1p()).shape)
        print(eg.models.ErdosRenyi(10, 0.5).sample(2).n_graphs)
        """
    )
    assert done.stdout.split("\n")[:2] == ["(2, 2)", "2"], done.stderr


def test_a_missing_extra_is_named():
    done = run("from eigengraphs.cli import main; main()")
    assert done.returncode == 2
    assert "pip install 'eigengraphs[cli]'" in done.stderr
    done = run(
        """
        from eigengraphs.errors import MissingExtraError
        from eigengraphs.plot import heatmap
        try:
            heatmap([[0.0]])
        except MissingExtraError as error:
            print(error)
        """
    )
    assert "drawing a picture needs the package 'matplotlib'" in done.stdout, done.stderr
    assert "pip install 'eigengraphs[report]'" in done.stdout


def test_a_store_needs_an_extra_and_says_which(tmp_path):
    done = run(
        f"""
        import numpy as np, eigengraphs as eg
        stack = eg.GraphStack(np.ones((2, 3, 3)))
        for use in (
            lambda: eg.store.write_store({str(tmp_path / "g.egs")!r}, [stack]),
            lambda: eg.open_store("memory://g.egs"),
        ):
            try:
                use()
            except eg.errors.MissingExtraError as error:
                print(error)
        """
    )
    first, second = done.stdout.splitlines()
    assert "a store of graphs needs the package 'pyarrow'" in first, done.stderr
    assert "opening memory://g.egs needs the package 'fsspec'" in second
    assert first.endswith("pip install 'eigengraphs[scale]'")
    assert second.endswith("pip install 'eigengraphs[scale]'")


def test_a_summary_needs_an_extra_and_says_which():
    done = run(
        """
        import eigengraphs as eg
        from eigengraphs.report import summarize
        graphs = eg.models.ErdosRenyi(8, 0.5).sample(6, random_state=0)
        try:
            summarize(eg.JointEmbedding(1).fit(graphs), graphs, title="six")
        except eg.errors.MissingExtraError as error:
            print(error)
        """
    )
    assert done.stdout.startswith("writing a report needs the package 'jinja2'"), done.stderr
    assert done.stdout.endswith("pip install 'eigengraphs[report]'\n")
